"""Small arrays that a loop computes with are numbers of their own.

A state of three numbers is three numbers: Python computes with them in less time than NumPy takes to find out that an
array has three elements. An index made of two numbers is read as these two.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import prod

from ipu_mlir.runtime.translator.array_ir.access import Access, Buffer, Role
from ipu_mlir.runtime.translator.array_ir.control import Control, ForLoop, WhileLoop, all_statements, in_blocks
from ipu_mlir.runtime.translator.array_ir.expression import (
    Apply,
    Const,
    Expression,
    Gather,
    Read,
    apply,
    gathers,
    postorder,
    reads,
    rewrite,
)
from ipu_mlir.runtime.translator.array_ir.intervals import Ranges
from ipu_mlir.runtime.translator.array_ir.iota import INDEX
from ipu_mlir.runtime.translator.array_ir.statements import (
    Computed,
    Elementwise,
    Program,
    Reduce,
    SliceUpdate,
    Statement,
    expressions_of,
)
from ipu_mlir.runtime.translator.array_ir.transform import same, with_accesses, with_other_buffers
from ipu_mlir.runtime.translator.optimize.dynamic_slices import with_dynamic_slices
from ipu_mlir.runtime.translator.optimize.forward_copies import without_dead
from ipu_mlir.runtime.translator.optimize.known_numbers import with_known_numbers
from ipu_mlir.runtime.translator.optimize.simplify import evaluate

_MOST_ELEMENTS = 8
_ON_ARRAY, _ON_NUMBER, _BY_FUNCTION, _ELEMENT = 450, 60, 300, 90
"""ns of an operation on an array of few elements, of one on a number, of a function of one, and to get an element."""

OPERATORS = frozenset(
    {
        *("add", "subtract", "multiply", "divide", "negative", "absolute", "maximum", "minimum", "larger", "smaller"),
        *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "select", "select_bool", "clip"),
        *("logical_and", "logical_or", "logical_xor", "logical_not"),
        *("bitwise_and", "bitwise_or", "bitwise_xor", "cast"),
    }
)
"""Operations that Python's operators do with numbers that are no arrays."""
FUNCTIONS = frozenset(["sqrt", "exp", "log", "sin", "cos", "tanh", "floor", "ceil", "rint", "trunc"])
"""Functions of floats that NumPy has for numbers that are no arrays."""

_Parts = dict[Buffer, tuple[Buffer, ...]]
"""The numbers that stand for the elements of an array."""


def with_split_arrays(program: Program) -> Program:
    """Let loops compute with the numbers of small arrays one by one, where that takes less time."""
    if not any(isinstance(statement, ForLoop | WhileLoop) for statement in program.statements):
        return program
    changed: set[Buffer] = set()

    def block(statements: Sequence[Statement]) -> list[Statement]:
        found: list[Statement] = []
        for statement in statements:
            parts = _split(statement) if isinstance(statement, ForLoop | WhileLoop) else {}
            if not parts:
                found.append(in_blocks(statement, block))
                continue
            inside = {id(each) for each in all_statements([statement])}
            elsewhere = {access.buffer for access in program.results}
            for other in all_statements(program.statements):
                if id(other) not in inside and not isinstance(other, Control):
                    elsewhere |= _buffers(other)
            shared = {buffer: parts[buffer] for buffer in parts if buffer in elsewhere}
            changed.update(shared)
            found += [_moved(statement, buffer, numbers, into=True) for buffer, numbers in shared.items()]
            found.append(in_blocks(statement, lambda each, parts=parts: _in_numbers(each, parts, changed)))
            written = {dest.buffer for dest in statement.dests()}
            found += [_moved(statement, b, numbers, into=False) for b, numbers in shared.items() if b in written]
        return found

    split = program.with_statements(block(program.statements))
    if changed:
        split = with_other_buffers(split, {buffer: replace(buffer, mutable=True) for buffer in changed})
    return with_dynamic_slices(without_dead(with_known_numbers(split)))


def _moved(loop: Statement, buffer: Buffer, numbers: tuple[Buffer, ...], into: bool) -> Statement:
    """The copy of an array into its numbers, or back."""
    own = [Access(number, 0, ()) for number in numbers]
    whole = [Access(buffer, place, ()) for place in range(buffer.elements)]
    outs, sources = (own, whole) if into else (whole, own)
    return Elementwise((), loop.origin, tuple(outs), tuple(Read(buffer.dtype, access) for access in sources))


def _buffers(statement: Statement) -> set[Buffer]:
    return {access.buffer for access in (*statement.sources(), *statement.dests())}


