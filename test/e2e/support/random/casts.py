"""Random chains of casts among floats of every width, with integers and truth values between them.

Every cast has one right answer, so numbers of any size may come in: ties between two results, numbers that are too
large, and those next to them. bf16 and f8 have no type in NumPy: their numbers are held in f32, rounded. Of f8, types
with infinities take part.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from support.op_uses import saturated
from support.random.bodies import ScalarOp
from support.random.steps import Argument, Sketch, SteppedProgram, Tensor, Values
from support.tensor_text import DTYPES, generic

WIDTHS = {
    "f8E4M3": 8, "f8E5M2": 8, "bf16": 16, "f16": 16, "f32": 32, "f64": 64,
    "i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64,
}  # fmt: skip
FLOATS = ("f8E4M3", "f8E5M2", "bf16", "f16", "f32", "f64")
NARROW = {"f8E4M3": (4, -9, 8), "f8E5M2": (3, -16, 16), "bf16": (8, -133, 128)}
"""Bits of a number, the exponent of the smallest one, and that from where there is infinity."""


def held(element: str) -> np.dtype[Any]:
    """The type that NumPy holds elements in."""
    return DTYPES.get(element, np.dtype(np.float32))


def to_narrow(element: str, x: np.ndarray) -> np.ndarray:
    """Numbers rounded to the nearest of a type of ``NARROW``, ties to even, in f32.

    >>> to_narrow("bf16", np.array([1.00390625, 1.01171875, 1.00390626, 3.4e38, -(2**24) - 2**16 - 1]))
    array([ 1.0000000e+00,  1.0156250e+00,  1.0078125e+00,            inf,
           -1.6908288e+07], dtype=float32)
    """
    bits, least, beyond = NARROW[element]
    wide = _odd(x) if x.dtype.kind == "i" else x.astype(np.float64)
    finite = np.where(np.isfinite(wide), wide, 0)
    _, exponent = np.frexp(finite)
    quantum = np.ldexp(1.0, np.maximum(exponent - bits, least))
    rounded = np.where(np.isfinite(wide), np.rint(finite / quantum) * quantum, wide)
    return np.where(np.abs(rounded) >= 2.0**beyond, np.copysign(np.inf, rounded), rounded).astype(np.float32)


def _odd(x: np.ndarray) -> np.ndarray:
    """Integers in f64: the lowest bit says whether anything was cut off, so that a second rounding is right."""
    magnitude = np.abs(x.astype(np.int64)).view(np.uint64)
    large = magnitude >= 2**53
    cut = ((magnitude >> np.uint64(11)) | ((magnitude & np.uint64(2047)) != 0).astype(np.uint64)) << np.uint64(11)
    return np.where(x < 0, -1.0, 1.0) * np.where(large, cut, magnitude).astype(np.float64)


def _to(element: str, x: np.ndarray) -> np.ndarray:
    return to_narrow(element, x) if element in NARROW else x.astype(held(element))


def _unsigned(x: np.ndarray) -> np.ndarray:
    return x if x.dtype == np.bool_ else x.view(f"u{x.dtype.itemsize}")


def casts_between(source: str, result: str) -> list[ScalarOp]:
    """The ops that make ``result`` of ``source``."""
    ops = []
    wider = WIDTHS[result] > WIDTHS[source]
    types = f"{source} to {result}"

    def op(text: str, numpy: Any) -> None:
        ops.append(ScalarOp(text, (source,), result, numpy))

    if source in FLOATS and result in FLOATS:
        if WIDTHS[source] != WIDTHS[result]:
            op(f"arith.{'extf' if wider else 'truncf'} %x0 : {types}", lambda x: _to(result, x))
    elif source in FLOATS:
        for name, is_signed in (("fptosi", True), ("fptoui", False)):
            op(f"arith.{name} %x0 : {types}", lambda x, signed=is_signed: saturated(x, WIDTHS[result], signed))
    elif result in FLOATS:
        op(f"arith.uitofp %x0 : {types}", lambda x: _from_unsigned(result, x))
        if source != "i1":
            op(f"arith.sitofp %x0 : {types}", lambda x: _to(result, x))
    elif wider:
        op(f"arith.extui %x0 : {types}", lambda x: _unsigned(x).astype(held(result)))
        op(f"arith.extsi %x0 : {types}", lambda x: (-x.astype(np.int8) if source == "i1" else x).astype(held(result)))
    elif WIDTHS[source] != WIDTHS[result]:
        low_bit = result == "i1"
        op(f"arith.trunci %x0 : {types}", lambda x: (x & 1).astype(np.bool_) if low_bit else x.astype(held(result)))
    return ops


def _from_unsigned(result: str, x: np.ndarray) -> np.ndarray:
    unsigned = _unsigned(x)
    if result not in NARROW:
        return unsigned.astype(held(result))
    half = unsigned.astype(np.uint64)  # a number above 2**63 is rounded as its half, whose last bit is not lost
    large = half >= 2**63
    half = np.where(large, (half >> np.uint64(1)) | (half & np.uint64(1)), half).astype(np.int64)
    return to_narrow(result, half) * np.where(large, 2, 1).astype(np.float32)


@dataclass(frozen=True)
class WideArgument(Argument):
    """An argument of numbers of every size, most of them near a tie or a limit of a narrower type."""

    def draw(self, generator: np.random.Generator) -> np.ndarray:
        shape, dtype = self.tensor.shape, DTYPES[self.tensor.element]
        signs = generator.choice([-1, 1], shape)
        digits = 1 + generator.integers(0, 2**9, shape) / 2.0 ** generator.integers(7, 13, shape)
        small = generator.choice([0, 0, 1, -1], shape) * 2.0 ** -generator.integers(13, 40, shape).astype(float)
        if dtype.kind == "f":
            found = signs * (digits + small) * 2.0 ** generator.integers(-30, 20, shape)
            with np.errstate(over="ignore"):
                return np.asarray(found).astype(dtype)
        bits = generator.integers(1, 8 * dtype.itemsize, shape)
        found = signs * np.minimum((digits + small) * 2.0**bits, 2.0**62).astype(np.int64)
        return np.asarray(found + generator.integers(-1, 2, shape)).astype(dtype)


def cast(sketch: Sketch, source: Tensor, result: str) -> Tensor | None:
    """``source`` as ``result``; None if no op makes it at once."""
    ops = casts_between(source.element, result)
    if not ops:
        return None
    op = sketch.pick(ops)
    axes = ", ".join("ij"[: len(source.shape)])
    made = Tensor(sketch.fresh(), source.shape, result)
    text = generic(
        made.name, " ".join("ij"[: len(source.shape)]), [(source.name, f"{source.short}[{axes}]")],
        f"{made.short}[{axes}]", op.text,
    )  # fmt: skip

    def evaluate(values: Values) -> list[np.ndarray]:
        return [np.asarray(op.numpy(values[source.name]))]

    sketch.add([made], text, evaluate)
    return made


@st.composite
def casts(draw: st.DrawFn) -> SteppedProgram:
    """Up to eight casts in a row; what has no type in NumPy at the end becomes f32."""
    sketch = Sketch(draw, is_exact=False)
    start = draw(st.sampled_from([element for element in WIDTHS if element in DTYPES and element != "i1"]))
    tensor = Tensor("%a0", (draw(st.integers(1, 40)),), start)
    sketch.arguments.append(WideArgument(tensor, 0, 0))
    for _ in range(draw(st.integers(1, 8))):
        tensor = cast(sketch, tensor, draw(st.sampled_from(list(WIDTHS)))) or tensor
    if tensor.element in NARROW:
        cast(sketch, tensor, "f32")
    return sketch.program()
