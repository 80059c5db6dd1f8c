"""An offset for every temporary in one block of memory, reused as soon as its owner is dead."""

from bisect import insort
from collections import defaultdict
from dataclasses import dataclass

from ipu_mlir.runtime.translator.codegen.control_steps import StepTimeline
from ipu_mlir.runtime.translator.codegen.schedule import Step
from ipu_mlir.runtime.translator.statements.access import Buffer, Role

ALIGNMENT = 64
"""Bytes. One cache line: vector loads of AVX-512 that cross lines are slower."""


@dataclass(frozen=True)
class MemoryPlan:
    """Byte offset of every place, and the bytes needed in total."""

    offsets: dict[Buffer, int]
    total_bytes: int


def plan(
    steps: list[Step],
    places: dict[Buffer, Buffer],
    held: set[Buffer],
    sizes: dict[Buffer, int] | None = None,
    first_byte: int = 0,
) -> MemoryPlan:
    """First-fit by order of first use; ``held`` places are memory of somebody else and get no offset.

    ``sizes`` gives the bytes of places whose size is not that of their largest buffer. What lies before ``first_byte``
    is in use.
    """
    first: dict[Buffer, int] = {}
    last: dict[Buffer, int] = {}
    size: dict[Buffer, int] = {}
    timeline = StepTimeline.of(steps)
    sharing: dict[Buffer, list[Buffer]] = defaultdict(list)
    for buffer in dict.fromkeys([*timeline.uses, *places]):
        if buffer.role is Role.TEMPORARY:
            sharing[places.get(buffer, buffer)].append(buffer)
    for place, buffers in sharing.items():
        interval = timeline.interval(buffers)
        if interval is None or place in held:
            continue
        first[place], last[place] = interval
        needed = max(b.elements * b.dtype.itemsize for b in buffers)
        size[place] = (sizes or {}).get(place, needed)
    offsets: dict[Buffer, int] = {}
    active: list[tuple[int, int, int]] = []  # (offset, end offset, last use)
    total = first_byte
    for place, start in sorted(first.items(), key=lambda entry: entry[1]):
        active = [entry for entry in active if entry[2] >= start]
        need = max(1, -(-size[place] // ALIGNMENT)) * ALIGNMENT
        offset = first_byte
        for begin, end, _ in active:
            if begin - offset >= need:
                break
            offset = max(offset, end)
        offsets[place] = offset
        insort(active, (offset, offset + need, last[place]))
        total = max(total, offset + need)
    return MemoryPlan(offsets, total)
