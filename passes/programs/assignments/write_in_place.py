"""``ipu-write-in-place``: the new value of a variable is written where the old one lies."""

from collections.abc import Iterator
from itertools import chain

from ipu_mlir.dialects.analysis.control_flow import flows, is_branch, is_loop, sources_of, terminator
from ipu_mlir.dialects.analysis.loop_nest import indexing_maps, is_structured, num_outputs, reads_operand
from ipu_mlir.dialects.analysis.matchers import around_in, block_of, defining_op, has_one_use, integer_of, ops_around
from ipu_mlir.dialects.analysis.remote import moved_and_rows, remote_buffer_of
from ipu_mlir.dialects.analysis.variables import (
    assigned_arguments,
    updated_arguments,
    variable_arguments,
    variable_results,
)
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.passes.support.tensor_views import VIEW_OPS

_LOAD = "ipu.remote_load"


class WriteInPlace(Pass):
    """Let the op that computes the next value of a variable write over the old value, also in loops and branches.

    So do outlined functions with values of variables that callers hand them, blocks with rows of remote memory that
    they load and store again, and loops with what a branch in them may leave as it is. Only where that is the last use
    of the old value in its block: bufferization then needs no memory of its own for the new one, and no copy. What else
    loops carry stays in two places: then a superstep may read the old value while another makes the new one.

    Needs:  placed tensors, without casts between mappings (``ipu-materialize-casts``).
    Leaves: such ops with the old value as ``outs``; no copy in the arm of a branch that leaves it as it is.
    """

    name = "ipu-write-in-place"

    def run(self, module: ir.Operation) -> None:
        known: dict[ir.Value, bool] = {}
        for op in list_ops(module):
            if op.name == "func.func" and len(op.regions[0].blocks) == 1:
                pairs = chain(_of_variables(op), _of_rows(op))
            elif is_loop(op):
                pairs = _of_loop(op)
            else:
                continue
            for old, new in list(pairs):
                if _is_variable(old, known) or _may_stay(old, new):
                    _make(_writing_over(old, new) or {})


def _of_variables(function: ir.Operation) -> Iterator[tuple[ir.Value, ir.Value]]:
    """The variables that ``function`` changes or that its callers hand it, with their new values."""
    block = function.regions[0].blocks[0]
    places = {name: number for number, name in variable_arguments(function).items()}
    pairs = {number: places[name] for number, name in variable_results(function).items()}
    for number, place in (pairs | updated_arguments(function)).items():
        yield block.arguments[place], terminator(block).operands[number]


def _of_rows(function: ir.Operation) -> Iterator[tuple[ir.Value, ir.Value]]:
    """The rows of remote memory that a block of ``function`` loads and stores again, with their new values."""
    loads: dict[tuple[ir.Block, str, ir.Value | int], ir.Value] = {}
    for op in list_ops(function, _LOAD, "ipu.remote_store"):
        moved, row = moved_and_rows(op)
        number = integer_of(row)
        key = op.block, remote_buffer_of(op), row if number is None else number
        if op.name == _LOAD:
            loads[key] = moved
        elif key in loads:
            yield loads[key], moved


def _of_loop(loop: ir.Operation) -> Iterator[tuple[ir.Value, ir.Value]]:
    """The values that ``loop`` carries, as the block sees them that computes the next ones, each with the next one."""
    for flow in flows(loop):
        for new, carried in zip(flow.values(), flow.targets, strict=True):
            if flow.source == loop or not isinstance(carried.owner, ir.Block):
                continue
            if carried.owner == flow.source.block:
                yield carried, new
            else:  # the condition of a ``while``, if it yields what it was given
                yielded = [inner for inner in flow.source.block.arguments if sources_of(inner) == [carried]]
                yield from ((inner, new) for inner in yielded[:1])


def _is_variable(value: ir.Value, known: dict[ir.Value, bool]) -> bool:
    """True if ``value`` is a variable as a function takes or loads it, or as loops around and before changed it."""
    names = []
    while value not in known and (sources := sources_of(value)):
        names.append(value)
        value = sources[0]  # what a loop begins with
    if value not in known:
        home = value.owner
        known[value] = defining_op(value, _LOAD) is not None or (
            isinstance(home, ir.Block)
            and home.owner.operation.name == "func.func"
            and ir.BlockArgument(value).arg_number in assigned_arguments(home.owner.operation)
        )
    known.update(dict.fromkeys(names, known[value]))
    return known[value]


