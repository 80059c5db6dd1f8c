"""The update of a slice as IR: a call of the library codelet."""

from collections.abc import Sequence

from ipu_mlir.dialects.codelets.update_slice import UPDATE_SLICE
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.support.linalg_builders import constant_index, generic, scalar_map


def update_slice(big: ir.Value, small: ir.Value, offsets: Sequence[ir.Value | None]) -> ir.Value:
    """``big`` with ``small`` at ``offsets``, one for each dimension; None where ``small`` has all of it.

    ``small`` is a tensor of as many dimensions as ``big``, or a single number.
    """
    rank = len(offsets)
    sizes = list(small.type.shape) if isinstance(small.type, ir.RankedTensorType) else []
    parts = [d for d, size in enumerate(sizes) if offsets[d] is not None and size > 1]
    loops = rank + len(parts)
    dims = [ir.AffineExpr.get_dim(loop) for loop in range(loops)]
    at = [
        dims[d] if offset is None else dims[rank + parts.index(d)] if d in parts else ir.AffineExpr.get_constant(0)
        for d, offset in enumerate(offsets)
    ]
    begin = constant_index(0)
    places = [begin if offset is None else offset for offset in offsets]
    own = ir.AffineMap.get(loops, 0, dims[:rank])
    maps = [*[scalar_map(loops)] * rank, ir.AffineMap.get(loops, 0, at if sizes else []), own]
    parallel = [True] * rank + [False] * len(parts)
    call = {"library_call": ir.StringAttr.get(UPDATE_SLICE.name)}
    return generic([*places, small], [big], maps, parallel, lambda arguments: [arguments[-1]], call).results[0]
