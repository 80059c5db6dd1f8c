"""Where along the middle one of three dimensions the largest or the smallest element stands for the first time."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ipu_mlir.dialects.codelets.codelet import CodeletCall, LibraryCodelet, Shapes
from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.size_arithmetic import Size, per_worker, product_over, smaller
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.support.element_types import element_type

Array = np.ndarray[Any, Any]
Taken = Callable[[np.ufunc, Any, Any], bool]
"""True if an element takes the place of the best one so far: by the order, that one, the element."""


def _if_better(better: np.ufunc, best: Any, element: Any) -> bool:
    return bool(better(element, best))


def _unless_kept(better: np.ufunc, best: Any, element: Any) -> bool:
    return not (better(best, element) or best == element)


def _if_better_or_first_nan(better: np.ufunc, best: Any, element: Any) -> bool:
    return bool(better(element, best) or (element != element and best == best))


TAKEN: dict[str, Taken] = {"": _if_better, "_after_nan": _unless_kept, "_or_nan": _if_better_or_first_nan}
"""What the three forms do with NaN: they find nothing behind it, begin anew behind it, or find the first one."""


def first_maximum(a: Array, axis: int, out: Array) -> Array:
    """The place of the first of the largest elements along ``axis``; -1 where none is above the lowest number.

    As a loop that keeps ``maximum(best, a[i])``, and the place wherever ``a[i] > best``: it finds nothing after a NaN.

    >>> first_maximum(np.array([[1, 7, 7], [2, np.nan, 3], [-np.inf, -np.inf, np.nan]]), 1, np.empty(3, int)).tolist()
    [1, 0, -1]
    """
    a.argmax(axis, out)
    return _settled(a, axis, out, np.greater, _before_nan)


def first_minimum(a: Array, axis: int, out: Array) -> Array:
    """``first_maximum`` with order turned around.

    >>> first_minimum(np.array([3, 1, 1]), 0, np.empty((), int)).tolist()
    1
    """
    a.argmin(axis, out)
    return _settled(a, axis, out, np.less, _before_nan)


def first_maximum_after_nan(a: Array, axis: int, out: Array) -> Array:
    """``first_maximum`` of what comes after the last NaN, or the place of that where nothing does.

    As a loop that keeps ``best if best >= a[i] else a[i]``, and the place with it: it begins anew after a NaN.

    >>> first_maximum_after_nan(np.array([[1, 7, 7], [2, np.nan, 3], [2, 3, np.nan]]), 1, np.empty(3, int)).tolist()
    [1, 2, 2]
    """
    a.argmax(axis, out)
    return _settled(a, axis, out, np.greater, _after_nan)


def first_minimum_after_nan(a: Array, axis: int, out: Array) -> Array:
    """``first_maximum_after_nan`` with order turned around.

    >>> first_minimum_after_nan(np.array([0, np.nan, 3, 1, 1]), 0, np.empty((), int)).tolist()
    3
    """
    a.argmin(axis, out)
    return _settled(a, axis, out, np.less, _after_nan)


def first_maximum_or_nan(a: Array, axis: int, out: Array) -> Array:
    """The place of the first NaN along ``axis``, or of the first of the largest elements: what NumPy finds.

    As a loop that keeps ``best if best > a[i] or best != best else a[i]``, and the least place of equals.

    >>> first_maximum_or_nan(np.array([[1, 7, 7], [2, np.nan, 3]]), 1, np.empty(2, int)).tolist()
    [1, 1]
    """
    return a.argmax(axis, out)


def first_minimum_or_nan(a: Array, axis: int, out: Array) -> Array:
    """``first_maximum_or_nan`` with order turned around.

    >>> first_minimum_or_nan(np.array([3, 1, 1]), 0, np.empty((), int)).tolist()
    1
    """
    return a.argmin(axis, out)


def _settled(a: Array, axis: int, out: Array, better: np.ufunc, with_nan: Callable[[Array, np.ufunc], int]) -> Array:
    """``out`` corrected where it is the place of a NaN, or of the worst of all numbers."""
    if out.size == 1 and better(a.item(out.item()), _worst(a.dtype, better)):  # the way below takes 40 us
        return out
    found = np.take_along_axis(a, np.expand_dims(out, axis), axis).squeeze(axis)
    rows = np.moveaxis(a, axis, -1)
    for row in map(tuple, np.argwhere(~better(found, _worst(a.dtype, better)))):
        out[row] = with_nan(rows[row], better) if np.isnan(found[row]) else -1
    return out


def _before_nan(row: Array, better: np.ufunc) -> int:
    before = row[: int(np.isnan(row).argmax())]
    place = _best(before, better) if before.size else -1
    return place if place >= 0 and better(before[place], _worst(row.dtype, better)) else -1


def _after_nan(row: Array, better: np.ufunc) -> int:
    last = int(np.flatnonzero(np.isnan(row))[-1])
    after = row[last + 1 :]
    return last + 1 + _best(after, better) if after.size else last


def _best(row: Array, better: np.ufunc) -> int:
    return int(row.argmax() if better is np.greater else row.argmin())


def _worst(dtype: np.dtype, better: np.ufunc) -> float:
    """The number that nothing is worse than."""
    if dtype.kind == "f":
        return -np.inf if better is np.greater else np.inf
    return np.iinfo(dtype).min if better is np.greater else np.iinfo(dtype).max


def _first_of_one_vertex(better: np.ufunc, taken: Taken, values: Array) -> tuple[Array, ...]:
    """Go over each row, from the worst of all numbers on, and note where an element is taken: the definition."""
    outer, size, inner = values.shape
    found = np.full((outer, inner), -1)
    worst = values.dtype.type(_worst(values.dtype, better))
    for row, column in np.ndindex(found.shape):
        best = worst
        for at in range(size):
            element = values[row, at, column]
            if taken(better, best, element):
                best, found[row, column] = element, at
            elif taken is _if_better and element != element:
                break  # the extreme is NaN from here on, and nothing is better
    if taken is _if_better_or_first_nan:
        np.maximum(found, 0, out=found)  # one is always found: the first of all that are the lowest
    return (found,)


def first_extreme_cycles(rows: Size, n: Size, dtype: str, machine: Machine) -> Size:
    """The places of the extremes of ``rows`` of ``n`` elements. Source: assumed: a load, a comparison and two choices.

    The workers share the rows; or each takes its share of every row, and one compares what they have: whichever is
    faster.
    """
    each = 3 + element_type(dtype).slowdown
    by_row = 26 + per_worker(rows, machine) * n * each
    shared = 2 * 26 + rows * (per_worker(n, machine) + machine.workers) * each
    return 11 + machine.workers * smaller(by_row, shared)


def _cycles(call: CodeletCall, sizes: IntArray, machine: Machine) -> Size:
    rows, n = product_over(sizes, call.kept), product_over(sizes, call.reduced)
    return first_extreme_cycles(rows, n, call.dtypes[0], machine)


def _takes(inputs: Shapes, outputs: Shapes) -> bool:
    return len(inputs) == len(outputs) == 1 and len(inputs[0]) == 3 and outputs[0] == (inputs[0][0], inputs[0][2])


def _codelet(name: str, better: np.ufunc, nan: str) -> LibraryCodelet:
    return LibraryCodelet(
        name=f"first_{name}{nan}",
        per_tile=partial(_first_of_one_vertex, better, TAKEN[nan]),
        vectorised=None,
        cycles=_cycles,
        code_bytes=192,
        rounds=False,
        needs="one operand of three dimensions, and a result of the first and the last of them",
        takes=_takes,
        source=f"a loop that keeps the {name}; with _or_nan, numpy.arg{name[:3]}",
    )


FIRST_EXTREMES = tuple(
    _codelet(name, better, nan) for name, better in (("maximum", np.greater), ("minimum", np.less)) for nan in TAKEN
)
"""Dimensions are outer, searched, inner; results are outer, inner: places, or -1 where nothing is found."""
