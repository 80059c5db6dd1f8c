"""A slice that one call reads is read where it lies: ``add(x, y[i], z)`` instead of a copy of ``y[i]`` and a sum."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ipu_mlir.runtime.translator.array_ir.access import Buffer
from ipu_mlir.runtime.translator.codegen.control_steps import views_of
from ipu_mlir.runtime.translator.codegen.schedule import COPY, Call, ControlStep, Operand, Step, View

_SLICE = re.compile(r"copyto\(\{out\}, (\{0\}\[.*\]), 'unsafe'\)")
_READER = re.compile(r"\w+\((\{\d\}(\[[^]]*\])?, )+(out=)?\{out\}\)|(if .*: )?\{out\}\[.*\] = \{0\}")


def with_sliced_operands(steps: Sequence[Step], places: Mapping[Buffer, Buffer]) -> list[Step]:
    """``steps`` without copies of slices at the numbers of loops that a single call reads."""
    uses = Counter(places.get(view.buffer, view.buffer) for step in steps for view in views_of(step))

    def block(old: Sequence[Step]) -> list[Step]:
        found: list[Step] = []
        waiting = list(old)
        for number, step in enumerate(waiting):
            if isinstance(step, ControlStep):
                step = replace(step, blocks=tuple(tuple(block(each)) for each in step.blocks))
            reader = _reader(step, waiting[number + 1 :], places, uses) if isinstance(step, Call) else None
            if reader is None or not isinstance(step, Call):
                found.append(step)
            else:
                at = number + 1 + reader
                waiting[at] = _reading(waiting[at], step, places)
        return found

    return block(steps)


def _reader(copy: Call, after: Sequence[Step], places: Mapping[Buffer, Buffer], uses: Counter[Buffer]) -> int | None:
    """The number of the one call that reads what ``copy`` copies, if that can read the slice itself."""
    source = copy.operands[0] if copy.operands else None
    if _SLICE.fullmatch(copy.template) is None or not isinstance(source, View) or source.dtype != copy.out.dtype:
        return None
    if not copy.out.shape or any(isinstance(index, View) for index in copy.operands[1:]):
        return None

    def place(view: View) -> Buffer:
        return places.get(view.buffer, view.buffer)

    def is_copy(operand: Operand) -> bool:
        return isinstance(operand, View) and replace(operand, buffer=copy.out.buffer) == copy.out

    held = place(copy.out)
    for number, step in enumerate(after):
        if not isinstance(step, Call):
            return None
        reading = [operand for operand in step.operands if isinstance(operand, View) and place(operand) is held]
        if reading or place(step.out) is held:
            is_all = (place(step.out) is held and is_copy(step.out)) or uses[held] == 1 + len(reading)
            is_same = bool(reading) and all(map(is_copy, reading))
            is_reader = step.template == COPY or _READER.fullmatch(step.template)
            return number if is_all and is_same and is_reader else None
        if place(step.out) is place(source):
            return None
    return None


def _reading(reader: Step, copy: Call, places: Mapping[Buffer, Buffer]) -> Call:
    """``reader`` with the slice in place of its copy."""
    assert isinstance(reader, Call), "only calls read"
    found = _SLICE.fullmatch(copy.template)
    assert found is not None, "a copy of a slice"
    operands, template = list(reader.operands), reader.template
    first = len(operands)
    text = re.sub(r"\{(\d)\}", lambda n: "{0}" if n[1] == "0" else f"{{{first + int(n[1]) - 1}}}", found[1])
    for position, operand in enumerate(reader.operands):
        if isinstance(operand, View) and places.get(operand.buffer, operand.buffer) is places.get(
            copy.out.buffer, copy.out.buffer
        ):
            template = template.replace(f"{{{position}}}", text.replace("{0}", f"{{{position}}}"))
            operands[position] = copy.operands[0]
    return replace(reader, template=template, operands=(*operands, *copy.operands[1:]))
