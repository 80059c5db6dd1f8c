"""The text of one MLIR function while it is written: numbered values, constants in front, lines that are indented."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

LANES = 16
"""Elements of a vector. A constant, not the width of the machine: results have the same bits everywhere."""

_PURE = ("arith.", "math.", "vector.", "llvm.getelementptr ", "llvm.ptrtoint ")

I64 = np.dtype(np.int64)
I32 = np.dtype(np.int32)
BOOL = np.dtype(np.bool_)


class NoKernel(Exception):
    """Statements that stay NumPy calls, with the reason."""


@dataclass(frozen=True)
class Value:
    """A number of ``dtype``, or a vector of ``lanes`` of them."""

    name: str
    dtype: np.dtype[Any]
    lanes: int = 1

    @property
    def type(self) -> str:
        return type_text(self.dtype, self.lanes)


@cache
def type_text(dtype: np.dtype[Any], lanes: int = 1) -> str:
    """MLIR's name of a type.

    >>> type_text(np.dtype("u4")), type_text(np.dtype("f4"), 16), type_text(np.dtype(bool))
    ('i32', 'vector<16xf32>', 'i1')
    """
    if dtype.kind not in "fiub":
        raise NoKernel(f"there are no kernels for {dtype}")
    element = "i1" if dtype.kind == "b" else f"{'f' if dtype.kind == 'f' else 'i'}{8 * dtype.itemsize}"
    return element if lanes == 1 else f"vector<{lanes}x{element}>"


def begin_function(name: str, parameters: str, linkage: str = "") -> str:
    """The first line of a function, of which the engine's wrapper has no copy."""
    return f"  llvm.func {linkage}@{name}({parameters}) attributes {{no_inline}} {{"


@dataclass
class Code:
    """Lines of a function: ``head`` comes first and dominates all, ``lines`` are what is done in order."""

    head: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    indent: str = "    "
    _constants: dict[tuple[str, str], str] = field(default_factory=dict)
    _indexes: dict[int, str] = field(default_factory=dict)
    _known: list[dict[str, str]] = field(default_factory=lambda: [{}])
    _count: int = 0

    def fresh(self) -> str:
        """A name that no other value of the function has."""
        self._count += 1
        return f"%{self._count}"

    def line(self, text: str) -> None:
        """Append ``text``."""
        self.lines.append(self.indent + text)

    def value(self, text: str) -> str:
        """Append an operation with one result; its name. One that computes the same from the same is not repeated."""
        if not text.startswith(_PURE):
            name = self.fresh()
            self.line(f"{name} = {text}")
            return name
        for known in self._known:
            if text in known:
                return known[text]
        name = self._known[-1][text] = self.fresh()
        self.line(f"{name} = {text}")
        return name

    def first(self, text: str) -> str:
        """As ``value``, in front of everything."""
        name = self.fresh()
        self.head.append(f"    {name} = {text}")
        return name

    @contextmanager
    def block(self, opening: str, closing: str = "}") -> Iterator[None]:
        """Lines inside of ``opening`` and ``closing``."""
        self.line(opening)
        before, self.indent = self.indent, self.indent + "  "
        self._known.append({})
        yield
        self._known.pop()
        self.indent = before
        self.line(closing)

    def constant(self, value: Any, dtype: np.dtype[Any], lanes: int = 1) -> Value:
        """The number ``value``."""
        number: Any = np.asarray(value).astype(dtype)[()]
        text, kind = _literal(number, dtype), type_text(dtype, lanes)
        if (text, kind) not in self._constants:
            literal = text if lanes == 1 else f"dense<{text}>"
            typed = "" if kind == "i1" else f" : {kind}"
            self._constants[text, kind] = self.first(f"arith.constant {literal}{typed}")
        return Value(self._constants[text, kind], dtype, lanes)

    def index(self, value: int) -> str:
        """The number ``value`` as an i64."""
        name = self._indexes.get(value)
        if name is None:
            name = self._indexes[value] = self.constant(value, I64).name
        return name

    def alloca(self, bytes_needed: int) -> str:
        """The address of zeros that live as long as the call."""
        one = self.index(1)
        place = self.first(f"llvm.alloca {one} x !llvm.array<{bytes_needed} x i8> {{alignment = 64 : i64}} "
                           ": (i64) -> !llvm.ptr")  # fmt: skip
        zero, count = self.constant(0, np.dtype(np.int8)).name, self.index(bytes_needed)
        self.head.append(
            f'    "llvm.intr.memset"({place}, {zero}, {count}) <{{isVolatile = false}}> : (!llvm.ptr, i8, i64) -> ()'
        )
        return place

    def text(self, name: str, parameters: str, linkage: str = "") -> str:
        """The whole function."""
        return "\n".join([begin_function(name, parameters, linkage), *self.head, *self.lines, "    llvm.return", "  }"])


def _literal(number: np.generic, dtype: np.dtype[Any]) -> str:
    """``number`` as MLIR reads it, bit by bit.

    >>> [_literal(np.float32(x), np.dtype("f4")) for x in (1, 1e-5, np.inf)]
    ['1.0', '9.999999747378752e-06', '0x7f800000']
    """
    if dtype.kind == "b":
        return "true" if number else "false"
    if dtype.kind != "f":
        return str(number.view(f"i{dtype.itemsize}"))
    if not np.isfinite(number):
        return f"0x{number.view(f'u{dtype.itemsize}'):0{2 * dtype.itemsize}x}"
    mantissa, _, power = repr(float(number)).partition("e")
    return (mantissa if "." in mantissa else f"{mantissa}.0") + (f"e{power}" if power else "")
