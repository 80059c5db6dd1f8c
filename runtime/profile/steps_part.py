"""The steps of a program as the profile has them: what each takes, how often it runs, and all of it together."""

from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from ipu_mlir.dialects.analysis.host_calls import host_call_of
from ipu_mlir.dialects.analysis.locations import place_of
from ipu_mlir.dialects.analysis.matchers import terminator
from ipu_mlir.dialects.analysis.program.tree import Step, sequences, steps
from ipu_mlir.dialects.analysis.variables import variable_arguments
from ipu_mlir.dialects.costs.exchange import all_sync_cycles, host_read_cycles, host_write_cycles
from ipu_mlir.dialects.machine.machine import ends_of_assumptions, machine_of
from ipu_mlir.dialects.machine.selection import physical_ipus
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.memory.peaks import StepMemory
from ipu_mlir.dialects.memory.report import MemoryReport
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.profile import compilation, execution
from ipu_mlir.runtime.profile.clocks import Clocks
from ipu_mlir.runtime.profile.counting import BlockCounts
from ipu_mlir.runtime.profile.overlap import program_stretch, then
from ipu_mlir.runtime.profile.program_part import exchange_name
from ipu_mlir.runtime.profile.source_ops import SourceOps
from ipu_mlir.runtime.profile.step_costs import StepCost, StepCosts, bytes_per_ipu
from ipu_mlir.runtime.profile.target_facts import PEAK_TYPES, target_facts
from ipu_mlir.runtime.profile.tile_lists import TileLists

_KINDS = ("compute", "exchange", "inter_ipu", "sync", "host")


