"""Views: which elements of an allocation a memref shows, and what of a mapping is seen through it."""

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import prod

import numpy as np

from ipu_mlir.dialects.mapping.factors import Factor, Family, one_interval
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.mapping.overlap import Digits, common_cuts, digits_of


@dataclass(frozen=True)
class View:
    """A memref into an allocation: index ``(i_0, i_1, ...)`` shows element ``offset + sum(strides[d] * i_d)``.

    The *position* of an index is its row-major number within ``shape``.

    >>> View(offset=1, shape=(2, 2), strides=(4, 1)).elements().tolist()
    [1, 2, 5, 6]
    """

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @staticmethod
    def whole(shape: tuple[int, ...]) -> "View":
        """The view of a whole allocation of this shape."""
        return View(0, shape, tuple(prod(shape[d + 1 :]) for d in range(len(shape))))

    def permuted(self, order: tuple[int, ...]) -> "View":
        """The same elements with the dimensions in another order."""
        return View(self.offset, tuple(self.shape[d] for d in order), tuple(self.strides[d] for d in order))

    def memory_order(self) -> tuple[int, ...]:
        """The dimensions in order of falling strides."""
        return tuple(sorted(range(len(self.shape)), key=lambda d: -self.strides[d]))

    @property
    def size(self) -> int:
        """The number of positions of the view."""
        return prod(self.shape)

    def is_whole(self) -> bool:
        """True if position ``i`` shows element ``i``."""
        return self.offset == 0 and self.strides == View.whole(self.shape).strides

    def elements(self) -> IntArray:
        """The element that each position shows, shape ``(size,)``."""
        elements = np.array([self.offset], dtype=np.int64)
        for extent, stride in zip(self.shape, self.strides, strict=True):
            elements = np.add.outer(elements, stride * np.arange(extent)).reshape(-1)
        return elements


@dataclass(frozen=True)
class _Dim:
    """``extent`` steps of ``stride`` elements in the allocation, and of ``weight`` positions in the view."""

    extent: int
    stride: int
    weight: int


