"""State that is computed elsewhere and then copied is computed where it stays."""

from collections import defaultdict

from ipu_mlir.runtime.translator.array_ir.access import Buffer, Role
from ipu_mlir.runtime.translator.array_ir.coalescing import same_elements, whole_copy
from ipu_mlir.runtime.translator.array_ir.expression import gathers
from ipu_mlir.runtime.translator.array_ir.statements import Dot, Elementwise, Program, Reduce, Statement
from ipu_mlir.runtime.translator.array_ir.transform import with_other_buffers


def with_updated_state(program: Program) -> Program:
    """Compute the new value of state in its own memory if nobody needs the old one any more, not in another first."""
    copies = {at: pair for at, each in enumerate(program.statements) if (pair := _copy_to_state(each))}
    if not copies:
        return program
    readers: dict[Buffer, list[int]] = defaultdict(list)
    writers: dict[Buffer, list[int]] = defaultdict(list)
    for at, each in enumerate(program.statements):
        for source in each.sources():
            readers[source.buffer].append(at)
        for dest in each.dests():
            writers[dest.buffer].append(at)
    merged: dict[Buffer, Buffer] = {access.buffer: access.buffer for access in program.results}
    gone = set()
    for last, (state, held) in copies.items():
        if held in merged or len(writers[state]) != 1 or len(writers[held]) != 1:
            continue
        (first,) = writers[held]
        if any(first < at < last for at in readers[state]) or not _writes_over(program.statements[first], state):
            continue
        merged[held] = state
        gone.add(last)
    kept = [each for at, each in enumerate(program.statements) if at not in gone]
    return with_other_buffers(program.with_statements(kept), merged) if gone else program


def _copy_to_state(statement: Statement) -> tuple[Buffer, Buffer] | None:
    """The state and the temporary that it becomes, element by element, if that is all that ``statement`` does."""
    copy = whole_copy(statement)
    if copy is None or copy[0].role is not Role.STATE or copy[1].role is not Role.TEMPORARY or copy[1].mutable:
        return None
    return copy


def _writes_over(statement: Statement, state: Buffer) -> bool:
    """True if ``statement`` may write to ``state`` what it writes: it reads of it the same element at most."""
    if not isinstance(statement, Elementwise):
        return isinstance(statement, Dot | Reduce) and all(read.buffer is not state for read in statement.sources())
    if any(gather.access.buffer is state for gather in gathers(statement.values)):
        return False
    reads = [read for read in statement.sources() if read.buffer is state]
    out = statement.outputs[0]
    return not reads or (len(statement.outputs) == 1 and all(same_elements(read, out, statement) for read in reads))
