"""bf16, whose numbers lie in float32 arrays here: rounding to them, and their bits."""

import numpy as np

from ipu_mlir.dialects.support.narrow_floats import host_dtype
from ipu_mlir.runtime.numeric.chunks import in_chunks
from ipu_mlir.runtime.numeric.odd import odd_single


@in_chunks
def round_to_bf16(a: np.ndarray, out: np.ndarray) -> np.ndarray:
    """The nearest bf16, ties to even, of float32 or float64 numbers; one rounding, not two. ``out`` may be ``a``.

    >>> round_to_bf16(np.float32([1 + 2**-8, 1 + 3 * 2**-8, np.nan]), np.empty(3, np.float32)).tolist()
    [1.0, 1.015625, nan]
    """
    np.copyto(out, odd_single(a).astype(host_dtype("bf16")))
    return out


@in_chunks
def bits_of_bf16(a: np.ndarray, out: np.ndarray) -> np.ndarray:
    """The 16 bits of every bf16 as integers.

    >>> hex(bits_of_bf16(np.float32([1.0]), np.empty(1, np.int16))[0])
    '0x3f80'
    """
    np.copyto(out.view(host_dtype("bf16")), a, "unsafe")
    return out


@in_chunks
def bf16_of_bits(a: np.ndarray, out: np.ndarray) -> np.ndarray:
    """The bf16 of 16 bits.

    >>> bf16_of_bits(np.int16([0x3F80]), np.empty(1, np.float32)).tolist()
    [1.0]
    """
    np.copyto(out, a.view(host_dtype("bf16")))
    return out