class StepsPart:
    """Goes through the steps of a program once and adds up what they take."""

    def __init__(self, report: MemoryReport, counts: BlockCounts, ops: SourceOps) -> None:
        self._target = report.target
        self._counts = counts
        self._report = report
        self.ops = ops
        self.steps: list[compilation.Step] = []
        self.compute_sets: list[compilation.ComputeSet] = []
        self._executed: list[execution.ExecutedStep] = []
        self._busy = 0
        """Cycles of compute of all tiles together."""
        self._flops = dict.fromkeys(PEAK_TYPES, 0)
        self._contracts: set[str] = set()
        program = steps(report.tree)
        ipus = report.ipus_in_use
        costs = StepCosts(report.target, program, ipus)
        at_ends = [StepCosts(target, program, ipus) for target in ends_of_assumptions(report.target)]
        self._at_ends: tuple[list[StepCost], list[StepCost]] = ([], [])
        """The costs of the steps if every assumed figure is the best, or the worst, of its range."""
        runs = {
            child.number: counts.of.get(block.number, 0)
            for block in sequences(report.tree)
            for child in block.children
            if isinstance(child, Step)
        }
        self._costs: list[StepCost] = []
        self._tiles = TileLists(report.target)
        for step in program:
            cost = costs.of(step)
            self._add(step, cost, runs[step.number])
            for found, other in zip(self._at_ends, at_ends, strict=True):
                found.append(other.with_cost_of_chip(step, cost))
        for of, name in ((_arguments_in, "arguments from the host"), (_results_out, "results to the host")):
            self._live_step(len(self.steps), "host_exchange", name, None, None)
            self._execute(of(report.tree.block, report.target, ipus), 1)
            for found, target in zip(self._at_ends, ends_of_assumptions(report.target), strict=True):
                found.append(of(report.tree.block, target, ipus))

    def _add(self, step: Step, cost: StepCost, count: int) -> None:
        number = step.number
        op, name = None, "read a scalar for control flow"
        if cost.families:
            owners = self.ops.add_families(number, cost, count)
            slowest = int(np.argmax([family.on_slowest for family in cost.families]))
            op, name = owners[slowest], ", ".join(dict.fromkeys(family.codelet for family in cost.families))
            self._compute_set(number, cost, owners, count)
        elif step.kind == "exchange":
            op, name = self.ops.add_exchange(number, step.op, cost, count), exchange_name(step.op)
        elif step.kind == "host_exchange":
            name = f"{step.op.name.removeprefix('ipu.')} {_called(step.op)}"
        elif step.kind == "collective":
            name = f"{ir.StringAttr(step.op.attributes['kind']).value} of replicas"
        kind: compilation.StepKind = "exchange" if step.kind == "collective" else step.kind
        if cost.families:
            kind = "compute"
        self._live_step(number, kind, name, place_of(step.op.location) or None, op)
        self._execute(cost, count)

    def _live_step(
        self, number: int, kind: compilation.StepKind, name: str, location: str | None, op: int | None
    ) -> None:
        """Take note of a step and of what lives then: only what always does, where the step never runs."""
        always = self._report.always_live
        nothing = StepMemory(always.worst_tile(), always.largest(), always.total())
        live = self._report.steps.get(number, nothing)
        self.steps.append(
            compilation.Step(
                id=number,
                kind=kind,
                name=name,
                location=location,
                op=op,
                live_bytes_worst=live.live_bytes_worst,
                live_bytes_total=live.live_bytes_total,
                worst_tile=live.worst_tile,
            )
        )

    def _compute_set(self, step: int, cost: StepCost, owners: tuple[int, ...], count: int) -> None:
        families = []
        for family, owner in zip(cost.families, owners, strict=True):
            vertex = family.vertex
            total, vertices = int(vertex.cycles.sum()), len(vertex.tiles)
            families.append(
                compilation.Family(
                    codelet=family.codelet,
                    op=owner,
                    vertices=vertices,
                    tiles=vertices,
                    cycles_max=int(vertex.cycles.max(initial=0)),
                    cycles_mean=total / vertices if vertices else 0.0,
                    cycles_total=total,
                    flops=vertex.flops,
                    code_bytes=vertex.code_bytes,
                    state_bytes=vertex.state_bytes,
                    scratch_bytes=vertex.scratch_bytes,
                )
            )
            self._busy += count * total
            self._flops[family.peak_type] += count * vertex.flops
            if family.is_contraction:
                self._contracts.add(family.peak_type)
        self.compute_sets.append(
            compilation.ComputeSet(
                id=len(self.compute_sets),
                step=step,
                vertices=sum(each.vertices for each in families),
                tiles=len(np.unique(np.concatenate([each.vertex.tiles for each in cost.families]))),
                families=tuple(families),
            )
        )

    def _execute(self, cost: StepCost, count: int) -> None:
        self._executed.append(
            execution.ExecutedStep(
                step=len(self._executed),
                count=count,
                balance=cost.balance,
                active_tiles=cost.active_tiles,
                bytes_sent=cost.bytes_sent,
                bytes_received=cost.bytes_received,
                bytes_received_worst=cost.bytes_received_worst,
                io=cost.io,
                io_ipus=cost.io_ipus if cost.io and self._target.ipus > 1 else None,
                busy=self._tiles.busy(cost),
                traffic=None,
                **self._cycles_of(cost),
            )
        )
        self._costs.append(cost)

    def _cycles_of(self, cost: StepCost) -> dict[str, Any]:
        """The fields of an executed step that cycles are in."""
        return {
            **{kind: getattr(cost, kind) for kind in _KINDS},
            "per_ipu": None if self._target.ipus == 1 else self._per_ipu(cost),
        }

    def _per_ipu(self, cost: StepCost) -> tuple[tuple[int, ...], ...]:
        found = cost.times(self._target.ipus)
        columns = (found.compute, found.exchange, found.inter_ipu)
        return tuple(zip(*(each.tolist() for each in columns), strict=True))

    def _total(self, executed: list[execution.ExecutedStep]) -> int:
        """Cycles from begin to end."""
        if self._target.ipus == 1 and not self._target.io_tiles:
            return sum(step.count * step.cycles for step in executed)
        clocks = Clocks.of(self._target.ipus, executed)
        stretches = [clocks.stretch(each, step.kind) for each, step in zip(executed, self.steps, strict=True)]
        program = program_stretch(self._report.tree, stretches[:-2], self._counts)
        return round(reduce(then, (stretches[-2], program, stretches[-1])).cycles)

    def _ipus(self, total: int) -> tuple[execution.IpuCycles, ...]:
        found, times = [], [each.times(self._target.ipus) for each in self._costs]
        for shard, ipu in enumerate(physical_ipus(self._target)):
            own = {
                kind: sum(
                    step.count * int(getattr(each, kind)[shard])
                    for step, each in zip(self._executed, times, strict=True)
                    if step.io != "alone"
                )
                for kind in _KINDS
            }
            found.append(execution.IpuCycles(ipu=ipu, waiting=total - sum(own.values()), **own))
        return tuple(found)

    def execution(self) -> execution.Execution:
        """All of it together."""
        sums = {kind: sum(step.count * getattr(step, kind) for step in self._executed) for kind in _KINDS}
        one_by_one = sum(sums.values())
        total = self._total(self._executed)
        least, most = (
            self._total(
                [replace(each, **self._cycles_of(cost)) for each, cost in zip(self._executed, costs, strict=True)]
            )
            for costs in self._at_ends
        )
        cycles = execution.Cycles(total=total, **sums, overlapped=one_by_one - total, least=least, most=most)
        indices, traffic = self._tiles.traffic(self._costs, [step.count for step in self._executed])
        steps = zip(self._executed, indices, strict=True)
        seconds = cycles.total / self._target.clock_hz
        flops = sum(self._flops.values())
        peak = target_facts(self._target).peak_flops
        share = {
            kind: done / seconds / getattr(peak, kind) if kind in self._contracts and seconds else None
            for kind, done in self._flops.items()
        }
        return execution.Execution(
            measured=self._counts.measured,
            unknown_counts=tuple(place_of(op.location) or op.name for op in self._counts.unknown),
            cycles=cycles,
            seconds=seconds,
            flops=flops,
            bytes_exchanged=sum(step.count * step.bytes_received for step in self._executed),
            flops_per_second=flops / seconds if seconds else 0.0,
            share_of_peak=execution.ShareOfPeak(**share),
            tile_balance=self._busy / self._target.num_tiles / cycles.compute if cycles.compute else 0.0,
            ipus=self._ipus(total),
            steps=tuple(replace(step, traffic=index) for step, index in steps),
            tile_cycles=self._tiles.cycles,
            group_tiles=self._tiles.group_tiles,
            traffic=traffic,
        )


