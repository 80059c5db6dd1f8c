"""When each step runs on each row of the page's trace, by the clocks from which the total comes.

A loop is drawn once, as long as all of its iterations together: as its middle iteration, in which everybody is as far
ahead of the others as in most, drawn longer on each row.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ipu_mlir.runtime.profile.compilation import ProgramNode
from ipu_mlir.runtime.profile.node_times import NodeTimes, runs_of
from ipu_mlir.runtime.profile.overlap import Stretch, then, times
from ipu_mlir.runtime.profile.profile import Profile

Times = np.ndarray
"""Cycles, one number for each row."""


@dataclass(frozen=True)
class _Scale:
    """Draws what runs by the clocks from ``begin`` to ``end`` between ``first`` and ``last``, on each row."""

    begin: Times
    end: Times
    first: Times
    last: Times

    def drawn(self, clocks: Times) -> Times:
        """Where ``clocks`` are on the axis."""
        long = self.end - self.begin
        share = np.divide(clocks - self.begin, long, out=np.zeros(len(long)), where=long > 0)
        return self.first + share * (self.last - self.first)


def timeline(profile: Profile) -> dict[str, Any]:
    """Rows, steps and loops of the trace, as JSON values.

    ``rows`` are the names; ``steps`` has ``[id, executions, [begin, end] or null for each row]`` in program order,
    ``loops`` ``[name, kind, iterations or null, depth, begin, end]``, all in cycles, and ``total`` is where they end.
    """
    drawing = _Drawing(profile)
    rows = drawing.times.clocks.names
    zero = np.zeros(len(rows))
    root = profile.compilation.program_tree
    end = drawing.times.stretch(root).after(zero)
    drawing.node(root, zero, _Scale(zero, end, zero, end), Fraction(1), 0)
    return {"rows": rows, "steps": drawing.steps, "loops": drawing.loops, "total": _short(float(end.max(initial=0)))}


class _Drawing:
    def __init__(self, profile: Profile) -> None:
        self.times = NodeTimes(profile)
        self.steps: list[list[Any]] = []
        self.loops: list[list[Any]] = []

    def node(self, node: ProgramNode, clocks: Times, scale: _Scale, executions: Fraction, depth: int) -> None:
        """Draw one execution of ``node`` that begins at ``clocks``, and stands for so many."""
        if node.step is not None:
            self._step(node.step, clocks, scale, executions)
            return
        if node.kind == "while":
            self._while(node, clocks, scale, executions, depth)
            return
        for place, child in enumerate(node.children):
            runs = Fraction(runs_of(node, place))
            after = times(self.times.stretch(child), runs).after(clocks)
            if runs:
                inner = self._inner(self.times.stretch(child), runs, clocks, after, scale)
                inside = depth if child.kind in ("sequence", "step") else depth + 1
                self.node(child, inner.begin, inner, executions * runs, inside)
                if child.kind not in ("sequence", "step"):
                    self._loop(child, scale.drawn(clocks), scale.drawn(after), inside)
            clocks = after

    def _while(self, node: ProgramNode, clocks: Times, scale: _Scale, executions: Fraction, depth: int) -> None:
        """A while: its condition and its body, as one iteration."""
        condition, body = node.children
        runs = Fraction(runs_of(node, 1))
        iteration = then(self.times.stretch(condition), self.times.stretch(body))
        counted = runs or Fraction(runs_of(node, 0))
        one = iteration if runs else self.times.stretch(condition)
        inner = self._inner(one, counted, clocks, scale.end, scale)
        self.node(condition, inner.begin, inner, executions * Fraction(runs_of(node, 0)), depth)
        if runs:
            self.node(body, self.times.stretch(condition).after(inner.begin), inner, executions * runs, depth)

    @staticmethod
    def _inner(one: Stretch, runs: Fraction, clocks: Times, after: Times, scale: _Scale) -> _Scale:
        """Draws one of ``runs`` executions of ``one``, the middle one, as long as all of them."""
        begin = times(one, runs // 2).after(clocks) if runs > 1 else clocks
        return _Scale(begin, one.after(begin), scale.drawn(clocks), scale.drawn(after))

    def _step(self, number: int, clocks: Times, scale: _Scale, executions: Fraction) -> None:
        step, kind = self.times.step(number)
        meeting = self.times.clocks.meeting(step, kind)
        spans: list[list[float] | None] = []
        begins = np.array(clocks)
        begins[meeting] = clocks[meeting].max(initial=0)
        phases = self.times.clocks.phases(step, kind)
        ends = begins + [sum(cycles for _, cycles in each) for each in phases]
        first, last = scale.drawn(begins), scale.drawn(ends)
        for row, each in enumerate(phases):
            takes = any(cycles for _, cycles in each)
            spans.append([_short(first[row]), _short(last[row])] if takes else None)
        if any(spans):
            self.steps.append([number, _short(float(executions)), *spans])

    def _loop(self, node: ProgramNode, begins: Times, ends: Times, depth: int) -> None:
        iterations = None
        if node.kind in ("repeat", "while") and node.count is not None:
            iterations = runs_of(node, len(node.children) - 1)
        self.loops.append([node.name, node.kind, iterations, depth - 1, _short(begins.min()), _short(ends.max())])


def _short(number: float) -> float:
    """Cycles as the page needs them: whole ones as whole numbers.

    >>> _short(12.0001), _short(0.3333)
    (12, 0.33)
    """
    found = round(float(number), 2)
    return int(found) if found.is_integer() else found
