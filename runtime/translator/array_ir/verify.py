"""Rules that hold for an array program after every pass."""

from collections.abc import Iterator, Mapping, Sequence

from ipu_mlir.runtime.translator.array_ir.access import Access, Buffer, Role, is_contiguous
from ipu_mlir.runtime.translator.array_ir.control import Block, Control, ForLoop, WhileLoop
from ipu_mlir.runtime.translator.array_ir.expression import Gather, Read, postorder
from ipu_mlir.runtime.translator.array_ir.statements import (
    Elementwise,
    Fold,
    FunctionCall,
    LibraryCall,
    Program,
    Reduce,
    Scan,
    Statement,
    expressions_of,
)
from ipu_mlir.runtime.translator.array_ir.value_printing import affine_text, shape_text


def errors_of(program: Program, renamed: bool = True) -> list[str]:
    """The errors of ``program``, a sentence each: none if it is legal.

    Accesses have a stride per loop and stay inside their buffers; arguments and constants are not written; a buffer is
    written before anything but a copy reads it; what is stored has the type of its buffer; blocks have numbers of their
    own, and buffers belong to blocks that are around them. Calls fit the functions, which lie behind those that they
    call, and hand them arrays that lie row by row. If buffers are ``renamed`` (all passes but the first need that),
    only ``mutable`` ones are written by several statements.
    """
    found: list[str] = []
    known: dict[str, Program] = {}
    for function in program.functions:
        found += (f"function @{function.name}: {error}" for error in _Verifier(function, renamed, known).errors())
        known[function.name] = function
    return [*_Verifier(program, renamed, known).errors(), *found]


class _Verifier:
    def __init__(self, program: Program, renamed: bool, known: Mapping[str, Program]) -> None:
        self._program = program
        self._known = dict(known)
        self._renamed = renamed
        self._writers: dict[Buffer, int] = {}
        self._ids: set[int] = set()

    def errors(self) -> Iterator[str]:
        yield from self._block(self._program.statements, frozenset(), set(self._program.arguments))
        for access, shape in zip(self._program.results, self._program.result_shapes, strict=True):
            yield from _outside(access, shape, "result")

    def _block(self, block: Block, around: frozenset[int], written: set[Buffer]) -> Iterator[str]:
        """Errors of a block whose buffers belong to blocks ``around`` it; ``written`` grows by what it writes."""
        for statement in block:
            if isinstance(statement, Control):
                yield from self._control(statement, around, written)
                continue
            at = f"{type(statement).__name__} of {statement.origin.op or 'no op'}"
            yield from (f"{at}: {error}" for error in self._simple(statement, around, written))

    def _control(self, control: Control, around: frozenset[int], written: set[Buffer]) -> Iterator[str]:
        if isinstance(control, ForLoop) and control.variable is not None:
            written.add(control.variable.buffer)
        inside = set(written)
        for number, block in zip(control.ids, control.blocks(), strict=True):
            if number in self._ids:
                yield f"block #{number} stands twice"
            self._ids.add(number)
            yield from self._block(block, around | {number}, inside)
            if isinstance(control, WhileLoop):
                around |= {number}  # what the condition allocates is there for what comes after it
        yield from self._read(control.read_directly(), inside, type(control).__name__)
        written |= inside  # what only one branch writes is somebody else's check: a branch may be known to be taken

    def _simple(self, statement: Statement, around: frozenset[int], written: set[Buffer]) -> Iterator[str]:
        for access, shape, what in _accesses_with_shapes(statement):
            yield from _outside(access, shape, what)
            if access.buffer.home is not None and not around.issuperset(access.buffer.home):
                yield f"%{access.buffer.name} belongs to block #{access.buffer.home[-1]}, which is not around it"
        if not (isinstance(statement, Elementwise) and statement.copied()):  # a copy of anything may never be read
            yield from self._read(statement.sources(), written, "it")
        yield from _wrong_types(statement)
        if isinstance(statement, FunctionCall):
            yield from _misfits(statement, self._known.get(statement.function))
        for dest in statement.dests():
            buffer = dest.buffer
            if buffer.role in (Role.ARGUMENT, Role.CONSTANT):
                kind = "a constant" if buffer.role is Role.CONSTANT else "an argument"
                yield f"writes %{buffer.name}, which is {kind}"
            count = self._writers[buffer] = self._writers.get(buffer, 0) + 1
            if self._renamed and count == 2 and not buffer.mutable:
                yield f"writes %{buffer.name}, which another statement writes and which is not mutable"
            written.add(buffer)

    def _read(self, accesses: Sequence[Access], written: set[Buffer], who: str) -> Iterator[str]:
        for access in accesses:
            buffer = access.buffer
            if buffer.role is Role.TEMPORARY and buffer not in written:
                yield f"{who} reads %{buffer.name}, which nothing has written"


