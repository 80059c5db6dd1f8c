"""Why a program does not fit: on which tile, at which step, how much is too much, what is largest, what to try."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ipu_mlir.dialects.analysis.locations import place_of
from ipu_mlir.dialects.analysis.matchers import module_around
from ipu_mlir.dialects.analysis.program.tree import steps
from ipu_mlir.dialects.analysis.remote import num_remote_bytes, remote_buffers_in
from ipu_mlir.dialects.machine.machine import machine_of
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.memory.advice import Advice, advice_for_all_tiles, advice_for_one_tile
from ipu_mlir.dialects.memory.report import CODE, MemoryReport, Variable
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import Settings

ProblemKind = Literal["tiles", "one_tile", "code", "remote"]

LARGEST = 5
"""So many variables are named."""


@dataclass(frozen=True, eq=False)
class Problem:
    """One reason why a program does not fit into its machine.

    Attributes:
        kind: ``tiles``: more than one tile is too small; ``one_tile``: all others fit; ``code``: code and the state of
            vertices alone are too much; ``remote``: streaming memory, beside the chip, is too small.
        tile: the worst tile; None for streaming memory.
        step: number of the step at which it needs most; None if what lives always is too much by itself.
        over_bytes: how much it needs beyond what it has.
        reason: all of it in a sentence.
        largest: the largest variables there at that moment, with their bytes.
        advice: what may help, the likeliest first.
        op: the op to report it at: that of the step, or the function.
        tried: whether a compiler has tried the advice that it can try, and left out what does not help.
    """

    kind: ProblemKind
    tile: int | None
    step: int | None
    over_bytes: int
    reason: str
    largest: tuple[tuple[Variable, int], ...]
    advice: tuple[Advice, ...]
    op: Any
    tried: bool = False

    @property
    def message(self) -> str:
        """The reason, and what to try."""
        if not self.tried:
            return f"{self.reason}; try {_one_of(self.advice)}"
        compiled = [each for each in self.advice if each.compiled]
        others = [each for each in self.advice if not each.compiled]
        fits = "it fits" if len(compiled) == 1 else "it fits with each"
        text = f"try {_one_of(compiled)} (compiled: {fits})" if compiled else "no setting that was compiled fits"
        return f"{self.reason}; {text}" + (f"; or, which was not compiled, {_one_of(others)}" if others else "")

    @property
    def tries(self) -> tuple[str, ...]:
        """The advice as text."""
        return tuple(each.text for each in self.advice)

    @property
    def settings(self) -> tuple[Settings, ...]:
        """Those that the advice speaks of."""
        return tuple(each.settings for each in self.advice if each.settings)


def _one_of(advice: Sequence[Advice]) -> str:
    return "; or ".join(each.text for each in advice)


def memory_problems(report: MemoryReport) -> tuple[Problem, ...]:
    """The errors of what does not fit; none if all of it does."""
    remote = remote_problems(report.module.operation, report.target)
    return remote if report.fits else (_problem_of_tiles(report), *remote)


def remote_problems(module: ir.Operation, target: Target) -> tuple[Problem, ...]:
    """The errors of what is too large for streaming memory; none if all of it fits."""
    module = module_around(module)
    limit, needed = machine_of(target).streaming_bytes * target.ipus, num_remote_bytes(module)
    if needed <= limit:
        return ()
    buffers = [each for each in remote_buffers_in(module).values() if each.memory == "streaming"]
    largest = sorted(buffers, key=lambda each: -each.num_bytes)[:LARGEST]
    listed = ", ".join(f"@{each.name} ({each.type}) {each.num_bytes:,} B" for each in largest)
    tries = ('keep a buffer on the host: memory = "host"', "use more IPUs, each of which has memory of its own")
    advice = tuple(map(Advice, tries[: 2 if limit else 1]))
    has = f"has {limit:,} B" if limit else "has no memory beside its chips"
    reason = (
        f"needs {needed:,} B of remote memory, and target '{target.name}' {has}: {needed - limit:,} B too much; "
        f"largest: {listed}"
    )
    return (Problem("remote", None, None, needed - limit, reason, (), advice, largest[0].op),)


def _problem_of_tiles(report: MemoryReport) -> Problem:
    """The problem of tiles on which something does not fit."""
    tile, limit = report.peak.worst_tile(), report.limit
    needed, number = report.peak.on(tile), report.peak_step.on(tile)
    step = None if number < 0 or report.always_live.on(tile) > limit else number
    code = sum(report.categories[name].on(tile) for name in CODE)
    crowded = report.peak.count_over(limit)
    kind: ProblemKind = "code" if code > limit else "one_tile" if crowded == 1 < report.target.num_tiles else "tiles"
    largest = tuple(report.live_on(tile)[:LARGEST])
    advice = advice_for_one_tile(report, largest) if kind == "one_tile" else advice_for_all_tiles(report)
    op = steps(report.tree)[step].op if step is not None else report.tree.block.owner
    place = "all the time" if step is None else f"in superstep {step} ({_step_text(report, step)})"
    what = {"code": _code_text(report, tile), "one_tile": "all other tiles fit"}.get(
        kind, f"{crowded:,} of {report.target.num_tiles:,} tiles are too small"
    )
    listed = ", ".join(f"{each.name} ({each.type_text}) {size:,} B" for each, size in largest) or "no data"
    reason = (
        f"needs {needed:,} B on tile {tile}, which has {limit:,} B: {needed - limit:,} B too much {place}; {what}; "
        f"largest there: {listed}; code and state {code:,} B"
    )
    return Problem(kind, tile, step, needed - limit, reason, largest, tuple(advice), op.operation)


def _step_text(report: MemoryReport, number: int) -> str:
    step = steps(report.tree)[number]
    place = place_of(step.op.location)
    return f"{step.kind} at {place}" if place else step.kind


def _code_text(report: MemoryReport, tile: int) -> str:
    parts = ", ".join(f"{name.replace('_', ' ')} {report.categories[name].on(tile):,} B" for name in CODE)
    return f"code alone is too much: {parts}"
