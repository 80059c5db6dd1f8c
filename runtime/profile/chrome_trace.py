"""A profile as trace events, which ``chrome://tracing`` and Perfetto draw.

Every IPU is a process with a track for each kind of cycles. Times are microseconds at the target's clock. A loop shows
its first iteration, inside of a box that says how often it runs; what
follows the loop begins when all of its iterations are over.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ipu_mlir.runtime.profile.compilation import ProgramNode
from ipu_mlir.runtime.profile.execution import ExecutedStep

if TYPE_CHECKING:
    from ipu_mlir.runtime.profile.profile import Profile

TRACKS = ("control flow", "compute", "exchange", "inter-IPU", "sync", "host")


def chrome_trace(profile: "Profile") -> dict[str, Any]:
    """The trace as a JSON value."""
    return {"traceEvents": list(_Trace(profile).events()), "displayTimeUnit": "ns"}


class _Trace:
    def __init__(self, profile: "Profile") -> None:
        self._steps = {step.step: step for step in profile.execution.steps}
        self._kinds = {step.id: step.kind for step in profile.compilation.steps}
        self._root = profile.compilation.program_tree
        self._ipus = profile.target.ipus
        self._us_per_cycle = 1e6 / profile.target.clock_hz

    def events(self) -> Iterator[dict[str, Any]]:
        """Names of processes and tracks, then what happens."""
        for ipu in range(self._ipus):
            yield {"ph": "M", "name": "process_name", "pid": ipu, "args": {"name": f"IPU {ipu}"}}
            for track, name in enumerate(TRACKS):
                yield {"ph": "M", "name": "thread_name", "pid": ipu, "tid": track, "args": {"name": name}}
        yield from self._node(self._root, 0.0, 1.0)

    def _node(self, node: ProgramNode, start: float, scale: float) -> Iterator[dict[str, Any]]:
        """The events of one execution of ``node`` that begins at the cycle ``start``.

        Args:
            scale: by how much it is drawn shorter: what runs in some of the executions of a branch has that share of
                its time.
        """
        if node.kind == "step":
            yield from self._step(node, start, scale)
            return
        if node.kind != "sequence" and (cycles := self._cycles(node)):
            times = _times(node, len(node.children) - 1)
            name = f"{node.kind} x {times:,}" if node.kind in ("repeat", "while") else node.name
            for ipu in range(self._ipus):  # before what is inside, so that viewers nest boxes of equal length
                yield self._event(name, ipu, 0, start, cycles, scale, {"at": node.location, "times": times})
        for place, child in enumerate(node.children):
            times = _times(node, place)
            yield from self._node(child, start, scale * min(1, times))
            start += scale * times * self._cycles(child)

    def _cycles(self, node: ProgramNode) -> float:
        """Cycles of one execution of ``node``, with all iterations of what is inside."""
        if node.step is not None:
            return self._steps[node.step].cycles
        return sum(_times(node, place) * self._cycles(child) for place, child in enumerate(node.children))

    def _step(self, node: ProgramNode, start: float, scale: float) -> Iterator[dict[str, Any]]:
        assert node.step is not None, "a node of a step has its id"
        step = self._steps[node.step]
        arguments = {"at": node.location, "step": step.step, "balance": round(step.balance, 4)}
        for track, cycles in (
            (3, step.inter_ipu),
            (5, step.host),
            (1, step.compute),
            (2, step.exchange),
            (4, step.sync),
        ):
            if cycles and scale:
                for ipu in range(self._ipus):
                    own = self._own(step, ipu, track, cycles)
                    yield self._event(node.name if track != 4 else "sync", ipu, track, start, own, scale, arguments)
            start += scale * cycles

    def _own(self, step: ExecutedStep, ipu: int, track: int, cycles: int) -> int:
        """Cycles of one IPU of the phase that takes all of them ``cycles``."""
        if step.per_ipu is None or track not in (1, 2):
            return cycles
        return step.per_ipu[ipu][track - 1]

    def _event(
        self, name: str, ipu: int, track: int, start: float, cycles: float, scale: float, arguments: dict[str, Any]
    ) -> dict[str, Any]:
        ts, duration = round(start * self._us_per_cycle, 6), round(cycles * scale * self._us_per_cycle, 6)
        return {
            "ph": "X", "name": name, "pid": ipu, "tid": track, "ts": ts, "dur": duration,
            "args": {**arguments, "cycles": round(cycles)},
        }  # fmt: skip


def _times(node: ProgramNode, place: int) -> float:
    """The mean number of runs of a child of ``node`` in one execution of it; as static profiles count, if not known."""
    child = node.children[place]
    if node.kind in ("sequence", "call"):
        return 1
    if node.count is None or child.count is None:
        return 2 if node.kind == "while" and place == 0 else 1
    times = child.count / max(1, node.count)
    return int(times) if times == int(times) else round(times, 2)
