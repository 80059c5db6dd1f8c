"""``ipu-trim-windows``: a window that is folded to a plain index reads an operand of just that size."""

from ipu_mlir.dialects.analysis.index import Index
from ipu_mlir.dialects.analysis.loop_nest import LoopNest, indexing_maps, loop_nest
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_ops


class TrimWindows(Pass):
    """Cut from the operand of a window what no iteration reads, where one of its loops runs once.

    ``linalg-fold-unit-extent-dims`` makes ``d0 + d1`` a plain ``d1`` if ``d0`` runs once. A plain index runs over the
    whole dimension: with elements left over at its end the op would be invalid, or read them too.

    Needs:  linalg on tensors.
    Leaves: no ``linalg.generic`` that indexes more than it reads by a sum with a loop of one iteration.
    """

    name = "ipu-trim-windows"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in list_ops(module, "linalg.generic"):
                nest = loop_nest(op) if _has_windows(op) else None
                if nest is None:
                    continue
                for number in range(nest.num_inputs):
                    shape = [*op.operands[number].type.shape] if nest.indices[number] else []
                    sizes = _trimmed(nest, number, shape)
                    if sizes != shape:
                        op.operands[number] = _front(op, op.operands[number], sizes)


def _has_windows(op: ir.Operation) -> bool:
    """True if an index of ``op`` is more than one loop."""
    return not all(each.is_projected_permutation for each in indexing_maps(op) or ())


def _trimmed(nest: LoopNest, number: int, shape: list[int]) -> list[int]:
    """The sizes that the operand needs to have."""
    return [
        min(size, _span(index, nest.extents)) if _is_folded(index, nest.extents) else size
        for index, size in zip(nest.indices[number], shape, strict=True)
    ]


def _is_folded(index: Index, extents: tuple[int, ...]) -> bool:
    loops = [loop for loop, coefficient in enumerate(index.coefficients) if coefficient]
    return index.linear and len(loops) > 1 and any(extents[loop] == 1 for loop in loops)


def _span(index: Index, extents: tuple[int, ...]) -> int:
    """The number of elements from the first of the dimension to the last that is read.

    >>> _span(Index((2, 1)), (3, 2))
    6
    """
    steps = zip(index.coefficients, extents, strict=True)
    return index.constant + sum(max(coefficient, 0) * (extent - 1) for coefficient, extent in steps) + 1


def _front(op: ir.Operation, tensor: ir.Value, sizes: list[int]) -> ir.Value:
    """The first ``sizes`` elements of ``tensor``."""
    small = ir.RankedTensorType.get(sizes, tensor.type.element_type)
    zeros, ones = [0] * len(sizes), [1] * len(sizes)
    with ir.InsertionPoint(op), op.location:
        return upstream("tensor").extract_slice(small, tensor, [], [], [], zeros, sizes, ones)
