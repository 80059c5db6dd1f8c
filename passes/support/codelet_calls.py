"""Build calls of library codelets that work on stacks."""

from collections.abc import Sequence
from math import prod

from ipu_mlir.dialects.codelets.library import codelet_named
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.support.linalg_builders import (
    constant_index,
    generic,
    identity_map,
    in_three_dimensions,
    zero,
)


def call_codelet(
    name: str, inputs: Sequence[ir.Value], shapes: Sequence[Sequence[int]], elements: Sequence[ir.Type]
) -> list[ir.Value]:
    """The results of codelet ``name``, of those shapes and types of elements, at the current insertion point."""
    empty = upstream("tensor").EmptyOp
    outs = [empty(list(shape), element).result for shape, element in zip(shapes, elements, strict=True)]
    return list(codelet_into(name, inputs, outs).results)


def codelet_into(name: str, inputs: Sequence[ir.Value], outs: Sequence[ir.Value]) -> ir.Operation:
    """Codelet ``name``, which fills ``outs``, at the current insertion point.

    Each loop is one dimension: those of the stack, which vertices share, then those of the codelet's signature.
    """
    signature = codelet_named(name).signature
    assert signature is not None, "a codelet on stacks"
    stack = inputs[0].type.rank - len(signature.inputs[0])
    count = stack + len(signature.loops)
    maps = [
        ir.AffineMap.get(count, 0, [ir.AffineDimExpr.get(loop) for loop in [*range(stack), *own]])
        for own in (
            [stack + signature.loops.index(each) for each in names] for names in (*signature.inputs, *signature.outputs)
        )
    ]
    parallel = [True] * stack + [loop[0] in signature.parallel for loop in signature.loops]
    call = {"library_call": ir.StringAttr.get(name)}
    return generic(inputs, outs, maps, parallel, lambda _: [zero(out.type.element_type) for out in outs], call)


def first_extremes(values: ir.Value, at: int, shape: list[int], codelet: str) -> ir.Value:
    """The places along dimension ``at`` of ``values`` that ``codelet`` of ``FIRST_EXTREMES`` finds.

    Args:
        shape: of the result, which lacks that dimension.
    """
    tensor, index = upstream("tensor"), ir.IndexType.get()
    values = in_three_dimensions(values, at)
    outer, _, inner = values.type.shape
    empty = tensor.EmptyOp([outer, inner], index).result
    ends = ir.AffineMap.get(3, 0, [ir.AffineExpr.get_dim(0), ir.AffineExpr.get_dim(2)])
    call = {"library_call": ir.StringAttr.get(codelet)}
    maps = [identity_map(3), ends]
    made = generic([values], [empty], maps, [True, False, True], lambda arguments: [constant_index(0)], call)
    flat = ir.RankedTensorType.get([prod(shape)] if shape else [], index)
    place = tensor.CollapseShapeOp(flat, made.results[0], [[0, 1]] if shape else []).result
    if len(shape) < 2:
        return place
    return tensor.ExpandShapeOp(ir.RankedTensorType.get(shape, index), place, [[*range(len(shape))]], [], shape).result
