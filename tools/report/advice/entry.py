"""One piece of advice, and the numbers that the rules share."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ipu_mlir.runtime.profile.compilation import Step
from ipu_mlir.runtime.profile.execution import Cycles, ExecutedStep
from ipu_mlir.runtime.profile.model import SourceOp
from ipu_mlir.runtime.profile.profile import Profile

Kind = Literal["memory", "compute", "exchange", "inter_ipu", "sync", "host"]


@dataclass(frozen=True)
class Advice:
    """One thing to change.

    Attributes:
        kind: what it saves.
        title: what to do.
        why: what the profile shows.
        action: how to do it.
        gain_cycles: what it saves at most, of the whole execution; None where it saves memory.
        urgent: without it the program does not run.
        step: the id of a step to look at.
    """

    kind: Kind
    title: str
    why: str
    action: str
    gain_cycles: float | None = None
    urgent: bool = False
    step: int | None = None


@dataclass(frozen=True)
class Numbers:
    """A profile, with its lists by id."""

    profile: Profile

    @cached_property
    def ops(self) -> dict[int, SourceOp]:
        """The ops of the source by their ids."""
        return {op.id: op for op in self.profile.ops}

    @cached_property
    def steps(self) -> dict[int, Step]:
        """The steps of the program by their ids."""
        return {step.id: step for step in self.profile.compilation.steps}

    @cached_property
    def executed(self) -> dict[int, ExecutedStep]:
        """The costs of one execution of a step, by the id of the step."""
        return {step.step: step for step in self.profile.execution.steps}

    @property
    def cycles(self) -> Cycles:
        """Cycles of the whole execution."""
        return self.profile.execution.cycles

    def share(self, cycles: float) -> float:
        """``cycles`` as a share of all."""
        return cycles / max(1, self.cycles.total)
