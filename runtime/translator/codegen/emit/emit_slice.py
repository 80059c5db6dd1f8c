"""A slice at a run-time index: written where it belongs, the rest is left alone."""

from ipu_mlir.runtime.translator.codegen.emit.emit_elementwise import emit_elementwise
from ipu_mlir.runtime.translator.codegen.run_time_slices import index_text
from ipu_mlir.runtime.translator.codegen.schedule import COPY, Axes, Operand, Schedule
from ipu_mlir.runtime.translator.statements.access import temporary
from ipu_mlir.runtime.translator.statements.expression import Const, LoopNumber, Read
from ipu_mlir.runtime.translator.statements.intervals import Ranges, is_within
from ipu_mlir.runtime.translator.statements.iota import loop_number
from ipu_mlir.runtime.translator.statements.statements import Elementwise, SliceUpdate


def emit_slice_update(statement: SliceUpdate, schedule: Schedule) -> None:
    """Append the copy of what stays, unless it is there already, and the assignment of the slice."""
    out, old, extents, loops = statement.out, statement.old, statement.extents, statement.loops
    order = sorted(range(len(extents)), key=lambda other: (-out.strides[other], other))
    kept = tuple((other,) for other in order if other in loops or extents[other] > 1)
    axes = Axes(extents, kept)
    sizes = dict(zip(loops, statement.sizes, strict=True))
    box = statement.box()
    inside = Axes(box, tuple(group for group in kept if sizes.get(group[0]) != 1))
    value = statement.value
    if not isinstance(value, Read) or schedule.same_place(value.access.buffer, out.buffer):
        held = temporary(f"{out.buffer.name}_slice", value.dtype, box, [i for i in order if box[i] > 1])
        emit_elementwise(Elementwise(box, statement.origin, (held,), (value,)), schedule)
        value = Read(value.dtype, held)
    ranges = Ranges(extents)
    operands: list[Operand] = [inside.view(value.access, value.dtype)]
    brackets, tests = [], []
    for (loop,) in kept:
        if loop not in loops:
            brackets.append(":")
            continue
        at, size = loops.index(loop), sizes[loop]
        index = statement.indexes[at]
        if is_within(index, extents[loop] - size + 1, ranges):
            index = loop_number(index) or index
        if not isinstance(index, LoopNumber | Const):
            held = temporary(f"{out.buffer.name}_at", index.dtype, (), [])
            emit_elementwise(Elementwise((), statement.origin, (held,), (index,)), schedule)
            index = Read(index.dtype, held)
            if size == 1 and not is_within(statement.indexes[at], extents[loop], ranges):
                tests.append(f"0 <= {{{len(operands)}}} < {extents[loop]}")
        brackets.append(index_text([index], [None if size == 1 else size], [1], len(operands)))
        if isinstance(index, Read):
            operands.append(Axes((), ()).full_view(index.access))
        elif isinstance(index, LoopNumber):
            operands.append(index)
    while brackets[-1] == ":":
        brackets.pop()
    stays = schedule.same_place(old.buffer, out.buffer) and (old.offset, old.strides) == (out.offset, out.strides)
    if not stays:
        schedule.call(COPY, (axes.view(old),), axes.full_view(out), statement.origin)
    guard = f"if {' and '.join(tests)}: " if tests else ""
    template = f"{guard}{{out}}[{', '.join(brackets)}] = {{0}}"
    schedule.call(template, tuple(operands), axes.full_view(out), statement.origin)
