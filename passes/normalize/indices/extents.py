"""Operands that are there for their sizes only."""

from collections.abc import Sequence

from ipu_mlir.dialects.support.bindings import ir, upstream


def with_extents(
    inputs: list[ir.Value], maps: list[ir.AffineMap], outputs: Sequence[ir.AffineMap], extents: Sequence[int]
) -> tuple[list[ir.Value], list[ir.AffineMap]]:
    """``inputs`` and their ``maps``, and an empty tensor where no operand says how often a loop runs."""
    results = [expression for each in (*maps, *outputs) for expression in each.results]
    known = {each.position for each in results if isinstance(each, ir.AffineDimExpr)}
    missing = [loop for loop in range(len(extents)) if loop not in known]
    if not missing:
        return inputs, maps
    shape = [extents[loop] for loop in missing]
    empty = upstream("tensor").EmptyOp(shape, ir.F32Type.get()).result
    indices = [ir.AffineExpr.get_dim(loop) for loop in missing]
    return [*inputs, empty], [*maps, ir.AffineMap.get(len(extents), 0, indices)]
