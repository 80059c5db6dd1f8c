"""Bessel functions: means over a circle where the argument is small, series in its inverse where it is large."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ipu_mlir.frontends.aten.rules import elementwise

_POINTS = 48
"""Over half a circle; the mean is exact to rounding for arguments below ``_FAR``, as of all periodic functions."""
_FAR = 20.0


def _ordinary(order: int, x: Any) -> Any:
    """Source: https://dlmf.nist.gov/10.9.E1 and 10.17.E3."""
    size = np.abs(x)
    inside, outside = np.minimum(size, _FAR), np.maximum(size, _FAR)
    near = _mean_over_circle(lambda angle: np.cos(order * angle - inside * math.sin(angle)))
    terms = _terms_of_the_inverse(order, outside)
    even = terms[0] - terms[2] + terms[4] - terms[6] + terms[8]
    odd = terms[1] - terms[3] + terms[5] - terms[7]
    phase = outside - (order / 2 + 0.25) * math.pi
    far = np.sqrt(2.0 / (math.pi * outside)) * (np.cos(phase) * even - np.sin(phase) * odd)
    return _of_both_signs(order, x, np.where(size < _FAR, near, far))


def _modified_scaled(order: int, x: Any) -> Any:
    """``exp(-|x|)`` times the modified function of the first kind. Source: https://dlmf.nist.gov/10.32.E3, 10.40.E1."""
    size = np.abs(x)
    inside, outside = np.minimum(size, _FAR), np.maximum(size, _FAR)
    near = _mean_over_circle(lambda angle: np.exp(inside * (math.cos(angle) - 1.0)) * math.cos(order * angle))
    terms = _terms_of_the_inverse(order, -outside)
    far = sum(terms[1:], start=terms[0]) / np.sqrt(2.0 * math.pi * outside)
    return _of_both_signs(order, x, np.where(size < _FAR, near, far))


def _mean_over_circle(function: Callable[[float], Any]) -> Any:
    """The mean of ``function`` over the angles of half a circle."""
    values = [function(math.pi * (place + 0.5) / _POINTS) for place in range(_POINTS)]
    return sum(values[1:], start=values[0]) / float(_POINTS)


def _terms_of_the_inverse(order: int, x: Any) -> list[Any]:
    """The first terms of the series in ``1 / x`` of Bessel functions. Source: https://dlmf.nist.gov/10.17.E1."""
    terms: list[Any] = [1.0]
    factor, power = 1.0, 1.0
    for place in range(1, 9):
        factor *= (4.0 * order * order - (2 * place - 1) ** 2) / (place * 8.0)
        power = power / x
        terms.append(factor * power)
    return terms


def _of_both_signs(order: int, x: Any, found: Any) -> Any:
    """``found``, which is for ``abs(x)``, for ``x``: functions of odd order are odd."""
    return np.where(x < 0, -found, found) if order % 2 else found


def _second_scaled(order: int, x: Any) -> Any:
    """``exp(x)`` times the modified function of the second kind. Source: https://dlmf.nist.gov/10.32.E9.

    The integrand falls off so fast that a sum with steps of 1/4 is exact; near 0 the first terms of a series are.
    """
    step, small = 0.25, np.maximum(x, 1e-4)
    total = 0.5 * np.ones_like(x)
    for place in range(1, 60):
        t = place * step
        total = total + np.exp(-small * (math.cosh(t) - 1.0)) * math.cosh(order * t)
    log = np.log(0.5 * np.maximum(x, 1e-38))
    near = 1.0 / np.maximum(x, 1e-38) + 0.5 * x * log if order else -np.euler_gamma - log
    found = np.where(x < 1e-4, near, total * step)
    return np.where(x == 0, np.inf, np.where(x < 0, np.nan, found))


@elementwise("special_bessel_j0", "prims.bessel_j0.default", kind="wide")
def _j0(x: Any) -> Any:
    return _ordinary(0, x)


@elementwise("special_bessel_j1", "prims.bessel_j1.default", kind="wide")
def _j1(x: Any) -> Any:
    return _ordinary(1, x)


@elementwise("i0.default", "special_i0.default", "special_modified_bessel_i0", "prims.bessel_i0.default", kind="wide")
def _i0(x: Any) -> Any:
    return _unscaled(_modified_scaled(0, x), np.abs(x))


@elementwise("special_i1.default", "special_modified_bessel_i1", "prims.bessel_i1.default", kind="wide")
def _i1(x: Any) -> Any:
    return _unscaled(_modified_scaled(1, x), np.abs(x))


def _unscaled(scaled: Any, size: Any) -> Any:
    """Times ``exp(size)``, which overflows before the product does."""
    half = np.exp(0.5 * size)
    return scaled * half * half


@elementwise("special_i0e.default", "prims.bessel_i0e.default", kind="wide")
def _i0e(x: Any) -> Any:
    return _modified_scaled(0, x)


@elementwise("special_i1e.default", "prims.bessel_i1e.default", kind="wide")
def _i1e(x: Any) -> Any:
    return _modified_scaled(1, x)


@elementwise("special_modified_bessel_k0", kind="wide")
def _k0(x: Any) -> Any:
    return _second_scaled(0, x) * np.exp(-x)


@elementwise("special_modified_bessel_k1", kind="wide")
def _k1(x: Any) -> Any:
    return _second_scaled(1, x) * np.exp(-x)


@elementwise("special_scaled_modified_bessel_k0", kind="wide")
def _k0e(x: Any) -> Any:
    return _second_scaled(0, x)


@elementwise("special_scaled_modified_bessel_k1", kind="wide")
def _k1e(x: Any) -> Any:
    return _second_scaled(1, x)


@elementwise("special_spherical_bessel_j0", "prims.spherical_bessel_j0.default", kind="wide")
def _spherical(x: Any) -> Any:
    square = x * x
    series = 1.0 - square / 6.0 * (1.0 - square / 20.0)
    safe = np.where(np.abs(x) < 0.1, 1.0, x)
    return np.where(np.abs(x) < 0.1, series, np.where(np.isinf(x), 0.0, np.sin(safe) / safe))
