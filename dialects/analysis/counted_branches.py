"""Branches that the counter of a loop decides: how often each way is taken follows from the text."""

from collections.abc import Callable

import numpy as np

from ipu_mlir.dialects.analysis.control_flow import control_op, counter_of
from ipu_mlir.dialects.analysis.matchers import defining_op, integer_of, predicate_of
from ipu_mlir.dialects.support.bindings import ir

Integers = np.ndarray
"""A value in each iteration of a loop."""

_COMPARISONS: dict[str, Callable[..., Integers]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "slt": np.less,
    "sle": np.less_equal,
    "sgt": np.greater,
    "sge": np.greater_equal,
}
_OPS: dict[str, Callable[..., Integers]] = {
    "arith.addi": np.add,
    "arith.subi": np.subtract,
    "arith.muli": np.multiply,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
    "arith.minsi": np.minimum,
    "arith.maxsi": np.maximum,
    "arith.floordivsi": np.floor_divide,
    "arith.index_cast": np.asarray,
}
"""Ops that mean the same here for numbers that are small beside their type."""

_MOST_ITERATIONS = 1 << 20


def times_taken(branch: ir.Operation) -> tuple[int, int] | None:
    """How often an ``scf.if`` takes its first way and its second one, in all iterations of the loop around it.

    None if it does not stand in the body of a loop of a known number of iterations, or if its condition depends on
    anything but the counter of that loop.
    """
    kind = control_op(branch)
    if kind is None or kind.kind != "if":
        return None
    counted = counter_of(branch.block)
    if counted is None:
        return None
    counter, loop = counted
    row = control_op(loop)
    count = row.trip_count(loop) if row is not None else None
    first, step = (integer_of(loop.operands[number]) for number in (0, 2))
    if count is None or first is None or step is None or not 0 < count <= _MOST_ITERATIONS:
        return None
    known: dict[ir.Value, Integers | None] = {counter: first + step * np.arange(count)}
    taken = _values(branch.operands[0], known)
    if taken is None:
        return None
    yes = int(np.count_nonzero(np.broadcast_to(taken, count)))
    return yes, count - yes


def _values(value: ir.Value, known: dict[ir.Value, Integers | None]) -> Integers | None:
    """``value`` in each iteration; None if it depends on anything but what is ``known``."""
    if value not in known:
        known[value] = _computed(value, known)
    return known[value]


def _computed(value: ir.Value, known: dict[ir.Value, Integers | None]) -> Integers | None:
    number = integer_of(value)
    if number is not None:
        return np.asarray(number)
    op = defining_op(value)
    if op is None:
        return None
    function = _COMPARISONS.get(predicate_of(op)) if op.name == "arith.cmpi" else _OPS.get(op.name)
    operands = [_values(operand, known) for operand in op.operands]
    given = [each for each in operands if each is not None]
    if function is None or not given or len(given) < len(operands):
        return None
    if op.name == "arith.floordivsi" and not np.all(given[1]):
        return None
    return function(*given)
