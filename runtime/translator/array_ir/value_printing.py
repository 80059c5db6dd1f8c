"""Shapes, accesses and values as the text of array programs has them; ``value_parsing`` reads them back."""

from collections.abc import Mapping, Sequence

import numpy as np

from ipu_mlir.runtime.translator.array_ir.access import Access, Buffer
from ipu_mlir.runtime.translator.array_ir.expression import (
    Accumulator,
    Apply,
    Const,
    Expression,
    Gather,
    LoopNumber,
    Read,
    Slice,
    arguments,
    postorder,
)


def shape_text(shape: Sequence[int]) -> str:
    """The extents of ``shape``, as the text has them.

    >>> shape_text((2, 3)), shape_text(())
    ('2x3', 'scalar')
    """
    return "x".join(map(str, shape)) or "scalar"


def affine_text(offset: int, strides: Sequence[int]) -> str:
    """The sum of multiples of loops that an access is.

    >>> affine_text(3, (12, 0, -1)), affine_text(0, (0,))
    ('12*d0 - d2 + 3', '0')
    """
    terms = [(stride, f"d{loop}") for loop, stride in enumerate(strides) if stride]
    text = "".join(f" {'-' if s < 0 else '+'} {'' if abs(s) == 1 else f'{abs(s)}*'}{d}" for s, d in terms)
    if offset or not terms:
        text += f" {'-' if offset < 0 else '+'} {abs(offset)}"
    return text[3:] if text.startswith(" + ") else "-" + text[3:]


def scalar_text(value: np.generic) -> str:
    """A scalar that is read back bit by bit: the shortest number for it, or its bits where a NaN has some of its own.

    >>> scalar_text(np.float32(0.1)), scalar_text(np.float32("-nan")), scalar_text(np.bool_(True))
    ('0.1', 'bits 0xffc00000', 'True')
    """
    if value.dtype.kind == "f" and np.isnan(value) and value.tobytes() != value.dtype.type("nan").tobytes():
        return f"bits {int(np.array([value]).view(f'u{value.dtype.itemsize}')[0]):#x}"
    return repr(value.item()) if value.dtype.kind != "f" or value.dtype.itemsize == 8 else str(value)


def access_text(access: Access, names: Mapping[Buffer, str]) -> str:
    """``%x[256*d0 + d1]``."""
    return f"{names[access.buffer]}[{affine_text(access.offset, access.strides)}]"


class ValueTexts:
    """The expressions of one statement: lines for those that are used several times or are long, text for others."""

    def __init__(self, names: Mapping[Buffer, str], roots: Sequence[Expression]) -> None:
        self._names = names
        self._texts: dict[int, str] = {}
        self.lines: list[str] = []
        nodes = postorder(roots)
        uses: dict[int, int] = {}
        for used in (*roots, *(arg for node in nodes for arg in arguments(node))):
            uses[id(used)] = uses.get(id(used), 0) + 1
        for node in nodes:
            text = self._form(node)
            if isinstance(node, Apply | Gather | Slice) and (uses[id(node)] > 1 or len(text) > 60):
                self.lines.append(f"%{len(self.lines)} = {text}")
                text = f"%{len(self.lines) - 1}"
            self._texts[id(node)] = text

    def text(self, node: Expression) -> str:
        return self._texts[id(node)]

    def _form(self, node: Expression) -> str:
        match node:
            case Const():
                return f"{node.dtype}({scalar_text(node.value)})"
            case Read():
                other = "" if node.dtype == node.access.buffer.dtype else f" : {node.dtype}"
                return access_text(node.access, self._names) + other
            case LoopNumber():
                sign = f" {'-' if node.offset < 0 else '+'} {abs(node.offset)}" if node.offset else ""
                return f"{node.dtype}({self._names[node.buffer]}{sign})"
            case Accumulator():
                return f"{node.dtype}(running {node.index})"
            case Gather():
                where = f"{access_text(node.access, self._names)} + {node.stride}*{self.text(node.index)}"
                other = "" if node.dtype == node.access.buffer.dtype else f" : {node.dtype}"
                return f"gather({where}, limit {node.limit}){other}"
            case Slice():
                boxes = zip(node.starts, node.sizes, node.steps, strict=True)
                sides = (f"{self.text(a)} for {'one' if n is None else n} step {s}" for a, n, s in boxes)
                return f"slice({', '.join([access_text(node.access, self._names), *sides])}) : {node.dtype}"
            case Apply():
                inside = f"{node.call}({', '.join(map(self.text, node.args))})"
                return inside if node.dtype == node.args[0].dtype else f"{inside} : {node.dtype}"
        raise AssertionError(f"unknown node {node!r}")
