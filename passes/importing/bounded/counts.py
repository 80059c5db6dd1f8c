"""Tensors of their largest sizes, with the numbers of elements that are in use."""

import re
from collections.abc import Sequence
from math import prod
from typing import Any

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.importing.stablehlo.builders import full, stablehlo_op
from ipu_mlir.passes.importing.stablehlo.complex_functions import chosen, compared

Counts = dict[int, ir.Value]
"""By dimension, how many elements along it are in use, an i32; the others, at the end, are padding."""
Padded = tuple[ir.Value, Counts]

I32 = "tensor<i32>"


def padded_shape(kind: str) -> list[int]:
    """The largest sizes of a type with bounds.

    >>> padded_shape("tensor<?x4xf32, #stablehlo.bounds<160, ?>>"), padded_shape("tensor<i1>")
    ([160, 4], [])
    """
    sizes = re.findall(r"(\d+|\?)x", kind.partition(",")[0])
    bounds = re.search(r"bounds<([^>]*)>", kind)
    most = bounds.group(1).split(", ") if bounds else sizes
    return [int(bound if size == "?" else size) for size, bound in zip(sizes, most, strict=True)]


def dynamic_dimensions(kind: Any) -> set[int]:
    """The dimensions of a tensor's type whose sizes are not known."""
    return {place for place in range(kind.rank) if kind.is_dynamic_dim(place)} if hasattr(kind, "rank") else set()


def padded_type(kind: Any) -> Any:
    return ir.RankedTensorType.get(padded_shape(str(kind)), kind.element_type) if dynamic_dimensions(kind) else kind


def counts_after(counts: Counts, before: Sequence[int], after: Sequence[int]) -> Counts | None:
    """The counts of a tensor of another shape with the same elements; None if padding would be in the middle of it."""
    found: Counts = {}
    for group, others in dimension_groups(before, after):
        used = [place for place in group if place in counts]
        if not used:
            continue
        large = [place for place in group if before[place] > 1] or used
        ends = [place for place in others if after[place] > 1] or others
        if used != large[:1] or not ends:
            return None
        each, size = prod(before[place] for place in large[1:]), prod(after[place] for place in ends[1:])
        found[ends[0]] = times(counts[used[0]], each, size)
    return found


def dimension_groups(before: Sequence[int], after: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """The dimensions of two shapes of as many elements, those together that become each other.

    >>> dimension_groups([6, 1, 4], [2, 3, 4])
    [([0], [0, 1]), ([1, 2], [2])]
    >>> dimension_groups([5, 4], [20])
    [([0, 1], [0])]
    """
    found, one, other = [], 0, 0
    while one < len(before) or other < len(after):
        group, others = [one] if one < len(before) else [], [other] if other < len(after) else []
        while (size := prod(before[i] for i in group)) != (wanted := prod(after[i] for i in others)):
            (group if size < wanted else others).append(one + len(group) if size < wanted else other + len(others))
        one, other = one + len(group), other + len(others)
        found.append((group, others))
    return found


def masked(value: ir.Value, counts: Counts, other: ir.Value) -> ir.Value:
    """``value`` with the scalar ``other`` in its padding along the dimensions of ``counts``."""
    for axis, count in counts.items():
        shape = list(value.type.shape)
        numbers = ir.RankedTensorType.get(shape, ir.IntegerType.get_signless(32))
        place = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), axis)
        own = stablehlo_op("stablehlo.iota", numbers, [], {"iota_dimension": place})
        truth = compared(own, spread(count, shape), "LT")
        value = chosen(truth, value, spread(other, shape))
    return value


def spread(scalar: ir.Value, shape: Sequence[int]) -> ir.Value:
    kind = ir.RankedTensorType.get(shape, scalar.type.element_type)
    none = ir.DenseI64ArrayAttr.get([])
    return stablehlo_op("stablehlo.broadcast_in_dim", kind, [scalar], {"broadcast_dimensions": none})


def scalar_type(value: ir.Value) -> ir.Type:
    return ir.RankedTensorType.get([], value.type.element_type)


def constant(number: int) -> ir.Value:
    return full(ir.Type.parse(I32), number)


def sum_of(one: ir.Value, other: ir.Value) -> ir.Value:
    return stablehlo_op("stablehlo.add", ir.Type.parse(I32), [one, other])


def times(count: ir.Value, factor: int, divisor: int) -> ir.Value:
    for name, number in (("multiply", factor), ("divide", divisor)):
        if number > 1:
            count = stablehlo_op(f"stablehlo.{name}", ir.Type.parse(I32), [count, constant(number)])
    return count
