"""``func.call``: calls of functions that stay, and calls that are replaced by what they call.

A function stays one if several calls are marked as outlined. What it takes lies row by row. An argument that it writes
is state of it, and a result that is memory of an argument is that memory to the caller too. Where the caller hands it
one memory under two names, of which it writes one, the call is replaced all the same.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ipu_mlir.dialects.analysis.outlined_calls import OUTLINED, callee_of, calls_in
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.translator.importing.parallel_copies import (
    Value,
    bind,
    in_memory,
    memory_of,
    own,
    value_of,
)
from ipu_mlir.runtime.translator.importing.read_body import Unsupported
from ipu_mlir.runtime.translator.importing.read_memref import BufferView, memref_parts
from ipu_mlir.runtime.translator.importing.selected_buffers import buffers_of, with_choices
from ipu_mlir.runtime.translator.importing.walk import children, origin_of, value_names
from ipu_mlir.runtime.translator.importing.whole_views import whole
from ipu_mlir.runtime.translator.optimize.forward_copies import without_dead
from ipu_mlir.runtime.translator.statements.access import Access, Buffer, Role, is_contiguous
from ipu_mlir.runtime.translator.statements.control import all_statements
from ipu_mlir.runtime.translator.statements.expression import Read
from ipu_mlir.runtime.translator.statements.statements import FunctionCall, Origin, Program, Statement
from ipu_mlir.runtime.translator.statements.transform import with_other_buffers
from ipu_mlir.runtime.translator.statements.types import dtype_of

if TYPE_CHECKING:
    from ipu_mlir.runtime.translator.importing.read import Reader


@dataclass(frozen=True)
class Called:
    """A function that stays one.

    Attributes:
        program: what it does; its state comes after its other arguments.
        taken, state: the numbers of the operands that they are.
        shared: by the number of a result that is memory of an argument, the number of that, and the view of it.
    """

    program: Program
    taken: Sequence[int]
    state: Sequence[int]
    shared: dict[int, tuple[int, BufferView]]


def functions_that_stay(entry: ir.Operation, functions: dict[str, ir.Operation]) -> set[str]:
    """The names of the functions with several marked calls in what ``entry`` runs."""
    found: Counter[str] = Counter()
    seen, waiting = set(), [entry]
    while waiting:
        for call in calls_in(waiting.pop()):
            name = callee_of(call)
            found[name] += OUTLINED in call.attributes
            if name in functions and name not in seen:
                seen.add(name)
                waiting.append(functions[name])
    return {name for name, calls in found.items() if calls > 1}


def functions_called(statements: Sequence[Statement], called: dict[str, Called | None]) -> tuple[Program, ...]:
    """Those of the functions ``called`` that ``statements`` need, each behind those that it calls."""
    found: list[Program] = []
    waiting = list(statements)
    for name, each in reversed(called.items()):
        if each is not None and any(
            isinstance(s, FunctionCall) and s.function == name for s in all_statements(waiting)
        ):
            found.append(each.program)
            waiting += each.program.statements
    return tuple(reversed(found))


def read_call(reader: "Reader", op: ir.Operation) -> None:
    """``func.call``: a call of a function that stays, or the callee's ops with the operands for its arguments."""
    name = callee_of(op)
    callee = reader.functions.get(name)
    if callee is None or not children(callee):
        raise Unsupported(f"@{name} has no body in this module")
    if name in reader.calls:
        raise Unsupported(f"@{name} calls itself; a machine without a stack has no recursion")
    operands = [value_of(reader, operand) for operand in op.operands]
    called = _called(reader, name, callee) if name in reader.staying else None
    if called is None or _is_tangled(reader, called, operands):
        bind(reader, op.results, _inlined(reader, name, callee, operands))
    else:
        bind(reader, op.results, _call(reader, called, op, operands))


def _inlined(reader: "Reader", name: str, callee: ir.Operation, operands: Sequence[Value]) -> list[Value]:
    block = callee.regions[0].blocks[0]
    bind(reader, block.arguments, operands)
    names, reader.names = reader.names, value_names(callee)
    for _ in block.arguments:
        next(reader.names)
    reader.calls.append(name)
    try:
        return [value_of(reader, value) for value in reader.block_of(children(callee))]
    finally:
        reader.calls.pop()
        reader.names = names


