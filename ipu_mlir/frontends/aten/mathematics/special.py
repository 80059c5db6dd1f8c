"""Special functions, by series and integrals that are exact to the rounding of float32."""

import math
from typing import Any

import numpy as np

from ipu_mlir.frontends.aten.rules import elementwise, rule, wide
from ipu_mlir.tracing.control.loops import fori_loop
from ipu_mlir.tracing.elementwise import apply_unary_float

# Lanczos' series for the gamma function with g = 7 and 9 terms, relative error 1e-15.
# Source: https://en.wikipedia.org/wiki/Lanczos_approximation, section "Simple implementation".
_LANCZOS = (
    0.99999999999980993227684700473478,
    676.520368121885098567009190444019,
    -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,
    -176.61502916214059906584551354,
    12.507343278686904814458936853,
    -0.13857109526572011689554707,
    9.984369578019570859563e-6,
    1.50563273514931155834e-7,
)
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
"""Of the even numbers from 2 on."""


@elementwise("lgamma.default", "prims.lgamma.default", kind="wide")
def log_gamma(x: Any) -> Any:
    """By Lanczos' series, below 1/2 by reflection; infinite at integers that are not positive."""
    is_low = x < 0.5
    z = np.where(is_low, 1.0 - x, x) - 1.0
    total = np.full_like(z, _LANCZOS[0])
    for place, term in enumerate(_LANCZOS[1:], 1):
        total = total + term / (z + float(place))
    base = z + 7.5
    found = 0.5 * math.log(2 * math.pi) + ((z + 0.5) * np.log(base) - base) + np.log(total)
    part = np.abs(x) - np.floor(np.abs(x))
    sine = np.abs(np.sin(math.pi * np.where(part > 0.5, 1.0 - part, part)))
    low = math.log(math.pi) - np.log(sine) - found
    found = np.where(is_low, np.where(sine == 0, np.inf, low), found)
    return np.where(np.isinf(x), np.inf, found)


@elementwise("digamma.default", "prims.digamma.default", "special_digamma.default", kind="wide")
def digamma(x: Any) -> Any:
    """Below 1/2 by reflection, then up to 8 and more by recurrence, where the series in 1 / x is exact enough."""
    is_low = x < 0.5
    z = np.where(is_low, 1.0 - x, x)
    total = np.zeros_like(z)
    for _ in range(8):
        is_small = z < 8.0
        total = total - np.where(is_small, 1.0 / z, 0.0)
        z = np.where(is_small, z + 1.0, z)
    square = 1.0 / (z * z)
    series = np.zeros_like(z)
    for place in range(5, -1, -1):
        series = (series + _BERNOULLI[place] / (2.0 * (place + 1))) * square
    found = np.log(z) - 0.5 / z - series + total
    fraction = x - np.rint(x)  # exact near 0, below it too
    low = found - math.pi / np.tan(math.pi * fraction)
    low = np.where(fraction == 0, np.nan, low)
    found = np.where(is_low, low, found)
    return np.where(x == 0, np.copysign(np.inf, -x), found)


@elementwise("special_zeta", "prims.zeta.default", kind="wide")
def zeta(x: Any, q: Any) -> Any:
    """Hurwitz's: ten terms, and the rest by the formula of Euler and Maclaurin.

    Source: https://dlmf.nist.gov/25.11.E28
    """
    total, base = q ** (-x), q
    for _ in range(9):
        base = base + 1.0
        total = total + base ** (-x)
    power = base ** (-x)
    total = total + power * base / (x - 1.0) - 0.5 * power
    factor = x * (power / base)
    for place, number in enumerate(_BERNOULLI):
        even = 2 * (place + 1)
        total = total + factor * (number / math.factorial(even))
        factor = factor * (x + (even - 1.0)) * (x + float(even)) / (base * base)
    at_pole = np.where(np.floor(q) == q, np.inf, np.where(np.floor(x) == x, total, np.nan))
    total = np.where(q <= 0, at_pole, total)
    return np.where(x == 1, np.inf, np.where(x < 1, np.nan, total))


@rule("polygamma.default", "special_polygamma.default")
def _polygamma(n: int, x: Any) -> Any:
    x = x.astype(np.float32) if x.dtype.kind in "biu" else wide(x)
    if n == 0:
        return digamma(x)
    found = zeta(np.full_like(x, n + 1.0), np.where(x > 0, x, 1.0)) * (math.factorial(n) * (-1.0) ** (n + 1))
    return np.where(x > 0, found, _polygamma_below(n, x))


def _polygamma_below(n: int, x: Any) -> Any:
    """Up by recurrence to where zeta's series holds, for arguments that are not far below 0."""
    sign = (-1.0) ** (n + 1) * math.factorial(n)
    total, z = np.zeros_like(x), np.minimum(x, 1.0)
    for _ in range(32):
        is_below = z <= 0
        total = total + np.where(is_below, 1.0 / np.where(is_below, z, 1.0) ** (n + 1), 0.0)
        z = np.where(is_below, z + 1.0, z)
    return sign * (total + zeta(np.full_like(z, n + 1.0), np.where(z > 0, z, 1.0)))


