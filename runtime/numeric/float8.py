"""The f8 types, whose numbers lie in float32 arrays here: rounding and their bits, by tables from ml_dtypes."""

from functools import cache

import numpy as np

from ipu_mlir.dialects.support.narrow_floats import host_dtype
from ipu_mlir.runtime.numeric.odd import odd_single


class Float8:
    """Functions of the form of ufuncs for the f8 type that MLIR calls ``name``.

    >>> e4m3 = Float8("f8E4M3FN")
    >>> e4m3.round(np.float32([1.07, 448, 465, -0.0]), np.empty(4, np.float32)).tolist()
    [1.125, 448.0, nan, -0.0]
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def round(self, a: np.ndarray, out: np.ndarray) -> np.ndarray:
        """The nearest number of the type, ties to even, of float32 or float64 numbers; one rounding, not two.

        The upper half of a float32, rounded to odd, says enough: it has 7 bits behind the point, an f8 at most 4.
        """
        bits = odd_single(a).view(np.uint32)
        upper = np.asarray(np.right_shift(bits, 16))
        np.bitwise_or(upper, np.bitwise_and(bits, 0xFFFF) != 0, upper)
        return np.take(_rounded(self.name), upper, out=out, mode="clip")

    def bits(self, a: np.ndarray, out: np.ndarray) -> np.ndarray:
        """The 8 bits of every number of the type as integers."""
        upper = np.right_shift(a.view(np.uint32), 16)
        return np.take(_bits(self.name), upper, out=out, mode="clip")

    def of_bits(self, a: np.ndarray, out: np.ndarray) -> np.ndarray:
        """The numbers of 8 bits."""
        return np.take(_numbers(self.name), a.view(np.uint8), out=out, mode="clip")


@cache
def _numbers(name: str) -> np.ndarray:
    """The 256 numbers of the type, by their bits."""
    return np.arange(256, dtype=np.uint8).view(host_dtype(name)).astype(np.float32)


@cache
def _bits(name: str) -> np.ndarray:
    """The bits of the nearest number to each upper half of a float32."""
    upper = np.arange(65536, dtype=np.uint32) << 16
    with np.errstate(all="ignore"):  # NaN, and what is too large
        return upper.view(np.float32).astype(host_dtype(name)).view(np.int8)


@cache
def _rounded(name: str) -> np.ndarray:
    """The nearest number to each upper half of a float32."""
    return _numbers(name).take(_bits(name).view(np.uint8))
