"""A model as users run it: with machine code or without, on one tile after another, and its cost."""

import os
from dataclasses import asdict, dataclass, field

import numpy as np
from models.entry import Entry, Program, error

import ipu_mlir as ipu

FEW_TILES = 4
"""Of the machine on which the per-tile executor runs."""


@dataclass
class Outcome:
    """Measurements of a program.

    Attributes:
        errors: the largest difference, by the way it ran.
        compile_seconds: of the processor, of this process and of the children that import.
        cycles: of one run, predicted.
        worst_bytes: of the fullest tile.
        tiles: that have something.
        failure: the type and the message of the error that ended it.
    """

    name: str
    kind: str
    errors: dict[str, float] = field(default_factory=dict)
    compile_seconds: float = 0.0
    cycles: int = 0
    worst_bytes: int = 0
    failure: str = ""

    def problem(self, tolerance: float) -> str:
        """The reason why it failed, if it did."""
        wrong = [f"{how} differs by {each:.2g}" for how, each in self.errors.items() if not each <= tolerance]
        return self.failure or ", ".join(wrong)

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def measure(entry: Entry, kind: str) -> Outcome:
    """Compile and run a program of ``entry`` in all ways; errors are part of the outcome."""
    outcome = Outcome(entry.name, kind)
    program = entry.make(kind)
    try:
        _measure(outcome, program, entry.per_tile)
    except Exception as failure:  # of any kind: that is what is asked
        outcome.failure = f"{type(failure).__name__}: {' '.join(str(failure).split())}"[:600]
    return outcome


def _measure(outcome: Outcome, program: Program, per_tile: bool) -> None:
    begin = _processor_seconds()
    executable = ipu.compile(program.source, args=program.args, kwargs=program.kwargs)
    outcome.compile_seconds = round(_processor_seconds() - begin, 2)
    outcome.errors["auto"] = error(program.flat(executable(*program.args, **program.kwargs)), program.expected)
    profile = executable.profile()
    outcome.cycles = int(profile.total_cycles)
    outcome.worst_bytes = int(profile.compilation.memory.worst_bytes)
    inputs = program.flat((program.args, program.kwargs))
    supersteps = executable.mlir("l3")
    for kernels in ("always", "never"):
        if len(inputs) == len(executable.argument_specs):
            found = ipu.compile(supersteps, kernels=kernels).run(inputs)
        else:  # the front end gives the program more than its arguments, the weights of a model of Keras
            again = ipu.compile(program.source, args=program.args, kwargs=program.kwargs, kernels=kernels)
            found = program.flat(again(*program.args, **program.kwargs))
        outcome.errors[kernels] = error(found, program.expected)
    if per_tile:
        few = ipu.Target(tiles_per_ipu=FEW_TILES, emulated=True)
        small = ipu.compile(program.source, args=program.args, kwargs=program.kwargs, target=few)
        outcome.errors["per tile"] = error(small.run_per_tile(inputs), program.expected)


def _processor_seconds() -> float:
    times = os.times()
    return float(np.sum(times[:4]))
