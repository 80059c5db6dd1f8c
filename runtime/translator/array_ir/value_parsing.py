"""Buffers and values from the text of an array program: what its statements are about."""

import base64
import re
from math import prod
from typing import Any

import numpy as np

from ipu_mlir.runtime.translator.array_ir.access import Access, Buffer, Role
from ipu_mlir.runtime.translator.array_ir.expression import (
    Accumulator,
    Apply,
    Const,
    Expression,
    Gather,
    LoopNumber,
    Read,
    Slice,
)
from ipu_mlir.runtime.translator.array_ir.iota import INDEX, numbers
from ipu_mlir.runtime.translator.array_ir.tokens import Tokens


class Values(Tokens):
    """A text of which declarations, accesses and values are read; it knows the buffers that were declared so far."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._buffers: dict[str, Buffer] = {}
        self._values: dict[str, Expression] = {}
        self._loops = 0

    def _declaration(self) -> None:
        role = Role(self._next())
        name = self._of_kind("word", "a buffer")
        if name in self._buffers:
            self._fail(f"a buffer other than {name}, which is declared already,")
        self._expect(":")
        dtype = self._dtype()
        self._expect("[")
        shape = self._shape()
        self._expect("]")
        elements = self._integer() if self._take("elements") else prod(shape)
        narrow = self._next() if self._take("narrow") else None
        home: tuple[int, ...] | None = ()
        if self._take("floating"):
            home = None
        elif self._take("in"):
            home = tuple(int(number.removeprefix("#")) for number in self._path())
        bounds = None
        if self._take("bounds"):
            self._expect("[")
            bounds = tuple(self._listed(self._integer, "]"))
        counts = self._take("counts")
        mutable = self._take("mutable")
        value = self._constant(dtype, elements) if role is Role.CONSTANT else None
        buffer = Buffer(name[1:], elements, dtype, role, shape, value, mutable, home, narrow, bounds, counts)
        self._buffers[name] = _loop_numbers(buffer) or buffer

    def _path(self) -> list[str]:
        return self._of_kind("word", "a block").split(".")

    def _constant(self, dtype: np.dtype[Any], elements: int) -> np.ndarray:
        self._expect("=")
        if self._take("bytes"):
            raw = self._of_kind("string", "bytes in base64")[1:-1]
            value = np.frombuffer(base64.b64decode(raw), dtype)
        else:
            self._expect("[")
            value = np.array(self._listed(lambda: self._scalar(dtype), "]"), dtype)
        if value.size != elements:
            self._fail(f"a constant of {elements} elements, not {value.size},")
        return value

    def _scalar(self, dtype: np.dtype[Any]) -> Any:
        """A number of ``dtype``; NaNs may be given by their bits."""
        if self._take("bits"):
            return np.array([self._integer()], f"u{dtype.itemsize}").view(dtype)[0]
        if dtype.kind == "b":
            return np.bool_(self._of_kind("word", "True or False") == "True")
        if self._take("nan"):
            return dtype.type("nan")
        text = self._of_kind("number", "a number")
        return dtype.type(int(text, 0) if dtype.kind in "iu" else text)

    def _buffer(self, name: str) -> Buffer:
        if name not in self._buffers:
            self._fail(f"a buffer that is declared, not {name},")
        return self._buffers[name]

    def _access(self, end: str = "") -> Access:
        buffer = self._buffer(self._of_kind("word", "a buffer"))
        access = self._element(buffer, self._loops)
        if end:
            self._expect(end)
        return access

    def _array(self) -> tuple[Access, tuple[int, ...]]:
        """``%y[16*d0 + d1] : 48x16``: as many loops as the shape has dimensions."""
        buffer = self._buffer(self._of_kind("word", "a buffer"))
        access = self._element(buffer, None)
        self._expect(":")
        shape = self._shape()
        if len(access.strides) > len(shape):
            self._fail(f"a shape of {len(access.strides)} dimensions or more")
        return Access(buffer, access.offset, access.strides + (0,) * (len(shape) - len(access.strides))), shape

    def _element(self, buffer: Buffer, loops: int | None) -> Access:
        """``[12*d0 - d2 + 3]``; of ``loops`` loops, or as many as are named."""
        self._expect("[")
        offset, strides = 0, dict[int, int]()
        sign = 1
        while True:
            if self._take("-"):
                sign = -sign
            factor, loop = 1, None
            if self._kind == "number":
                factor = self._integer()
                if self._take("*"):
                    loop = self._of_kind("word", "a loop")
            else:
                loop = self._of_kind("word", "a number or a loop")
            if loop is None:
                offset += sign * factor
            else:
                if not re.fullmatch(r"d\d+", loop) or (loops is not None and int(loop[1:]) >= loops):
                    self._fail(f"one of {loops} loops, not {loop},")
                strides[int(loop[1:])] = sign * factor
            if self._take("]"):
                break
            sign = 1
            if self._token == "+":
                self._next()
            elif self._kind == "number" and self._token.startswith("-"):
                pass
            elif self._token != "-":
                self._fail("'+', '-' or ']'")
        count = max(strides, default=-1) + 1 if loops is None else loops
        return Access(buffer, offset, tuple(strides.get(loop, 0) for loop in range(count)))

    def _type_of(self, plain: np.dtype[Any]) -> np.dtype[Any]:
        return self._dtype() if self._take(":") else plain

    def _value(self) -> Expression:
        word = self._of_kind("word", "a value")
        if word in self._values:
            return self._values[word]
        if word.startswith("%"):
            buffer = self._buffer(word)
            access = self._element(buffer, self._loops)
            return Read(self._type_of(buffer.dtype), access)
        self._expect("(")
        if word == "gather":
            return self._gather()
        if word == "slice":
            return self._slice()
        if word in _SCALARS:
            return self._leaf(np.dtype(word))
        args = tuple(self._listed(self._value, ")"))
        if not args:
            self._fail(f"an argument of {word}")
        return Apply(self._type_of(args[0].dtype), word, args)

    def _gather(self) -> Gather:
        access = self._access()
        self._expect("+")
        stride = self._integer()
        self._expect("*")
        index = self._value()
        self._expect(",", "limit")
        limit = self._integer()
        self._expect(")")
        return Gather(self._type_of(access.buffer.dtype), access, index, stride, limit)

    def _slice(self) -> Slice:
        access = self._access()
        starts, sizes, steps = [], [], []
        while self._take(","):
            starts.append(self._value())
            self._expect("for")
            sizes.append(None if self._take("one") else self._integer())
            self._expect("step")
            steps.append(self._integer())
        self._expect(")")
        dtype = self._type_of(access.buffer.dtype)
        return Slice(dtype, access, tuple(starts), tuple(sizes), tuple(steps))

    def _leaf(self, dtype: np.dtype[Any]) -> Expression:
        """``float32(0.0)``, ``float32(running 0)`` or ``int64(%i + 3)``."""
        if self._take("running"):
            value: Expression = Accumulator(dtype, self._integer())
        elif self._token.startswith("%"):
            buffer = self._buffer(self._next())
            negative = self._take("-")
            offset = self._integer() if negative or self._take("+") else 0
            value = LoopNumber(dtype, buffer, -offset if negative else offset)
        else:
            value = Const(dtype, self._scalar(dtype))
        self._expect(")")
        return value


def _loop_numbers(constant: Buffer) -> Buffer | None:
    """The buffer of 0, 1, 2, ... or another step that passes know, if ``constant`` holds that."""
    value = constant.value
    if value is None or constant.dtype != INDEX or len(constant.shape) != 1 or value.size < 2:
        return None
    known = numbers(value.size, int(value[1]))
    return known if known.value is not None and np.array_equal(value, known.value) else None


_SCALARS = frozenset(np.dtype(code).name for code in "?bhiqBHIQefd")
