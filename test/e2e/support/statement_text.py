"""Statements of unit tests, in a notation that Python evaluates: statements with the strides that they are to have.

    program @main(%x) -> (%y[d1 + 4*d0] : 3x4) {
      argument %x : float32[4]
      temporary %y : float32[3x4]
      elementwise 3x4 {
        store maximum(%x[d1], float32(0.0)), %y[4*d0 + d1]
      }
    }

``d0``, ``d1``, ... are the loops of a statement, ``%x[d1]`` an element, and anything else a call of NumPy's function.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from ipu_mlir.runtime.translator.statements.access import Access, Buffer, Role
from ipu_mlir.runtime.translator.statements.control import Branch, ForLoop, WhileLoop
from ipu_mlir.runtime.translator.statements.expression import Apply, Const, Expression, Gather, Read
from ipu_mlir.runtime.translator.statements.statements import (
    Dot,
    Elementwise,
    FirstExtreme,
    Origin,
    Program,
    Reduce,
    Scan,
    SliceUpdate,
    Statement,
)

_DECLARED = re.compile(r"(argument|state|temporary|constant) %(\w+) : (\w+)\[(\w+)\]( in #\d+)?( counts)?( mutable)?")
_ELEMENT = r"%(\w+)\[([^\]]*)\]"
_HERE = Origin("", "")


def program_of(text: str) -> Program:
    """The program that ``text`` describes."""
    head, *lines = (line.strip() for line in text.strip().split("\n"))
    found = re.fullmatch(r"program @(\w+)\((.*)\) -> \((.*)\) \{", head)
    assert found, f"no program: {head}"
    reader = _Reader({}, iter(lines))
    statements = reader.block()
    results = [each.rsplit(" : ", 1) for each in re.findall(r"%\w+\[[^\]]*\] : \w+", found[3])]
    shapes = tuple(_shape(shape) for _, shape in results)
    accesses = tuple(reader.access(access, shape) for (access, _), shape in zip(results, shapes, strict=True))
    arguments = tuple(reader.buffers[name] for name in re.findall(r"%(\w+)", found[2]))
    return Program(found[1], arguments, tuple(statements), accesses, shapes)


def _shape(text: str) -> tuple[int, ...]:
    return () if text == "scalar" else tuple(map(int, text.split("x")))


@dataclass
class _Value:
    """An expression in Python's operators: ``%x[0] + 2*%i[0]`` is the element that a gather reads."""

    node: Expression

    def __rmul__(self, stride: int) -> tuple[int, Expression]:
        return stride, self.node

    def __add__(self, index: tuple[int, Expression]) -> tuple[Expression, int, Expression]:
        return self.node, *index

    def to(self, dtype: str) -> "_Value":
        return _Value(replace(self.node, dtype=np.dtype(dtype)))


class _Names(dict[str, Any]):
    """What names in values mean: types make constants, others are calls."""

    def __missing__(self, name: str) -> Any:
        if name in ("inf", "nan"):
            return float(name)
        if re.fullmatch(r"bool|u?int\d+|float\d+", name):
            return lambda value: _Value(Const.of(value, np.dtype(name)))
        return lambda *args: _Value(Apply(args[0].node.dtype, name, tuple(each.node for each in args)))