# -- which


def _split(loop: Statement) -> _Parts:
    """The arrays in ``loop`` that are better numbers."""
    statements = [s for s in all_statements([loop]) if not isinstance(s, Control)]
    refused = {a.buffer for s in all_statements([loop]) if isinstance(s, Control) for a in s.read_directly()}
    users: dict[Buffer, list[Statement]] = {}
    for statement in statements:
        for buffer in _buffers(statement):
            if buffer.role is Role.TEMPORARY and 2 <= buffer.elements <= _MOST_ELEMENTS:
                users.setdefault(buffer, []).append(statement)
                if not _may_split(statement, buffer):
                    refused.add(buffer)
    found: _Parts = {}
    waiting = dict.fromkeys(buffer for buffer in users if buffer not in refused)
    while waiting:
        together, touched = [next(iter(waiting))], {}
        for buffer in together:  # grows: what one statement computes with
            waiting.pop(buffer, None)
            for statement in users[buffer]:
                touched[id(statement)] = statement
                together += [b for b in _buffers(statement) if b in waiting and b not in together]
        parts = {buffer: tuple(_number(buffer, place) for place in range(buffer.elements)) for buffer in together}
        if sum(_gain(statement, parts) for statement in touched.values()) > 0:
            found.update(parts)
    return found


def _number(buffer: Buffer, place: int) -> Buffer:
    return replace(buffer, name=f"{buffer.name}_{place}", elements=1, shape=())


def _may_split(statement: Statement, buffer: Buffer) -> bool:
    """True if ``statement`` can do with the elements of ``buffer`` as numbers."""
    own = [access for access in (*statement.sources(), *statement.dests()) if access.buffer is buffer]
    if any(gather.access.buffer is buffer for gather in gathers(expressions_of(statement))):
        return False
    for node in postorder(expressions_of(statement)):
        if isinstance(node, Read) and node.access.buffer is buffer and node.dtype != buffer.dtype:
            return False
    if isinstance(statement, SliceUpdate) and statement.out.buffer is buffer:
        return False  # only the run knows which element it writes
    reads_one = isinstance(statement, Computed) and not any(d.buffer is buffer for d in statement.dests())
    return (reads_one and all(not _moves(statement, access) for access in own)) or _is_small(statement)


def _moves(statement: Statement, access: Access) -> bool:
    return any(stride and n > 1 for stride, n in zip(access.strides, statement.extents, strict=True))


def _is_small(statement: Statement) -> bool:
    """True if ``statement`` can be done point by point."""
    if type(statement) is Reduce:
        return prod(statement.extents) <= _MOST_ELEMENTS and statement.call in OPERATORS and not statement.unsigned
    if isinstance(statement, SliceUpdate):
        if statement.old != statement.out or any(size != 1 for size in statement.sizes):
            return False
    elif not isinstance(statement, Elementwise):
        return False
    if not 1 <= prod(_box(statement)) <= _MOST_ELEMENTS:
        return False
    return all(
        node.call in OPERATORS or (node.call in FUNCTIONS and node.dtype.kind == "f")
        for node in postorder(expressions_of(statement))
        if isinstance(node, Apply)
    )


def _box(statement: Statement) -> tuple[int, ...]:
    """The points at which ``statement`` does something."""
    if isinstance(statement, SliceUpdate):
        return tuple(1 if loop in statement.loops else n for loop, n in enumerate(statement.extents))
    return statement.extents


def _gain(statement: Statement, parts: _Parts) -> int:
    """The ns that numbers save in ``statement``."""
    if not _is_small(statement):
        return 0
    if prod(_box(statement)) == 1:
        return sum(_ELEMENT for buffer in _buffers(statement) if buffer in parts)
    nodes = postorder(expressions_of(statement))
    before = _ON_ARRAY * max(1, sum(isinstance(node, Apply | Gather) for node in nodes))
    after = 0
    for each in _by_points(statement, parts):
        for node in postorder(expressions_of(each)):
            if isinstance(node, Apply):
                after += _ON_NUMBER if node.call in OPERATORS else _BY_FUNCTION
            elif isinstance(node, Gather) or (isinstance(node, Read) and node.access.buffer.elements > 1):
                after += _ELEMENT
        after += _ELEMENT * sum(dest.buffer.elements > 1 for dest in each.dests())
    return before - after


# -- how


