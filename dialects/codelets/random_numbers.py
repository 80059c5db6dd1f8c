"""Random numbers: each follows from a key and its place alone, so that it is the same on any number of tiles.

The generator is Philox 4x64 with 10 rounds (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", 2011),
which encrypts a counter. A key of four integers of 32 bits, lower ones first, is 64 bits of a key and 64 bits of a
stream. Four numbers that follow each other have one counter: a count from 1 on, and the stream.
"""

from collections.abc import Callable
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np

from ipu_mlir.dialects.codelets.codelet import CodeletCall, LibraryCodelet
from ipu_mlir.dialects.codelets.signature import Signature
from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.size_arithmetic import Size, ceil_div, product_over
from ipu_mlir.dialects.mapping.loops import IntArray

Array = np.ndarray[Any, Any]

_SIGNATURE = Signature.parse("w -> n", parallel="n", related=lambda sizes: sizes.get("w") == 4)
MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
STEPS = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
"""What is added to the two words of the key after each iteration."""
ROUNDS = 10
_WORD = (1 << 64) - 1
LEAST = NormalDist().cdf(-2.0)
"""The share of normal numbers below -2, and above 2."""


def _block(key: int, stream: int, count: int) -> tuple[int, int, int, int]:
    """Four words of 64 bits: the definition."""
    lanes, keys = (count, stream, 0, 0), (key, 0)
    for _ in range(ROUNDS):
        first, second = MULTIPLIERS[0] * lanes[0], MULTIPLIERS[1] * lanes[2]
        lanes = (
            (second >> 64) ^ lanes[1] ^ keys[0],
            second & _WORD,
            (first >> 64) ^ lanes[3] ^ keys[1],
            first & _WORD,
        )
        keys = ((keys[0] + STEPS[0]) & _WORD, (keys[1] + STEPS[1]) & _WORD)
    return lanes


def _halves(words: Array) -> tuple[int, int]:
    """Key and stream."""
    parts = [int(each) & 0xFFFFFFFF for each in words]
    return parts[0] | parts[1] << 32, parts[2] | parts[3] << 32


