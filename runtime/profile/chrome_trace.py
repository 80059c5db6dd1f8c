"""A profile as trace events, which ``chrome://tracing`` and Perfetto draw.

Every IPU is a process with a track for each kind of cycles, and so are I/O tiles that work beside the others. What they
do at the same time is drawn at the same time. Times are microseconds at the target's clock. A loop shows its first
iteration, inside of a box that says how often it runs; what follows it begins when all of its iterations are over.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any

from ipu_mlir.runtime.profile.compilation import ProgramNode
from ipu_mlir.runtime.profile.execution import ExecutedStep
from ipu_mlir.runtime.profile.overlap import Stretch, Times, then, times

if TYPE_CHECKING:
    from ipu_mlir.runtime.profile.profile import Profile

TRACKS = ("control flow", "compute", "exchange", "inter-IPU", "sync", "host")


def chrome_trace(profile: "Profile") -> dict[str, Any]:
    """The trace as a JSON value."""
    return {"traceEvents": list(_Trace(profile).events()), "displayTimeUnit": "ns"}


class _Trace:
    """Draws a program, with a clock for each IPU and for I/O tiles that have one of their own."""

    def __init__(self, profile: "Profile") -> None:
        self._steps = {step.step: step for step in profile.execution.steps}
        self._kinds = {step.id: step.kind for step in profile.compilation.steps}
        self._root = profile.compilation.program_tree
        self._names = [f"IPU {ipu}" for ipu in range(profile.target.ipus)]
        if any(step.io for step in profile.execution.steps):
            self._names.append("I/O tiles")
        self._us_per_cycle = 1e6 / profile.target.clock_hz
        self._stretches: dict[int, Stretch] = {}

    def events(self) -> Iterator[dict[str, Any]]:
        """Names of processes and tracks, then what happens."""
        for process, called in enumerate(self._names):
            yield {"ph": "M", "name": "process_name", "pid": process, "args": {"name": called}}
            for track, name in enumerate(TRACKS):
                yield {"ph": "M", "name": "thread_name", "pid": process, "tid": track, "args": {"name": name}}
        yield from self._node(self._root, (Fraction(0),) * len(self._names), Fraction(1))

    def _node(self, node: ProgramNode, clocks: Times, scale: Fraction) -> Iterator[dict[str, Any]]:
        """The events of one execution of ``node`` that everybody begins by his clock.

        Args:
            scale: by how much it is drawn shorter: what runs in some of the executions of a branch has that share of
                its time.
        """
        if node.kind == "step":
            yield from self._step(node, clocks, scale)
            return
        ends = _after(clocks, times(self._stretch(node), scale))
        if node.kind != "sequence" and ends != clocks:
            rounds = _times(node, len(node.children) - 1)
            name = f"{node.kind} x {rounds:,}" if node.kind in ("repeat", "while") else node.name
            for process, (begin, end) in enumerate(zip(clocks, ends, strict=True)):
                if begin < end:  # before what is inside, so that viewers nest boxes of equal length
                    yield self._event(name, process, 0, begin, end - begin, {"at": node.location, "times": rounds})
        for place, child in enumerate(node.children):
            share = Fraction(_times(node, place))
            yield from self._node(child, clocks, scale * min(1, share))
            clocks = _after(clocks, times(self._stretch(child), scale * share))

    def _stretch(self, node: ProgramNode) -> Stretch:
        """One execution of ``node``, with all iterations of what is inside."""
        if node.step is not None:
            return self._step_stretch(self._steps[node.step])
        if id(node) not in self._stretches:
            nothing = Stretch((Fraction(0),) * len(self._names))
            counted = [(self._stretch(child), Fraction(_times(node, n))) for n, child in enumerate(node.children)]
            if node.kind == "while":
                (condition, tests), (body, rounds) = counted
                counted = [(then(condition, body), rounds), (condition, max(Fraction(0), tests - rounds))]
            self._stretches[id(node)] = reduce(then, (times(*each) for each in counted), nothing)
        return self._stretches[id(node)]

    def _step_stretch(self, step: ExecutedStep) -> Stretch:
        own = tuple(Fraction(sum(cycles for _, cycles in phases)) for phases in self._own(step))
        if not self._meets(step):
            return Stretch(own)
        together = max(own) if step.io else Fraction(step.sync + step.host)
        return Stretch((Fraction(0),) * len(own), together, tuple(each - together for each in own))

    def _meets(self, step: ExecutedStep) -> bool:
        """True if all begin it together."""
        if step.per_ipu is None:
            return step.io == "meets"
        return self._kinds[step.step] != "compute" and bool(step.sync or step.host)

    def _own(self, step: ExecutedStep) -> list[list[tuple[int, int]]]:
        """Of everybody with a clock, the tracks that a step is on, in order, with the cycles on each."""
        if step.per_ipu is None:
            phases = [(3, step.inter_ipu), (5, step.host), (1, step.compute), (2, step.exchange), (4, step.sync)]
            everybody = [step.io != "alone", step.io is not None]
            return [phases if takes_part else [] for takes_part in everybody[: len(self._names)]]
        found = []
        for compute, exchange, inter_ipu in step.per_ipu:
            if self._kinds[step.step] == "compute":
                found.append([(1, compute), (4, step.sync if compute else 0)])
            else:
                found.append([(5, step.host), (4, step.sync), (3, inter_ipu), (2, exchange)])
        return found

    def _step(self, node: ProgramNode, clocks: Times, scale: Fraction) -> Iterator[dict[str, Any]]:
        assert node.step is not None, "a node of a step has its id"
        step = self._steps[node.step]
        arguments = {"at": node.location, "step": step.step, "balance": round(step.balance, 4)}
        for process, phases in enumerate(self._own(step)):
            begin = max(clocks) if self._meets(step) else clocks[process]
            for track, cycles in phases:
                if cycles and scale:
                    name = node.name if track != 4 else "sync"
                    yield self._event(name, process, track, begin, cycles * scale, arguments, cycles)
                begin += scale * cycles

    def _event(
        self,
        name: str,
        process: int,
        track: int,
        begin: Fraction,
        length: Fraction,
        arguments: dict[str, Any],
        cycles: int | None = None,
    ) -> dict[str, Any]:
        ts, duration = (round(float(each) * self._us_per_cycle, 6) for each in (begin, length))
        return {
            "ph": "X", "name": name, "pid": process, "tid": track, "ts": ts, "dur": duration,
            "args": {**arguments, "cycles": round(length) if cycles is None else cycles},
        }  # fmt: skip


def _after(clocks: Times, stretch: Stretch) -> Times:
    """The clocks when those who begin ``stretch`` at ``clocks`` are through with it."""
    begun = tuple(a + b for a, b in zip(clocks, stretch.head, strict=True))
    return begun if stretch.met is None else tuple(max(begun) + stretch.met + each for each in stretch.tail)


def _times(node: ProgramNode, place: int) -> float:
    """The mean number of runs of a child of ``node`` in one execution of it; as static profiles count, if not known."""
    child = node.children[place]
    if node.kind in ("sequence", "call"):
        return 1
    if node.count is None or child.count is None:
        return 2 if node.kind == "while" and place == 0 else 1
    times = child.count / max(1, node.count)
    return int(times) if times == int(times) else round(times, 2)
