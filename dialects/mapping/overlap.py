"""The number of elements that parts of two mappings have in common, in closed form.

Two mappings are cut at weights at which the elements of both split into digits: then the common elements are the
product of the common values of each slice of digits between two cuts. Within a slice one of the two must be a single
interval: then its common values with any digits of the other follow from two ranks, *how many values lie below x*.
Where no such cuts exist there is no closed form, and ``enumeration`` counts.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import gcd, prod
from typing import NamedTuple

import numpy as np

from ipu_mlir.dialects.mapping.enumeration import count_held
from ipu_mlir.dialects.mapping.factors import Family
from ipu_mlir.dialects.mapping.loops import IntArray

_MOST_NUMBERS = 1 << 20  # of one array: more intervals are looked at one after the other


class Digits(NamedTuple):
    """The numbers that decide where a family can be cut: base, and weight and span of each factor."""

    base: int
    weights: tuple[int, ...]
    spans: tuple[int, ...]


class Cut(NamedTuple):
    """Factors before ``first`` and ``second`` of the two families are multiples of ``unit``, the rest lies below it.

    ``unit`` 0 stands for no bound, at the top.
    """

    first: int
    second: int
    unit: int


class Slice(NamedTuple):
    """The rows of one family's factors between two cuts: weights in units of the lower cut, starts and counts."""

    base: int
    weights: tuple[int, ...]
    rows: tuple[tuple[IntArray, IntArray], ...]


def digits_of(family: Family) -> Digits:
    """The digits of all parts of ``family``."""
    factors = family.factors
    return Digits(family.base, tuple(x.weight for x in factors), tuple(x.span for x in factors))


def _fits_under(digits: Digits, inner: int, unit: int) -> bool:
    """True if everything from factor ``inner`` on stays below ``unit`` once the base is added."""
    reach = sum(w * s for w, s in zip(digits.weights[inner:], digits.spans[inner:], strict=True))
    return unit == 0 or digits.base % unit + reach < unit


def _is_interval(weights: Sequence[int], unit: int) -> bool:
    return len(weights) == 0 or (len(weights) == 1 and weights[0] == unit)


@lru_cache(maxsize=1024)
def common_cuts(a: Digits, b: Digits) -> tuple[Cut, ...] | None:
    """As many cuts as possible, from the top down to unit 1, such that each slice is an interval in ``a`` or ``b``."""
    best: dict[Cut, tuple[Cut, ...]] = {}
    for i in range(len(a.weights) + 1):
        for j in range(len(b.weights) + 1):
            cut = Cut(i, j, gcd(*a.weights[:i], *b.weights[:j]))
            if i == j == 0:
                best[cut] = (cut,)
                continue
            if not (_fits_under(a, i, cut.unit) and _fits_under(b, j, cut.unit)):
                continue
            ways = [
                way
                for last, way in best.items()
                if last.first <= i and last.second <= j
                if _is_interval(a.weights[last.first : i], cut.unit)
                or _is_interval(b.weights[last.second : j], cut.unit)
            ]
            if ways:
                best[cut] = (*max(ways, key=len), cut)
    for cut, way in best.items():
        if cut.first == len(a.weights) and cut.second == len(b.weights):
            return way if cut.unit == 1 else (*way, Cut(cut.first, cut.second, 1))
    return None


