"""``scf``: blocks of statements, and buffers for what they yield.

A loop or a branch yields values, not buffers: whatever is carried or yielded is copied into a buffer that belongs to
the loop or the branch. For a loop that is the same for every program in which an update in place is not seen under
another name, which bufferization guarantees; of a branch, ``choices`` knows the other names.
"""

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.translator.importing.parallel_copies import (
    Value,
    bind,
    bound,
    copy_in_parallel,
    in_memory,
    own,
    value_of,
)
from ipu_mlir.runtime.translator.importing.read_body import Unsupported
from ipu_mlir.runtime.translator.importing.read_calls import read_call
from ipu_mlir.runtime.translator.importing.read_memref import BufferView
from ipu_mlir.runtime.translator.importing.selected_buffers import Alternative, Choice
from ipu_mlir.runtime.translator.importing.walk import children, origin_of
from ipu_mlir.runtime.translator.statements.access import Access, Buffer, Role
from ipu_mlir.runtime.translator.statements.control import Block, Bound, Branch, ForLoop, WhileLoop, known_rounds
from ipu_mlir.runtime.translator.statements.expression import Apply, Const, Expression, Read
from ipu_mlir.runtime.translator.statements.iota import INDEX
from ipu_mlir.runtime.translator.statements.statements import Check, Origin
from ipu_mlir.runtime.translator.statements.types import dtype_of

if TYPE_CHECKING:
    from ipu_mlir.runtime.translator.importing.read import Reader

BOOL = np.dtype(np.bool_)


def read_for(reader: "Reader", op: ir.Operation) -> None:
    """``scf.for``: the carried values have a buffer each, which the body reads and every iteration replaces."""
    origin = origin_of(op)
    operands = list(op.operands)
    unsigned = "unsignedCmp" in op.attributes
    bounds = [bound(reader, reader.scalars[operand], origin, unsigned) for operand in operands[:3]]
    _require_step(reader, bounds[2], origin, unsigned)
    number, *arguments = list(op.regions[0].blocks[0].arguments)
    inits = [value_of(reader, operand) for operand in operands[3:]]
    ops = children(op)
    same = [isinstance(v, BufferView) and n == a for v, n, a in zip(inits, ops[-1].operands, arguments, strict=True)]
    carried = [  # a buffer that is yielded as it is stays what it is: updates in place are seen under all its names
        init if stays else own(reader, result.type, "carried")
        for init, stays, result in zip(inits, same, op.results, strict=True)
    ]
    copy_in_parallel(reader, carried, inits, origin)
    dtype = dtype_of(number.type) or INDEX
    known = known_rounds(*bounds)
    range_ = known if known and known[1] <= np.iinfo(dtype).max else None
    count = Buffer("count", 1, dtype, Role.TEMPORARY, mutable=True, home=reader.path, bounds=range_, counts=True)
    variable = Access(count, 0, ())
    inside = reader.new_block()
    with reader.block(inside) as body:
        reader.scalars[number] = Read(count.dtype, variable)
        bind(reader, arguments, carried)
        yielded = reader.block_of(ops)
        copy_in_parallel(reader, carried, [value_of(reader, value) for value in yielded], origin)
    loop = ForLoop((), origin, (inside,), bounds[0], bounds[1], bounds[2], variable, tuple(body), unsigned)
    reader.statements.append(loop)
    bind(reader, op.results, carried)


def _require_step(reader: "Reader", step: Bound, origin: Origin, unsigned: bool) -> None:
    """Refuse a loop that would never end; a step that only a run knows is checked there."""
    if isinstance(step, int):
        if step < 1:
            raise Unsupported(f"its step is {step}; it must be positive")
        return
    number = Read(step.buffer.dtype, step)
    is_positive = Apply(BOOL, "not_equal" if unsigned else "greater", (number, Const.of(0, number.dtype)))
    reader.statements.append(Check((), origin, (is_positive,), "the step of a loop must be positive"))


def read_while(reader: "Reader", op: ir.Operation) -> None:
    """``scf.while``: what the first region hands to the second is read where it lies, and copied when the loop ends."""
    origin = origin_of(op)
    first, second = (list(region.blocks[0].arguments) for region in op.regions)
    inits = [value_of(reader, operand) for operand in op.operands]
    split = _after_first(op, "scf.condition")
    ends = zip_longest(inits, first, list(split[0][-1].operands)[1:], second, split[1][-1].operands)
    same = [
        isinstance(init, BufferView) and on is not None and back is not None and a == on and b == back
        for init, a, on, b, back in ends  # as in a ``for``; the regions may yield more values one way than the other
    ]
    carried = [
        init if stays else own(reader, argument.type, "carried")
        for init, stays, argument in zip(inits, same, first, strict=False)
    ]
    copy_in_parallel(reader, carried, inits, origin)
    results = [
        carried[place] if same[place] else own(reader, result.type, "result") for place, result in enumerate(op.results)
    ]
    ids = tuple(reader.new_block() for _ in range(3))
    with reader.block(ids[0]) as before:
        bind(reader, first, carried)
        condition, *forwarded = reader.block_of(split[0])
        held = in_memory(reader, reader.scalars[condition], origin)
        handed = [value_of(reader, value) for value in forwarded]
    with reader.block(ids[1]) as after:
        bind(reader, second, handed)
        yielded = reader.block_of(split[1])
        copy_in_parallel(reader, carried, [value_of(reader, value) for value in yielded], origin)
    with reader.block(ids[2]) as leaving:
        copy_in_parallel(reader, results, handed, origin)
    reader.statements.append(WhileLoop((), origin, ids, held, tuple(before), tuple(after), tuple(leaving)))
    bind(reader, op.results, results)


