"""Reductions that are neither sums nor extremes, as loops that carry what is reduced so far."""

from collections.abc import Sequence

from ipu_mlir.dialects.analysis.index import Index
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.autodiff.backward import NotDifferentiable
from ipu_mlir.passes.autodiff.scatters import index_at
from ipu_mlir.passes.autodiff.structured import Structured
from ipu_mlir.passes.support.affine_expressions import as_it_is
from ipu_mlir.passes.support.clone import Known, clone_into
from ipu_mlir.passes.support.linalg_builders import constant_index, generic, with_extents

scf, tensor = upstream("scf"), upstream("tensor")


def loops_of_reduction(nest: Structured) -> tuple[list[ir.Value], list[ir.Operation]]:
    """The results of ``nest`` by loops over what it reduces, around an op without a reduction; and the new ops.

    Raises:
        NotDifferentiable: an operand is read at an index of several loops that are not reduced.
    """
    reduced = [loop for loop, parallel in enumerate(nest.nest.parallel) if not parallel]
    begin = [constant_index(0), constant_index(1), *(constant_index(nest.nest.extents[loop]) for loop in reduced)]

    def carried(depth: int, counters: dict[int, ir.Value], so_far: list[ir.Value]) -> list[ir.Value]:
        if depth == len(reduced):
            return _one_step(nest, counters, so_far)
        loop = scf.ForOp(begin[0], begin[2 + depth], begin[1], so_far)
        with ir.InsertionPoint(loop.body):
            inner = {**counters, reduced[depth]: loop.induction_variable}
            scf.YieldOp(carried(depth + 1, inner, list(loop.inner_iter_args)))
        return list(loop.results)

    results = carried(0, {}, list(nest.op.operands)[nest.nest.num_inputs :])
    return results, [*(value.owner.operation for value in begin), results[0].owner.operation]


def _one_step(nest: Structured, counters: dict[int, ir.Value], so_far: Sequence[ir.Value]) -> list[ir.Value]:
    kept = [loop for loop, parallel in enumerate(nest.nest.parallel) if parallel]
    values, maps = [], []
    for operand, indices in zip(list(nest.op.operands)[: nest.nest.num_inputs], nest.nest.indices, strict=False):
        value, indices = _slice(nest, operand, indices, counters)
        values.append(value)
        maps.append(_map(indices, kept))
    outputs = [_map(indices, kept) for indices in nest.nest.outputs]
    inputs, own = with_extents(values, maps, outputs, [nest.nest.extents[loop] for loop in kept])

    def body(arguments: list[ir.Value]) -> list[ir.Value]:
        given = [*arguments[: len(values)], *arguments[len(inputs) :]]
        known: Known = dict(zip(nest.arguments, given, strict=True))
        *steps, end = [each.operation for each in nest.block.operations]
        for step in steps:
            if step.name == "linalg.index" and (loop := ir.IntegerAttr(step.attributes["dim"]).value) in counters:
                known[step.results[0]] = counters[loop]
                continue
            copy = clone_into(step, known)
            if step.name == "linalg.index":
                place = kept.index(ir.IntegerAttr(step.attributes["dim"]).value)
                copy.attributes["dim"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), place)
        return [known.get(value, value) for value in end.operands]

    op = generic(inputs, list(so_far), [*own, *outputs], [True] * len(kept), body)
    return list(op.results)


def _slice(
    nest: Structured, operand: ir.Value, indices: Sequence[Index], counters: dict[int, ir.Value]
) -> tuple[ir.Value, list[Index]]:
    """What one iteration of the reduced loops reads of ``operand``, and its indices in the loops that are left."""
    if not any(index.coefficients[loop] for index in indices for loop in counters):
        return operand, list(indices)
    offsets, sizes, steps, left = [], [], [], []
    for index in indices:
        rest = [loop for loop, factor in enumerate(index.coefficients) if factor and loop not in counters]
        if len(rest) > 1 or not index.linear or any(index.coefficients[loop] < 0 for loop in rest):
            raise NotDifferentiable(nest.op, "reduces windows by what is neither a sum nor an extreme")
        at = [counters.get(loop) or constant_index(0) for loop in range(len(index.coefficients))]
        moved = tuple(factor if loop in counters else 0 for loop, factor in enumerate(index.coefficients))
        offsets.append(index_at(Index(moved, index.constant), at))
        sizes.append(nest.nest.extents[rest[0]] if rest else 1)
        steps.append(index.coefficients[rest[0]] if rest else 1)
        left.append(Index(tuple(int(loop in rest) for loop in range(len(index.coefficients)))))
    kind = ir.RankedTensorType.get(sizes, operand.type.element_type)
    dynamic = [ir.ShapedType.get_dynamic_stride_or_offset()] * len(offsets)
    return tensor.ExtractSliceOp(kind, operand, offsets, [], [], dynamic, sizes, steps).result, left


def _map(indices: Sequence[Index], kept: Sequence[int]) -> ir.AffineMap:
    """``indices``, each one loop or 0, in the loops that are ``kept``."""
    results = []
    for index in indices:
        expression = ir.AffineExpr.get_constant(index.constant)
        for place, loop in enumerate(kept):
            if index.coefficients[loop]:
                expression = ir.AffineExpr.get_dim(place) * index.coefficients[loop] + index.constant
        results.append(expression)
    return ir.AffineMap.get(len(kept), 0, [as_it_is(each) for each in results])
