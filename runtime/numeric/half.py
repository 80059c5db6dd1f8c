"""f16, whose numbers lie in float32 arrays here: rounding to them, and their bits.

NumPy computes with float16 one number at a time, 6 to 10 ns each; a few calls on float32 do the same in 1 to 2 ns.
"""

import numpy as np
from numpy._core.umath import clip

from ipu_mlir.runtime.numeric.chunks import in_chunks
from ipu_mlir.runtime.numeric.odd import odd_single

_EXPONENT, _SIGN = 0x7F800000, -0x80000000
_BIAS, _MANTISSA_BITS = 127, 23
_LOWEST, _HIGHEST, _ABOVE_HIGHEST = ((_BIAS + power) << _MANTISSA_BITS for power in (-14, 15, 16))
_TO_ROUNDER = ((_MANTISSA_BITS - 10) << _MANTISSA_BITS) + (1 << (_MANTISSA_BITS - 1))  # times 1.5 * 2**13
_UP, _DOWN = np.float32(2.0**112), np.float32(2.0**-112)
_FEW = 1536  # elements up to which NumPy's own conversions, two calls in all, are faster
_MANY = 8192  # elements from which looking for the largest takes less than two multiplications


@in_chunks
def round_to_f16(a: np.ndarray, out: np.ndarray) -> np.ndarray:
    """The nearest f16, ties to even, of float32 or float64 numbers; one rounding, not two. ``out`` may be ``a``.

    A number is rounded when something 1.5 * 2**13 times its power of two is added and taken away again; 2**-14 is the
    lowest such power, below which f16 has no finer steps. What then reaches 2**16 overflows when multiplied by 2**112.

    >>> round_to_f16(np.float32([1 + 2**-11, 1 + 3 * 2**-11, 65519, 2**-25]), np.empty(4, np.float32)).tolist()
    [1.0, 1.001953125, 65504.0, 0.0]
    """
    single = odd_single(a)
    if single.size <= _FEW:
        np.copyto(out, single.astype(np.float16))
        return out
    bits = single.view(np.int32)
    sign = np.bitwise_and(bits, _SIGN)
    power = np.bitwise_and(bits, _EXPONENT)
    may_overflow = a.size < _MANY or power.max() >= _HIGHEST
    clip(power, _LOWEST, _ABOVE_HIGHEST, power)
    np.add(power, _TO_ROUNDER, power)
    rounder = power.view(np.float32)
    np.add(single, rounder, out)
    np.subtract(out, rounder, out)
    if may_overflow:
        np.multiply(out, _UP, out)
        np.multiply(out, _DOWN, out)
    result = out.view(np.int32)
    np.bitwise_or(result, sign, result)  # -0, and what became 0
    return out


@in_chunks
def bits_of_f16(a: np.ndarray, out: np.ndarray) -> np.ndarray:
    """The 16 bits of every f16 as integers.

    >>> hex(bits_of_f16(np.float32([1.0]), np.empty(1, np.int16))[0])
    '0x3c00'
    """
    if a.size <= _FEW:
        np.copyto(out.view(np.float16), a, "same_kind")
        return out
    scaled = np.multiply(a, _DOWN).view(np.int32)  # to the exponents of f16, subnormal where those are
    np.right_shift(scaled, 13, scaled)
    np.bitwise_and(scaled, 0x7FFF, scaled)
    sign = np.right_shift(a.view(np.int32), 16)
    np.bitwise_and(sign, -0x8000, sign)
    np.bitwise_or(scaled, sign, scaled)
    np.copyto(out, scaled, "unsafe")
    return out


@in_chunks
def f16_of_bits(a: np.ndarray, out: np.ndarray) -> np.ndarray:
    """The f16 of 16 bits.

    >>> f16_of_bits(np.int16([0x3C00]), np.empty(1, np.float32)).tolist()
    [1.0]
    """
    half = a.view(np.float16)
    if a.size <= _FEW:
        np.copyto(out, half)
        return out
    target = out.view(np.int32)
    np.copyto(target, a)
    np.left_shift(target, 13, target)
    np.bitwise_and(target, ~0x70000000, target)  # of the copies of the sign, the highest
    np.multiply(out, _UP, out)
    special = np.bitwise_and(a, 0x7C00) == 0x7C00
    if special.any():  # infinities and NaN have the exponent above the highest
        out[special] = half[special]
    return out
