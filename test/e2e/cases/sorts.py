"""Sorts, by loops that compare all pairs: keys of all kinds, several operands and keys, the first few only, ranks."""

from collections.abc import Callable, Sequence

import numpy as np
from support.case import Case, some
from support.rank_loops import TIES, kept_type, sort_loop
from support.tensor_text import DTYPES, function, one_generic, shape_of

_TOTAL_ORDER = (
    "%xbits@ = arith.bitcast %@0 : f32 to i32",
    "%xsign@ = arith.cmpi slt, %xbits@, %zero : i32",
    "%xflip@ = arith.subi %most, %xbits@ : i32",
    "%x@ = arith.select %xsign@, %xflip@, %xbits@ : i32",
)
"""The key of a side."""
_LAYOUTS = {"vector": ("19x{e}", 0), "rows": ("5x13x{e}", 1), "columns": ("9x6x{e}", 0), "middle": ("3x7x5x{e}", 1)}
_PREDICATES = {"f32": "arith.cmpf olt", "f16": "arith.cmpf olt", "f64": "arith.cmpf ogt", "i32": "arith.cmpi slt",
               "i64": "arith.cmpi sgt", "i8": "arith.cmpi ugt", "i1": "arith.cmpi ult"}  # fmt: skip
"""What compares two keys: with ``g`` in its name the greatest key comes first."""


def _with_ties(*shorts: str) -> tuple[np.ndarray, ...]:
    """Arrays with few values, each of which comes many times."""
    return tuple(np.round(x) if x.dtype.kind == "f" else x for x in some(*shorts, low=-2.4, high=2.4))


def _order(keys: Sequence[np.ndarray], at: int, *, descending: bool = False) -> np.ndarray:
    """Indices that sort stably by ``keys``, the first one first."""
    signs = [key.astype(np.float64) * (-1 if descending else 1) for key in keys]
    return np.lexsort(signs[::-1], at)


def _sort(element: str, layout: str, ties: str) -> Case:
    """Keys with a payload, the number of the element."""
    pattern, at = _LAYOUTS[layout]
    short = pattern.replace("{e}", element)
    numbers = pattern.replace("{e}", "i32")
    predicate = _PREDICATES[element]
    if ties == TIES[1]:  # ties are the same for both, so that "or equal" is as good
        predicate = predicate.replace("gt", "ge").replace("lt", "le")

    def expected(keys: np.ndarray, payload: np.ndarray) -> tuple[np.ndarray, ...]:
        unsigned = keys.view(np.uint8) if predicate.startswith("arith.cmpi u") else keys
        order = _order([unsigned], at, descending=" " in predicate and "g" in predicate.partition(" ")[2])
        return np.take_along_axis(keys, order, at), np.take_along_axis(payload, order, at)

    text = function(
        [short, numbers],
        [short, numbers],
        sort_loop([short, numbers], at, [f"%c = {predicate}, %p0, %q0 : {element}"], ties),
    )
    payload = np.arange(np.prod(shape_of(short)), dtype=np.int32).reshape(shape_of(short))
    return Case(f"sort-{element}-{layout}-{ties}", text, (*_with_ties(short), payload), expected)


def _first(count: int) -> Case:
    short, numbers = "4x11xf32", "4x11xi32"
    body = sort_loop([short, numbers], 1, ["%c = arith.cmpf ogt, %p0, %q0 : f32"], TIES[0], count)
    results = [kept_type(each, 1, count) for each in (short, numbers)]
    payload = np.tile(np.arange(11, dtype=np.int32), (4, 1))

    def expected(keys: np.ndarray, payload: np.ndarray) -> tuple[np.ndarray, ...]:
        order = _order([keys], 1, descending=True)[:, :count]
        return np.take_along_axis(keys, order, 1), np.take_along_axis(payload, order, 1)

    return Case(f"top-{count}", function([short, numbers], results, body), (*_with_ties(short), payload), expected)


