"""``x.at[...]``: traced tensors with some elements changed, as JAX has it; and slices that begin anywhere."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.specs.tensor_types import kind_of
from ipu_mlir.tracing import indexing, shapes
from ipu_mlir.tracing.elements.keys import Selection, selection
from ipu_mlir.tracing.elements.reading import getitem, index_of
from ipu_mlir.tracing.elementwise import astype, where
from ipu_mlir.tracing.emit import index_constant
from ipu_mlir.tracing.errors import TraceAttributeError, TraceTypeError, TraceValueError
from ipu_mlir.tracing.graph import Symbol
from ipu_mlir.tracing.operands import common_dtype, operand, tensor
from ipu_mlir.tracing.pairs import as_pairs, from_pairs, is_complex
from ipu_mlir.tracing.scalar_ops import BODIES
from ipu_mlir.tracing.views import broadcast_to, reshape

arith, scf, tensor_ops = upstream("arith"), upstream("scf"), upstream("tensor")

_NAMES = {each.__name__: each for each in (np.add, np.subtract, np.multiply, np.divide, np.power)}
COMBINE: dict[str, np.ufunc] = {**_NAMES, "min": np.minimum, "max": np.maximum}
"""By the names of methods of ``x.at[key]``."""


class AtIndexer:
    """``x.at``: give it an index."""

    def __init__(self, value: Symbol) -> None:
        self._value = value

    def __getitem__(self, key: Any) -> "At":
        return At(self._value, key)


class At:
    """``x.at[key]``: what ``x`` is with the elements that ``key`` selects set, added to, and so on. ``x`` stays.

    Values broadcast to the shape of ``x[key]``. An element that is selected several times takes all values one after
    the other, so that the last one stays of those that are set. A traced index that is negative counts from the end;
    what is written outside goes nowhere.
    """

    def __init__(self, value: Any, key: Any) -> None:
        self._value = value
        self._key = key

    def get(self) -> Any:
        """``x[key]``."""
        return getitem(self._value, self._key)

    def set(self, values: Any) -> Any:
        """With ``values`` there."""
        return self._written(values, "set")

    def add(self, values: Any) -> Any:
        """With ``values`` added there."""
        return self._written(values, "add")

    def subtract(self, values: Any) -> Any:
        """With ``values`` subtracted there."""
        return self._written(values, "subtract")

    def multiply(self, values: Any) -> Any:
        """With what is there multiplied by ``values``."""
        return self._written(values, "multiply")

    def divide(self, values: Any) -> Any:
        """With what is there, floats, divided by ``values``."""
        if self._value.dtype.kind in "biu":
            raise TraceTypeError(f"at[].divide of {self._value.dtype}: quotients are floats; use astype(np.float32)")
        return self._written(values, "divide")

    def power(self, values: Any) -> Any:
        """With what is there to the power of ``values``."""
        return self._written(values, "power")

    def min(self, values: Any) -> Any:
        """With the smaller one of what is there and ``values``."""
        return self._written(values, "min")

    def max(self, values: Any) -> Any:
        """With the larger one of what is there and ``values``."""
        return self._written(values, "max")

    def _written(self, values: Any, how: str) -> Any:
        return _written(self._value, self._key, values, how)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise TraceAttributeError(f"x.at[...] has no {name}; it has {', '.join(['get', 'set', *COMBINE])}")


def _written(value: Symbol, key: Any, values: Any, how: str) -> Any:
    name = f"at[].{how}"
    new = _as_type_of(name, value, values)
    if how == "subtract":
        how, new = "add", np.negative(new)
    if isinstance(key, Symbol) and key.dtype.kind == "b" and key.shape:
        return _where_masked(name, value, key, new, how)
    chosen = selection(value, key)
    try:
        fits = shapes.broadcast_shapes([new.shape, chosen.shape]) == chosen.shape
    except ValueError:
        fits = False
    if not fits:
        raise TraceValueError(
            f"{name} of {value}: values of shape {new.shape} do not broadcast to what is selected, {chosen.shape}"
        )
    if 0 in chosen.shape:
        return value
    if not chosen.arrays:
        new = broadcast_to(new if how == "set" else COMBINE[how](getitem(value, key), new), chosen.shape)
    elif is_complex(value) and how not in ("set", "add"):
        raise TraceTypeError(f"{name} of {value}: complex elements at places that arrays say can be set and added to")
    write = partial(_scattered, how=how) if chosen.arrays else _with_windows
    if not is_complex(value):
        return write(name, value, chosen, new)
    axis = len(value.shape)  # of the two parts
    windows, after = (*chosen.windows, indexing.Window(0, 1, 2)), (*chosen.after, axis)
    pairs = replace(chosen, windows=windows, after=after, shape=(*chosen.shape, 2))
    return from_pairs(write(name, as_pairs(value), pairs, as_pairs(new)))


def _as_type_of(name: str, value: Symbol, values: Any) -> Any:
    """``values`` as a tensor of the element type of ``value``.

    Raises:
        TraceTypeError: they are of another kind of numbers.
    """
    given = operand(value.program, values)
    common, own = (kind_of(each).replace("u", "i") for each in (common_dtype([value, given]), value.dtype))
    if common != own:
        raise TraceTypeError(f"{name} of {value} with {given}: values of another kind; use astype(np.{value.dtype})")
    return astype(tensor(value.program, values, value.dtype), value.dtype)


def _where_masked(name: str, value: Symbol, mask: Any, new: Any, how: str) -> Any:
    """Elements change where ``mask``, over the first dimensions of ``value``, is true."""
    rank = len(mask.shape)
    if mask.shape != value.shape[:rank]:
        raise TraceValueError(f"{name} of {value}: the mask {mask} is for other sizes than the first of {value.shape}")
    if new.shape and len(new.shape) > len(value.shape) - rank:
        raise TraceValueError(
            f"{name} of {value}: how many elements {mask} selects is not known while tracing; "
            f"give one value for all, or one of shape {value.shape[rank:]}"
        )
    over = reshape(mask, (*mask.shape, *(1 for _ in value.shape[rank:])))
    return where(over, new if how == "set" else COMBINE[how](value, new), value)


def _with_windows(name: str, value: Symbol, chosen: Selection, new: Any) -> Any:
    """``value`` with ``new`` in windows that are known."""
    windows = chosen.windows
    new = reshape(new, tuple(window.count for window in windows))
    backward = [axis for axis, window in enumerate(windows) if window.step < 0 and window.count > 1]
    new = indexing.flip(new, backward) if backward else new
    starts = [min(window.start, window.start + window.step * (window.count - 1)) for window in windows]
    steps = [abs(window.step) if window.count > 1 else 1 for window in windows]
    with value.program.emit(name):
        op = tensor_ops.InsertSliceOp(new.value, value.value, [], [], [], starts, list(new.shape), steps)
        return value.program.wrap(op.result, value.shape, value.dtype)


def _scattered(name: str, value: Symbol, chosen: Selection, new: Any, how: str) -> Any:
    """``value`` with ``new`` at places that arrays say: element after element, in loops."""
    trace = value.program
    before, after = chosen.axes
    sizes = (*(chosen.windows[axis].count for axis in before), *chosen.picked)
    sizes = (*sizes, *(chosen.windows[axis].count for axis in after))
    loop_of = {axis: loop for loop, axis in enumerate(before)}
    loop_of |= {axis: loop for loop, axis in enumerate(after, start=len(before) + len(chosen.picked))}
    new = _without_new_axes(chosen, new, len(sizes))
    arrays = {
        axis: array if isinstance(array, Symbol) else trace.constant(array) for axis, array in chosen.arrays.items()
    }
    combine = None if how == "set" else BODIES[COMBINE[how].__name__].for_kind(kind_of(value.dtype))

    def place(counters: Sequence[ir.Value]) -> list[ir.Value]:
        picked = counters[len(before) : len(before) + len(chosen.picked)]
        found = []
        for axis, window in enumerate(chosen.windows):
            if axis in arrays:
                found.append(index_of(arrays[axis], _trailing(picked, arrays[axis].shape), value.shape[axis]))
            elif axis in loop_of and window.count > 1:
                found.append(_scaled(counters[loop_of[axis]], window.start, window.step))
            else:
                found.append(index_constant(window.start))
        return found

    def step(counters: Sequence[ir.Value], so_far: ir.Value) -> ir.Value:
        at = place(counters)
        element = tensor_ops.ExtractOp(new.value, _trailing(counters, new.shape)).result
        if combine is not None:
            element = combine(tensor_ops.ExtractOp(so_far, at).result, element)
        return tensor_ops.InsertOp(element, so_far, at).result

    with trace.emit(name):
        return trace.wrap(_nest(sizes, step, value.value), value.shape, value.dtype)


def _without_new_axes(chosen: Selection, new: Any, rank: int) -> Any:
    """``new``, which broadcasts to the shape of what is chosen, as it broadcasts without new axes: of ``rank``."""
    whole = (*(1 for _ in range(len(chosen.shape) - len(new.shape))), *new.shape)
    axes = (*chosen.before, *(range(len(chosen.picked))), *chosen.after)
    return reshape(new, tuple(size for size, axis in zip(whole, axes, strict=True) if axis is not None))


def _trailing(counters: Sequence[ir.Value], shape: shapes.Shape) -> list[ir.Value]:
    """The counters that index a tensor of ``shape``, which broadcasts to the sizes of the loops."""
    own = list(counters)[len(counters) - len(shape) :]
    return [index_constant(0) if size == 1 else counter for counter, size in zip(own, shape, strict=True)]


def _scaled(counter: ir.Value, start: int, step: int) -> ir.Value:
    scaled = counter if step == 1 else arith.muli(counter, index_constant(step))
    return scaled if start == 0 else arith.addi(scaled, index_constant(start))


def _nest(
    sizes: Sequence[int],
    step: Callable[[Sequence[ir.Value], ir.Value], ir.Value],
    start: ir.Value,
    counters: tuple[ir.Value, ...] = (),
) -> ir.Value:
    """``start``, changed by ``step`` for all counters below ``sizes``, at the current insertion point."""
    if not sizes:
        return step(counters, start)
    size, *inner = sizes
    loop = scf.ForOp(index_constant(0), index_constant(size), index_constant(1), [start])
    with ir.InsertionPoint(loop.body):
        scf.YieldOp([_nest(inner, step, loop.inner_iter_args[0], (*counters, loop.induction_variable))])
    return loop.results[0]
