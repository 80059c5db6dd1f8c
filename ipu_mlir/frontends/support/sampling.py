"""Images between their elements: the elements around places that are computed, their shares, and gradients."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

_CUBIC = -0.75
"""The parameter of Keys' cubic convolution that PyTorch and ONNX take."""


@dataclass(frozen=True)
class Tap:
    """An element near a place along one dimension.

    Attributes:
        index: of the element, of type int32, within the image.
        share: of the element in the value at the place.
        slope: of the share, as the place moves on.
    """

    index: Any
    share: Any
    slope: Any


def unnormalized(place: Any, size: int, align_corners: bool) -> Any:
    """Where -1 to 1 is among ``size`` elements: from the middles of the outer ones, or from their outer edges."""
    return (place + 1) * (0.5 * (size - 1)) if align_corners else ((place + 1) * float(size) - 1) * 0.5


def taps(place: Any, size: int, kind: str, outside: str, align_corners: bool) -> list[Tap]:
    """The elements of ``size`` ones around ``place``.

    Args:
        kind: ``nearest``, ``linear`` or ``cubic``.
        outside: what is beyond the image: ``zeros``, its ``border``, or its ``reflection``.
        align_corners: whether reflections are about the middles of the outer elements, not their outer edges.
    """
    if kind == "nearest":
        nearest = np.rint(place)
        return [_inside(Tap(nearest, np.ones_like(place), np.zeros_like(place)), size, outside, align_corners)]
    first = np.floor(place)
    between = place - first
    offsets = (0, 1) if kind == "linear" else (-1, 0, 1, 2)
    found = []
    for offset in offsets:
        share, slope = (_linear if kind == "linear" else _cubic)(between - offset)
        found.append(_inside(Tap(first + float(offset), share, slope), size, outside, align_corners))
    return found


def _linear(distance: Any) -> tuple[Any, Any]:
    return 1 - np.abs(distance), -np.where(distance < 0, -1.0, 1.0).astype(distance.dtype)


def _cubic(distance: Any) -> tuple[Any, Any]:
    """Keys' kernel at a distance up to 2, and its slope."""
    a, x = _CUBIC, np.abs(distance)
    near, near_slope = ((a + 2) * x - (a + 3)) * x * x + 1, (3 * (a + 2) * x - 2 * (a + 3)) * x
    far, far_slope = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a, (3 * a * x - 10 * a) * x + 8 * a
    slope = np.where(x <= 1, near_slope, far_slope)
    return np.where(x <= 1, near, far), np.where(distance < 0, -slope, slope)


def _inside(tap: Tap, size: int, outside: str, align_corners: bool) -> Tap:
    place, last = tap.index, float(size - 1)
    if outside == "reflection":
        place = _reflected(place, size, align_corners)
    index = np.clip(place, 0.0, last).astype(np.int32)
    if outside != "zeros":
        return Tap(index, tap.share, tap.slope)
    is_there = (place >= 0) & (place <= last)
    return Tap(index, *(np.where(is_there, each, np.zeros_like(each)) for each in (tap.share, tap.slope)))


def _reflected(place: Any, size: int, align_corners: bool) -> Any:
    low, span = (0.0, float(size - 1)) if align_corners else (-0.5, float(size))
    if span == 0:
        return np.zeros_like(place)
    distance = np.abs(place - low)
    times = np.floor(distance / span)
    rest = distance - times * span
    is_even = times - 2.0 * np.floor(times * 0.5) == 0
    return np.where(is_even, low + rest, low + span - rest)


def corners(around: Sequence[Sequence[Tap]], sizes: Sequence[int]) -> Iterator[tuple[Any, tuple[Tap, ...]]]:
    """Each choice of an element along each dimension: its number in the image, and the elements."""
    for chosen in product(*around):
        number = chosen[0].index
        for tap, size in zip(chosen[1:], sizes[1:], strict=True):
            number = number * np.int32(size) + tap.index
        yield number, chosen


def elements(x: Any, number: Any) -> Any:
    """The elements of images ``x`` of one dimension, of each sample those of ``number``, for all channels."""
    samples, channels, _ = x.shape
    index = np.broadcast_to(np.reshape(number, (samples, 1, -1)), (samples, channels, math.prod(number.shape[1:])))
    return np.take_along_axis(x, index, 2)


def sampled(x: Any, around: Sequence[Sequence[Tap]]) -> Any:
    """The values of images ``x`` (samples, channels, ...) at places (samples, ...), whose elements ``around`` has."""
    flat = np.reshape(x, (*x.shape[:2], -1))
    total: Any = None
    for number, chosen in corners(around, x.shape[2:]):
        part = elements(flat, number) * _flat(math.prod(tap.share for tap in chosen))
        total = part if total is None else total + part
    return np.reshape(total, (*x.shape[:2], *around[0][0].index.shape[1:]))


def _flat(shares: Any) -> Any:
    """Of each sample, for all channels."""
    return np.reshape(shares, (shares.shape[0], 1, -1))


def gradient_of_image(gradient: Any, shape: Sequence[int], around: Sequence[Sequence[Tap]]) -> Any:
    """The gradient of ``sampled`` for images of ``shape``: at each element the sum of what places near it have."""
    samples, channels = shape[:2]
    flat = np.reshape(gradient, (samples, channels, -1))
    found = gradient.program.constant(np.zeros((samples, channels, math.prod(shape[2:])), gradient.dtype))
    each, channel = np.arange(samples)[:, None, None], np.arange(channels)[None, :, None]
    for number, chosen in corners(around, shape[2:]):
        part = flat * _flat(math.prod(tap.share for tap in chosen))
        found = found.at[each, channel, np.reshape(number, (samples, 1, -1))].add(part)
    return np.reshape(found, shape)


def gradient_of_places(gradient: Any, x: Any, around: Sequence[Sequence[Tap]]) -> list[Any]:
    """The gradient of ``sampled`` for the places, along each dimension."""
    flat, of_each = (np.reshape(each, (*each.shape[:2], -1)) for each in (x, gradient))
    shape = around[0][0].index.shape
    found: list[Any] = [None] * len(around)
    for number, chosen in corners(around, x.shape[2:]):
        felt = np.sum(elements(flat, number) * of_each, axis=1)
        for axis in range(len(around)):
            factors = [tap.slope if place == axis else tap.share for place, tap in enumerate(chosen)]
            part = np.reshape(felt, shape) * math.prod(factors)
            found[axis] = part if found[axis] is None else found[axis] + part
    return found