def _called(reader: "Reader", name: str, callee: ir.Operation) -> Called | None:
    """The function ``callee``, which is read once; None if it cannot stay one."""
    if name not in reader.called:
        reader.called[name] = None  # if reading it ends with an error, other calls of it say so too
        inner = reader.inside(name)
        arguments = [_parameter(inner, value) for value in callee.regions[0].blocks[0].arguments]
        buffers = [buffer for buffer in arguments if buffer is not None]
        found = None
        if len(buffers) == len(arguments):
            found = _function(inner, name, callee, buffers)
        del reader.called[name]
        reader.called[name] = found  # behind those that it calls
    return reader.called[name]


def _parameter(inner: "Reader", value: ir.Value) -> Buffer | None:
    """The buffer of an argument; None if the argument does not lie row by row."""
    name = next(inner.names)
    if isinstance(value.type, ir.MemRefType):
        parts = memref_parts(value.type)
        if parts.offset or not is_contiguous(parts.shape, parts.strides):
            return None
        view = own(inner, value.type, name)
        assert isinstance(view, BufferView), "a buffer is one"
        inner.views[value] = replace(view, buffer=replace(view.buffer, role=Role.STATE, mutable=False))
        return inner.views[value].buffer
    dtype = dtype_of(value.type)
    if dtype is None:
        raise Unsupported(f"values of type {value.type} are not supported")
    buffer = Buffer(name, 1, dtype, Role.STATE, (), home=())
    inner.scalars[value] = Read(dtype, Access(buffer, 0, ()))
    return buffer


def _function(inner: "Reader", name: str, callee: ir.Operation, arguments: Sequence[Buffer]) -> Called | None:
    """``callee`` as a function of ``arguments``, all of which are state so far."""
    returned = [value_of(inner, value) for value in inner.block_of(children(callee))]
    shared: dict[int, tuple[int, BufferView]] = {}
    results: list[tuple[Access, tuple[int, ...]]] = []
    for number, value in enumerate(returned):
        if not isinstance(value, BufferView):
            results.append((in_memory(inner, value, Origin("func.return", "")), ()))
        elif value.buffer in arguments:
            shared[number] = arguments.index(value.buffer), value
        elif any(buffer in arguments for buffer in buffers_of(inner.choices.get(value.buffer))):
            return None  # of which memory it is, only a run tells
        else:
            results.append((whole(value), value.shape))
    views = [value for value in returned if isinstance(value, BufferView)]
    statements = with_choices(inner.statements, views, inner.new_block)
    written = {dest.buffer for statement in all_statements(statements) for dest in statement.dests()}
    taken, state = ([n for n, buffer in enumerate(arguments) if (buffer in written) == w] for w in (False, True))
    program = Program(
        name,
        tuple(arguments[number] for number in (*taken, *state)),
        tuple(statements),
        tuple(access for access, _ in results),
        tuple(shape for _, shape in results),
        is_called=True,
    )
    read_only = {arguments[number]: replace(arguments[number], role=Role.ARGUMENT) for number in taken}
    program = with_other_buffers(program, read_only)
    return Called(without_dead(program) if inner.choices else program, taken, state, shared)


def _is_tangled(reader: "Reader", called: Called, operands: Sequence[Value]) -> bool:
    """True if a call writes memory that it also has under another name."""
    memory = [memory_of(reader, operand) for operand in operands]
    return any(memory[a] & memory[b] for a in called.state for b in range(len(operands)) if a != b)


def _call(reader: "Reader", called: Called, op: ir.Operation, operands: Sequence[Value]) -> list[Value]:
    origin = origin_of(op)
    made = {
        number: own(reader, result.type, called.program.name)
        for number, result in enumerate(op.results)
        if number not in called.shared
    }
    taken, state = ([_array(reader, operands[n], origin) for n in part] for part in (called.taken, called.state))
    given = [_array(reader, value, origin) for value in made.values()]
    both = (*state, *given)
    call = FunctionCall(
        (),
        origin,
        "",
        tuple(access for access, _ in taken),
        tuple(access for access, _ in both),
        tuple(shape for _, shape in (*taken, *both)),
        tuple(number < len(state) for number in range(len(both))),
        called.program.name,
    )
    reader.statements.append(call)
    for number, (place, view) in called.shared.items():
        memory = operands[place]
        assert isinstance(memory, BufferView), "only memory is shared"
        made[number] = replace(view, buffer=memory.buffer, offset=view.offset + memory.offset)
    return [made[number] for number in range(len(op.results))]


def _array(reader: "Reader", value: Value, origin: Origin) -> tuple[Access, tuple[int, ...]]:
    if isinstance(value, BufferView):
        return whole(value), value.shape
    if isinstance(value, Read) and value.access.buffer.elements == 1:
        return value.access, ()
    return in_memory(reader, value, origin), ()
