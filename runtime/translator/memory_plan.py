"""An offset for every temporary in one block of memory, reused as soon as its owner is dead."""

from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass

from ipu_mlir.runtime.translator.access import Buffer, Role
from ipu_mlir.runtime.translator.schedule import Call, Step, View

ALIGNMENT = 64
"""Bytes. One cache line: vector loads of AVX-512 that cross lines are slower."""


@dataclass(frozen=True)
class MemoryPlan:
    """Byte offset of every place, and the bytes needed in total."""

    offsets: dict[Buffer, int]
    total_bytes: int


def views_of(step: Step) -> list[View]:
    """Every view that ``step`` uses."""
    calls: Iterable[Call] = (step,) if isinstance(step, Call) else step.calls
    found = []
    for call in calls:
        found += [operand for operand in call.operands if isinstance(operand, View)]
        found.append(call.out)
    return found


def plan(
    steps: list[Step], places: dict[Buffer, Buffer], held: set[Buffer], sizes: dict[Buffer, int] | None = None
) -> MemoryPlan:
    """First-fit by order of first use; ``held`` places are memory of somebody else and get no offset.

    ``sizes`` gives the bytes of places whose size is not that of their largest buffer.
    """
    first: dict[Buffer, int] = {}
    last: dict[Buffer, int] = {}
    size: dict[Buffer, int] = {}
    for position, step in enumerate(steps):
        for view in views_of(step):
            if view.buffer.role is not Role.TEMPORARY:
                continue
            place = places.get(view.buffer, view.buffer)
            if place in held:
                continue
            first.setdefault(place, position)
            last[place] = position
            bytes_needed = (sizes or {}).get(place, view.buffer.elements * view.buffer.dtype.itemsize)
            size[place] = max(size.get(place, 0), bytes_needed)
    offsets: dict[Buffer, int] = {}
    active: list[tuple[int, int, int]] = []  # (offset, end offset, last use)
    total = 0
    for place, start in first.items():
        active = [entry for entry in active if entry[2] >= start]
        need = max(1, -(-size[place] // ALIGNMENT)) * ALIGNMENT
        offset = 0
        for begin, end, _ in active:
            if begin - offset >= need:
                break
            offset = max(offset, end)
        offsets[place] = offset
        insort(active, (offset, offset + need, last[place]))
        total = max(total, offset + need)
    return MemoryPlan(offsets, total)
