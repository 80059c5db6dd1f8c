"""Orthogonal polynomials by the recurrences that define them.

Source: https://dlmf.nist.gov/18.9 for the recurrences, PyTorch's documentation of torch.special for what is shifted.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ipu_mlir.frontends.aten.rules import OpRule, elementwise
from ipu_mlir.tracing.graph import Symbol

Step = Callable[[int, Any, Any, Any], Any]
"""The next polynomial from its degree, x, the one before and the one before that."""

_MOST = 64
"""Degrees that are told apart where they are tensors."""


def _chebyshev(degree: int, x: Any, last: Any, before: Any) -> Any:
    return 2.0 * x * last - before


def _hermite_h(degree: int, x: Any, last: Any, before: Any) -> Any:
    return 2.0 * x * last - 2.0 * (degree - 1) * before


def _hermite_he(degree: int, x: Any, last: Any, before: Any) -> Any:
    return x * last - float(degree - 1) * before


def _laguerre(degree: int, x: Any, last: Any, before: Any) -> Any:
    return ((2.0 * degree - 1 - x) * last - float(degree - 1) * before) / float(degree)


def _legendre(degree: int, x: Any, last: Any, before: Any) -> Any:
    return ((2.0 * degree - 1) * x * last - float(degree - 1) * before) / float(degree)


_POLYNOMIALS: dict[str, tuple[Callable[[Any], Any], Step]] = {
    "chebyshev_polynomial_t": (lambda x: x, _chebyshev),
    "chebyshev_polynomial_u": (lambda x: 2.0 * x, _chebyshev),
    "chebyshev_polynomial_v": (lambda x: 2.0 * x - 1.0, _chebyshev),
    "chebyshev_polynomial_w": (lambda x: 2.0 * x + 1.0, _chebyshev),
    "hermite_polynomial_h": (lambda x: 2.0 * x, _hermite_h),
    "hermite_polynomial_he": (lambda x: x, _hermite_he),
    "laguerre_polynomial_l": (lambda x: 1.0 - x, _laguerre),
    "legendre_polynomial_p": (lambda x: x, _legendre),
}
"""By name, the polynomial of degree 1 and the step."""


def _rule_of(name: str, first: Callable[[Any], Any], step: Step, is_shifted: bool) -> OpRule:
    @elementwise(f"special_{name}", kind="wide")
    def polynomial(x: Any, degree: Any) -> Any:
        x = 2.0 * x - 1.0 if is_shifted else x
        degrees = list(range(_MOST)) if isinstance(degree, Symbol) else [int(degree)]
        found, before, last = np.zeros_like(x + 0.0 * degree), np.ones_like(x), first(x)
        for each in range(degrees[-1] + 1):
            value = before if each == 0 else last
            if each > 1:
                before, last = last, step(each, x, last, before)
                value = last
            if len(degrees) == 1 and each in degrees:
                found = value + np.zeros_like(found)
            elif len(degrees) > 1:
                found = np.where(np.trunc(degree) == each, value, found)
        return found

    return polynomial


_PLAIN = tuple(_rule_of(name, *how, False) for name, how in _POLYNOMIALS.items())
_SHIFTED = tuple(
    _rule_of(f"shifted_{name}", *how, True) for name, how in _POLYNOMIALS.items() if name.startswith("chebyshev")
)
