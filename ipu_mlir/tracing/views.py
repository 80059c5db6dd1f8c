"""Reshapes, transpositions and broadcasts: the same elements, seen differently."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.support.linalg_builders import transpose_into
from ipu_mlir.specs.tensor_types import element_type
from ipu_mlir.tracing import shapes
from ipu_mlir.tracing.elementwise import elementwise
from ipu_mlir.tracing.emit import empty, without_elements
from ipu_mlir.tracing.errors import TraceIndexError, TraceValueError
from ipu_mlir.tracing.graph import Symbol
from ipu_mlir.tracing.pairs import as_pairs, from_pairs, is_complex

tensor = upstream("tensor")


def reshape(value: Symbol, shape: int | Sequence[int]) -> Any:
    """``value`` with its elements, in row-major order, in another shape; one size may be -1."""
    try:
        wanted = shapes.resolve_reshape(value.shape, shape)
    except ValueError as error:
        raise TraceValueError(f"reshape of {value}: {error}") from error
    if wanted == value.shape:
        return value
    if 0 in wanted:
        return without_elements(value.program, "reshape", wanted, value.dtype)
    if is_complex(value):
        return from_pairs(reshape(as_pairs(value), (*wanted, 2)))
    if not value.shape or not wanted:
        return _expand(value, wanted, []) if not value.shape else _collapse(value, wanted, [])
    groups = shapes.reshape_groups(value.shape, wanted)
    middle = tuple(math.prod(wanted[axis] for axis in right) for _, right in groups)
    flat = value if middle == value.shape else _collapse(value, middle, [left for left, _ in groups])
    return flat if middle == wanted else _expand(flat, wanted, [right for _, right in groups])


def transpose(value: Symbol, axes: Sequence[int] | None = None) -> Any:
    """``value`` with its dimensions in the order of ``axes``; without them, reversed."""
    rank = len(value.shape)
    order = list(range(rank))[::-1] if axes is None else [axis_of("transpose", value, axis) for axis in axes]
    if sorted(order) != list(range(rank)):
        raise TraceValueError(f"transpose of {value}: axes {tuple(axes or ())} are not each of its {rank} axes once")
    if order == list(range(rank)):
        return value
    shape = tuple(value.shape[axis] for axis in order)
    if 0 in shape:
        return without_elements(value.program, "transpose", shape, value.dtype)
    if is_complex(value):
        return from_pairs(transpose(as_pairs(value), [*order, rank]))
    with value.program.emit("transpose"):
        op = transpose_into(value.value, empty(shape, value.dtype), order)
        return value.program.wrap(op.results[0], shape, value.dtype)


def expand_dims(value: Symbol, axis: int | Sequence[int]) -> Any:
    """``value`` with new dimensions of size 1 at the places ``axis`` of the result."""
    given = list(axis) if isinstance(axis, Iterable) else [axis]
    rank = len(value.shape) + len(given)
    try:
        new = shapes.normalize_axes(given, rank)
    except IndexError as error:
        raise TraceIndexError(f"expand_dims of {value}: {error}") from error
    except ValueError as error:
        raise TraceValueError(f"expand_dims of {value}: {error}") from error
    sizes = iter(value.shape)
    return reshape(value, tuple(1 if place in new else next(sizes) for place in range(rank)))


def squeeze(value: Symbol, axis: int | Sequence[int] | None = None) -> Any:
    """``value`` without its dimensions of size 1, or without those that ``axis`` names."""
    if axis is None:
        gone = [place for place, size in enumerate(value.shape) if size == 1]
    else:
        gone = [axis_of("squeeze", value, each) for each in (axis if isinstance(axis, Iterable) else [axis])]
    for place in gone:
        if value.shape[place] != 1:
            raise TraceValueError(f"squeeze of {value}: axis {place} has size {value.shape[place]}, not 1")
    return reshape(value, tuple(size for place, size in enumerate(value.shape) if place not in gone))


def broadcast_to(value: Symbol, shape: int | Sequence[int]) -> Any:
    """``value`` repeated along the dimensions that it lacks, or that have size 1."""
    wanted = tuple(int(size) for size in (shape if isinstance(shape, Iterable) else [shape]))
    try:
        fits = shapes.broadcast_shapes([value.shape, wanted]) == wanted
    except ValueError:
        fits = False
    if not fits:
        raise TraceValueError(f"broadcast_to of {value}: its shape does not broadcast to {wanted}")
    if wanted == value.shape:
        return value
    dtype = value.dtype
    return elementwise(value.program, "broadcast_to", [value], [dtype], dtype, lambda element: element, wanted)


def axis_of(name: str, value: Symbol, axis: Any) -> int:
    """``axis`` of ``value``, counted from the front.

    Raises:
        TraceIndexError: ``value`` has no such axis.
    """
    try:
        return shapes.normalize_axis(int(axis), len(value.shape))
    except IndexError as error:
        raise TraceIndexError(f"{name} of {value}: {error}") from error


def _collapse(value: Symbol, shape: shapes.Shape, groups: list[list[int]]) -> Any:
    with value.program.emit("reshape"):
        type_ = ir.RankedTensorType.get(list(shape), element_type(value.dtype))
        return value.program.wrap(tensor.collapse_shape(type_, value.value, groups), shape, value.dtype)


def _expand(value: Symbol, shape: shapes.Shape, groups: list[list[int]]) -> Any:
    with value.program.emit("reshape"):
        type_ = ir.RankedTensorType.get(list(shape), element_type(value.dtype))
        expanded = tensor.expand_shape(type_, value.value, groups, output_shape=[], static_output_shape=list(shape))
        return value.program.wrap(expanded, shape, value.dtype)
