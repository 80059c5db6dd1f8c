"""What the bodies of random programs are made of: ops on scalars with what NumPy says about them, by types.

*Exact* ops give whole numbers from whole numbers. Programs of these on small whole numbers have one right answer in
every order of summing, floats included. *Smooth* ops take any floats; they go without sums and comparisons.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from support.tensor_text import DTYPES

FLOATS = ("f32", "f64")
INTEGERS = ("i8", "i16", "i32", "i64")


@dataclass(frozen=True)
class ScalarOp:
    """One op of a body.

    Attributes:
        text: the op on ``%x0, %x1, ...``.
        takes: the types of its operands.
        gives: the type of its result.
    """

    text: str
    takes: tuple[str, ...]
    gives: str
    numpy: Callable[..., Any]

    def __repr__(self) -> str:
        return self.text

    def evaluate(self, *operands: np.ndarray) -> np.ndarray:
        return np.asarray(self.numpy(*operands)).astype(DTYPES[self.gives])


@dataclass(frozen=True)
class Combiner:
    """How a reduction combines ``%acc`` with a new element ``%e``; ``start`` is its neutral element."""

    op: str
    element: str
    start: str
    ufunc: np.ufunc

    def __repr__(self) -> str:
        return self.op

    def text(self) -> str:
        return f"{self.op} %acc, %e : {self.element}"


def _same(op: str, element: str, numpy: Callable[..., Any], arity: int = 2) -> ScalarOp:
    operands = ", ".join(f"%x{place}" for place in range(arity))
    return ScalarOp(f"{op} {operands} : {element}", (element,) * arity, element, numpy)


def _compare(op: str, predicate: str, element: str, numpy: Callable[..., Any]) -> ScalarOp:
    return ScalarOp(f"{op} {predicate}, %x0, %x1 : {element}", (element, element), "i1", numpy)


def _cast(op: str, source: str, result: str, numpy: Callable[..., Any] = lambda x: x) -> ScalarOp:
    return ScalarOp(f"{op} %x0 : {source} to {result}", (source,), result, numpy)


def _select(element: str) -> ScalarOp:
    return ScalarOp(f"arith.select %x0, %x1, %x2 : {element}", ("i1", element, element), element, np.where)


def _unsigned(x: np.ndarray) -> np.ndarray:
    return x.view(f"u{x.dtype.itemsize}")


def _on_floats(e: str) -> list[ScalarOp]:
    return [
        _same("arith.addf", e, np.add),
        _same("arith.subf", e, np.subtract),
        _same("arith.mulf", e, np.multiply),
        _same("arith.maximumf", e, np.maximum),
        _same("arith.minimumf", e, np.minimum),
        _same("arith.negf", e, np.negative, 1),
        _same("math.absf", e, np.abs, 1),
        _same("math.floor", e, np.floor, 1),
        _same("math.copysign", e, np.copysign),
        _compare("arith.cmpf", "olt", e, np.less),
        _compare("arith.cmpf", "une", e, np.not_equal),
        _compare("arith.cmpf", "oge", e, np.greater_equal),
        _cast("arith.fptosi", e, "i32"),
        _select(e),
    ]


def _on_integers(e: str) -> list[ScalarOp]:
    return [
        _same("arith.addi", e, np.add),
        _same("arith.subi", e, np.subtract),
        _same("arith.muli", e, np.multiply),
        _same("arith.andi", e, np.bitwise_and),
        _same("arith.ori", e, np.bitwise_or),
        _same("arith.xori", e, np.bitwise_xor),
        _same("arith.maxsi", e, np.maximum),
        _same("arith.minui", e, lambda a, b: np.minimum(_unsigned(a), _unsigned(b)).view(a.dtype)),
        _compare("arith.cmpi", "slt", e, np.less),
        _compare("arith.cmpi", "eq", e, np.equal),
        _compare("arith.cmpi", "uge", e, lambda a, b: _unsigned(a) >= _unsigned(b)),
        _cast("arith.trunci", e, "i1", lambda x: x & 1),
        _select(e),
    ]


_ON_BOOLEANS = [
    _same("arith.andi", "i1", np.logical_and),
    _same("arith.ori", "i1", np.logical_or),
    _same("arith.xori", "i1", np.logical_xor),
    _select("i1"),
    _cast("arith.extui", "i1", "i8"),
    _cast("arith.extsi", "i1", "i32", lambda x: -x.astype(np.int32)),
    _cast("arith.uitofp", "i1", "f32"),
]
_CASTS = [
    _cast("arith.extsi", "i8", "i32"),
    _cast("arith.extui", "i8", "i16", _unsigned),
    _cast("arith.extsi", "i16", "i64"),
    _cast("arith.trunci", "i32", "i8"),
    _cast("arith.trunci", "i64", "i32"),
    _cast("arith.sitofp", "i8", "f32"),
    _cast("arith.sitofp", "i16", "f64"),
    _cast("arith.extf", "f32", "f64"),
]

EXACT_OPS: tuple[ScalarOp, ...] = (
    *(op for element in FLOATS for op in _on_floats(element)),
    *(op for element in INTEGERS for op in _on_integers(element)),
    *_ON_BOOLEANS,
    *_CASTS,
)

SMOOTH_OPS: tuple[ScalarOp, ...] = tuple(
    op
    for e in FLOATS
    for op in (
        *(_same(f"arith.{name}", e, ufunc) for name, ufunc in
          {"addf": np.add, "subf": np.subtract, "mulf": np.multiply, "divf": np.divide}.items()),
        *(_same(f"math.{name}", e, ufunc, 1) for name, ufunc in
          {"exp": np.exp, "tanh": np.tanh, "sqrt": np.sqrt, "log1p": np.log1p, "atan": np.arctan}.items()),
        _select(e),
    )
)  # fmt: skip

PRODUCTS: tuple[ScalarOp, ...] = (
    *(op for op in EXACT_OPS if op.text.startswith(("arith.mul", "arith.addf"))),
    _same("arith.andi", "i1", np.logical_and),
)
"""What contractions combine; a sum instead of a product makes a max-plus product."""

COMBINERS: tuple[Combiner, ...] = (
    *(Combiner("arith.addf", e, "0.0", np.add) for e in FLOATS),
    Combiner("arith.maximumf", "f32", "0xFF800000", np.maximum),
    Combiner("arith.minimumf", "f64", "0x7FF0000000000000", np.minimum),
    *(Combiner("arith.addi", e, "0", np.add) for e in INTEGERS),
    Combiner("arith.muli", "i32", "1", np.multiply),
    *(Combiner("arith.maxsi", e, str(np.iinfo(DTYPES[e]).min), np.maximum) for e in INTEGERS),
    *(Combiner("arith.minsi", e, str(np.iinfo(DTYPES[e]).max), np.minimum) for e in INTEGERS),
    Combiner("arith.ori", "i32", "0", np.bitwise_or),
    Combiner("arith.andi", "i1", "true", np.logical_and),
    Combiner("arith.ori", "i1", "false", np.logical_or),
)


def identity(element: str) -> ScalarOp:
    """The element itself: what a plain reduction combines."""
    return ScalarOp("", (element,), element, lambda x: x)
