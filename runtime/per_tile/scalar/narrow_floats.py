"""bf16 and the f8 types: their numbers lie in float32 arrays, rounded to the type after each operation.

Every function takes MLIR's name of the type, one of ``dialects.narrow_floats.ML_DTYPES``. Which numbers a type has, and
what becomes of those beyond, is that of ml_dtypes: nearest, ties to even; too large is infinity, or NaN in a type
without infinities; in one without zero, 0 is NaN, and so is what is negative in one without a sign.
"""

from typing import Any

import ml_dtypes
import numpy as np

from ipu_mlir.dialects.support.narrow_floats import holds_bits, host_dtype

Array = np.ndarray[Any, Any]


def round_to(name: str, x: Any) -> Any:
    """The nearest number of the type to every element of a float array, as float32; one rounding also from f64.

    >>> round_to("f8E4M3FN", np.array([1 + 2.0**-4, 1 + 2.0**-4 + 2.0**-40, 464, 465])).tolist()
    [1.0, 1.125, 448.0, nan]
    """
    with np.errstate(all="ignore"):
        return _to_odd(np.asarray(x)).astype(host_dtype(name)).astype(np.float32)


def from_integers(name: str, x: Any) -> Any:
    """The nearest number of the type, ties to even, to every integer of up to 64 bits, as float32.

    A float has the 53 highest bits of such an integer; of those that it lacks, the last one says whether any was set.

    >>> [float(x) / 2**60 for x in from_integers("bf16", np.array([2**60 + 2**52, 2**60 + 2**52 + 1]))]
    [1.0, 1.0078125]
    """
    numbers = np.asarray(x)
    if numbers.dtype.itemsize < 8:
        return round_to(name, numbers.astype(np.float64))
    step = numbers.dtype.type(2**11)
    rest = numbers % step
    whole = numbers - rest
    odd = np.where((rest != 0) & (whole // step % 2 == 0), whole + step, whole)
    high = numbers // numbers.dtype.type(2**53)
    return round_to(name, np.where((high == 0) | (high + 1 == 0), numbers, odd).astype(np.float64))


def bits_of(name: str, x: Any) -> Any:
    """The bits of numbers of the type, as unsigned integers; a NaN of 8 bits has those that ml_dtypes gives it.

    >>> bits_of("f8E5M2", np.float32([1, -2])).tolist() == [0x3C, 0xC0]
    True
    """
    numbers = np.asarray(x)
    if name == "bf16":  # the upper half of f32, also of a NaN
        return (numbers.view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    with np.errstate(all="ignore"):
        return numbers.astype(host_dtype(name)).view(np.uint8)


def from_bits(name: str, bits: Any) -> Any:
    """The numbers that have these bits, in any integer type of the width, as float32."""
    if name == "bf16":
        return (np.asarray(bits).view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)
    return np.asarray(bits).view(np.uint8).view(host_dtype(name)).astype(np.float32)


def bits_dtype(name: str) -> np.dtype[Any]:
    """The unsigned integers that have as many bits as the type."""
    return np.dtype(f"u{host_dtype(name).itemsize}")


def is_host_array(name: str, array: Array) -> bool:
    """True if a host array can hold the type: one of its ml_dtypes type, or of bits, unsigned or void."""
    return array.dtype == host_dtype(name) or holds_bits(array.dtype, host_dtype(name))


def from_host(name: str, array: Array) -> Array:
    """The float32 numbers of a host array of any of these kinds."""
    bits = np.ascontiguousarray(array).view(bits_dtype(name))
    return np.asarray(from_bits(name, bits)).reshape(array.shape)


def to_host(name: str, array: Array) -> Array:
    """The host array, in the ml_dtypes type, of float32 numbers that are of the type."""
    return np.asarray(np.asarray(bits_of(name, array)).view(host_dtype(name)))


def smallest_normal(name: str) -> float:
    """The smallest number that has all the precision of the type.

    >>> smallest_normal("f8E5M2") == 2.0**-14
    True
    """
    return float(ml_dtypes.finfo(host_dtype(name)).smallest_normal)


def _to_odd(x: Array) -> Array:
    """float32 rounded to odd, so that rounding once more cannot see a tie that was none."""
    if x.dtype != np.float64:
        return np.asarray(x, np.float32)
    near = np.asarray(x.astype(np.float32))
    near = np.where(np.abs(near.astype(np.float64)) > np.abs(x), np.nextafter(near, np.float32(0)), near)
    inexact = (near.astype(np.float64) != x) & ~np.isnan(x)
    return (near.view(np.uint32) | inexact.astype(np.uint32)).view(np.float32)
