"""Who has a clock of his own in a profile, what he does in a step, and whom he waits for there."""

from collections.abc import Iterable
from dataclasses import dataclass

from ipu_mlir.runtime.profile.compilation import StepKind
from ipu_mlir.runtime.profile.execution import ExecutedStep
from ipu_mlir.runtime.profile.overlap import Stretch

TRACKS = ("control flow", "compute", "exchange", "inter-IPU", "sync", "host")

Phases = list[tuple[int, int]]
"""Numbers of tracks, in order, with the cycles on each."""


@dataclass(frozen=True)
class Clocks:
    """One for the tiles of each IPU that compute, and then, where there is ``io``, one for the I/O tiles of each."""

    ipus: int
    io: bool

    @classmethod
    def of(cls, ipus: int, steps: Iterable[ExecutedStep]) -> "Clocks":
        """Those of a program with ``steps``."""
        return cls(ipus, any(step.io for step in steps))

    @property
    def names(self) -> list[str]:
        """Of each clock, whose it is."""
        tiles = [f"I/O tiles of IPU {ipu}" for ipu in range(self.ipus)] if self.ipus > 1 else ["I/O tiles"]
        return [*(f"IPU {ipu}" for ipu in range(self.ipus)), *(tiles if self.io else [])]

    def phases(self, step: ExecutedStep, kind: StepKind) -> list[Phases]:
        """What each does in ``step``."""
        of_ipus = self._of_ipus(step, kind)
        computing = [[]] * self.ipus if step.io == "alone" else of_ipus
        taking_part = _io_ipus(step)
        others = [each if ipu in taking_part else [] for ipu, each in enumerate(of_ipus)]
        return [*computing, *(others if self.io else [])]

    def meeting(self, step: ExecutedStep, kind: StepKind) -> list[int]:
        """The numbers of those who begin ``step`` together."""
        with_io = [self.ipus + ipu for ipu in _io_ipus(step)]
        if step.io == "alone" or kind == "compute":
            return with_io
        is_for_all = bool(step.sync or step.host)
        return [*(range(self.ipus) if is_for_all else _io_ipus(step)), *with_io]

    def stretch(self, step: ExecutedStep, kind: StepKind) -> Stretch:
        """``step`` once."""
        cycles = [sum(each for _, each in phases) for phases in self.phases(step, kind)]
        return Stretch.of(cycles, self.meeting(step, kind))

    @staticmethod
    def _of_ipus(step: ExecutedStep, kind: StepKind) -> list[Phases]:
        if step.per_ipu is None:
            return [[(3, step.inter_ipu), (5, step.host), (1, step.compute), (2, step.exchange), (4, step.sync)]]
        if kind == "compute":
            return [[(1, compute), (4, step.sync if compute else 0)] for compute, *_ in step.per_ipu]
        return [[(5, step.host), (4, step.sync), (3, links), (2, exchange)] for _, exchange, links in step.per_ipu]


def _io_ipus(step: ExecutedStep) -> tuple[int, ...]:
    """The IPUs whose I/O tiles take part in ``step``."""
    return () if step.io is None else step.io_ipus or (0,)
