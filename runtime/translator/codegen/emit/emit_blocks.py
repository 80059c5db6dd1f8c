"""A group of statements as a loop over blocks, its own buffers as scratch memory of one block."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ipu_mlir.runtime.translator.codegen.blocks import Group
from ipu_mlir.runtime.translator.codegen.emit.emit import emit
from ipu_mlir.runtime.translator.codegen.schedule import BlockLoop, Call, Operand, Schedule, View
from ipu_mlir.runtime.translator.kernels.choose import Kernels
from ipu_mlir.runtime.translator.statements.access import Buffer, Role
from ipu_mlir.runtime.translator.statements.statements import Statement


def emit_group(
    group: Group,
    statements: Sequence[Statement],
    used_elsewhere: set[Buffer],
    schedule: Schedule,
    kernels: Kernels,
    rounds: int,
) -> None:
    """Append the block loop of ``group``, which is done ``rounds`` times.

    ``used_elsewhere`` are places that other statements use as well.
    """
    calls: list[Call] = []
    run = statements[group.start : group.start + group.count]
    loops = {id(statement): loop for statement, loop in zip(run, group.loops, strict=True)}
    written = {schedule.place(access.buffer) for statement in run for access in statement.dests()}
    scratch_places = {place for place in written - used_elsewhere if place.role is Role.TEMPORARY}
    for done in kernels.of_block(group, loops, run, scratch_places, rounds):
        if isinstance(done, Call):
            calls.append(done)
            continue
        inner = Schedule(
            schedule.options,
            schedule.places,
            block_loop=loops[id(done)],
            block_units=group.units,
            block_size=group.block,
            product=schedule.product,
        )
        emit(done, inner)
        writes = Counter(step.out.buffer for step in inner.steps if isinstance(step, Call))
        for step in inner.steps:
            assert isinstance(step, Call), "only straight-line statements are grouped"
            if step.out.block_axis is None and writes[step.out.buffer] == 1 and not _reads_any(step, calls, schedule):
                schedule.steps.append(step)  # the same for every block: done once, before
            else:
                calls.append(step)
    made_before = {step.out.buffer for step in schedule.steps if isinstance(step, Call)}
    scratch: dict[Buffer, int] = {}

    def in_block(operand: Operand) -> Operand:
        if not isinstance(operand, View) or operand.buffer.role is not Role.TEMPORARY:
            return operand
        place = schedule.place(operand.buffer)
        if place in used_elsewhere or operand.buffer in made_before:
            return operand
        shrunk = _shrunk(operand, group)
        bytes_needed = _extent(shrunk) * operand.dtype.itemsize
        scratch[place] = max(scratch.get(place, 0), bytes_needed)
        return shrunk

    inside = tuple(
        replace(call, operands=tuple(map(in_block, call.operands)), out=in_block(call.out)) for call in calls
    )
    schedule.steps.append(BlockLoop(group.units, group.block, inside, tuple(scratch.items()), run[0].origin))


def _reads_any(call: Call, others: list[Call], schedule: Schedule) -> bool:
    """True if ``call`` reads what one of ``others`` writes; a kernel may write all that it is given."""
    written = {
        schedule.place(view.buffer)
        for other in others
        for view in (other.out, *(other.operands if other.kernel else ()))
        if isinstance(view, View)
    }
    return any(isinstance(operand, View) and schedule.place(operand.buffer) in written for operand in call.operands)


def _shrunk(view: View, group: Group) -> View:
    """``view`` in memory for one block only: strides and offsets that count whole turns of units count blocks."""
    axis = view.block_axis
    if axis is None:
        return view
    unit = view.strides[axis] * view.block_step
    old, new = group.units * unit, group.block * unit
    turns, rest = divmod(view.offset, old)
    strides = tuple(s // old * new if s and i != axis and s % old == 0 else s for i, s in enumerate(view.strides))
    shape = list(view.shape)
    shape[axis] = group.block * view.block_step
    return replace(view, offset=turns * new + rest, strides=strides, shape=tuple(shape))


def _extent(view: View) -> int:
    """One more than the highest element that ``view`` reaches."""
    return view.offset + 1 + sum((n - 1) * s for n, s in zip(view.shape, view.strides, strict=True))
