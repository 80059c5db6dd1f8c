"""Build linalg ops: generic ones, the named ones that passes make often, and the forms of tensors that they take."""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from ipu_mlir.dialects import linalg
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.scalar_attributes import scalar_attribute


def identity_map(loops: int) -> ir.AffineMap:
    """``(d0, d1, ...) -> (d0, d1, ...)``."""
    return ir.AffineMap.get_identity(loops)


def scalar_map(loops: int) -> ir.AffineMap:
    """``(d0, d1, ...) -> ()``: one value for all iterations."""
    return ir.AffineMap.get(loops, 0, [])


def generic(
    inputs: Sequence[ir.Value],
    outputs: Sequence[ir.Value],
    maps: Sequence[ir.AffineMap],
    parallel: Sequence[bool],
    body: Callable[[list[ir.Value]], Sequence[ir.Value]],
    attributes: dict[str, ir.Attribute] | None = None,
) -> ir.Operation:
    """A ``linalg.generic`` on tensors at the current insertion point.

    Args:
        inputs, outputs: tensors (or scalars, as inputs).
        maps: one per operand.
        parallel: per loop; False is a reduction.
        body: block arguments, one per operand, to the yielded values.
        attributes: any further attributes.
    """
    op = bodiless_generic(inputs, outputs, maps, parallel, attributes)
    types = [getattr(value.type, "element_type", value.type) for value in (*inputs, *outputs)]
    block = ir.Block.create_at_start(op.regions[0], types, [op.location] * len(types))
    with ir.InsertionPoint(block):
        linalg.YieldOp(list(body(list(block.arguments))))
    return op


def elementwise(source: ir.Value, element: ir.Type, function: Callable[[ir.Value], ir.Value]) -> ir.Operation:
    """``function`` of every element of ``source``, as a tensor of elements of type ``element``."""
    shape = list(source.type.shape)
    empty = upstream("tensor").EmptyOp(shape, element).result
    maps = [identity_map(len(shape))] * 2
    return generic([source], [empty], maps, [True] * len(shape), lambda arguments: [function(arguments[0])])


def bodiless_generic(
    inputs: Sequence[ir.Value],
    outputs: Sequence[ir.Value],
    maps: Sequence[ir.AffineMap],
    parallel: Sequence[bool],
    attributes: dict[str, ir.Attribute] | None = None,
) -> ir.Operation:
    """As ``generic``, with an empty region that the body of another op is still to be moved into.

    On buffers it has no results.
    """
    return ir.Operation.create(
        "linalg.generic",
        results=[value.type for value in outputs if isinstance(value.type, ir.RankedTensorType)],
        operands=[*inputs, *outputs],
        attributes={
            "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(affine_map) for affine_map in maps]),
            "iterator_types": iterator_types(parallel),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(inputs), len(outputs)]),
            **(attributes or {}),
        },
        regions=1,
    )


def iterator_types(parallel: Sequence[bool]) -> ir.ArrayAttr:
    """The attribute that says which loops are parallel; the others are reductions."""
    kinds = ("reduction", "parallel")
    return ir.ArrayAttr.get([ir.Attribute.parse(f"#linalg.iterator_type<{kinds[each]}>") for each in parallel])


def loop_index(loop: int) -> ir.Value:
    """``linalg.index loop`` at the current insertion point, inside a body."""
    return linalg.IndexOp(ir.IntegerAttr.get(ir.IntegerType.get_signless(64), loop)).result


def zero(element_type: ir.Type) -> ir.Value:
    """The constant 0 of ``element_type`` at the current insertion point."""
    return upstream("arith").ConstantOp(element_type, scalar_attribute(element_type, 0)).result


def constant_index(number: int) -> ir.Value:
    """A constant of type index at the current insertion point."""
    return upstream("arith").ConstantOp(ir.IndexType.get(), number).result


def as_index(number: ir.Value | int) -> ir.Value:
    """``number`` itself, or the constant."""
    return number if isinstance(number, ir.Value) else constant_index(number)


def index_sum(left: ir.Value | int, right: ir.Value | None) -> ir.Value:
    """``left + right``; ``left`` where there is nothing to add."""
    if right is None:
        return as_index(left)
    return right if left == 0 else upstream("arith").AddIOp(as_index(left), right).result


def combined(partial: ir.Value, start: ir.Value, num_cut: int, combiner: str) -> ir.Operation:
    """``partial`` joined by ``combiner`` over its ``num_cut`` leading dimensions, beginning with ``start``."""
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


def reshaped(value: ir.Value, shape: Sequence[int]) -> ir.Value:
    """``value`` in another shape of as many elements, by way of one dimension."""
    tensor, old, element = upstream("tensor"), list(value.type.shape), value.type.element_type
    if len(old) != 1:
        flat = ir.RankedTensorType.get([prod(old)], element)
        if old:
            value = tensor.CollapseShapeOp(flat, value, [list(range(len(old)))]).result
        else:
            value = tensor.ExpandShapeOp(flat, value, [], [], [1]).result
    if len(shape) == 1:
        return value
    wanted = ir.RankedTensorType.get(list(shape), element)
    if not shape:
        return tensor.CollapseShapeOp(wanted, value, []).result
    return tensor.ExpandShapeOp(wanted, value, [list(range(len(shape)))], [], list(shape)).result


