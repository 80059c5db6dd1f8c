"""A slice at a run-time index: written where it belongs, the rest is left alone."""

from ipu_mlir.runtime.translator.emit_elementwise import emit_elementwise, temporary
from ipu_mlir.runtime.translator.expression import LoopNumber, Read
from ipu_mlir.runtime.translator.schedule import COPY, Axes, Operand, Schedule
from ipu_mlir.runtime.translator.statements import Elementwise, SliceUpdate


def emit_slice_update(statement: SliceUpdate, schedule: Schedule) -> None:
    """Append the copy of what stays, unless it is there already, and the assignment of the slice."""
    out, old, extents, loop = statement.out, statement.old, statement.extents, statement.loop
    order = sorted(range(len(extents)), key=lambda other: (-out.strides[other], other))
    kept = tuple((other,) for other in order if other == loop or extents[other] > 1)
    axes = Axes(extents, kept)
    inside = Axes(extents, tuple(group for group in kept if group != (loop,)))
    value = statement.value
    if not isinstance(value, Read) or schedule.same_place(value.access.buffer, out.buffer):
        sizes = tuple(1 if other == loop else n for other, n in enumerate(extents))
        held = temporary(f"{out.buffer.name}_slice", value.dtype, sizes, [i for i in order if sizes[i] > 1])
        emit_elementwise(Elementwise(sizes, statement.origin, (held,), (value,)), schedule)
        value = Read(value.dtype, held)
    index: Operand
    if isinstance(statement.index, LoopNumber):
        index, text = statement.index, "{1}"
    else:
        held = temporary(f"{out.buffer.name}_at", statement.index.dtype, (), [])
        emit_elementwise(Elementwise((), statement.origin, (held,), (statement.index,)), schedule)
        index, text = Axes((), ()).full_view(held), "int({1})"
    stays = schedule.same_place(old.buffer, out.buffer) and (old.offset, old.strides) == (out.offset, out.strides)
    if not stays:
        schedule.call(COPY, (axes.view(old),), axes.full_view(out), statement.origin)
    before = ":, " * kept.index((loop,))
    template = f"{{out}}[{before}{text}] = {{0}}"
    schedule.call(template, (inside.view(value.access, value.dtype), index), axes.full_view(out), statement.origin)
