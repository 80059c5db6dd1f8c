"""``np.fft``: each row is transformed by a library codelet on one tile; long ones are put together from short ones."""

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from ipu_mlir.specs.tensor_types import kind_of
from ipu_mlir.tracing import views
from ipu_mlir.tracing.codelets import apply_codelet
from ipu_mlir.tracing.elementwise import astype
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.functions.arranging import moveaxis, roll
from ipu_mlir.tracing.pairs import complex_of, is_complex, part

_LARGEST = 4096
"""Rows up to it are transformed by a vertex each; larger ones by two transforms of factors, if they have such."""

_OPPOSITE = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def fft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    return _transform("fft", a, n, axis, norm, -1)


def ifft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    return _transform("ifft", a, n, axis, norm, 1)


def rfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    if is_complex(a):
        raise TraceTypeError(f"rfft of {a}: give real numbers, or use np.fft.fft")
    rows, along, size = _rows("rfft", a, n, axis, norm)
    if size > _LARGEST:
        return _sized(fft(a, n, axis, norm), size // 2 + 1, axis)
    (found,) = apply_codelet("rfft", "rfft", rows)
    return moveaxis(_scaled(found, size, norm, -1), -1, along)


def irfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """The missing half is that of a real result: conjugate, in the other direction."""
    along = views.axis_of("irfft", a, axis)
    size = 2 * (a.shape[along] - 1) if n is None else index(n)
    if size < 1:
        raise TraceValueError(f"irfft of {a}: the result would have {size} elements; give n=")
    half, _, _ = _rows("irfft", _complex(a), size // 2 + 1, along, norm)
    if size <= _LARGEST:
        (found,) = apply_codelet("irfft", "irfft_odd" if size % 2 else "irfft", half, n=size)
        return moveaxis(_scaled(found, size, norm, 1), -1, along)
    real, imaginary = part(half, 0), part(half, 1)
    alone = [place for place in (0, size // 2) if place == 0 or size % 2 == 0]  # their imaginary part is not looked at
    imaginary = np.where(np.isin(np.arange(size // 2 + 1), alone), 0, imaginary)
    mirrored = slice(1, (size + 1) // 2)
    both: Any = (
        np.concatenate([real, np.flip(real[..., mirrored], -1)], -1),
        np.concatenate([imaginary, -np.flip(imaginary[..., mirrored], -1)], -1),
    )
    return moveaxis(part(ifft(complex_of(*both), None, -1, norm), 0), -1, along)


def hfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    return irfft(np.conjugate(_complex(a)), n, axis, _opposite("hfft", norm))


def ihfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    return np.conjugate(rfft(a, n, axis, _opposite("ihfft", norm)))


def fftn(a: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None) -> Any:
    for size, axis in _sizes_and_axes("fftn", a, s, axes):
        a = fft(a, size, axis, norm)
    return _complex(a)


def ifftn(a: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None) -> Any:
    for size, axis in _sizes_and_axes("ifftn", a, s, axes):
        a = ifft(a, size, axis, norm)
    return _complex(a)


def rfftn(a: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None) -> Any:
    *others, (size, axis) = _sizes_and_axes("rfftn", a, s, axes)
    a = rfft(a, size, axis, norm)
    for size, axis in others:
        a = fft(a, size, axis, norm)
    return a


def irfftn(a: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str | None = None) -> Any:
    pairs = _sizes_and_axes("irfftn", a, s, axes)
    for size, axis in pairs[:-1]:
        a = ifft(a, size, axis, norm)
    size, axis = pairs[-1]
    return irfft(a, size if s is not None else None, axis, norm)


def fft2(a: Any, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None) -> Any:
    return fftn(a, s, axes, norm)


def ifft2(a: Any, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None) -> Any:
    return ifftn(a, s, axes, norm)


def rfft2(a: Any, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None) -> Any:
    return rfftn(a, s, axes, norm)


def irfft2(a: Any, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None) -> Any:
    return irfftn(a, s, axes, norm)


def fftshift(x: Any, axes: int | Sequence[int] | None = None) -> Any:
    given = range(len(x.shape)) if axes is None else np.atleast_1d(axes).tolist()
    return roll(x, [x.shape[axis] // 2 for axis in given], given) if len(given) else x


def ifftshift(x: Any, axes: int | Sequence[int] | None = None) -> Any:
    given = range(len(x.shape)) if axes is None else np.atleast_1d(axes).tolist()
    return roll(x, [-(x.shape[axis] // 2) for axis in given], given) if len(given) else x


def _transform(name: str, a: Any, n: int | None, axis: int, norm: str | None, sign: int) -> Any:
    rows, along, size = _rows(name, _complex(a), n, axis, norm)
    return moveaxis(_scaled(_along_last(rows, sign), size, norm, sign), -1, along)


def _rows(name: str, a: Any, n: int | None, axis: int, norm: str | None) -> tuple[Any, int, int]:
    """``a`` with ``n`` elements along ``axis``, which comes last; where it was, and its size."""
    along = views.axis_of(name, a, axis)
    size = a.shape[along] if n is None else index(n)
    if size < 1:
        raise TraceValueError(f"{name} of {a}: {size} points are none; give n= of 1 or more")
    if norm not in _OPPOSITE:
        raise TraceValueError(f"{name}: norm is 'backward', 'ortho' or 'forward', got {norm!r}")
    if not is_complex(a):
        a = astype(a, np.float32 if kind_of(a.dtype) == "f" and a.dtype.itemsize <= 4 else np.float64)
    return moveaxis(_sized(a, size, along), along, -1), along, size


def _scaled(found: Any, size: int, norm: str | None, sign: int) -> Any:
    """What a codelet gives, scaled by 1 / size in the inverse direction, as ``norm`` wants it."""
    power = {None: 0.0, "backward": 0.0, "ortho": 0.5, "forward": 1.0}[norm]
    return found * float(size) ** (sign * power) if power else found


def _along_last(x: Any, sign: int) -> Any:
    """The transform: first that of every ``rest``-th element, turned, then that of the results."""
    size = x.shape[-1]
    first = next((each for each in range(min(_LARGEST, size), 1, -1) if size % each == 0), size)
    if size <= _LARGEST or first == size:
        return apply_codelet("fft", "fft" if sign < 0 else "ifft", x)[0]
    rest = size // first
    columns = np.swapaxes(views.reshape(x, (*x.shape[:-1], first, rest)), -1, -2)
    roots = _roots(size, np.arange(rest)[:, None] * np.arange(first), sign, x.dtype)
    found = _along_last(np.swapaxes(_along_last(columns, sign) * roots, -1, -2), sign)
    return views.reshape(np.swapaxes(found, -1, -2), x.shape)


def _roots(size: int, powers: np.ndarray, sign: int, dtype: np.dtype[Any]) -> np.ndarray:
    return np.exp(sign * 2j * np.pi * (powers % size) / size).astype(dtype)


def _sized(a: Any, size: int, axis: int) -> Any:
    """``a`` cut, or filled up with zeros, along an axis."""
    along = views.axis_of("fft", a, axis)
    before = (slice(None),) * along
    missing = size - a.shape[along]
    if missing <= 0:
        return a[(*before, slice(None, size))]
    return np.pad(a, [(0, missing if each == along else 0) for each in range(len(a.shape))])


def _complex(a: Any) -> Any:
    if is_complex(a):
        return a
    return astype(a, np.complex64 if kind_of(a.dtype) == "f" and a.dtype.itemsize <= 4 else np.complex128)


def _opposite(name: str, norm: str | None) -> str:
    if norm not in _OPPOSITE:
        raise TraceValueError(f"{name}: norm is 'backward', 'ortho' or 'forward', got {norm!r}")
    return _OPPOSITE[norm]


def _sizes_and_axes(name: str, a: Any, s: Sequence[int] | None, axes: Sequence[int] | None) -> list[tuple[Any, int]]:
    rank = len(a.shape)
    if axes is None:
        axes = range(rank) if s is None else range(rank - len(s), rank)
    along = [views.axis_of(name, a, axis) for axis in axes]
    sizes: Sequence[int | None] = [None] * len(along) if s is None else [None if each == -1 else each for each in s]
    if len(sizes) != len(along) or not along:
        raise TraceValueError(f"{name} of {a}: {len(sizes)} sizes for {len(along)} axes")
    return list(zip(sizes, along, strict=True))
