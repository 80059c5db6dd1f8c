"""How long the parts of a program take, by everybody's clock, and how often they run: what traces are drawn from."""

from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING

from ipu_mlir.runtime.profile.clocks import Clocks
from ipu_mlir.runtime.profile.compilation import ProgramNode, StepKind
from ipu_mlir.runtime.profile.execution import ExecutedStep
from ipu_mlir.runtime.profile.overlap import Stretch, then, times

if TYPE_CHECKING:
    from ipu_mlir.runtime.profile.profile import Profile


class NodeTimes:
    """Asked about nodes of the program tree of one profile."""

    def __init__(self, profile: "Profile") -> None:
        self.clocks = Clocks.of(profile.target.ipus, profile.execution.steps)
        self._steps = {step.step: step for step in profile.execution.steps}
        self._kinds: dict[int, StepKind] = {step.id: step.kind for step in profile.compilation.steps}
        self._stretches: dict[int, Stretch] = {}
        self.nothing = Stretch.of([0.0] * len(self.clocks.names))

    def step(self, number: int) -> tuple[ExecutedStep, StepKind]:
        """A step by its id."""
        return self._steps[number], self._kinds[number]

    def stretch(self, node: ProgramNode) -> Stretch:
        """One execution of ``node``, with all iterations of what is inside."""
        if node.step is not None:
            return self.clocks.stretch(*self.step(node.step))
        if id(node) not in self._stretches:
            counted = [(self.stretch(child), Fraction(runs_of(node, n))) for n, child in enumerate(node.children)]
            if node.kind == "while":
                (condition, tests), (body, rounds) = counted
                counted = [(then(condition, body), rounds), (condition, max(Fraction(0), tests - rounds))]
            self._stretches[id(node)] = reduce(then, (times(*each) for each in counted), self.nothing)
        return self._stretches[id(node)]


def runs_of(node: ProgramNode, place: int) -> float:
    """The mean number of runs of a child of ``node`` in one execution of it; as static profiles count, if not known."""
    child = node.children[place]
    if node.kind in ("sequence", "call"):
        return 1
    if node.count is None or child.count is None:
        return 2 if node.kind == "while" and place == 0 else 1
    runs = child.count / max(1, node.count)
    return int(runs) if runs == int(runs) else round(runs, 2)