def _accesses_with_shapes(statement: Statement) -> list[tuple[Access, tuple[int, ...], str]]:
    if isinstance(statement, LibraryCall):
        both = (*statement.inputs, *statement.outputs)
        return [(access, shape, "array") for access, shape in zip(both, statement.shapes, strict=True)]
    found = [(access, statement.extents, "dest") for access in statement.dests()]
    for node in postorder(expressions_of(statement)):
        if isinstance(node, Read):
            found.append((node.access, statement.extents, "source"))
        elif isinstance(node, Gather):
            last = node.stride * (node.limit - 1)
            for shift in (0, last):
                moved = Access(node.access.buffer, node.access.offset + shift, node.access.strides)
                found.append((moved, statement.extents, "gathered"))
    if not expressions_of(statement):
        found += [(access, statement.extents, "source") for access in statement.sources()]
    if isinstance(statement, Fold | Scan | Reduce) and len(statement.reduced) != len(statement.extents):
        raise AssertionError("a reduction says of each loop whether it is reduced")
    return found


def _outside(access: Access, extents: tuple[int, ...], what: str) -> Iterator[str]:
    """An error where the box of ``extents`` leaves the buffer, or has another number of loops."""
    if len(access.strides) != len(extents):
        yield f"{what} %{access.buffer.name} has {len(access.strides)} strides for {len(extents)} loops"
        return
    if 0 in extents:
        return
    ends = [stride * (extent - 1) for stride, extent in zip(access.strides, extents, strict=True)]
    low, high = access.offset + sum(min(e, 0) for e in ends), access.offset + sum(max(e, 0) for e in ends)
    if low < 0 or high >= access.buffer.elements:
        text = f"%{access.buffer.name}[{affine_text(access.offset, access.strides)}]"
        yield f"{what} {text} reaches element {low if low < 0 else high} of {access.buffer.elements}"


def _wrong_types(statement: Statement) -> Iterator[str]:
    if not isinstance(statement, Elementwise | Fold | Scan):
        return
    for value, out in zip(statement.values, statement.outputs, strict=True):
        if value.dtype != out.buffer.dtype:
            yield f"stores {value.dtype} into %{out.buffer.name}, which is {out.buffer.dtype}"
    for node in postorder(statement.values):
        if isinstance(node, Read) and node.dtype.itemsize != node.access.buffer.dtype.itemsize:
            yield f"reads %{node.access.buffer.name} of {node.access.buffer.dtype} as {node.dtype}"


def _misfits(call: FunctionCall, function: Program | None) -> Iterator[str]:
    """Errors where ``call`` is not as ``function`` wants it."""
    if function is None:
        yield f"calls @{call.function}, which is no function of the program, or does not lie before it"
        return
    state = [buffer for buffer in function.arguments if buffer.role is Role.STATE]
    taken = [buffer for buffer in function.arguments if buffer.role is not Role.STATE]
    given = [(access.buffer, shape) for access, shape in zip(function.results, function.result_shapes, strict=True)]
    wanted = [*((buffer, buffer.shape) for buffer in (*taken, *state)), *given]
    counts = len(call.inputs), sum(call.updated), len(call.outputs) - sum(call.updated)
    if counts != (len(taken), len(state), len(given)):
        yield (
            f"calls @{call.function} with {counts[0]} arguments, {counts[1]} updated and {counts[2]} results; "
            f"it has {len(taken)}, {len(state)} and {len(given)}"
        )
        return
    if sorted(call.updated, reverse=True) != list(call.updated):
        yield f"calls @{call.function} with results before what is updated"
    for access, shape, (buffer, its) in zip((*call.inputs, *call.outputs), call.shapes, wanted, strict=True):
        name = f"%{access.buffer.name}"
        if (shape, access.buffer.dtype) != (its, buffer.dtype):
            here, there = f"{access.buffer.dtype}[{shape_text(shape)}]", f"{buffer.dtype}[{shape_text(its)}]"
            yield f"calls @{call.function} with {name} as {here} for %{buffer.name}, which is {there}"
        if 0 not in shape and not is_contiguous(shape, access.strides):
            yield f"calls @{call.function} with {name}, which does not lie row by row"