def _slice(family: Family, parts: IntArray | None, begin: int, end: int, upper: int, unit: int) -> Slice:
    base = (family.base % upper if upper else family.base) // unit
    weights = tuple(factor.weight // unit for factor in family.factors[begin:end])
    return Slice(base, weights, tuple(family.rows(f, parts) for f in range(begin, end)))


def count_common(a: Family, a_parts: IntArray | None, b: Family, b_parts: IntArray | None) -> IntArray | None:
    """The elements that ``a_parts[i]`` and ``b_parts[i]`` have in common, counted; None without a closed form.

    Parts None stands for all parts in order. The answer has one entry if it is the same for all parts.
    """
    cuts = common_cuts(digits_of(a), digits_of(b))
    if cuts is None:
        return None
    common = np.ones(1, dtype=np.int64)
    for upper, lower in pairwise(cuts):
        x = _slice(a, a_parts, upper.first, lower.first, upper.unit, lower.unit)
        y = _slice(b, b_parts, upper.second, lower.second, upper.unit, lower.unit)
        common = common * _common_in_slice(x, y)
    return common


def count_on_same_tiles(a: Family, b: Family) -> IntArray | None:
    """The number of elements of each part of ``b`` that ``a`` has on its tile; None without a closed form."""
    if np.array_equal(a.tiles, b.tiles):
        return count_common(a, None, b, None)
    a_parts, b_parts = _meeting_parts(a, b)
    common = count_common(a, a_parts, b, b_parts)
    if common is None:
        return None
    counts = np.zeros(b.num_parts, dtype=np.int64)
    counts[b_parts] = common
    return counts


def count_on_same_tiles_by_element(a: Family, b: Family) -> IntArray:
    """``count_on_same_tiles`` for any two families, in time proportional to the elements of ``b``."""
    a_parts, b_parts = _meeting_parts(a, b)
    counts = np.zeros(b.num_parts, dtype=np.int64)
    counts[b_parts] = count_held(a, a_parts, b, b_parts)
    return counts


def _meeting_parts(a: Family, b: Family) -> tuple[IntArray, IntArray]:
    """The parts of ``a`` and of ``b`` that share a tile, pair by pair."""
    a_parts = a.parts_on(b.tiles)
    b_parts = np.flatnonzero(a_parts >= 0)
    return a_parts[b_parts], b_parts


def _common_in_slice(x: Slice, y: Slice) -> IntArray:
    if not _is_interval(x.weights, 1):
        x, y = y, x
    x_starts, x_counts = x.rows[0] if x.rows else (np.zeros((1, 1), dtype=np.int64), np.ones((1, 1), dtype=np.int64))
    x_starts = x_starts + x.base
    at_once = max(1, _MOST_NUMBERS // max(len(x_starts), *(len(starts) for starts, _ in y.rows), 1))
    common = np.zeros(1, dtype=np.int64)
    for first in range(0, x_starts.shape[1], at_once):
        start = x_starts[:, first : first + at_once]
        stop = start + x_counts[:, first : first + at_once]
        if not y.rows:
            found = (start <= y.base) & (y.base < stop)
        elif _is_interval(y.weights, 1):
            found = _common_with_intervals(start - y.base, stop - y.base, *y.rows[0])
        else:
            found = _rank(y, stop) - _rank(y, start)
        common = common + found.sum(axis=1)
    return common


def _common_with_intervals(start: IntArray, stop: IntArray, starts: IntArray, counts: IntArray) -> IntArray:
    """The number of numbers of the intervals of each row that lie in ``start .. stop - 1``, several in each row."""
    common = np.zeros((1, 1), dtype=np.int64)
    for k in range(starts.shape[1]):
        low = np.maximum(start, starts[:, k, None])
        high = np.minimum(stop, (starts[:, k] + counts[:, k])[:, None])
        common = common + np.maximum(high - low, 0)
    return common


def _rank(digits: Slice, x: IntArray) -> IntArray:
    """The number of values of the slice below each number in a row of ``x``, row by row."""
    rest = x - digits.base
    sizes = [_row_sum(counts)[:, None] for _, counts in digits.rows]
    below = np.zeros((1, 1), dtype=np.int64)
    same = np.ones((1, 1), dtype=np.int64)  # whether the digits so far can be those of x
    for index, (weight, (starts, counts)) in enumerate(zip(digits.weights, digits.rows, strict=True)):
        value = rest // weight
        rest = rest - value * weight
        columns = [(starts[:, k, None], counts[:, k, None]) for k in range(starts.shape[1])]
        smaller = [np.minimum(np.maximum(value - start, 0), count) for start, count in columns]
        below = below + same * sum(smaller) * prod(sizes[index + 1 :])
        if weight == 1:
            return below
        same = same * sum((value >= start) & (value - start < count) for start, count in columns)
    return below + same * (rest > 0)


def _row_sum(table: IntArray) -> IntArray:
    """The sum of each row; tables have many short rows, often of length 1."""
    return sum((table[:, k] for k in range(1, table.shape[1])), start=table[:, 0])
