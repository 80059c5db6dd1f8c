"""Slices at a place that is known only when the program runs: one number for the index, and writes of the slice alone.

In the IR a slice is a gather, and a tensor with one slice replaced is a choice at every element.
"""

from collections.abc import Sequence

from ipu_mlir.runtime.translator.access import Role
from ipu_mlir.runtime.translator.control import in_blocks
from ipu_mlir.runtime.translator.expression import (
    Apply,
    Const,
    Expression,
    Gather,
    LoopNumber,
    Read,
    loops_of,
    rewrite,
)
from ipu_mlir.runtime.translator.intervals import Ranges
from ipu_mlir.runtime.translator.iota import INDEX, numbers
from ipu_mlir.runtime.translator.statements import Elementwise, Program, SliceUpdate, Statement


def with_dynamic_slices(program: Program) -> Program:
    """``program`` with updates of slices as ``SliceUpdate``, and slices at the variable of a loop indexed by it."""

    def block(statements: Sequence[Statement]) -> list[Statement]:
        return [in_blocks(_update(statement) or _indexed(statement), block) for statement in statements]

    return program.with_statements(block(program.statements))


def _indexed(statement: Statement) -> Statement:
    """``statement`` with gathers at the variable of a loop indexed by the number itself."""
    if not isinstance(statement, Elementwise):
        return statement
    ranges = Ranges(statement.extents)

    def change(node: Expression) -> Expression:
        if not isinstance(node, Gather):
            return node
        number = _number(node.index)
        if number is None or not _is_within(node.index, node.limit, ranges):
            return node
        return Gather(node.dtype, node.access, number, node.stride, node.limit)

    values = tuple(rewrite(statement.values, change))
    return Elementwise(statement.extents, statement.origin, statement.outputs, values)


def _update(statement: Statement) -> SliceUpdate | None:
    """``statement`` as the update of one slice, if it chooses between new and old by the number of one loop."""
    if not isinstance(statement, Elementwise) or len(statement.values) != 1:
        return None
    (chosen,), (out,) = statement.values, statement.outputs
    if not isinstance(chosen, Apply) or chosen.call not in ("select", "select_bool"):
        return None
    condition, value, old = chosen.args
    found = _place(condition)
    if found is None or not isinstance(old, Read) or old.dtype != out.buffer.dtype or out.buffer.role is Role.CONSTANT:
        return None
    loop, index = found
    if loop in loops_of(value) or loops_of(index) or not out.strides[loop]:
        return None
    if not _is_within(index, statement.extents[loop], Ranges(statement.extents)):
        return None
    return SliceUpdate(statement.extents, statement.origin, loop, _number(index) or index, value, old.access, out)


def _place(condition: Expression) -> tuple[int, Expression] | None:
    """(loop, index) if ``condition`` holds exactly where ``loop`` is at ``index``."""
    if not isinstance(condition, Apply):
        return None
    if condition.call == "equal":
        sides = condition.args
    elif condition.call == "less":  # the distance, as an unsigned number, is less than 1
        distance, one = condition.args
        if not (isinstance(one, Const) and one.value == 1 and distance.dtype.kind == "u"):
            return None
        if not (isinstance(distance, Apply) and distance.call == "bits"):
            return None
        (inner,) = distance.args
        if not isinstance(inner, Apply) or inner.call != "subtract":
            return None
        sides = inner.args
    else:
        return None
    for number, index in (sides, sides[::-1]):
        loop = _loop_number(number)
        if loop is not None:
            return loop, index
    return None


def _loop_number(node: Expression) -> int | None:
    """The loop whose number ``node`` is."""
    if not isinstance(node, Read) or node.access.buffer is not numbers(node.access.buffer.elements):
        return None
    moving = node.access.loops()
    if len(moving) != 1 or node.access.offset:
        return None
    (loop,) = moving
    return loop if node.access.strides[loop] == 1 else None


def _number(index: Expression) -> LoopNumber | None:
    """``index`` as the variable of a loop around, plus a constant."""
    offset = 0
    while isinstance(index, Apply):
        if index.call == "cast" and index.args[0].dtype.kind == "i" and index.dtype.itemsize >= 4:
            (index,) = index.args
        elif index.call in ("add", "subtract") and isinstance(index.args[1], Const):
            offset += int(index.args[1].value) * (1 if index.call == "add" else -1)
            index = index.args[0]
        else:
            return None
    if not isinstance(index, Read) or index.access.buffer.bounds is None:
        return None
    return LoopNumber(INDEX, index.access.buffer, offset)


def _is_within(index: Expression, count: int, ranges: Ranges) -> bool:
    interval = ranges.of(index)
    return interval is not None and interval[0] >= 0 and interval[1] < count
