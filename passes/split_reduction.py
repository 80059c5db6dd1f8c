"""Split a reduction: partial results per block of the reduced loops, and the op that combines them."""

import math
from collections.abc import Callable

import numpy as np

from ipu_mlir.dialects.attributes import parts_to_attr
from ipu_mlir.dialects.bindings import ir, upstream
from ipu_mlir.dialects.costs.op_loops import accumulator, combination
from ipu_mlir.dialects.loop_nest import LoopNest, indexing_maps
from ipu_mlir.dialects.mapping.parts import Parts
from ipu_mlir.dialects.narrow_floats import finite_range, host_dtype, is_f8
from ipu_mlir.passes.build_generic import bodiless_generic, generic
from ipu_mlir.passes.named_ops import fill_with
from ipu_mlir.passes.placement_hints import PARTS

_FLOAT_NEUTRAL = {
    "arith.addf": 0.0,
    "arith.mulf": 1.0,
    "arith.maximumf": -math.inf,
    "arith.minimumf": math.inf,
    "arith.maxnumf": -math.inf,
    "arith.minnumf": math.inf,
}
_INTEGER_NEUTRAL: dict[str, Callable[[int], int]] = {
    "arith.addi": lambda width: 0,
    "arith.ori": lambda width: 0,
    "arith.xori": lambda width: 0,
    "arith.maxui": lambda width: 0,
    "arith.muli": lambda width: 1,
    "arith.andi": lambda width: -1,
    "arith.minui": lambda width: -1,
    "arith.maxsi": lambda width: -(1 << (width - 1)),
    "arith.minsi": lambda width: (1 << (width - 1)) - 1,
}


def can_split(op: ir.Operation, nest: LoopNest) -> bool:
    """Whether the reduced loops of ``op`` may be cut: one result, one combiner, and that has a neutral element."""
    if len(nest.outputs) != 1 or "library_call" in op.attributes or not len(op.regions):
        return False
    if all(nest.parallel) or any(index.plain_loop is None for index in nest.outputs[0]):
        return False
    combiner = combination(op)
    if combiner is None or accumulator(op) not in list(combiner.operands):
        return False
    *_, terminator = (inner.operation for inner in op.regions[0].blocks[0].operations)
    if terminator.operands[0] != combiner.results[0] or len(list(accumulator(op).uses)) != 1:
        return False
    return _neutral(combiner, op.results[0].type.element_type) is not None


def cut_reductions(nest: LoopNest, parts: Parts) -> tuple[int, ...]:
    """The loops that ``parts`` cut although one part has to run them."""
    pairs = zip(nest.cut_multiples, parts.loops, strict=True)
    return tuple(loop for loop, (multiple, part) in enumerate(pairs) if not multiple and part.block < part.extent)


def split_reduction(op: ir.Operation, nest: LoopNest, parts: Parts) -> tuple[ir.Operation, ir.Operation]:
    """Replace ``op`` by two: partial results per block of the loops that ``parts`` cut, and their combination.

    The loops stay, so that ``parts`` hold for the partial results; of these there is one per block, in leading
    dimensions: ``(m, n, k) -> (k floordiv 32, m, n)``. A loop in blocks of one iteration is no longer reduced. The
    combination starts from what ``op`` started from.

    Returns:
        the op of the partial results, with ``ipu.parts``, and the one that combines them.
    """
    cut = cut_reductions(nest, parts)
    result = op.results[0].type
    maps = indexing_maps(op)
    combiner = combination(op)
    assert maps is not None and combiner is not None and cut, "split_reduction of an op that can_split refuses"
    blocks = [parts.loops[loop].block for loop in cut]
    counts = [-(-nest.extents[loop] // block) for loop, block in zip(cut, blocks, strict=True)]
    neutral = _neutral(combiner, result.element_type)
    with ir.InsertionPoint(op), op.location:
        value = upstream("arith").ConstantOp(result.element_type, neutral).result
        empty = upstream("tensor").EmptyOp([*counts, *result.shape], result.element_type).result
        partials = fill_with(value, empty).results[0]
        kept = [_block_number(loop, block) for loop, block in zip(cut, blocks, strict=True)]
        maps[-1] = ir.AffineMap.get(maps[-1].n_dims, 0, [*kept, *maps[-1].results])
        parallel = [was or dict(zip(cut, blocks, strict=True)).get(loop) == 1 for loop, was in enumerate(nest.parallel)]
        partial = bodiless_generic(list(op.operands)[: nest.num_inputs], [partials], maps, parallel)
        partial.attributes[PARTS] = parts_to_attr(parts)
        combined = _combine(partial.results[0], op.operands[nest.num_inputs], len(cut), combiner.name)
    op.regions[0].blocks[0].append_to(partial.regions[0])
    op.results[0].replace_all_uses_with(combined.results[0])
    op.erase()
    return partial, combined


def _block_number(loop: int, block: int) -> ir.AffineExpr:
    return ir.AffineExpr.get_floor_div(ir.AffineExpr.get_dim(loop), ir.AffineExpr.get_constant(block))


def _combine(partial: ir.Value, start: ir.Value, num_cut: int, combiner: str) -> ir.Operation:
    """Combine ``partial`` over its leading dimensions, beginning with ``start``."""
    rank = len(start.type.shape)
    results = [ir.AffineExpr.get_dim(loop) for loop in range(rank)]
    partials = [ir.AffineExpr.get_dim(rank + loop) for loop in range(num_cut)]
    maps = [
        ir.AffineMap.get(rank + num_cut, 0, [*partials, *results]),
        ir.AffineMap.get(rank + num_cut, 0, results),
    ]

    def body(arguments: list[ir.Value]) -> list[ir.Value]:
        element, so_far = arguments
        joined = ir.Operation.create(combiner, results=[so_far.type], operands=[so_far, element])
        return [joined.results[0]]

    return generic([partial], [start], maps, [True] * rank + [False] * num_cut, body)


def _neutral(combiner: ir.Operation, element_type: ir.Type) -> ir.Attribute | None:
    """What leaves the other operand of ``combiner`` as it is."""
    if combiner.name in _FLOAT_NEUTRAL:
        number = _in_type(_FLOAT_NEUTRAL[combiner.name], str(element_type))
        return None if number is None else ir.FloatAttr.get(element_type, number, loc=ir.Location.unknown())
    if combiner.name in _INTEGER_NEUTRAL and isinstance(element_type, ir.IntegerType):
        return ir.IntegerAttr.get(element_type, _INTEGER_NEUTRAL[combiner.name](element_type.width))
    return None


def _in_type(number: float, name: str) -> float | None:
    """``number``, for an infinity the last number on that side of a type without any; None if the type has no such.

    >>> _in_type(-math.inf, "f8E4M3FN"), _in_type(-math.inf, "f8E5M2"), _in_type(0.0, "f8E8M0FNU")
    (-448.0, -inf, None)
    """
    if not is_f8(name):
        return number
    if float(np.float32(number).astype(host_dtype(name))) == number:
        return number
    return finite_range(name)[number > 0] if math.isinf(number) else None
