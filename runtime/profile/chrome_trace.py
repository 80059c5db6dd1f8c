"""A profile as trace events, which ``chrome://tracing`` and Perfetto draw.

Every IPU is a process with a track for each kind of cycles, and so are its I/O tiles if data goes by them. What they
do at the same time is drawn at the same time. Times are microseconds at the target's clock. A loop shows its first
iteration, inside of a box that says how often it runs; what follows it begins when all of its iterations are over.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ipu_mlir.runtime.profile.clocks import TRACKS
from ipu_mlir.runtime.profile.compilation import ProgramNode
from ipu_mlir.runtime.profile.node_times import NodeTimes, runs_of
from ipu_mlir.runtime.profile.overlap import times

if TYPE_CHECKING:
    from ipu_mlir.runtime.profile.profile import Profile


def chrome_trace(profile: "Profile") -> dict[str, Any]:
    """The trace as a JSON value."""
    return {"traceEvents": list(_Trace(profile).events()), "displayTimeUnit": "ns"}


class _Trace:
    """Draws a program, with a clock for each IPU and for I/O tiles that have one of their own."""

    def __init__(self, profile: "Profile") -> None:
        self._times = NodeTimes(profile)
        self._root = profile.compilation.program_tree
        self._names = self._times.clocks.names
        self._us_per_cycle = 1e6 / profile.target.clock_hz

    def events(self) -> Iterator[dict[str, Any]]:
        """Names of processes and tracks, then what happens."""
        for process, called in enumerate(self._names):
            yield {"ph": "M", "name": "process_name", "pid": process, "args": {"name": called}}
            for track, name in enumerate(TRACKS):
                yield {"ph": "M", "name": "thread_name", "pid": process, "tid": track, "args": {"name": name}}
        yield from self._node(self._root, np.zeros(len(self._names)), Fraction(1))

    def _node(self, node: ProgramNode, clocks: np.ndarray, scale: Fraction) -> Iterator[dict[str, Any]]:
        """The events of one execution of ``node`` that everybody begins by his clock.

        Args:
            scale: by how much it is drawn shorter: what runs in some of the executions of a branch has that share of
                its time.
        """
        if node.kind == "step":
            yield from self._step(node, clocks, scale)
            return
        ends = times(self._times.stretch(node), scale).after(clocks)
        if node.kind != "sequence" and (ends != clocks).any():
            rounds = runs_of(node, len(node.children) - 1)
            name = f"{node.kind} x {rounds:,}" if node.kind in ("repeat", "while") else node.name
            for process, (begin, end) in enumerate(zip(clocks, ends, strict=True)):
                if begin < end:  # before what is inside, so that viewers nest boxes of equal length
                    yield self._event(name, process, 0, begin, end - begin, {"at": node.location, "times": rounds})
        for place, child in enumerate(node.children):
            share = Fraction(runs_of(node, place))
            yield from self._node(child, clocks, scale * min(1, share))
            clocks = times(self._times.stretch(child), scale * share).after(clocks)

    def _step(self, node: ProgramNode, clocks: np.ndarray, scale: Fraction) -> Iterator[dict[str, Any]]:
        assert node.step is not None, "a node of a step has its id"
        step, kind = self._times.step(node.step)
        arguments = {"at": node.location, "step": step.step, "balance": round(step.balance, 4)}
        meeting = self._times.clocks.meeting(step, kind)
        for process, phases in enumerate(self._times.clocks.phases(step, kind)):
            begin = max(clocks[meeting]) if process in meeting else clocks[process]
            for track, cycles in phases:
                if cycles and scale:
                    name = node.name if track != 4 else "sync"
                    yield self._event(name, process, track, begin, cycles * float(scale), arguments, cycles)
                begin += float(scale) * cycles

    def _event(
        self,
        name: str,
        process: int,
        track: int,
        begin: float,
        length: float,
        arguments: dict[str, Any],
        cycles: int | None = None,
    ) -> dict[str, Any]:
        ts, duration = (round(each * self._us_per_cycle, 6) for each in (begin, length))
        return {
            "ph": "X", "name": name, "pid": process, "tid": track, "ts": ts, "dur": duration,
            "args": {**arguments, "cycles": round(length) if cycles is None else cycles},
        }  # fmt: skip