def _may_stay(old: ir.Value, new: ir.Value) -> bool:
    """True if ``new`` is ``old`` itself, or a copy of it, where a branch takes one of its arms."""
    branch = defining_op(new)
    if branch is None or not is_branch(branch):
        return False
    for source in sources_of(new):
        copy = defining_op(source, "linalg.copy")
        if old == (source if copy is None else copy.operands[0]) or _may_stay(old, source):
            return True
    return False


Changes = dict[ir.Value, tuple[ir.Operation, int, ir.Value] | None]
"""By value, the op whose operand with that number becomes another value; None for a copy that is not made."""


def _writing_over(old: ir.Value, new: ir.Value) -> Changes | None:
    """The changes that let ``new`` be written over ``old``, directly or by way of values between; None if it cannot be.

    Nothing may read what is written over once the op begins to write that makes the next value.
    """
    if new == old:
        return {}
    op = defining_op(new)
    if op is None or new.type != old.type:
        return None
    here, begun = around_in(op, block_of(old)), defining_op(old)
    if here is None or (begun is not None and not begun.is_before_in_block(here)):
        return None  # before the loop that carries the old value, or before it is loaded
    if is_branch(op):
        found: Changes = {}
        for value in sources_of(new):
            arm = _writing_over(old, value)
            if arm is None:
                return None
            found |= arm
        return found
    writer = _writer(op, new.result_number) if is_structured(op) else None
    if writer is None:
        return None
    first, number = writer
    inputs = list(op.operands)[: len(op.operands) - num_outputs(op)]
    for value in dict.fromkeys((*(each for each in inputs if each != old and each.type == old.type), old)):
        if first.operands[number] == value or _may_overwrite(first, number, value):
            before = _writing_over(old, value)
            if before is not None:
                is_copy = op.name == "linalg.copy" and value == inputs[0]
                return {**before, new: None if is_copy else (first, number, value)}
    return None


def _make(changes: Changes) -> None:
    for change in filter(None, changes.values()):
        op, number, value = change
        op.operands[number] = value
    for copied in [value for value, change in changes.items() if change is None]:
        copy = copied.owner.operation
        copied.replace_all_uses_with(copy.operands[0])
        copy.erase()


def _writer(op: ir.Operation, result: int) -> tuple[ir.Operation, int] | None:
    """The op that first writes to the memory of a result of ``op``, and its operand: ``op``, or a fill in front of it.

    None where ``op`` goes on from what somebody else has put there.
    """
    number = len(op.operands) - num_outputs(op) + result
    if not reads_operand(op, number):
        return op, number
    begun = defining_op(op.operands[number], "linalg.fill")
    if begun is None or begun.block != op.block:
        return None
    return (begun, 1) if has_one_use(begun.results[0]) else None


def _may_overwrite(writer: ir.Operation, number: int, value: ir.Value) -> bool:
    """True if nothing reads ``value`` after ``writer`` has begun to write its operand ``number``."""
    if any(each == value for each in list(writer.operands)[-num_outputs(writer) :]):
        return False  # for another result
    return all(
        _is_before(reader, writer, value) or _reads_in_order(reader, writer, value, number)
        for reader in _readers(value)
    )


def _is_before(reader: ir.Operation, writer: ir.Operation, value: ir.Value) -> bool:
    """True if ``reader`` never runs after ``writer`` has begun: it stands before it, or in another arm of a branch.

    Both use ``value``, which has one value throughout: between its block and ``writer`` stand branches only.
    """
    while True:
        here = around_in(reader, writer.block)
        if here is not None:
            return here != writer and here.is_before_in_block(writer)
        if writer.block == block_of(value):
            return False
        around = writer.block.owner.operation
        if not is_branch(around):
            return False
        if around in ops_around(reader):
            return True
        writer = around


def _readers(value: ir.Value) -> Iterator[ir.Operation]:
    """The ops that use ``value`` or a view of it."""
    for use in value.uses:
        op = use.owner.operation
        yield op
        if op.name in VIEW_OPS:
            yield from _readers(op.results[0])


def _reads_in_order(reader: ir.Operation, writer: ir.Operation, value: ir.Value, number: int) -> bool:
    """True if ``writer`` itself reads each element of ``value`` only to compute the same one of that operand."""
    if writer not in ops_around(reader) or "library_call" in writer.attributes:  # codelets read what they like
        return False
    maps = indexing_maps(writer)
    assert maps is not None, "a structured op has indexing maps"
    found = [place for place, operand in enumerate(writer.operands) if operand == value]
    uses = sum(writer in ops_around(each) for each in _readers(value))
    return uses == len(found) and all(maps[place] == maps[number] for place in found)  # its body and views read more