def _one_vertex(number: Callable[[int], Any], dtype: Any, places: Any, keys: Array) -> tuple[Array, ...]:
    """The numbers at the places of a vertex."""
    own = places[-1][-1]
    found = np.empty((*keys.shape[:-1], len(own)), dtype)
    for row in np.ndindex(keys.shape[:-1]):
        key, stream = _halves(keys[row])
        known: dict[int, tuple[int, int, int, int]] = {}
        for at, place in enumerate(map(int, own)):
            if place // 4 not in known:
                known[place // 4] = _block(key, stream, place // 4 + 1)
            found[(*row, at)] = number(known[place // 4][place % 4])
    return (found,)


def _all(numbers: Callable[[Array], Array], keys: Array, out: Array) -> tuple[Array, ...]:
    for row in np.ndindex(keys.shape[:-1]):
        key, stream = _halves(keys[row])
        start = np.array([0, stream, 0, 0], np.uint64)
        source = np.random.Philox(key=np.array([key, 0], np.uint64), counter=start)
        for begin in range(0, out.shape[-1], _AT_ONCE):
            part = out[row][begin : begin + _AT_ONCE]
            part[...] = numbers(source.random_raw(len(part)))
    return (out,)


_AT_ONCE = 8192
"""Numbers whose steps stay in the cache; whole blocks of four."""


def _bits(word: int) -> np.int32:
    return np.uint32(word >> 32).view(np.int32)


def _bits_of_all(words: Array) -> Array:
    return (words >> np.uint64(32)).astype(np.uint32).view(np.int32)


def _uniform(word: int) -> np.float32:
    return np.float32((word >> 40) * 2.0**-24)


def _uniform_of_all(words: Array) -> Array:
    return (words >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24)


def _share(word: int) -> float:
    """A number of 52 bits between 0 and 1, without both."""
    return ((word >> 12) + 0.5) * 2.0**-52


def _shares(words: Array) -> Array:
    words >>= np.uint64(12)
    found = words.view(np.int64).astype(np.float64)
    found += 0.5
    found *= 2.0**-52
    return found


def _normal(word: int) -> np.float32:
    return _quantile(_share(word))


def _normal_of_all(words: Array) -> Array:
    return normal_quantiles(_shares(words)).astype(np.float32)


def _truncated(word: int) -> np.float32:
    return _quantile(LEAST + _share(word) * (1 - 2 * LEAST))


def _truncated_of_all(words: Array) -> Array:
    return normal_quantiles(LEAST + _shares(words) * (1 - 2 * LEAST)).astype(np.float32)


def _quantile(share: float) -> np.float32:
    return normal_quantiles(np.array([share])).astype(np.float32)[0]


def normal_quantiles(shares: Array) -> Array:
    """The numbers below which that share of normal numbers is; in float64.

    Sums, products, quotients and roots in a fixed order, so that every executor and machine has the same bits.
    Source: Wichura, "Algorithm AS 241: The percentage points of the normal distribution", 1988.
    """
    centred = shares - 0.5
    inner = centred * centred
    np.subtract(NEAR_ENDS, inner, inner)
    found = _ratio(*NEAR, inner)
    found *= centred
    far = np.flatnonzero(inner < 0)
    if len(far):
        sides = centred[far]
        tail = np.sqrt(-_logarithms(np.where(sides < 0, shares[far], 1 - shares[far])))
        values = _ratio(*MIDDLE, tail - MIDDLE_BEGINS)
        end = np.flatnonzero(tail > END_BEGINS)
        if len(end):
            values[end] = _ratio(*END, tail[end] - END_BEGINS)
        found[far] = np.copysign(values, sides)
    return found


def _ratio(above: tuple[float, ...], below: tuple[float, ...], x: Array) -> Array:
    upper, lower = x * above[-1], x * below[-1]
    for sums, factors in ((upper, above), (lower, below)):
        for each in factors[-2:0:-1]:
            sums += each
            sums *= x
        sums += factors[0]
    upper /= lower
    return upper


def _logarithms(x: Array) -> Array:
    """fdlibm's, of normal positive numbers."""
    bits = x.view(np.int64)
    powers = (bits - ROOT_BITS) >> 52
    near = (bits - (powers << 52)).view(np.float64) - 1.0
    s = near / (near + 2.0)
    square = s * s
    more = square * LOGARITHM[0]
    for each in LOGARITHM[1:-1]:
        more += each
        more *= square
    more += LOGARITHM[-1]
    more *= square
    half = near * near * 0.5
    whole = powers.astype(np.float64)
    return whole * LN2[0] - ((half - (s * (half + more) + whole * LN2[1])) - near)


ROOT_BITS = int(np.float64(0.5**0.5).view(np.int64))
LN2 = (6.93147180369123816490e-01, 1.90821492927058770002e-10)
LOGARITHM = (
    *(1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01, 2.222219843214978396e-01),
    *(2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01),
)
NEAR_ENDS, MIDDLE_BEGINS, END_BEGINS = 0.180625, 1.6, 5.0
NEAR = (
    (
        *(3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4),
        *(4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3),
    ),
    (
        *(1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3),
        *(2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3),
    ),
)
MIDDLE = (
    (
        *(1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0),
        *(1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4),
    ),
    (
        *(1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1),
        *(1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9),
    ),
)
END = (
    (
        *(6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1),
        *(2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7),
    ),
    (
        *(1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2),
        *(7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15),
    ),
)


def _bits_cycles(n: Size, machine: Machine) -> Size:
    return 22 * machine.workers + 6 * ceil_div(n, 2)


def _uniform_cycles(n: Size, machine: Machine) -> Size:
    return 4 + 22 * machine.workers + 4 * ceil_div(n, machine.vector_width("f32"))


def _normal_cycles(n: Size, machine: Machine) -> Size:
    return _uniform_cycles(n, machine) + 3


def _truncated_cycles(n: Size, machine: Machine) -> Size:
    return 4 + 26 * machine.workers + (11 * 4 + 5) * ceil_div(n, machine.vector_width("f32"))


def _codelet(
    name: str,
    element: str,
    one: Callable[[int], Any],
    every: Callable[[Array], Array],
    rate: Callable[[Size, Machine], Size],
    source: str,
) -> LibraryCodelet:
    def cycles(call: CodeletCall, sizes: IntArray, machine: Machine) -> Size:
        """By the formulas of hardware.md, 4.5, which count the whole vertex; uniform ones a vector at a time."""
        stack = range(sizes.shape[-1] - len(_SIGNATURE.loops))
        return rate(product_over(sizes, stack) * sizes[..., -1], machine)

    return LibraryCodelet(
        name=f"random_{name}",
        per_tile=partial(_one_vertex, one, np.int32 if element == "i32" else np.float32),
        vectorised=partial(_all, every),
        fills_outputs=True,
        knows_places=True,
        cycles=cycles,
        code_bytes=256,
        needs=f"{_SIGNATURE}: keys of four i32, and numbers of {element}",
        takes=_SIGNATURE.takes,
        takes_types=lambda inputs, outputs: (*inputs, *outputs) == ("i32", element),
        signature=_SIGNATURE,
        source=f"Philox 4x64-10 (Salmon and others, 2011); {source}; cycles: hardware.md, 4.5",
    )


RANDOM_NUMBERS = (
    _codelet("bits", "i32", _bits, _bits_of_all, _bits_cycles, "the upper 32 bits"),
    _codelet("uniform", "f32", _uniform, _uniform_of_all, _uniform_cycles, "24 bits, from 0 to less than 1"),
    _codelet("normal", "f32", _normal, _normal_of_all, _normal_cycles, "AS 241 of 52 bits"),
    _codelet(
        "truncated_normal",
        "f32",
        _truncated,
        _truncated_of_all,
        _truncated_cycles,
        "AS 241 of 52 bits between -2 and 2, with four iterations as the machine has them",
    ),
)
"""``random_bits``, ``random_uniform``, ``random_normal`` and ``random_truncated_normal``: from a key to numbers."""
