"""Operations on numbers and vectors, as the dialects have them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipu_mlir.runtime.translator.kernels.scalar.code import BOOL, Code, NoKernel, Value, type_text

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


class Arithmetic:
    """Operations that are appended to ``code``. Operands of one operation become vectors if one of them is one."""

    def __init__(self, code: Code) -> None:
        self.code = code

    def constant(self, value: Any, like: Value) -> Value:
        """``value`` in the type of ``like``."""
        return self.code.constant(value, like.dtype, like.lanes)

    def wide(self, value: Value, lanes: int) -> Value:
        """``value`` in each of ``lanes``."""
        if value.lanes == lanes:
            return value
        kind = type_text(value.dtype, lanes)
        return Value(self.code.value(f"vector.broadcast {value.name} : {value.type} to {kind}"), value.dtype, lanes)

    def together(self, values: Sequence[Value]) -> list[Value]:
        """``values`` with as many lanes as the widest."""
        lanes = max(value.lanes for value in values)
        return [self.wide(value, lanes) for value in values]

    def op(self, name: str, *operands: Value, flags: str = "") -> Value:
        """An operation whose result has the type of its operands."""
        wide = self.together(operands)
        names = ", ".join(value.name for value in wide)
        return Value(self.code.value(f"{name} {names}{flags} : {wide[0].type}"), wide[0].dtype, wide[0].lanes)

    def convert(self, name: str, a: Value, dtype: np.dtype[Any]) -> Value:
        """An operation from one type to another."""
        kind = type_text(dtype, a.lanes)
        return Value(self.code.value(f"{name} {a.name} : {a.type} to {kind}"), dtype, a.lanes)

    def compare(self, predicate: str, a: Value, b: Value) -> Value:
        """``predicate`` as ``arith`` names it: with o or u in front for floats, s or u for integers."""
        a, b = self.together([a, b])
        op = "cmpf" if a.dtype.kind == "f" else "cmpi"
        return Value(self.code.value(f"arith.{op} {predicate}, {a.name}, {b.name} : {a.type}"), BOOL, a.lanes)

    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        """One of two."""
        condition, yes, no = self.together([condition, yes, no])
        kind = f"{condition.type}, {yes.type}" if condition.lanes > 1 else yes.type
        name = self.code.value(f"arith.select {condition.name}, {yes.name}, {no.name} : {kind}")
        return Value(name, yes.dtype, yes.lanes)

    def bits(self, a: Value, dtype: np.dtype[Any]) -> Value:
        """The bits of ``a`` read as ``dtype``."""
        if a.dtype == dtype:
            return a
        if "b" in (a.dtype.kind, dtype.kind) or a.dtype.itemsize != dtype.itemsize:
            raise NoKernel(f"the bits of {a.dtype} as {dtype}")
        if a.dtype.kind != "f" and dtype.kind != "f":
            return Value(a.name, dtype, a.lanes)
        return self.convert("arith.bitcast", a, dtype)

    def alternating(self, a: Value, b: Value) -> list[Value]:
        """The lanes of ``a``, and behind each that of ``b``, as two vectors."""
        places = [place for lane in range(a.lanes) for place in (lane, lane + a.lanes)]
        return [self.shuffled(a, b, half) for half in (places[: a.lanes], places[a.lanes :])]

    def every_other(self, a: Value, b: Value, first: int) -> Value:
        """Every other lane of ``a`` and then ``b``, from ``first`` on."""
        return self.shuffled(a, b, list(range(first, 2 * a.lanes, 2)))

    def shuffled(self, a: Value, b: Value, lanes: list[int]) -> Value:
        """The ``lanes`` of ``a`` and, behind them, ``b``."""
        name = self.code.value(f"vector.shuffle {a.name}, {b.name} {lanes} : {a.type}, {b.type}")
        return Value(name, a.dtype, len(lanes))

    def turned(self, rows: list[Value]) -> list[Value]:
        """The transpose of a square of ``rows``, by squares of half of its size that change places."""
        rows, half = list(rows), len(rows) // 2
        while half:
            low = [lane if not lane & half else lane - half + len(rows) for lane in range(len(rows))]
            high = [lane + half if not lane & half else lane + len(rows) for lane in range(len(rows))]
            for number in (each for each in range(len(rows)) if not each & half):
                pair = rows[number], rows[number + half]
                rows[number], rows[number + half] = self.shuffled(*pair, low), self.shuffled(*pair, high)
            half //= 2
        return rows

    def reversed(self, a: Value) -> Value:
        """The lanes of ``a``, the last one first."""
        return self.shuffled(a, a, list(range(a.lanes))[::-1])

    def is_nan(self, a: Value) -> Value:
        return self.compare("uno", a, a)

    def both(self, a: Value, b: Value) -> Value:
        return self.op("arith.andi", a, b)

    # -- conversions

    def cast(self, a: Value, dtype: np.dtype[Any]) -> Value:
        """As C converts; floats that no integer of the type is near to become the nearest, NaN 0."""
        if a.dtype == dtype:
            return a
        source, dest = a.dtype.kind, dtype.kind
        if dest == "b":
            return self.compare("une" if source == "f" else "ne", a, self.constant(0, a))
        if source == "f" and dest == "f":
            return self.convert("arith.extf" if a.dtype.itemsize < dtype.itemsize else "arith.truncf", a, dtype)
        if source == "f":
            return self.saturated(a, dtype)
        if dest == "f":
            return self.convert("arith.uitofp" if source in "ub" else "arith.sitofp", a, dtype)
        if source != "b" and a.dtype.itemsize == dtype.itemsize:
            return Value(a.name, dtype, a.lanes)
        if source != "b" and a.dtype.itemsize > dtype.itemsize:
            return self.convert("arith.trunci", a, dtype)
        return self.convert("arith.extui" if source in "ub" else "arith.extsi", a, dtype)

    def saturated(self, a: Value, dtype: np.dtype[Any]) -> Value:
        """The float ``a`` without its fraction, or the nearest integer that fits; 0 for NaN."""
        limits = np.iinfo(dtype)
        low, end = self.constant(int(limits.min), a), self.constant(float(limits.max) + 1, a)
        below, above = self.compare("olt", a, low), self.compare("oge", a, end)
        fits = self.both(self.compare("oge", a, low), self.compare("olt", a, end))
        kept = self.select(fits, a, self.constant(0, a))
        found = self.convert("arith.fptoui" if dtype.kind == "u" else "arith.fptosi", kept, dtype)
        found = self.select(below, self.code.constant(limits.min, dtype, a.lanes), found)
        return self.select(above, self.code.constant(limits.max, dtype, a.lanes), found)

    # -- integers

    def divided(self, a: Value, b: Value) -> tuple[Value, Value, Value, Value]:
        """Quotient and remainder of integers, rounded towards zero, both 0 if ``b`` is; ``b`` is 0, and what divides.

        The lowest number divided by -1 stays as it is, as its negative does.
        """
        a, b = self.together([a, b])
        zero, one = self.constant(0, b), self.constant(1, b)
        by_zero = self.compare("eq", b, zero)
        safe, turned = self.select(by_zero, one, b), None
        if b.dtype.kind == "i":
            turned = self.compare("eq", b, self.constant(-1, b))
            safe = self.select(turned, one, safe)
        sign = "u" if b.dtype.kind == "u" else "s"
        quotient = self.op(f"arith.div{sign}i", a, safe)
        remainder = self.op("arith.subi", a, self.op("arith.muli", quotient, safe))
        if turned is not None:
            quotient = self.select(turned, self.op("arith.subi", zero, quotient), quotient)
        return self.select(by_zero, zero, quotient), self.select(by_zero, zero, remainder), by_zero, safe

    def shift(self, a: Value, by: Value, right: bool) -> Value:
        """0, or copies of the sign, where all bits are shifted out."""
        a, by = self.together([a, by])
        width = 8 * a.dtype.itemsize
        few = self.compare("ult", by, self.constant(width, by))
        if right and a.dtype.kind == "i":
            return self.op("arith.shrsi", a, self.select(few, by, self.constant(width - 1, by)))
        shifted = self.op("arith.shrui" if right else "arith.shli", a, self.select(few, by, self.constant(0, by)))
        return self.select(few, shifted, self.constant(0, a))
