"""Advice on moving data: exchanges, synchronisation, links between IPUs, the host."""

from collections.abc import Callable, Iterator

from ipu_mlir.dialects.support.counted import counted
from ipu_mlir.runtime.profile.execution import ExecutedStep
from ipu_mlir.runtime.profile.model import SourceOp
from ipu_mlir.tools.report.advice.entry import Advice, Numbers
from ipu_mlir.tools.report.advice.wastes import Waste, groups
from ipu_mlir.tools.report.units import bytes_text, large_text, percent

_MUCH = 0.1
"""Share of all cycles from which synchronisation, links or the host deserve advice."""
_UNEVEN_IPUS = 0.7
_ROOMY = 0.4
"""Share of the fullest tile's memory under which larger parts would fit."""


def exchange_bound_ops(numbers: Numbers) -> Iterator[Advice]:
    """Ops that wait longer for their operands than they compute."""
    memory = numbers.profile.compilation.memory
    action = (
        "Let operands lie where they are read: give producer and consumer the same parts (a hint ipu.place or "
        "ipu.parts), or compute both in one op."
    )
    if memory.worst_bytes < _ROOMY * memory.limit:
        action += " Tiles have room: a higher availableMemoryProportion allows larger parts, which fetch less."
    bound = [op for op in numbers.profile.ops if op.exchange_cycles > op.compute_cycles]
    wastes = [Waste(op.id, _busiest_exchange(numbers, op), op.exchange_cycles - op.compute_cycles) for op in bound]
    for group in groups(numbers, wastes):
        assert group.worst.op is not None, "these are wastes of ops"
        op = numbers.ops[group.worst.op]
        yield Advice(
            "exchange",
            f"Move less for {group.title(numbers)}",
            f"{'Its' if group.ops == 1 else 'There,'} exchanges take {large_text(op.exchange_cycles, 'cycles')}, "
            f"{'its' if group.ops == 1 else 'and'} compute {large_text(op.compute_cycles, 'cycles')}"
            f"{_received_text(numbers, group.worst.step)}.",
            action,
            gain_cycles=group.cycles,
            step=group.worst.step,
        )


def _busiest_exchange(numbers: Numbers, op: SourceOp) -> int | None:
    """The exchange of the op that brings the most bytes to one tile."""
    exchanges = [step for step in op.steps if step in numbers.executed and numbers.executed[step].exchange]
    return max(exchanges, key=lambda step: _received(numbers.executed[step]), default=None)


def _received(step: ExecutedStep) -> float:
    return step.count * step.bytes_received_worst


def _received_text(numbers: Numbers, step: int | None) -> str:
    if step is None:
        return ""
    received = numbers.executed[step].bytes_received_worst
    return f"; one tile receives {bytes_text(received)} in '{numbers.steps[step].name}'"


def many_small_steps(numbers: Numbers) -> Iterator[Advice]:
    """Steps that take longer to start than to run."""
    small = [
        step
        for step in numbers.executed.values()
        if step.sync > step.compute + step.exchange + step.inter_ipu + step.host and step.count
    ]
    if not small or numbers.share(numbers.cycles.sync) < _MUCH:
        return
    executions = sum(step.count for step in small)
    yield Advice(
        "sync",
        "Merge small steps",
        f"{counted(executions, 'execution')} of {counted(len(small), 'step')} synchronise for longer than they compute "
        f"or exchange; synchronisation takes {percent(numbers.share(numbers.cycles.sync))} of all cycles.",
        "Fuse element-wise ops, handle several iterations of a loop at once (a larger batch), and keep values in one "
        "mapping over a chain of ops, so that no exchange comes between.",
        gain_cycles=sum(step.count * step.sync for step in small),
        step=max(small, key=lambda step: step.count * step.sync).step,
    )


def slow_host(numbers: Numbers) -> Iterator[Advice]:
    """Transfers from and to the host that the tiles wait for."""
    host = numbers.cycles.host
    if numbers.share(host) < _MUCH:
        return
    steps = list(numbers.executed.values())
    at_ends = sum(step.count * step.host for step in steps[-2:])
    overlaps = any(step.io for step in steps)
    actions = []
    if at_ends:
        actions.append("Keep what stays the same from run to run in variables on the device, and let one run do more.")
    if host > at_ends and not overlaps:
        actions.append("Give some tiles to I/O, so that they fetch the next batch while the others compute.")
    if host > at_ends and overlaps:
        actions.append("I/O tiles fetch beside the others already: let a batch do more work on the device.")
    yield Advice(
        "host",
        "Wait less for the host",
        f"Copies from and to the host take {percent(numbers.share(host))} of all cycles"
        + (f", those of arguments and results {percent(numbers.share(at_ends))}." if at_ends else "."),
        " ".join([*actions, "Send narrower types."]),
        gain_cycles=min(host, at_ends + max(0, numbers.cycles.total - host)),
        step=_most(numbers, lambda step: step.host),
    )


def slow_links(numbers: Numbers) -> Iterator[Advice]:
    """Copies between IPUs."""
    if numbers.share(numbers.cycles.inter_ipu) < _MUCH:
        return
    yield Advice(
        "inter_ipu",
        "Move less between IPUs",
        f"Copies over the links take {percent(numbers.share(numbers.cycles.inter_ipu))} of all cycles.",
        "Cut the program where the fewest bytes cross, reduce gradients less often (accumulate more), or send f16.",
        gain_cycles=numbers.cycles.inter_ipu,
        step=_most(numbers, lambda step: step.inter_ipu),
    )


def waiting_ipus(numbers: Numbers) -> Iterator[Advice]:
    """IPUs that compute much less than the busiest."""
    busy = [0.0] * numbers.profile.target.ipus
    for step in numbers.executed.values():
        for ipu, (compute, *_) in enumerate((step.per_ipu or ())[: len(busy)]):
            busy[ipu] += step.count * compute
    most, mean = max(busy), sum(busy) / len(busy)
    if len(busy) == 1 or mean >= _UNEVEN_IPUS * most:
        return
    yield Advice(
        "compute",
        "Share the work evenly among the IPUs",
        f"IPU {busy.index(most)} computes for {large_text(most, 'cycles')}, IPU {busy.index(min(busy))} for "
        f"{large_text(min(busy), 'cycles')}.",
        "Move ops from the busiest stage to its neighbours, or replicate the program instead of cutting it.",
        gain_cycles=most - mean,
    )


def _most(numbers: Numbers, cycles: Callable[[ExecutedStep], int]) -> int | None:
    """The step whose executions take the most of ``cycles``."""
    steps = numbers.executed.values()
    return max(steps, key=lambda step: step.count * cycles(step)).step if steps else None
