"""Discrete Fourier transforms along the last dimension, of pairs of real and imaginary parts."""

import importlib
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from ipu_mlir.dialects.codelets.codelet import LibraryCodelet
from ipu_mlir.dialects.codelets.matrices import Array, on_pairs, stack_codelet, to_pairs
from ipu_mlir.dialects.codelets.signature import Signature
from ipu_mlir.dialects.machine.size_arithmetic import ceil_log2


def _roots(size: int, sign: int) -> Array:
    places = np.arange(size)
    return np.exp(sign * 2j * np.pi * (places[:, None] * places % size) / size)


def _as(found: Array, like: Array) -> tuple[Array, ...]:
    """The result in as many bits as ``like``."""
    is_double = like.dtype in (np.float64, np.complex128)
    kinds = (np.complex64, np.complex128) if found.dtype.kind == "c" else (np.float32, np.float64)
    return (found.astype(kinds[is_double]),)


def _forward(values: Array) -> tuple[Array, ...]:
    """As a product with all roots of unity, in f64: the definition."""
    return _as(values @ _roots(values.shape[-1], -1), values)


def _inverse(values: Array) -> tuple[Array, ...]:
    return _as(values @ _roots(values.shape[-1], 1) / values.shape[-1], values)


@cache
def _library() -> Any:
    """SciPy's transforms, if it is installed: many rows at once, f32 in f32; else NumPy's, up to four times slower."""
    try:
        return importlib.import_module("scipy.fft")
    except ImportError:
        return np.fft


def _fast(name: str, values: Array, *size: int) -> tuple[Array, ...]:
    """The transform of a library, in as many bits as ``values``.

    NumPy multiplies by a factor, which of a forward one is an integer, and then computes f32 in f64, eight times as
    slowly: it gets a float, which is taken back.
    """
    transform = getattr(_library(), name)
    if _library() is not np.fft or name.startswith("i") or values.dtype not in (np.float32, np.complex64):
        return (transform(values, *size),)
    found = transform(values, norm="forward")
    found *= np.float32(values.shape[-1])
    return (found,)


def _half(values: Array) -> tuple[Array, ...]:
    (found,) = _forward(values)
    return (to_pairs(found[..., : values.shape[-1] // 2 + 1]),)


def _whole(odd: int, values: Array) -> tuple[Array, ...]:
    """The missing half is conjugate; of what stands for itself, the imaginary part is not looked at."""
    size = 2 * (values.shape[-1] - 1) + odd
    other = values[..., 1 : (size + 1) // 2][..., ::-1].conj()
    both = np.concatenate([values, other], -1)
    for alone in (0, *((size // 2,) if not odd else ())):
        both[..., alone] = both[..., alone].real
    return _as((both @ _roots(size, 1)).real / size, values)


def _codelet(name: str, signature: Signature, one: Callable[..., Any], every: Callable[..., Any]) -> LibraryCodelet:
    """A worker takes a row; ``5 n log2 n`` operations for a complex one, half of that for a real one."""
    real = name.startswith(("r", "ir"))

    def flops(sizes: Any) -> Any:
        size = sizes["n"]
        return 5 * size * ceil_log2(size) // (2 if real else 1)

    return stack_codelet(
        name,
        signature,
        one,
        every,
        flops,
        lambda sizes: 2 * ceil_log2(sizes["n"]),
        lambda sizes: 2 * sizes["n"],
        f"numpy.fft.{name.removesuffix('_odd')}; flops: the customary count of a fast transform",
    )


def _is_half(sizes: Any) -> bool:
    return sizes["h"] == sizes["n"] // 2 + 1


TRANSFORMS: tuple[LibraryCodelet, ...] = (
    _codelet("fft", Signature.parse("n p -> n p"), on_pairs(_forward), on_pairs(partial(_fast, "fft"))),
    _codelet("ifft", Signature.parse("n p -> n p"), on_pairs(_inverse), on_pairs(partial(_fast, "ifft"))),
    _codelet(
        "rfft",
        Signature.parse("n -> h p", related=_is_half),
        _half,
        lambda x: tuple(map(to_pairs, _fast("rfft", x))),
    ),
    _codelet(
        "irfft",
        Signature.parse("h p -> n", related=lambda sizes: _is_half(sizes) and sizes["n"] % 2 == 0),
        on_pairs(lambda x: _whole(0, x)),
        on_pairs(partial(_fast, "irfft")),
    ),
    _codelet(
        "irfft_odd",
        Signature.parse("h p -> n", related=lambda sizes: _is_half(sizes) and sizes["n"] % 2 == 1),
        on_pairs(lambda x: _whole(1, x)),
        on_pairs(lambda x: _fast("irfft", x, 2 * x.shape[-1] - 1)),
    ),
)
"""Loops are those of the stack, then the elements of a row, then the parts. Inverse transforms are scaled by 1 / n."""