def _arguments_in(block: ir.Block, target: Target, ipus: int) -> StepCost:
    """All arguments of the program but its variables, from the host to the IPUs."""
    variables = variable_arguments(block.owner.operation)
    held = bytes_per_ipu([each.type for each in block.arguments if each.arg_number not in variables], target)
    return _host_step(host_write_cycles(held, target.replicas, machine_of(target)), held, target, ipus)


def _results_out(block: ir.Block, target: Target, ipus: int) -> StepCost:
    """All results of the program, from the IPUs to the host."""
    held = bytes_per_ipu([value.type for value in terminator(block).operands], target)
    return _host_step(host_read_cycles(held, target.replicas, machine_of(target)), held, target, ipus)


def _host_step(cycles: int, held: IntArray, target: Target, ipus: int) -> StepCost:
    """A step of the host, with the sync in which ``ipus`` and the host meet; none where nothing is passed."""
    sync = all_sync_cycles(ipus, machine_of(target)) if held.any() else 0
    return StepCost(np.zeros(target.num_tiles, dtype=np.int64), host=cycles, sync=sync)


def _called(op: ir.Operation) -> str:
    """The queue, the buffer or the label that an op of the host is about."""
    call = host_call_of(op)
    assert call is not None, "a step of the host has a call of it"
    is_named = isinstance(op.attributes[call.symbol], ir.FlatSymbolRefAttr)
    return f"of @{call.symbol_of(op)}" if is_named else call.symbol_of(op)
