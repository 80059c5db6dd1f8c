"""Updates of slices at a place that is known only when the program runs: only the slice is written.

A tensor with one slice replaced is mostly an update from the start (``read_slice_update``). Programs may also write it
as a choice at every element, or as a scatter with a single place.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

import numpy as np

from ipu_mlir.runtime.translator.array_ir.access import Access, Role
from ipu_mlir.runtime.translator.array_ir.control import in_blocks
from ipu_mlir.runtime.translator.array_ir.expression import (
    Apply,
    Const,
    Expression,
    Gather,
    Read,
    apply,
    gathers,
    loops_of,
    reads,
    rewrite,
)
from ipu_mlir.runtime.translator.array_ir.intervals import Ranges, is_within
from ipu_mlir.runtime.translator.array_ir.iota import INDEX, loop_number, numbers
from ipu_mlir.runtime.translator.array_ir.linear import read_if_linear
from ipu_mlir.runtime.translator.array_ir.statements import Elementwise, Program, SliceUpdate, Statement
from ipu_mlir.runtime.translator.array_ir.transform import with_rewritten_values
from ipu_mlir.runtime.translator.optimize.single_scatters import single_scatter

BOOL = np.dtype(np.bool_)


def with_dynamic_slices(program: Program) -> Program:
    """Write updates of slices as ``SliceUpdate``, and index slices at the variable of a loop by it."""

    def block(statements: Sequence[Statement]) -> list[Statement]:
        return [
            in_blocks(_update(statement) or single_scatter(statement) or _indexed(statement), block)
            for statement in statements
        ]

    return program.with_statements(block(program.statements))


def _indexed(statement: Statement) -> Statement:
    """``statement`` with what lies at the variable of a loop indexed by the number itself."""
    if not isinstance(statement, Elementwise | SliceUpdate):
        return statement
    ranges = Ranges(statement.extents)

    def number(index: Expression, limit: int) -> Expression:
        return (loop_number(index) if is_within(index, limit, ranges) else None) or index

    def change(node: Expression) -> Expression:
        return replace(node, index=number(node.index, node.limit)) if isinstance(node, Gather) else node

    found = with_rewritten_values(statement, change) if gathers(statement.expressions()) else statement
    if not isinstance(found, SliceUpdate):
        return found
    limits = [found.extents[loop] - size + 1 for loop, size in zip(found.loops, found.sizes, strict=True)]
    indexes = rewrite(found.indexes, ranges.decided)
    return replace(found, indexes=tuple(map(number, indexes, limits)))


@dataclass(frozen=True)
class _Place:
    """``condition`` holds exactly where ``loop`` is at ``index`` or one of the next ``size`` - 1 points.

    ``distance`` is how far the loop is from the index, if that has a node of its own.
    """

    condition: Expression
    loop: int
    index: Expression
    size: int
    distance: Expression | None


def _is_choice(node: Expression) -> TypeGuard[Apply]:
    return isinstance(node, Apply) and node.call in ("select", "select_bool")


def _update(statement: Statement) -> SliceUpdate | None:
    """``statement`` as the update of one slice, if it chooses between new and old by the numbers of loops."""
    if not isinstance(statement, Elementwise) or len(statement.values) != 1 or not _is_choice(statement.values[0]):
        return None
    ranges = Ranges(statement.extents)
    (chosen,), (out,) = rewrite(statement.values, ranges.decided), statement.outputs
    if not _is_choice(chosen):
        return None
    condition, value, old = chosen.args
    if not isinstance(old, Read) or old.dtype != out.buffer.dtype or out.buffer.role is Role.CONSTANT:
        return None
    places: dict[int, _Place] = {}
    guards: list[Expression] = []
    for test in _tests(condition):
        place = _place(test)
        if place is None and not loops_of(test):
            guards.append(test)
        elif place is None or place.loop in places or not out.strides[place.loop]:
            return None
        else:
            places[place.loop] = place
    inside = [is_within(p.index, statement.extents[p.loop] - p.size + 1, ranges) for p in places.values()]
    if not places or any(
        p.size > 1 and not (known and not guards) for p, known in zip(places.values(), inside, strict=True)
    ):
        return None
    new = _value_inside(value, list(places.values()), statement.extents)
    if new is None:
        return None
    indexes = [
        (loop_number(place.index) if known else None) or place.index
        for place, known in zip(places.values(), inside, strict=True)
    ]
    if guards:
        first = next(iter(places.values())).index
        outside = Const.of(-1, first.dtype)
        for guard in guards:
            first = apply("select", guard, first, outside, dtype=first.dtype)
        indexes[0] = first
    sizes = tuple(place.size for place in places.values())
    return SliceUpdate(statement.extents, statement.origin, tuple(places), tuple(indexes), sizes, new, old.access, out)


def _tests(condition: Expression) -> list[Expression]:
    """The tests that must all hold for ``condition`` to hold."""
    if isinstance(condition, Apply) and condition.call in ("bitwise_and", "logical_and"):
        return [test for arg in condition.args for test in _tests(arg)]
    return [condition]


def _place(condition: Expression) -> _Place | None:
    if not isinstance(condition, Apply):
        return None
    size, distance = 1, None
    if condition.call == "equal":
        sides = condition.args
    elif condition.call == "less":  # the distance, as an unsigned number, is less than the size
        unsigned, limit = condition.args
        if not (isinstance(limit, Const) and limit.value >= 1 and unsigned.dtype.kind == "u"):
            return None
        if not (isinstance(unsigned, Apply) and unsigned.call == "bits"):
            return None
        (distance,), size = unsigned.args, int(limit.value)
        if not isinstance(distance, Apply) or distance.call != "subtract":
            return None
        sides = distance.args
    else:
        return None
    for number, index in (sides, sides[::-1]):
        loop = _loop_number(number)
        if loop is not None and not loops_of(index):
            return _Place(condition, loop, index, size, distance) if size == 1 or number is sides[0] else None
    return None


def _value_inside(value: Expression, places: Sequence[_Place], extents: tuple[int, ...]) -> Expression | None:
    """``value`` in the slice, whose loops count from the indexes on; None if it knows the loops in another way."""
    sizes = {place.loop: place.size for place in places}
    ranges = Ranges(tuple(sizes.get(loop, n) for loop, n in enumerate(extents)))
    known: dict[int, Expression] = {id(place.condition): Const.of(True, BOOL) for place in places}
    for place in places:
        if place.distance is not None:
            strides = tuple(int(loop == place.loop and place.size > 1) for loop in range(len(extents)))
            known[id(place.distance)] = Read(INDEX, Access(numbers(place.size), 0, strides))

    def inside(node: Expression) -> Expression:
        return known[id(node)] if id(node) in known else ranges.decided(node)

    (found,) = rewrite([value], inside)
    for access in [*reads([found]), *(gather.access for gather in gathers([found]))]:
        if any(access.strides[loop] and access.buffer is not numbers(size) for loop, size in sizes.items()):
            return None
    return rewrite([found], lambda node: read_if_linear(node, ranges) if isinstance(node, Gather) else node)[0]


def _loop_number(node: Expression) -> int | None:
    """The loop whose number ``node`` is."""
    if not isinstance(node, Read) or node.access.buffer is not numbers(node.access.buffer.elements):
        return None
    moving = node.access.loops()
    if len(moving) != 1 or node.access.offset:
        return None
    (loop,) = moving
    return loop if node.access.strides[loop] == 1 else None