def copy_into(source: ir.Value, dest: ir.Value) -> ir.Operation:
    """``linalg.copy``, at the current insertion point; its result is the new value of ``dest`` if that is a tensor.

    Upstream's ``linalg.copy(...)`` does the same, but interprets the op's definition each time: half a millisecond.
    """
    return _with_body(linalg.CopyOp(_results(dest), [source], [dest]))


def fill_with(value: ir.Value, dest: ir.Value) -> ir.Operation:
    """``linalg.fill`` of ``dest`` with a scalar, at the current insertion point."""
    return _with_body(linalg.FillOp(_results(dest), [value], [dest]))


def transpose_into(source: ir.Value, dest: ir.Value, order: Sequence[int]) -> ir.Operation:
    """``linalg.transpose``, at the current insertion point: dimension ``order[d]`` of ``source`` becomes ``d``."""
    return _with_body(linalg.TransposeOp(_results(dest), source, dest, order))


def product_into(left: ir.Value, right: ir.Value, dest: ir.Value) -> ir.Operation:
    """``linalg.matmul``, or ``batch_matmul`` of more dimensions, at the current insertion point; added to ``dest``."""
    made = linalg.MatmulOp if dest.type.rank == 2 else linalg.BatchMatmulOp
    return _with_body(made(_results(dest), [left, right], [dest]))


def _results(dest: ir.Value) -> list[ir.Type]:
    return [dest.type] if isinstance(dest.type, ir.RankedTensorType) else []


def _with_body(op: Any) -> ir.Operation:
    linalg.fill_builtin_region(op.operation)
    return op.operation


def widened(values: ir.Value, element: ir.Type) -> ir.Value:
    """``values`` as floats of the wider type ``element``."""
    return elementwise(values, element, lambda x: upstream("arith").ExtFOp(element, x).result).results[0]


def rounded(values: ir.Value, element: ir.Type) -> ir.Value:
    """``values`` as floats of the narrower type ``element``."""
    return elementwise(values, element, lambda x: upstream("arith").TruncFOp(element, x).result).results[0]


def in_three_dimensions(value: ir.Value, at: int) -> ir.Value:
    """``value`` with all dimensions before ``at`` as one, then that one, then all behind it as one.

    It is the form in which library codelets work along a dimension.
    """
    shape, element = list(value.type.shape), value.type.element_type
    groups = groups_around(at, len(shape))
    if len(groups) < len(shape):
        shape = [prod(shape[d] for d in group) for group in groups]
        value = upstream("tensor").CollapseShapeOp(ir.RankedTensorType.get(shape, element), value, groups).result
    if len(groups) < 3:
        expanded = [1] * (at == 0) + shape
        expanded += [1] * (3 - len(expanded))
        target = ir.RankedTensorType.get(expanded, element)
        value = upstream("tensor").ExpandShapeOp(target, value, unit_groups(groups, at), [], expanded).result
    return value


def in_all_dimensions(value: ir.Value, target: ir.RankedTensorType, at: int) -> ir.Value:
    """The inverse of ``in_three_dimensions``, for a result of type ``target``."""
    shape = list(target.shape)
    groups = groups_around(at, len(shape))
    if len(groups) < 3:
        collapsed = ir.RankedTensorType.get([prod(shape[d] for d in group) for group in groups], target.element_type)
        value = upstream("tensor").CollapseShapeOp(collapsed, value, unit_groups(groups, at)).result
    if len(groups) < len(shape):
        value = upstream("tensor").ExpandShapeOp(target, value, groups, [], shape).result
    return value


def groups_around(at: int, rank: int) -> list[list[int]]:
    """The dimensions before ``at``, ``at``, and those behind it; none is empty.

    >>> groups_around(2, 4), groups_around(0, 2)
    ([[0, 1], [2], [3]], [[0], [1]])
    """
    return [group for group in (list(range(at)), [at], list(range(at + 1, rank))) if group]


def unit_groups(groups: list[list[int]], at: int) -> list[list[int]]:
    """Those of three dimensions that each of fewer becomes, where the unit ones belong to the dimension worked on.

    >>> unit_groups([[0], [1]], 1), unit_groups([[0], [1]], 0), unit_groups([[0]], 0)
    ([[0], [1, 2]], [[0, 1], [2]], [[0, 1, 2]])
    """
    if len(groups) == 1:
        return [[0, 1, 2]]
    return [[0, 1], [2]] if at == 0 else [[0], [1, 2]]


def with_extents(
    inputs: list[ir.Value], maps: list[ir.AffineMap], outputs: Sequence[ir.AffineMap], extents: Sequence[int]
) -> tuple[list[ir.Value], list[ir.AffineMap]]:
    """``inputs`` and their ``maps``, and an empty tensor for its sizes where no operand says how often a loop runs."""
    results = [expression for each in (*maps, *outputs) for expression in each.results]
    known = {each.position for each in results if isinstance(each, ir.AffineDimExpr)}
    missing = [loop for loop in range(len(extents)) if loop not in known]
    if not missing:
        return inputs, maps
    shape = [extents[loop] for loop in missing]
    empty = upstream("tensor").EmptyOp(shape, ir.F32Type.get()).result
    indices = [ir.AffineExpr.get_dim(loop) for loop in missing]
    return [*inputs, empty], [*maps, ir.AffineMap.get(len(extents), 0, indices)]