def _in_numbers(statements: Sequence[Statement], parts: _Parts, changed: set[Buffer]) -> list[Statement]:
    """``statements`` with the numbers in place of the arrays; what is now written in part is added to ``changed``."""
    found: list[Statement] = []
    for statement in statements:
        if isinstance(statement, Control):
            found.append(in_blocks(statement, lambda block: _in_numbers(block, parts, changed)))
        elif not any(buffer in parts for buffer in _buffers(statement)):
            found.append(statement)
        elif _is_small(statement):
            if prod(_box(statement)) > 1:
                changed.update(dest.buffer for dest in statement.dests() if dest.buffer not in parts)
            found += _by_points(statement, parts)
        else:
            found.append(with_accesses(statement, lambda access: _part(access, access.offset, parts), same))
    return found


def _by_points(statement: Statement, parts: _Parts) -> list[Statement]:
    """``statement`` as one statement on numbers, or as the update of one element after the other."""
    points = list(product(*(range(n) for n in _box(statement))))
    if isinstance(statement, Reduce):
        return [_reduced(statement, points, parts)]
    if isinstance(statement, SliceUpdate):
        return [_element_of(statement, point, parts) for point in points]
    assert isinstance(statement, Elementwise), "nothing else is small"
    outputs, values = [], []
    for point in points:
        for out, value in zip(statement.outputs, statement.values, strict=True):
            outputs.append(_at(out, point, parts))
            values.append(_value_at(value, point, parts))
    values = rewrite(values, lambda node: node)  # what several points compute alike is computed once
    whole = Elementwise((), statement.origin, tuple(outputs), tuple(values))
    if not any(out in reads([v]) for i, out in enumerate(outputs) for j, v in enumerate(values) if i != j):
        return [whole]
    held = [Access(replace(_number(out.buffer, 0), home=None, mutable=False), 0, ()) for out in outputs]
    copies = tuple(Read(out.buffer.dtype, number) for out, number in zip(outputs, held, strict=True))
    return [replace(whole, outputs=tuple(held)), replace(whole, values=copies)]


def _reduced(statement: Reduce, points: Sequence[tuple[int, ...]], parts: _Parts) -> Elementwise:
    totals: dict[Access, Expression] = {}
    for point in points:
        out = _at(statement.out, point, parts)
        term = Read(statement.source.buffer.dtype, _at(statement.source, point, parts))
        totals[out] = apply(statement.call, totals[out], term) if out in totals else term
    return Elementwise((), statement.origin, tuple(totals), tuple(totals.values()))


def _element_of(update: SliceUpdate, point: tuple[int, ...], parts: _Parts) -> SliceUpdate:
    """The element at ``point`` of the slice, as a slice of its own."""
    loops = tuple(range(len(update.extents)))
    indexes: list[Expression] = [Const.of(place, INDEX) for place in point]
    values = [_standing(index, len(loops), parts) for index in update.indexes]
    for loop, index in zip(update.loops, values, strict=True):
        indexes[loop] = index
    value = _standing(_value_at(update.value, point, parts), len(loops), parts)
    return replace(update, loops=loops, indexes=tuple(indexes), sizes=(1,) * len(loops), value=value)


def _standing(value: Expression, rank: int, parts: _Parts) -> Expression:
    """``value``, which is the same at every point, in a statement of ``rank`` loops."""

    def change(node: Expression) -> Expression:
        if not isinstance(node, Read | Gather):
            return node
        access = _part(node.access, node.access.offset, parts)
        return replace(node, access=replace(access, strides=(0,) * rank))

    return rewrite([value], change)[0]


def _value_at(value: Expression, point: tuple[int, ...], parts: _Parts) -> Expression:
    """``value`` at one point, as a number."""
    ranges = Ranges(())

    def change(node: Expression) -> Expression:
        if isinstance(node, Read | Gather):
            access = _at(node.access, point, parts)
            known = access.buffer.value
            if isinstance(node, Read) and known is not None:
                return Const(node.dtype, known[access.offset : access.offset + 1].view(node.dtype)[0])
            return replace(node, access=access)
        if isinstance(node, Apply) and all(isinstance(arg, Const) for arg in node.args):
            return evaluate(node)
        return ranges.decided(node)

    return rewrite([value], change)[0]


def _at(access: Access, point: tuple[int, ...], parts: _Parts) -> Access:
    """The element of ``access`` at ``point``."""
    place = access.offset + sum(step * at for step, at in zip(access.strides, point, strict=True))
    return replace(_part(access, place, parts), strides=())


def _part(access: Access, place: int, parts: _Parts) -> Access:
    """``access`` to the element at ``place``."""
    if access.buffer not in parts:
        return replace(access, offset=place)
    return Access(parts[access.buffer][place], 0, access.strides)
