"""Tensors as (outer, one dimension, inner): the form in which library codelets work along a dimension."""

from math import prod

from ipu_mlir.dialects.support.bindings import ir, upstream


def in_three_dimensions(value: ir.Value, at: int) -> ir.Value:
    """``value`` with all dimensions before ``at`` as one, then that one, then all behind it as one."""
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
    """Which of three dimensions each of fewer becomes, where the unit ones belong to the dimension that is worked on.

    >>> unit_groups([[0], [1]], 1), unit_groups([[0], [1]], 0), unit_groups([[0]], 0)
    ([[0], [1, 2]], [[0, 1], [2]], [[0, 1, 2]])
    """
    if len(groups) == 1:
        return [[0, 1, 2]]
    return [[0, 1], [2]] if at == 0 else [[0], [1, 2]]
