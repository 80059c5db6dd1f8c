"""Scalar ops on bf16 and the f8 types.

What is expected is computed in f32 or f64 and rounded by ml_dtypes, which both executors have to do once.
"""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from support.case import Case
from support.narrow_numbers import NARROW, WIDE, narrow_values, narrowed
from support.op_uses import Function, Use, case_of, use


def _in_f32(element: str, numpy: Function) -> Function:
    """``numpy`` on numbers of the type in f32, rounded to it."""
    return lambda *operands: narrowed(element, numpy(*(x.astype(np.float32) for x in operands)))


def _op(op: str, numpy: Function, arity: int = 2, allowed: Function | None = None) -> Case:
    """One op on every type; ``allowed`` says of which values, in f32."""
    uses = []
    for element in NARROW:
        values = narrow_values(element)
        if allowed is not None:
            values = values[allowed(values.astype(np.float32))]
        uses.append(use(op, [element] * arity, element, _in_f32(element, numpy), *[values] * arity))
    return case_of(f"{op}-of-narrow-floats", uses)


def _chain(element: str) -> Use:
    """Three operations, each of which rounds."""
    body = (
        f"%s = arith.addf %x0, %x1 : {element}\n    %p = arith.mulf %s, %x0 : {element}\n"
        f"    %y = arith.divf %p, %x1 : {element}"
    )

    def numpy(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        add, multiply, divide = (_in_f32(element, ufunc) for ufunc in (np.add, np.multiply, np.divide))
        return divide(multiply(add(a, b), a), b)

    return Use(body, (element, element), element, numpy, (narrow_values(element), narrow_values(element)))


def _fused(element: str) -> Use:
    def numpy(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        a, b, c = (x.astype(np.float64) for x in (a, b, c))
        return narrowed(element, a * b + c)

    few = np.array([0.0, 1.0, -1.5, 7.0, 13.0, np.nan]).astype(NARROW[element])
    return use("math.fma", [element] * 3, element, numpy, few, few, few)


def _fused_off_ties(element: str, factors: tuple[int, int], tie: tuple[int, int]) -> Use:
    """The product is a tie between two numbers; f64 cannot hold what is added to it."""
    dtype = WIDE.get(element) or NARROW[element]
    columns = [np.array([number]).astype(dtype) for number in factors]
    tiny = np.array([2.0**-100, -(2.0**-100)]).astype(dtype)
    above, below = (np.array(number).astype(dtype) for number in tie)
    return use("math.fma", [element] * 3, element, lambda a, b, c: np.where(c > 0, above, below), *columns, tiny)


_COMPARE = {"oeq": np.equal, "ogt": np.greater, "ole": np.less_equal, "une": np.not_equal}


def _comparison(predicate: str) -> Case:
    def numpy(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return _COMPARE[predicate](a.astype(np.float32), b.astype(np.float32))

    uses = [
        use("arith.cmpf", [e, e], "i1", numpy, narrow_values(e), narrow_values(e), predicate=f" {predicate},")
        for e in NARROW
    ]
    return case_of(f"arith.cmpf-{predicate}-of-narrow-floats", uses)


def _question(op: str, numpy: Callable[[np.ndarray, Any], Any]) -> Case:
    """A question about a number, answered by an i1; ``numpy`` gets it in f32, and the limits of the type."""

    def asked(element: str, dtype: Any) -> Use:
        limits = ml_dtypes.finfo(dtype)
        special = [limits.smallest_normal, limits.smallest_subnormal, np.inf, np.nan, 0, 1]
        with np.errstate(all="ignore"):
            values = np.array(special, np.float32).astype(dtype)
        return use(op, [element], "i1", lambda x: numpy(x.astype(np.float32), limits), values)

    types = {"f16": np.float16} | NARROW
    return case_of(f"{op}-of-narrow-floats", [asked(element, dtype) for element, dtype in types.items()])


def _is_normal(x: np.ndarray, limits: Any) -> np.ndarray:
    return np.isfinite(x) & (np.abs(x) >= np.float32(limits.smallest_normal))


def _select(element: str) -> Use:
    condition, values = np.array([False, True]), narrow_values(element)
    return use("arith.select", ["i1", element, element], element, np.where, condition, values, values, types=element)


def _finite(x: np.ndarray) -> np.ndarray:
    return np.isfinite(x)


def _positive(x: np.ndarray) -> np.ndarray:
    return x > 0


def _both_or_nan(choose: np.ufunc) -> Function:
    return lambda a, b: np.where(np.isnan(a) | np.isnan(b), np.float32(np.nan), choose(a, b))


def _not_minus_zero(x: np.ndarray) -> np.ndarray:
    return (x != 0) | ~np.signbit(x)


CASES = (
    case_of("chain-of-narrow-floats", [_chain(element) for element in NARROW]),
    case_of("math.fma-of-narrow-floats", [_fused(element) for element in NARROW]),
    case_of(
        "math.fma-rounds-once",
        [_fused_off_ties("bf16", (7, 37), (260, 258)), _fused_off_ties("f32", (97, 172961), (2**24 + 2, 2**24))],
    ),
    _op("arith.addf", np.add),
    _op("arith.subf", np.subtract),
    _op("arith.mulf", np.multiply),
    _op("arith.divf", np.divide),
    _op("arith.negf", np.negative, 1),
    _op("arith.maximumf", _both_or_nan(np.maximum), allowed=_not_minus_zero),
    _op("arith.minimumf", _both_or_nan(np.minimum), allowed=_not_minus_zero),
    _op("arith.maxnumf", np.fmax, allowed=_not_minus_zero),
    _op("math.absf", np.abs, 1),
    _op("math.floor", np.floor, 1),
    _op("math.exp", np.exp, 1, _finite),
    _op("math.tanh", np.tanh, 1),
    _op("math.sqrt", np.sqrt, 1, _positive),
    _op("math.log", np.log, 1, _positive),
    *(_comparison(predicate) for predicate in _COMPARE),
    _question("math.isnan", lambda x, _: np.isnan(x)),
    _question("math.isfinite", lambda x, _: np.isfinite(x)),
    _question("math.isnormal", _is_normal),
    case_of("arith.select-of-narrow-floats", [_select(element) for element in NARROW]),
)
