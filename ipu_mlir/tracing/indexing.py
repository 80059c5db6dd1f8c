"""Parts of tensors that are known while tracing: slices, runs of slices, and tensors one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.specs.tensor_types import element_type
from ipu_mlir.tracing import shapes
from ipu_mlir.tracing.emit import Backward, Loop, structured, without_elements
from ipu_mlir.tracing.graph import Symbol
from ipu_mlir.tracing.pairs import as_pairs, from_pairs, is_complex

arith, tensor = upstream("arith"), upstream("tensor")


@dataclass(frozen=True)
class Window:
    """The elements ``start, start + step, ...`` of one dimension, ``count`` of them; ``step`` may be negative."""

    start: int
    step: int
    count: int


def take(value: Symbol, positions: Sequence[int], axis: int) -> Any:
    """The elements at ``positions`` along ``axis``, by slices of runs with a constant step."""
    pieces = [_along(value, axis, run) for run in runs(list(positions))]
    return pieces[0] if len(pieces) == 1 else concatenate(pieces, axis)


def concatenate(parts: Sequence[Symbol], axis: int) -> Any:
    """``parts``, which fit and have one element type, one after the other along ``axis``."""
    first = parts[0]
    total = sum(part.shape[axis] for part in parts)
    shape = (*first.shape[:axis], total, *first.shape[axis + 1 :])
    if 0 in shape:
        return without_elements(first.program, "concatenate", shape, first.dtype)
    parts = [part for part in parts if part.shape[axis]]
    if len(parts) == 1:
        return parts[0]
    if is_complex(first):
        return from_pairs(concatenate([as_pairs(part) for part in parts], axis))
    with first.program.emit("concatenate"):
        type_ = ir.RankedTensorType.get(list(shape), element_type(first.dtype))
        op = tensor.concat(type_, axis, [part.value for part in parts])
        return first.program.wrap(op, shape, first.dtype)


def flip(value: Symbol, axes: Sequence[int]) -> Any:
    """``value`` with its elements along ``axes`` in reverse order."""
    return _reverse(value, axes)


def runs(positions: list[int]) -> list[Window]:
    """``positions`` as few windows, from the front.

    >>> runs([0, 1, 2, 7, 5, 3, 9])
    [Window(start=0, step=1, count=3), Window(start=7, step=-2, count=3), Window(start=9, step=1, count=1)]
    """
    runs: list[Window] = []
    for position in positions:
        last = runs[-1] if runs else None
        if last is not None and last.count == 1 and position != last.start:
            runs[-1] = Window(last.start, position - last.start, 2)
        elif last is not None and last.count > 1 and position == last.start + last.step * last.count:
            runs[-1] = Window(last.start, last.step, last.count + 1)
        else:
            runs.append(Window(position, 1, 1))
    return runs


def sliced(value: Symbol, windows: Sequence[Window]) -> Any:
    """One window per dimension; a backward window is a forward one that is reversed."""
    if all(window == Window(0, 1, size) for window, size in zip(windows, value.shape, strict=True)):
        return value
    if is_complex(value):
        return from_pairs(sliced(as_pairs(value), [*windows, Window(0, 1, 2)]))
    forward = [w if w.step > 0 else Window(w.start + w.step * (w.count - 1), -w.step, w.count) for w in windows]
    sizes = tuple(window.count for window in forward)
    found = value
    if any(window != Window(0, 1, size) for window, size in zip(forward, value.shape, strict=True)):
        found = _extract(value, forward, sizes)
    backward = [axis for axis, window in enumerate(windows) if window.step < 0 and window.count > 1]
    return _reverse(found, backward) if backward else found


def _along(value: Symbol, axis: int, window: Window) -> Any:
    return sliced(value, [window if each == axis else Window(0, 1, size) for each, size in enumerate(value.shape)])


def _extract(value: Symbol, windows: Sequence[Window], sizes: shapes.Shape) -> Any:
    with value.program.emit("slice"):
        op = tensor.ExtractSliceOp(
            ir.RankedTensorType.get(list(sizes), element_type(value.dtype)),
            value.value,
            [],
            [],
            [],
            [window.start for window in windows],
            list(sizes),
            [window.step if window.count > 1 else 1 for window in windows],
        )
        return value.program.wrap(op.result, sizes, value.dtype)


def _reverse(value: Symbol, axes: Sequence[int]) -> Any:
    index = tuple(Backward(axis, size) if axis in axes else axis for axis, size in enumerate(value.shape))
    loops = [Loop(size) for size in value.shape]
    order = tuple(range(len(value.shape)))
    return structured(value.program, "reverse", [(value, index)], loops, order, value.dtype, lambda element, _: element)