@dataclass
class _Reader:
    buffers: dict[str, Buffer]
    lines: Iterator[str]
    end: str = ""

    def block(self) -> tuple[Statement, ...]:
        """The statements up to the line that closes the block, which is then ``end``."""
        found = []
        for line in self.lines:
            if line.startswith("}"):
                self.end = line
                break
            if declared := _DECLARED.match(line):
                self.declare(declared, line)
            elif line:
                found.append(self.statement(line))
        return tuple(found)

    def declare(self, declared: re.Match[str], line: str) -> None:
        role, name, kind, shape, home, counts, mutable = declared.groups()
        value = np.array(eval(line.partition("=")[2]), kind) if role == "constant" else None
        path = (int(home.partition("#")[2]),) if home else ()
        dims = _shape(shape)
        made = Buffer(name, prod(dims), np.dtype(kind), Role(role), dims, value, bool(mutable), path)
        self.buffers[name] = replace(made, counts=bool(counts))

    def access(self, text: str, extents: tuple[int, ...]) -> Access:
        found = re.fullmatch(_ELEMENT, text.strip())
        assert found, f"no element: {text}"

        def at(loop: int) -> int:
            return eval(found[2], {f"d{n}": int(n == loop) for n in range(len(extents))})

        return Access(self.buffers[found[1]], at(-1), tuple(at(n) - at(-1) for n in range(len(extents))))

    def value(self, text: str, extents: tuple[int, ...], names: _Names) -> Expression:
        def element(name: str, at: str) -> _Value:
            access = self.access(f"%{name}[{at}]", extents)
            return _Value(Read(access.buffer.dtype, access))

        def gather(at: tuple[Read, int, Expression], limit: int) -> _Value:
            source, stride, index = at
            return _Value(Gather(source.dtype, source.access, index, stride, limit))

        code = re.sub(_ELEMENT, r"element('\1', '\2')", text).replace("limit ", "limit=")
        code = re.sub(r"\) : (\w+)", r").to('\1')", re.sub(r"%(\w+)", r"value_\1", code))
        return eval(code, {}, _Names(names, element=element, gather=gather)).node

    def statement(self, line: str) -> Statement:
        kind, *_ = line.split()
        if kind in ("for", "while", "if"):
            return self.control(line)
        found = re.fullmatch(r"(\w+)( [a-z]\w+)? ([\dx]+|scalar)(?: over ((?:d\d+(?:, )?)+))?(.*)", line)
        assert found, f"no statement: {line}"
        _, call, shape, over, rest = found.groups()
        extents = _shape(shape)
        reduced = tuple(f"d{loop}" in (over or "").split(", ") for loop in range(len(extents)))
        arrays = [self.access(each, extents) for each in re.findall(r"%\w+\[[^\]]*\]", rest)]
        if kind == "dot":
            return Dot(extents, _HERE, *arrays)
        if kind in ("reduce", "first_extreme"):
            made = Reduce if kind == "reduce" else FirstExtreme
            return made(extents, _HERE, reduced, call.strip(), *arrays)
        names, outputs, values = _Names(), [], []
        while (line := next(self.lines)) != "}":
            if box := re.fullmatch(rf"replace (.*) along d(\d+) from (.*) for (\d+) by (.*), ({_ELEMENT})", line):
                index, value = (self.value(each, extents, names) for each in (box[3], box[5]))
                old, out = (self.access(each, extents) for each in (box[1], box[6]))
                assert next(self.lines) == "}", "a slice update is one line"
                return SliceUpdate(extents, _HERE, (int(box[2]),), (index,), (int(box[4]),), value, old, out)
            if stored := re.fullmatch(rf"store (.*), ({_ELEMENT})", line):
                values.append(self.value(stored[1], extents, names))
                outputs.append(self.access(stored[2], extents))
            else:
                name, _, text = line.removeprefix("%").partition(" = ")
                names[f"value_{name}"] = _Value(self.value(text, extents, names))
        if kind == "scan":
            return Scan(extents, _HERE, reduced, tuple(outputs), tuple(values))
        return Elementwise(extents, _HERE, tuple(outputs), tuple(values))

    def control(self, line: str) -> Statement:
        ids, blocks = [], []
        self.end = line
        while self.end != "}":
            ids.append(int(self.end.partition("#")[2].removesuffix(" {")))
            blocks.append(self.block())
        if line.startswith("for"):
            found = re.match(rf"for ({_ELEMENT}) = (\d+) to (\d+) step (\d+)", line)
            assert found, f"no loop: {line}"
            lower, upper, step = map(int, found.groups()[-3:])
            return ForLoop((), _HERE, tuple(ids), lower, upper, step, self.access(found[1], ()), *blocks)
        found = re.search(_ELEMENT, line)
        assert found, f"no condition: {line}"
        kind = WhileLoop if line.startswith("while") else Branch
        return kind((), _HERE, tuple(ids), self.access(found[0], ()), *blocks)
