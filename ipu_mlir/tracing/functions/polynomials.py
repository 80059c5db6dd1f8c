"""Polynomials, by their coefficients from the highest power on."""

from typing import Any

import numpy as np

from ipu_mlir.tracing.graph import Symbol
from ipu_mlir.tracing.operands import common_dtype, operand, tensor, trace_of


def polyval(p: Any, x: Any) -> Any:
    trace = trace_of((p, x))
    p = tensor(trace, p)
    found = np.zeros_like(tensor(trace, x), dtype=common_dtype([p, operand(trace, x)]))
    for place in range(p.shape[0]):
        found = found * x + p[place]
    return found


def polyadd(a1: Any, a2: Any) -> Any:
    left, right = _polynomials(a1, a2)
    return left + right


def polysub(a1: Any, a2: Any) -> Any:
    left, right = _polynomials(a1, a2)
    return left - right


def polymul(a1: Any, a2: Any) -> Any:
    return np.convolve(a1, a2)


def polyder(p: Any, m: int = 1) -> Any:
    for _ in range(m):
        p = p[:-1] * np.arange(p.shape[0] - 1, 0, -1)
    return p


def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    constants = np.broadcast_to(0.0 if k is None else k, (m,)) if not isinstance(k, Symbol) else k
    for place in range(m):
        terms = p / np.arange(p.shape[0], 0, -1)
        p = np.concatenate([terms, np.reshape(constants[place], (1,))])
    return p


def _polynomials(a1: Any, a2: Any) -> list[Any]:
    trace = trace_of((a1, a2))
    both = [np.atleast_1d(tensor(trace, each)) for each in (a1, a2)]
    longest = max(each.shape[0] for each in both)
    return [np.pad(each, (longest - each.shape[0], 0)) for each in both]
