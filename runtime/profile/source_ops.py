"""The op of the source that a step belongs to: known by its location, which every pass keeps."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ipu_mlir.dialects.analysis.locations import name_scope, place_of
from ipu_mlir.dialects.analysis.loop_nest import is_structured
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.profile.model import PeakFlops, SourceOp
from ipu_mlir.runtime.profile.step_costs import StepCost

_MOVES = ("ipu.exchange", "memref.copy")

UNKNOWN = "unknown"
"""The name of the op that stands for all steps whose place nobody knows."""


def op_names(module: ir.Operation) -> dict[str, str]:
    """The ops of a program as it came in, by their place: structured ones and others outside of their bodies."""
    found: dict[str, str] = {}
    for function in module.regions[0].blocks[0].operations:
        for op in _ops_of(function.operation):
            place = place_of(op.location)
            if place and (place not in found or is_structured(op)):
                found[place] = op.name
    return found


def _ops_of(op: ir.Operation) -> Iterator[ir.Operation]:
    """The ops inside ``op``, leaving out the bodies of structured ones."""
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner.operation
                if not is_structured(inner):
                    yield from _ops_of(inner.operation)


@dataclass
class _Gathered:
    """Figures of one op, as far as they are known."""

    number: int
    name: str
    location: str | None
    compute_cycles: int = 0
    exchange_cycles: int = 0
    flops: int = 0
    flops_by_type: dict[str, int] = field(default_factory=dict)
    data_bytes: int = 0
    steps: list[int] = field(default_factory=list)
    executions: int = 0


class SourceOps:
    """Ops of the source, numbered as their first step comes: what has one name and one place is one op."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._found: dict[tuple[str, str], _Gathered] = {}

    def add_families(self, step: int, cost: StepCost, count: int) -> tuple[int, ...]:
        """Take note of the families of a compute step; the number of the op of each."""
        bytes_of_op: dict[int, int] = {}
        found = []
        for family in cost.families:
            gathered = self._of(family.op, family.op.name)
            gathered.compute_cycles += count * family.on_slowest
            gathered.flops += count * family.vertex.flops
            before = gathered.flops_by_type.get(family.peak_type, 0)
            gathered.flops_by_type[family.peak_type] = before + count * family.vertex.flops
            number = gathered.number
            bytes_of_op[number] = bytes_of_op.get(number, 0) + family.data_bytes
            gathered.data_bytes = max(gathered.data_bytes, bytes_of_op[number])
            self._note(gathered, step, count)
            found.append(number)
        return tuple(found)

    def add_exchange(self, step: int, op: ir.Operation, cost: StepCost, count: int) -> int:
        """Take note of an exchange; the number of its op."""
        gathered = self._of(op, op.name)
        gathered.exchange_cycles += count * (cost.exchange + cost.inter_ipu)
        self._note(gathered, step, count)
        return gathered.number

    def finished(self, total_cycles: int, clock_hz: float, peak: PeakFlops) -> tuple[SourceOp, ...]:
        """The ops, with their shares of the whole."""
        return tuple(_finished(each, total_cycles, clock_hz, peak) for each in self._found.values())

    def _of(self, op: ir.Operation, name: str) -> _Gathered:
        scope, place = name_scope(op.location), place_of(op.location)
        key = scope, place
        if key not in self._found:
            if scope and place != scope:
                name = scope  # what a front end says knows more than what it made of it
            elif scope:
                name = scope.rpartition("/")[2]
            else:
                name = self._names.get(place, name) if place else UNKNOWN
            self._found[key] = _Gathered(len(self._found), name, place or None)
        gathered = self._found[key]
        if gathered.name in _MOVES:  # what brings the operands stands before the op itself
            gathered.name = name
        return gathered

    @staticmethod
    def _note(gathered: _Gathered, step: int, count: int) -> None:
        if not gathered.steps or gathered.steps[-1] != step:
            gathered.steps.append(step)
        gathered.executions = max(gathered.executions, count)


def _finished(op: _Gathered, total_cycles: int, clock_hz: float, peak: PeakFlops) -> SourceOp:
    cycles = op.compute_cycles + op.exchange_cycles
    seconds = op.compute_cycles / clock_hz
    best = sum(flops / getattr(peak, kind) for kind, flops in op.flops_by_type.items())
    return SourceOp(
        id=op.number,
        name=op.name,
        location=op.location,
        cycles=cycles,
        compute_cycles=op.compute_cycles,
        exchange_cycles=op.exchange_cycles,
        flops=op.flops,
        bytes=op.data_bytes,
        steps=tuple(op.steps),
        executions=op.executions,
        share=cycles / total_cycles if total_cycles else 0.0,
        share_of_peak=best / seconds if op.flops and seconds else None,
    )
