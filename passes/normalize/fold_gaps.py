"""``ipu-fold-gaps``: sums over a tensor with zeros between its elements go over the elements only."""

from collections.abc import Mapping
from dataclasses import dataclass

from ipu_mlir.dialects.analysis.index import Index
from ipu_mlir.dialects.analysis.loop_nest import LoopNest, indexing_maps, loop_nest
from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.gaps import fills_with_zero, is_sum_of_products, static_numbers
from ipu_mlir.passes.support.rewriting import list_ops


class FoldGaps(Pass):
    """Leave out products of a sum that are zero because a factor was inserted into zeros.

    The gradient of the weights of a strided convolution sums over its results ``s`` apart in zeros: of ``s * s``
    products one is no zero. The loop over that factor counts its elements, and the other factor is read ``s`` apart. A
    zero times what is no finite number is left out, too.

    Needs:  linalg on tensors.
    Leaves: no sum of two factors' products over the whole of a dimension of one that is inserted into zeros.
    """

    name = "ipu-fold-gaps"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in list_ops(module, "linalg.generic"):
                nest = loop_nest(op) if len(op.operands) == 3 and is_sum_of_products(op) else None
                if nest is None or nest.num_inputs != 2:
                    continue
                for number, other in ((0, 1), (1, 0)):
                    steps = _steps(op, nest, number, other)
                    if steps:
                        _fold(op, nest, number, other, steps)
                        break


@dataclass(frozen=True)
class _Step:
    """The iterations of a loop that meet elements: ``offset``, ``offset + stride``, ..."""

    offset: int
    stride: int


def _steps(op: ir.Operation, nest: LoopNest, number: int, other: int) -> dict[int, _Step]:
    """By loop, what is left of it without the zeros around elements of operand ``number``; none if it has to stay."""
    insert = defining_op(op.operands[number], "tensor.insert_slice")
    fill = defining_op(insert.operands[1], "linalg.fill") if insert is not None and len(insert.operands) == 2 else None
    if insert is None or fill is None or not fills_with_zero(fill):
        return {}
    source, whole = list(insert.operands[0].type.shape), list(op.operands[number].type.shape)
    if source != static_numbers(insert, "sizes"):
        return {}
    found = {}
    dimensions = zip(
        nest.indices[number], static_numbers(insert, "offsets"), static_numbers(insert, "strides"), strict=True
    )
    for dimension, (index, offset, stride) in enumerate(dimensions):
        if source[dimension] == whole[dimension]:
            continue
        loop = index.plain_loop
        if loop is None or nest.parallel[loop] or not _is_movable(loop, nest.indices[other]):
            return {}
        if any(each.coefficients[loop] for place, each in enumerate(nest.indices[number]) if place != dimension):
            return {}
        found[loop] = _Step(offset, stride)
    return found


def _is_movable(loop: int, indices: tuple[Index, ...]) -> bool:
    """True if ``loop`` is a positive term of at most one of ``indices``."""
    uses = [index for index in indices if not index.linear or index.coefficients[loop]]
    return all(index.linear and index.coefficients[loop] > 0 for index in uses) and len(uses) <= 1


def _fold(op: ir.Operation, nest: LoopNest, number: int, other: int, steps: dict[int, _Step]) -> None:
    insert, maps = defining_op(op.operands[number], "tensor.insert_slice"), indexing_maps(op)
    assert insert is not None and maps is not None, "asked before"
    source, tensor = insert.operands[0], op.operands[other]
    exprs, offsets, sizes = list(maps[other].results), [0] * tensor.type.rank, list(tensor.type.shape)
    for dimension, index in enumerate(nest.indices[other]):
        moved = {loop: step for loop, step in steps.items() if index.linear and index.coefficients[loop]}
        if not moved:
            continue
        offsets[dimension] = sum(index.coefficients[loop] * step.offset for loop, step in moved.items())
        sizes[dimension] -= offsets[dimension]
        exprs[dimension] = _stretched(index, moved)
        if index.plain_loop is not None and moved[index.plain_loop].stride == 1:
            place = next(place for place, each in enumerate(nest.indices[number]) if each == index)
            sizes[dimension] = source.type.shape[place]
    maps[other] = ir.AffineMap.get(len(nest.extents), 0, exprs)
    op.attributes["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(each) for each in maps])
    op.operands[number] = source
    if sizes != [*tensor.type.shape]:
        with ir.InsertionPoint(op), op.location:
            kind, ones = ir.RankedTensorType.get(sizes, tensor.type.element_type), [1] * len(sizes)
            op.operands[other] = upstream("tensor").extract_slice(kind, tensor, [], [], [], offsets, sizes, ones)


def _stretched(index: Index, steps: Mapping[int, _Step]) -> ir.AffineExpr:
    """``index`` with what its loops step over in their coefficients."""
    total = ir.AffineExpr.get_constant(index.constant)
    for loop, factor in enumerate(index.coefficients):
        if factor:
            total += ir.AffineExpr.get_dim(loop) * (factor * (steps[loop].stride if loop in steps else 1))
    return total