@lru_cache(maxsize=1024)
def seen_through(family: Family, view: View) -> Family | None:
    """The parts of ``family`` with the positions of ``view`` whose elements they hold; None if they are no product.

    Parts may come in another order, and some may be empty. ``view`` has at least one position.
    """
    if view.is_whole() and family.base >= 0 and family.last < view.size:
        return family
    dims = _dims(view, {factor.weight for factor in family.factors})
    if dims is None:
        return None
    shown = Digits(view.offset, tuple(x.stride for x in dims), tuple(x.extent - 1 for x in dims))
    cuts = common_cuts(digits_of(family), shown)
    if cuts is None:
        return None
    base = 0
    factors: list[Factor] = []
    for upper, lower in pairwise(cuts):
        start = _between(family.base, upper.unit, lower.unit) - _between(view.offset, upper.unit, lower.unit)
        held = [
            replace(factor, weight=factor.weight // lower.unit) for factor in family.factors[upper.first : lower.first]
        ]
        seen = _seen_in_slice(held, start, dims[upper.second : lower.second], lower.unit, view.size)
        if seen is None:
            return None
        base += seen[0]
        factors += seen[1]
    factors.sort(key=lambda factor: -factor.weight)
    return Family(base, family.first_tile, tuple(_merge_full(factors)), family.repeats)


def _merge_full(factors: list[Factor]) -> list[Factor]:
    """The same factors, where one that has all values below the next larger weight in one part joins that one."""
    merged: list[Factor] = []
    for factor in factors:
        extent = factor.span + 1
        full = factor.counts.shape == (1, 1) and factor.counts[0, 0] == extent
        if merged and full and merged[-1].weight == extent * factor.weight and merged[-1].span > 0:
            outer = merged.pop()
            span = (outer.span + 1) * extent - 1
            starts, counts = outer.starts * extent, outer.counts * extent
            factor = replace(outer, weight=factor.weight, span=span, starts=starts, counts=counts)
        merged.append(factor)
    return merged


def _between(base: int, upper: int, lower: int) -> int:
    return (base % upper if upper else base) // lower


def _dims(view: View, weights: set[int]) -> list[_Dim] | None:
    """The view's dimensions from the largest stride to the smallest, merged, then cut at ``weights``.

    None if the strides are not positive, or if the dimensions interleave.
    """
    dims: list[_Dim] = []
    weight = view.size
    for extent, stride in zip(view.shape, view.strides, strict=True):
        weight //= extent
        if extent == 1:
            continue
        if dims and dims[-1].stride == extent * stride:
            extent *= dims.pop().extent
        dims.append(_Dim(extent, stride, weight))
    for cut in sorted(weights):
        dims = [piece for dim in dims for piece in _split(dim, cut, view.offset)]
    dims.sort(key=lambda dim: -dim.stride)
    reach = 0
    for dim in reversed(dims):
        if dim.stride <= reach:
            return None
        reach += dim.stride * (dim.extent - 1)
    return dims


def _split(dim: _Dim, cut: int, offset: int) -> list[_Dim]:
    """``dim`` in two, the outer one with the stride ``cut``, if its first and its last element allow it."""
    ratio = cut // dim.stride if dim.stride > 0 and cut % dim.stride == 0 else 0
    if ratio <= 1 or dim.extent % ratio or dim.extent == ratio or offset // dim.stride % ratio:
        return [dim]
    return [_Dim(dim.extent // ratio, cut, dim.weight * ratio), _Dim(ratio, dim.stride, dim.weight)]


def _seen_in_slice(
    held: list[Factor], start: int, dims: list[_Dim], unit: int, size: int
) -> tuple[int, list[Factor]] | None:
    """The part of ``held`` that is seen through ``dims``: first position, and factors of positions.

    The values of ``held`` are in units of ``unit`` and relative to the view once ``start`` is added.
    """
    if not dims:
        return 0, _seen_at_one_value(held, -start, size)
    if len(dims) > 1:
        seen = _seen_all_or_nothing(held, start, dims, unit, size)
        return None if seen is None else (0, seen)
    dim, step = dims[0], dims[0].stride // unit
    if not held:
        if start % step == 0 and 0 <= start // step < dim.extent:
            return dim.weight * (start // step), []
        return 0, [one_interval(size, 0)]
    if len(held) == 1 and held[0].weight == 1:
        low = -(-(held[0].starts + start) // step)
        high = -(-(held[0].starts + held[0].counts + start) // step)
        low, high = np.clip(low, 0, dim.extent), np.clip(high, 0, dim.extent)
        return 0, [replace(held[0], weight=dim.weight, span=dim.extent - 1, starts=low, counts=high - low)]
    last = start + sum(factor.weight * factor.span for factor in held)
    if step == 1 and start >= 0 and last < dim.extent:
        return dim.weight * start, [replace(factor, weight=dim.weight * factor.weight) for factor in held]
    return None


def _seen_at_one_value(held: list[Factor], value: int, size: int) -> list[Factor]:
    """Factors that have position 0 in the parts that hold ``value``, and nothing in the others."""
    factors = []
    for factor in held:
        digit, value = divmod(value, factor.weight)
        inside = (factor.starts <= digit) & (digit < factor.starts + factor.counts)
        there = inside.any(axis=1, keepdims=True).astype(np.int64)
        factors.append(replace(factor, weight=size, span=0, starts=np.zeros_like(there), counts=there))
    return [*factors, one_interval(size, 0)] if value else factors


def _seen_all_or_nothing(held: list[Factor], start: int, dims: list[_Dim], unit: int, size: int) -> list[Factor] | None:
    """Factors that have every position of ``dims`` in some parts and none in all others, if that is how it is."""
    if len(held) != 1 or held[0].weight != 1:
        return None
    low, high = held[0].starts + start, held[0].starts + held[0].counts + start
    last = sum(dim.stride // unit * (dim.extent - 1) for dim in dims)
    everything, nothing = (low <= 0) & (last < high), (high <= 0) | (last < low) | (low == high)
    if not (everything | nothing).all():
        return None
    there = everything.any(axis=1, keepdims=True).astype(np.int64)
    chosen = replace(held[0], weight=size, span=0, starts=np.zeros_like(there), counts=there)
    return [chosen, *(one_interval(dim.weight, dim.extent) for dim in dims)]