@elementwise("special_erfcx.default", "prims.erfcx.default", kind="wide")
def scaled_erfc(x: Any) -> Any:
    """``exp(x * x) * erfc(x)`` by an integral over t of ``exp(-t * t) x / (x * x + t * t)``, as sums with steps of 1/2.

    Source: https://dlmf.nist.gov/7.7.E1; the sum has the pole of the integrand as its error, which is known.
    """
    size = np.abs(x)
    step = 0.5
    square = size * size
    total = np.zeros_like(x)
    for place in range(24):
        t = (place + 0.5) * step
        total = total + math.exp(-t * t) / (square + t * t)
    far = total * (2.0 * step / math.pi) * size
    pole = 2.0 * np.exp(np.minimum(square, 60.0)) / (1.0 + np.exp(2.0 * math.pi / step * np.minimum(size, 12.0)))
    near = far + np.where(size < 2.0 * math.pi / step, pole, 0.0)
    return np.where(x < 0, 2.0 * np.exp(square) - near, near)


@elementwise("special_log_ndtr.default", kind="wide")
def _log_ndtr(x: Any) -> Any:
    t = x * math.sqrt(0.5)
    low = np.minimum(t, -1.0)
    below = np.log(scaled_erfc(-low) / 2.0) - low * low
    above = np.log1p(-0.5 * apply_unary_float("erfc", np.maximum(t, -1.0)))
    return np.where(x < -math.sqrt(2.0), below, above)


# Source: M. Giles, Approximating the erfinv function, GPU Computing Gems, Jade Edition (2011), table 5.
_CENTRE = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164,
    0.246640727, 1.50140941,
)  # fmt: skip
_TAIL = (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047,
    1.00167406, 2.83297682,
)  # fmt: skip


def _polynomial(coefficients: Any, x: Any) -> Any:
    found = np.full_like(x, coefficients[0])
    for each in coefficients[1:]:
        found = found * x + each
    return found


def _inverse_error(x: Any, w: Any) -> Any:
    """Of ``x``, for ``w = -log((1 - x) (1 + x))``."""
    near = _polynomial(_CENTRE, w - 2.5)
    far = _polynomial(_TAIL, np.sqrt(np.maximum(w, 5.0)) - 3.0)
    return np.where(w < 5.0, near, far) * x


@elementwise("erfinv.default", "special_erfinv.default", "prims.erf_inv.default", kind="wide")
def _erfinv(x: Any) -> Any:
    inside = _inverse_error(x, -np.log1p(-x * x))
    return np.where(np.abs(x) == 1.0, np.copysign(np.inf, x), inside)


@elementwise("special_ndtri.default", "prims.ndtri.default", kind="wide")
def _ndtri(p: Any) -> Any:
    inside = math.sqrt(2.0) * _inverse_error(2.0 * p - 1.0, -np.log(4.0 * p * (1.0 - p)))
    return np.where(p == 0, -np.inf, np.where(p == 1, np.inf, inside))


@elementwise("igamma.default", "special_gammainc.default", "prims.igamma.default", kind="wide")
def _igamma(a: Any, x: Any) -> Any:
    return _incomplete(a, x)[0]


@elementwise("igammac.default", "special_gammaincc.default", "prims.igammac.default", kind="wide")
def _igammac(a: Any, x: Any) -> Any:
    return _incomplete(a, x)[1]


_TERMS = 200


def _incomplete(a: Any, x: Any) -> tuple[Any, Any]:
    """The lower and the upper part: by a series where ``x`` is small, by a continued fraction where it is not.

    Source: https://dlmf.nist.gov/8.11.E4 and 8.9.E2, the fraction from its end.
    """
    a, x = np.broadcast_arrays(a, x)
    scale = np.exp(a * np.log(x) - x - log_gamma(a))
    is_low = x < a + 1.0
    low_x = np.where(is_low, x, 0.0)

    def add(place: Any, state: Any) -> Any:
        total, term = state
        term = term * low_x / (a + place.astype(a.dtype) + 1.0)
        return total + term, term

    first = 1.0 / a
    series, _ = fori_loop(0, _TERMS, add, (first, first))
    high_x = np.where(is_low, a + 1.0, x)

    def fold(place: Any, rest: Any) -> Any:
        number = float(_TERMS) - place.astype(a.dtype)
        return high_x - a + (2.0 * number - 1.0) - number * (number - a) / rest

    rest = fori_loop(0, _TERMS, fold, high_x - a + (2.0 * _TERMS + 1.0))
    lower, upper = scale * series, scale / rest
    lower, upper = np.where(is_low, lower, 1.0 - upper), np.where(is_low, 1.0 - lower, upper)
    none, all_of_it = np.where(x == 0, 0.0, lower), np.where(x == 0, 1.0, upper)
    is_end = np.isinf(x) | (a == 0)
    lower, upper = np.where(is_end, 1.0, none), np.where(is_end, 0.0, all_of_it)
    is_bad = (a < 0) | (x < 0)
    return np.where(is_bad, np.nan, lower), np.where(is_bad, np.nan, upper)
