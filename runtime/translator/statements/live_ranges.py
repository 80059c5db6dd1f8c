"""Live ranges, in which the contents of buffers matter: intervals of positions on the timeline."""

from ipu_mlir.runtime.translator.statements.access import Buffer, Role
from ipu_mlir.runtime.translator.statements.timeline import Event, Interval, Timeline


def live_ranges(timeline: Timeline) -> dict[Buffer, list[Interval]]:
    """The intervals in which each temporary holds something that is read later.

    What lives longer than a round of a loop is alive throughout the loop, except between its last use in a round and
    the statement that replaces it for the next.
    """
    buffers = dict.fromkeys([*timeline.writes, *timeline.reads])
    return {buffer: _ranges(buffer, timeline) for buffer in buffers if buffer.role is Role.TEMPORARY}


def _ranges(buffer: Buffer, timeline: Timeline) -> list[Interval]:
    events = timeline.events(buffer)
    start, end = events[0].position, events[-1].position
    loops = {loop for event in events for loop in event.loops if not timeline.is_inside(buffer, loop)}
    for loop in loops:
        start, end = min(start, timeline.spans[loop].start), max(end, timeline.spans[loop].end)
    holes = sorted(hole for loop in loops if (hole := _hole(events, loop, timeline)) is not None)
    ranges = []
    for gone, back in holes:
        if start <= gone < back <= end:
            ranges.append((start, gone))
            start = back
    ranges.append((start, end))
    return ranges


def _hole(events: list[Event], loop: int, timeline: Timeline) -> Interval | None:
    """From the last use in a round of ``loop`` to the replacement for the next round."""
    span = timeline.spans[loop]
    inside = [event for event in events if loop in event.loops]
    last = inside[-1]
    if not last.replaces or last.block != span.always or last.loops[-1] != loop:
        return None
    used = max((_until(event, loop, timeline) for event in inside[:-1]), default=span.start)
    if span.leaving is not None and events[-1].position > span.end:
        used = max(used, span.leaving)
    return (used, last.position) if used < last.position else None


def _until(event: Event, loop: int, timeline: Timeline) -> int:
    """The position of ``event``, or the end of the loop inside of ``loop`` that repeats it."""
    inner = event.loops[event.loops.index(loop) + 1 :]
    return max([event.position, *(timeline.spans[other].end for other in inner)])


def overlap(a: list[Interval], b: list[Interval]) -> bool:
    """True if both are alive at some moment between two statements."""
    return any(x[0] < y[1] and y[0] < x[1] for x in a for y in b)


def touching(a: list[Interval], b: list[Interval]) -> set[int]:
    """The positions at which ``a`` begins where ``b`` ends."""
    ends: set[int] = {end for _, end in b}
    return ends.intersection(start for start, _ in a)