def read_if(reader: "Reader", op: ir.Operation) -> None:
    """``scf.if``: one of two blocks runs."""
    origin = origin_of(op)
    results = [own(reader, result.type, "result") for result in op.results]
    condition = in_memory(reader, reader.scalars[op.operands[0]], origin)
    blocks = [region_ops for region_ops in _regions(op) if region_ops is not None]
    blocks += [[]] * (2 - len(blocks))
    yes, no = (_filler(reader, ops, results, origin) for ops in blocks)
    _choose(reader, results, _branch(reader, condition, yes, no, origin), origin)
    bind(reader, op.results, results)


def read_choice(reader: "Reader", op: ir.Operation) -> None:
    """``arith.select`` of two buffers: a name of one of them."""
    origin = origin_of(op)
    condition, yes, no = op.operands
    result = own(reader, op.results[0].type, "result")
    choice = Choice(in_memory(reader, reader.scalars[condition], origin), reader.views[yes], reader.views[no])
    assert isinstance(result, BufferView), "a choice of buffers is one"
    reader.choose(result, choice, origin, holds=False)
    bind(reader, op.results, [result])


def read_switch(reader: "Reader", op: ir.Operation) -> None:
    """``scf.index_switch``: a branch for each case, in the other arm of the one before."""
    origin = origin_of(op)
    results = [own(reader, result.type, "result") for result in op.results]
    default, *blocks = [_filler(reader, region_ops or [], results, origin) for region_ops in _regions(op)]
    selector = reader.scalars[op.operands[0]]
    chosen = default
    for case, block in reversed(list(zip(ir.DenseI64ArrayAttr(op.attributes["cases"]), blocks, strict=True))):
        chosen = _case(reader, Apply(BOOL, "equal", (selector, Const.of(case, INDEX))), block, chosen, origin)
    _choose(reader, results, chosen(), origin)
    bind(reader, op.results, results)


CONTROL_OPS: dict[str, Callable[["Reader", ir.Operation], None]] = {
    "scf.for": read_for,
    "scf.while": read_while,
    "scf.if": read_if,
    "scf.index_switch": read_switch,
    "func.call": read_call,
}


_Fill = Callable[[], list[Alternative]]
"""Reads a block of a branch, which yields its results; gives the memory from outside that each of them is."""


def _filler(reader: "Reader", ops: list[ir.Operation], results: Sequence[Value], origin: Origin) -> _Fill:
    def fill() -> list[Alternative]:
        yielded = [value_of(reader, value) for value in reader.block_of(ops)]
        copy_in_parallel(reader, results, yielded, origin)
        return [reader.alternative(value) if isinstance(value, BufferView) else None for value in yielded]

    return fill


def _branch(reader: "Reader", condition: Access, yes: _Fill, no: _Fill, origin: Origin) -> list[Alternative]:
    ids = reader.new_block(), reader.new_block()
    blocks: list[Block] = []
    found: list[list[Alternative]] = []
    for number, fill in zip(ids, (yes, no), strict=True):
        with reader.block(number) as block:
            found.append(fill())
        blocks.append(tuple(block))
    reader.statements.append(Branch((), origin, ids, condition, blocks[0], blocks[1]))
    return [None if a is None and b is None else Choice(condition, a, b) for a, b in zip_longest(*found)]


def _case(reader: "Reader", equal: Expression, yes: _Fill, no: _Fill, origin: Origin) -> _Fill:
    return lambda: _branch(reader, in_memory(reader, equal, origin), yes, no, origin)


def _choose(reader: "Reader", results: Sequence[Value], found: Sequence[Alternative], origin: Origin) -> None:
    """``results`` of a branch have other names where that yielded memory from outside."""
    for result, choice in zip(results, found, strict=False):
        if isinstance(result, BufferView) and isinstance(choice, Choice):
            reader.choose(result, choice, origin, holds=True)


def _regions(op: ir.Operation) -> list[list[ir.Operation] | None]:
    """The ops of each region; None for a region without blocks."""
    ops, found = children(op), []
    for region in op.regions:
        if len(region.blocks) == 0:
            found.append(None)
            continue
        end = 1 + next(i for i, inner in enumerate(ops) if inner.name == "scf.yield")
        found.append(ops[:end])
        ops = ops[end:]
    return found


def _after_first(op: ir.Operation, terminator: str) -> tuple[list[ir.Operation], list[ir.Operation]]:
    ops = children(op)
    end = 1 + next(i for i, inner in enumerate(ops) if inner.name == terminator)
    return ops[:end], ops[end:]
