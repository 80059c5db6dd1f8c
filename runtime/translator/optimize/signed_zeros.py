"""Maxima and minima of two numbers that give the right one of two zeros, at no cost where there is no -0.

What networks take the maximum of comes from sums that began at +0, and a sum is -0 only if all of its terms are.
"""

from collections.abc import Sequence

import numpy as np

from ipu_mlir.runtime.translator.array_ir.access import Buffer, Role
from ipu_mlir.runtime.translator.array_ir.combiner import combiner_of
from ipu_mlir.runtime.translator.array_ir.control import in_blocks
from ipu_mlir.runtime.translator.array_ir.expression import (
    Accumulator,
    Apply,
    Const,
    Expression,
    Gather,
    Read,
    apply,
    is_minus_zero,
    postorder,
)
from ipu_mlir.runtime.translator.array_ir.statements import Computed, Elementwise, Fold, Program, Statement
from ipu_mlir.runtime.translator.array_ir.transform import with_rewritten_values

_CHOICES = frozenset(["clip", "maximum", "minimum"])
_NEVER = frozenset(["absolute", "exp", "exp2", "cosh"])
_MOST_STEPS = 64
_MOST_ELEMENTS = 65536  # of a constant that is looked through


def with_signed_zeros(program: Program) -> Program:
    """Let element-wise maxima and minima tell +0 from -0, as MLIR does."""
    zeros = _Zeros()

    def block(statements: Sequence[Statement]) -> list[Statement]:
        found: list[Statement] = []
        for old in statements:
            statement = in_blocks(old, block)
            if isinstance(statement, Computed):
                if any(map(_chooses, postorder(statement.expressions()))):
                    statement = with_rewritten_values(statement, zeros.right)
                zeros.note(statement)
            found.append(statement)
        return found

    return program.with_statements(block(program.statements))


class _Zeros:
    """Values that are known not to be -0, found where it is asked for."""

    def __init__(self) -> None:
        self._made: dict[Buffer, tuple[Expression, Expression | None]] = {}
        self._known: dict[int, tuple[Expression, bool]] = {}

    def note(self, statement: Statement) -> None:
        """Remember what the results of ``statement`` are: a value, and what a reduction begins with."""
        if isinstance(statement, Elementwise | Fold):
            inits = statement.inits if isinstance(statement, Fold) else (None,) * len(statement.values)
            for out, value, init in zip(statement.outputs, statement.values, inits, strict=True):
                if not out.buffer.mutable and out.buffer.role is Role.TEMPORARY:
                    self._made[out.buffer] = value, init

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
        if _is_zero(low) and not is_minus_zero(low) and not self.never(value):
            return apply("absolute", node)
        return apply("smaller", value, high) if is_minus_zero(high) else node

    def never(self, node: Expression, depth: int = 0) -> bool:
        """True if ``node`` is never -0; False if that cannot be seen, or not in a few steps."""
        if id(node) not in self._known:
            is_never = depth < _MOST_STEPS and self._never(node, depth + 1)
            self._known[id(node)] = node, is_never  # holds the node, so that no other one gets its id
        return self._known[id(node)][1]

    def _never(self, node: Expression, depth: int) -> bool:
        if node.dtype.kind != "f":
            return True
        if isinstance(node, Read | Gather):
            return self._never_in(node.access.buffer, depth)
        if isinstance(node, Apply):
            return self._never_of_call(node, depth)
        return isinstance(node, Const) and not is_minus_zero(node)

    def _never_in(self, buffer: Buffer, depth: int) -> bool:
        if buffer not in self._made:
            return _has_no_minus_zero(buffer)
        value, init = self._made[buffer]
        if init is None:
            return self.never(value, depth)
        found = combiner_of(value)
        if found is None:
            return False
        call, _, term = found
        if call == "add":
            return self.never(init, depth) or self.never(term, depth)
        kept = call in ("maximum", "minimum", "fmax", "fmin")
        return kept and self.never(init, depth) and self.never(term, depth)

    def _never_of_call(self, node: Apply, depth: int) -> bool:
        args = (self.never(arg, depth) for arg in node.args)
        match node.call:
            case "add":
                return any(args)
            case "maximum" | "larger":
                return all(args) or any(map(_is_above, node.args))
            case "minimum" | "smaller" | "fmax" | "fmin" | "clip":
                return all(args)
            case "subtract" | "sqrt":
                return next(args)
            case "multiply":
                return node.args[0] is node.args[1]
            case "select":
                return all(self.never(arg, depth) for arg in node.args[1:])
            case "cast":
                source = node.args[0].dtype
                return source.kind != "f" or (source.itemsize <= node.dtype.itemsize and next(args))
        return node.call in _NEVER


def _chooses(node: Expression) -> bool:
    return isinstance(node, Apply) and node.call in _CHOICES and node.dtype.kind == "f"


def _is_above(node: Expression) -> bool:
    """True if ``node`` can be seen to be NaN or at least +0: the larger of it and -0 is not -0."""
    if isinstance(node, Const):
        return bool(node.value >= 0) and not is_minus_zero(node)
    return isinstance(node, Apply) and node.call in _NEVER


def _is_zero(node: Expression) -> bool:
    return isinstance(node, Const) and bool(node.value == 0)


def _has_no_minus_zero(buffer: Buffer) -> bool:
    """True for a constant that holds none."""
    value = buffer.value
    return value is not None and value.size <= _MOST_ELEMENTS and not np.any((value == 0) & np.signbit(value))
