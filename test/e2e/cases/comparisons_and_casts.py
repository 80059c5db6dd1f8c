"""Comparisons by every predicate, choice by them, and every change of type."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from support.case import Case
from support.op_uses import (
    ALL_INTEGERS,
    FLOATS,
    Function,
    case_of,
    low_bits,
    saturated,
    signed,
    unsigned,
    use,
    values_of,
)
from support.tensor_text import DTYPES

_ORDERED = {"eq": np.equal, "gt": np.greater, "ge": np.greater_equal, "lt": np.less, "le": np.less_equal}
_FLOAT_PREDICATES = ("oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno")
_INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


def _of_floats(predicate: str) -> Function:
    """Ordered predicates are false where an operand is NaN, unordered ones true."""

    def run(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        unordered = np.isnan(a) | np.isnan(b)
        if predicate in ("ord", "uno"):
            return ~unordered if predicate == "ord" else unordered
        compared = a != b if predicate[1:] == "ne" else _ORDERED[predicate[1:]](a, b)
        return compared & ~unordered if predicate[0] == "o" else compared | unordered

    return run


def _of_integers(predicate: str) -> Function:
    if predicate in ("eq", "ne"):
        return lambda a, b: (a == b) == (predicate == "eq")
    read = signed if predicate[0] == "s" else unsigned
    return lambda a, b: _ORDERED[predicate[1:]](read(a), read(b))


def _comparison(op: str, predicate: str, types: Sequence[str], numpy: Function) -> Case:
    uses = [use(op, [e, e], "i1", numpy, values_of(e), values_of(e), predicate=f" {predicate},") for e in types]
    return case_of(f"{op}-{predicate}", uses)


def _select(element: str) -> Any:
    values = values_of(element)
    takes = ["i1", element, element]
    return use("arith.select", takes, element, np.where, values_of("i1"), values, values, types=element)


Cast = Callable[[np.ndarray, np.dtype[Any]], np.ndarray]


def _cast(op: str, pairs: Sequence[tuple[str, str]], numpy: Cast, values: Function = values_of, name: str = "") -> Case:
    """A change of type for each of ``pairs``; ``numpy`` gets the operand and the dtype of the result."""

    def meaning(result: str) -> Function:
        return lambda x: numpy(x, DTYPES[result])

    uses = [use(op, [a], b, meaning(b), values(a), types=f"{a} to {b}") for a, b in pairs]
    return case_of(name or op, uses)


def _resized(read: Function) -> Cast:
    return lambda x, dtype: low_bits(read(x), dtype)


def _converted(read: Function) -> Cast:
    return lambda x, dtype: read(x).astype(dtype)


def _same(x: np.ndarray) -> np.ndarray:
    return x


def _whole(is_signed: bool) -> Cast:
    return lambda x, dtype: saturated(x, 1 if dtype == np.bool_ else 8 * dtype.itemsize, is_signed)


def _around_limits(element: str) -> np.ndarray:
    """Floats that integers hold, cut off or not, those at the limits of every integer type, and those beyond."""
    limits = [2.0**bits for bits in (7, 8, 15, 16, 31, 32, 63, 64)]
    near = [np.nextafter(DTYPES[element].type(x), np.array(to, DTYPES[element])) for x in limits for to in (0, np.inf)]
    few = [0.0, 0.5, 0.99, 1.0, 1.99, 100.25, *limits, *near, 1e30, np.inf, np.nan]
    return np.array([*few, *(-x for x in few)], DTYPES[element])


_STORED = ("i1", "i8", "i16", "i32", "i64")
_WIDER = [(a, b) for place, a in enumerate(_STORED) for b in _STORED[place + 1 :]]
_NARROWER = [(b, a) for a, b in _WIDER]
_TO_INDEX = [(element, "index") for element in _STORED]
_FROM_INDEX = [("index", element) for element in _STORED]
_BITCASTS = [("f32", "i32"), ("i32", "f32"), ("f64", "i64"), ("i64", "f64")]

CASES = (
    *(_comparison("arith.cmpf", predicate, FLOATS, _of_floats(predicate)) for predicate in _FLOAT_PREDICATES),
    *(_comparison("arith.cmpi", predicate, ALL_INTEGERS, _of_integers(predicate)) for predicate in _INTEGER_PREDICATES),
    case_of("arith.select", [_select(element) for element in (*FLOATS, *ALL_INTEGERS)]),
    _cast("arith.extsi", _WIDER, _resized(signed)),
    _cast("arith.extui", _WIDER, _resized(unsigned)),
    _cast("arith.trunci", _NARROWER, _resized(unsigned)),
    _cast("arith.index_cast", _TO_INDEX + _FROM_INDEX, _resized(signed)),
    _cast("arith.index_castui", _TO_INDEX + _FROM_INDEX[1:], _resized(unsigned)),
    _cast("arith.index_castui", _FROM_INDEX[:1], _resized(unsigned), name="arith.index_castui-to-i1"),
    _cast("arith.sitofp", list(product(_STORED[1:], FLOATS)), _converted(signed)),
    _cast("arith.sitofp", list(product(_STORED[:1], FLOATS)), _converted(signed), name="arith.sitofp-of-i1"),
    _cast("arith.uitofp", list(product(_STORED, FLOATS)), _converted(unsigned)),
    _cast("arith.fptosi", list(product(FLOATS, _STORED)), _whole(True), _around_limits),
    _cast("arith.fptoui", list(product(FLOATS, _STORED)), _whole(False), _around_limits),
    _cast("arith.extf", [("f32", "f64")], _converted(_same)),
    _cast("arith.truncf", [("f64", "f32")], _converted(_same)),
    _cast("arith.bitcast", _BITCASTS, lambda x, dtype: x.view(dtype)),
)
