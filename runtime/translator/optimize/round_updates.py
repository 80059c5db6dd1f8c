"""Updates that a round makes, brought into the form in which those of all rounds can be made together.

A branch around a single update becomes a guard of its index; a tensor that is copied, updated and copied back is
updated where it is; and what an update reads may be what lies where it writes.
"""

from collections import Counter
from dataclasses import replace

import numpy as np

from ipu_mlir.runtime.translator.array_ir.access import Buffer, Role
from ipu_mlir.runtime.translator.array_ir.control import Branch, Control
from ipu_mlir.runtime.translator.array_ir.expression import (
    Apply,
    Const,
    Expression,
    Gather,
    LoopNumber,
    Read,
    apply,
    cast,
    rewrite,
)
from ipu_mlir.runtime.translator.array_ir.intervals import Interval, Ranges
from ipu_mlir.runtime.translator.array_ir.iota import INDEX
from ipu_mlir.runtime.translator.array_ir.places import whole_copy
from ipu_mlir.runtime.translator.array_ir.statements import Elementwise, SliceUpdate, Statement
from ipu_mlir.runtime.translator.array_ir.transform import statements_with_other_buffers


def without_branch(statement: Statement, opened: set[int]) -> list[Statement]:
    """``statement``, or what stands in it if that is one guarded update and what it needs."""
    if not isinstance(statement, Branch) or statement.no or not statement.yes:
        return [statement]
    *before, update = statement.yes
    if not isinstance(update, SliceUpdate) or any(size != 1 for size in update.sizes):
        return [statement]
    if not all(isinstance(s, Elementwise) and not any(d.buffer.mutable for d in s.dests()) for s in before):
        return [statement]
    opened.add(statement.ids[0])
    condition = statement.condition
    holds = Read(np.dtype(np.bool_), replace(condition, strides=(0,) * len(update.extents)))
    first, *others = update.indexes
    index = apply("select", holds, cast(first, INDEX), Const.of(-1, INDEX), dtype=INDEX)
    return [*before, replace(update, indexes=(index, *others))]


def is_place(old: Gather, update: SliceUpdate) -> bool:
    """True if ``old`` is what lies where ``update`` writes, if it writes at all."""
    out = update.out
    if old.access.buffer is not out.buffer or old.dtype != out.buffer.dtype:
        return False
    steps = [0 if loop in update.loops else step for loop, step in enumerate(out.strides)]
    if any(n > 1 and a != b for n, a, b in zip(update.extents, old.access.strides, steps, strict=True)):
        return False
    indexes = [_unguarded(index) for index in update.indexes]
    inside: dict[Buffer, Interval] = {}  # else nothing is written
    for loop, index in zip(update.loops, indexes, strict=True):
        if isinstance(index, Read):
            known = inside.get(index.access.buffer, (0, 0))
            inside[index.access.buffer] = (0, max(known[1], update.extents[loop] - 1))
    (index,) = rewrite([old.index], Ranges(update.extents, inside).decided)
    found, constant = _terms(index, old.stride)
    constant += old.access.offset - out.offset
    for loop, index in zip(update.loops, indexes, strict=True):
        terms, number = _terms(index, out.strides[loop])
        constant -= number
        for factor, node in terms:
            match = next((term for term in found if term[0] == factor and _same(term[1], node)), None)
            if match is None:
                return False
            found.remove(match)
    return not found and constant == 0


def in_place(body: list[Statement], outside: Counter[Buffer]) -> list[Statement]:
    """``body`` with what is copied, updated and copied back updated where it is."""
    for last, statement in enumerate(body):
        found = whole_copy(statement)
        if found is None:
            continue
        kept, copy = found
        using = [position for position, other in enumerate(body) if _touches(other, copy)]
        first = body[using[0]]
        begins = isinstance(first, SliceUpdate) and first.old == replace(first.out, buffer=kept)
        if isinstance(first, Elementwise):
            begins = (whole_copy(first) or (None, None))[1] is kept
        between = [s for s in body[using[0] + 1 : last] if _touches(s, kept)]
        if using[-1] != last or outside[copy] or not begins or between or kept.role is not Role.TEMPORARY:
            continue
        inside = body[using[0] + isinstance(first, Elementwise) : last]
        if any(isinstance(s, Control) and _touches(s, copy) for s in inside):
            continue
        inside = statements_with_other_buffers(inside, {copy: kept})
        return in_place([*body[: using[0]], *inside, *body[last + 1 :]], outside)
    return body


def _touches(statement: Statement, buffer: Buffer) -> bool:
    return any(access.buffer is buffer for access in (*statement.sources(), *statement.dests()))


def _unguarded(index: Expression) -> Expression:
    """``index`` without what makes it -1, where nothing is written, and without casts that change no number."""
    while isinstance(index, Apply):
        if index.call == "select" and isinstance(index.args[2], Const) and index.args[2].value == -1:
            index = index.args[1]
        elif _is_widening(index):
            (index,) = index.args
        else:
            break
    return index


def _is_widening(node: Apply) -> bool:
    return node.call == "cast" and node.args[0].dtype.kind in "iu" and np.can_cast(node.args[0].dtype, node.dtype)


def _terms(index: Expression, factor: int) -> tuple[list[tuple[int, Expression]], int]:
    """``factor * index`` as a sum of terms and a constant."""
    while isinstance(index, Apply) and _is_widening(index):
        (index,) = index.args
    match index:
        case Const():
            return [], factor * int(index.value)
        case LoopNumber():
            return [(factor, LoopNumber(index.dtype, index.buffer))], factor * index.offset
        case Apply(call="add") if index.dtype == INDEX:
            (left, a), (right, b) = (_terms(arg, factor) for arg in index.args)
            return [*left, *right], a + b
        case Apply(call="multiply") if index.dtype == INDEX:
            for scaled, by in (index.args, index.args[::-1]):
                if isinstance(by, Const):
                    return _terms(scaled, factor * int(by.value))
    return [(factor, index)], 0


def _same(a: Expression, b: Expression) -> bool:
    """True if both are the same number in every round."""
    if isinstance(b, LoopNumber):
        a, b = b, a
    match a, b:
        case Read(), Read():
            return a.access.buffer is b.access.buffer and a.access.offset == b.access.offset and a.dtype == b.dtype
        case LoopNumber(), LoopNumber():
            return a.buffer is b.buffer and a.offset == b.offset
        case LoopNumber(), Read():
            return a.buffer is b.access.buffer and not a.offset
        case Apply(), Apply():
            return a.call == b.call and a.dtype == b.dtype and all(map(_same, a.args, b.args))
        case Const(), Const():
            return a.dtype == b.dtype and a.value == b.value
    return False
