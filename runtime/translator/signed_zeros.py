"""Maxima and minima of two numbers that give the right one of two zeros, at no cost where there is no -0.

What networks take the maximum of comes from sums that began at +0, and a sum is -0 only if all of its terms are.
"""

from collections.abc import Sequence

import numpy as np

from ipu_mlir.runtime.translator.access import Buffer, Role
from ipu_mlir.runtime.translator.combiner import combiner_of
from ipu_mlir.runtime.translator.control import in_blocks
from ipu_mlir.runtime.translator.expression import (
    Accumulator,
    Apply,
    Const,
    Expression,
    Gather,
    Read,
    apply,
    postorder,
)
from ipu_mlir.runtime.translator.statements import Computed, Elementwise, Fold, Program, Statement
from ipu_mlir.runtime.translator.transform import with_rewritten_values

_NEVER = frozenset(["absolute", "exp", "exp2", "cosh"])
_MOST_ELEMENTS = 65536  # of a constant that is looked through


def with_signed_zeros(program: Program) -> Program:
    """``program`` in which element-wise maxima and minima give +0 and -0 as MLIR does."""
    zeros = _Zeros()

    def block(statements: Sequence[Statement]) -> list[Statement]:
        found: list[Statement] = []
        for old in statements:
            statement = in_blocks(old, block)
            if isinstance(statement, Computed):
                statement = with_rewritten_values(statement, zeros.right)
            zeros.note(statement)
            found.append(statement)
        return found

    return program.with_statements(block(program.statements))


class _Zeros:
    """What is known not to be -0, in the order of execution."""

    def __init__(self) -> None:
        self._buffers: set[Buffer] = set()
        self._known: dict[int, tuple[Expression, bool]] = {}

    def right(self, node: Expression) -> Expression:
        """``node``, whose arguments are right, so that it gives the right zero."""
        if not isinstance(node, Apply) or node.dtype.kind != "f" or any(isinstance(a, Accumulator) for a in node.args):
            return node
        match node.call:
            case "clip":
                return self._clipped(node)
            case "maximum":
                a, b = node.args  # of two zeros, NumPy gives the second or +0
                return node if self.never(b) else apply("maximum", b, a) if self.never(a) else apply("larger", a, b)
            case "minimum":
                a, b = node.args  # the second or -0
                return node if self.never(a) else apply("minimum", b, a) if self.never(b) else apply("smaller", a, b)
        return node

    def _clipped(self, node: Apply) -> Expression:
        """``clip`` gives the value where it equals a limit."""
        value, low, high = node.args
        if _is_zero(low) and not _is_minus_zero(low) and not self.never(value):
            return apply("absolute", node)
        return apply("smaller", value, high) if _is_minus_zero(high) else node

    def note(self, statement: Statement) -> None:
        """Remember which results of ``statement`` are never -0."""
        if isinstance(statement, Elementwise):
            never = [self.never(value) for value in statement.values]
        elif isinstance(statement, Fold):
            never = [self._never_folded(i, v) for i, v in zip(statement.inits, statement.values, strict=True)]
        else:
            return
        for out, is_never in zip(statement.dests(), never, strict=True):
            if is_never and not out.buffer.mutable and out.buffer.role is Role.TEMPORARY:
                self._buffers.add(out.buffer)

    def _never_folded(self, init: Expression, value: Expression) -> bool:
        found = combiner_of(value)
        if found is None:
            return False
        call, _, term = found
        if call == "add":
            return self.never(init) or self.never(term)
        return call in ("maximum", "minimum", "fmax", "fmin") and self.never(init) and self.never(term)

    def never(self, root: Expression) -> bool:
        """Whether ``root`` is never -0; False if that cannot be seen."""
        for node in postorder([root]):
            if id(node) not in self._known:
                self._known[id(node)] = node, self._never(node)  # holds the node, so that no other one gets its id
        return self._known[id(root)][1]

    def _never(self, node: Expression) -> bool:
        if node.dtype.kind != "f":
            return True
        match node:
            case Const():
                return not _is_minus_zero(node)
            case Read() | Gather():
                return node.access.buffer in self._buffers or _has_no_minus_zero(node.access.buffer)
            case Apply():
                return self._never_of_call(node, [self._known[id(arg)][1] for arg in node.args])
        return False

    def _never_of_call(self, node: Apply, args: list[bool]) -> bool:
        match node.call:
            case "add" | "maximum" | "larger":
                return any(args)
            case "minimum" | "smaller" | "fmax" | "fmin" | "clip":
                return all(args)
            case "subtract" | "sqrt":
                return args[0]
            case "multiply":
                return node.args[0] is node.args[1]
            case "select":
                return all(args[1:])
            case "cast":
                source = node.args[0].dtype
                return source.kind != "f" or (args[0] and source.itemsize <= node.dtype.itemsize)
        return node.call in _NEVER


def _is_zero(node: Expression) -> bool:
    return isinstance(node, Const) and bool(node.value == 0)


def _is_minus_zero(node: Expression) -> bool:
    return isinstance(node, Const) and bool(node.value == 0 and np.signbit(node.value))


def _has_no_minus_zero(buffer: Buffer) -> bool:
    """True for a constant that holds none."""
    value = buffer.value
    return value is not None and value.size <= _MOST_ELEMENTS and not np.any((value == 0) & np.signbit(value))