def _two_keys() -> Case:
    """By the second key, descending, of those that tie by the first."""
    shorts = ["3x17xi32", "3x17xi64", "3x17xf32"]
    comparison = [
        "%xl = arith.cmpi slt, %p0, %q0 : i32",
        "%xe = arith.cmpi eq, %p0, %q0 : i32",
        "%xg = arith.cmpi sgt, %p1, %q1 : i64",
        "%xa = arith.andi %xe, %xg : i1",
        "%c = arith.ori %xl, %xa : i1",
    ]

    def expected(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, ...]:
        order = _order([a, -b], 1)
        return tuple(np.take_along_axis(x, order, 1) for x in (a, b, c))

    return Case(
        "sort-by-two-keys", function(shorts, shorts, sort_loop(shorts, 1, comparison)), _with_ties(*shorts), expected
    )


def _total_order() -> Case:
    """NaN last and -0 before 0, as the bits of the numbers are compared."""
    keys = [line.replace("@", side) for side in "pq" for line in _TOTAL_ORDER]
    body = sort_loop(["23xf32"], 0, [*keys, "%c = arith.cmpi slt, %xp, %xq : i32"])
    body = f"  %zero = arith.constant 0 : i32\n  %most = arith.constant 2147483647 : i32\n{body}"
    (values,) = _with_ties("23xf32")
    values[[3, 8]], values[5], values[11], values[17] = np.nan, np.inf, -np.inf, -0.0

    def expected(x: np.ndarray) -> np.ndarray:
        bits = x.view(np.int32)
        return x[np.argsort(np.where(bits < 0, np.int32(2**31 - 1) - bits, bits), kind="stable")]

    return Case("sort-total-order", function(["23xf32"], ["23xf32"], body), (values,), expected)


def _ranks(name: str, element: str, condition: str, before: Callable[..., np.ndarray], *, nan: bool = False) -> Case:
    """The counts themselves, of all pairs at once; NaN may be among them."""
    body = (
        f"%j = linalg.index 2 : index\n%i = linalg.index 1 : index\n%e = arith.cmpi ult, %j, %i : index\n{condition}\n"
        "%n = arith.extui %b : i1 to i32\n%y = arith.addi %acc, %n : i32"
    )
    uses = [f"4x15x{element}[r, j]", f"4x15x{element}[r, i]"]
    text = one_generic("r i j", uses, "4x15xi32[r, i]", body, reduced="j", init="0")
    (values,) = _with_ties(f"4x15x{element}")
    if nan:
        values[1, [2, 9]], values[2, :] = np.nan, np.nan

    def expected(x: np.ndarray, same: np.ndarray) -> np.ndarray:
        places = np.arange(x.shape[1])
        pairs = before(x[:, None, :], same[:, :, None], places[None, :] < places[:, None])
        return np.count_nonzero(pairs, 2).astype(np.int32)

    return Case(f"ranks-{name}", text, (values, values), expected)


_TIES_WITH_NAN = (
    "%l = arith.cmpf olt, %x0, %x1 : f32\n%u = arith.cmpf {}, %x0, %x1 : f32\n"
    "%t = arith.andi %u, %e : i1\n%b = arith.ori %l, %t : i1"
)

CASES = (
    *(_sort(element, "rows", ties) for element in DTYPES if element in _PREDICATES for ties in TIES),
    *(_sort("f32", layout, TIES[0]) for layout in _LAYOUTS if layout != "rows"),
    *(_first(count) for count in (1, 3)),
    _two_keys(),
    _total_order(),
    _ranks("nan-ties", "f32", _TIES_WITH_NAN.format("ule"), lambda j, i, e: (j < i) | (~(i < j) & e), nan=True),
    _ranks("nan-never-before", "f32", _TIES_WITH_NAN.format("ole"), lambda j, i, e: (j < i) | ((j <= i) & e), nan=True),
    _ranks(
        "not-stable", "i32",
        "%b = arith.cmpi slt, %x0, %x1 : i32", lambda j, i, e: j < i,
    ),
)  # fmt: skip
