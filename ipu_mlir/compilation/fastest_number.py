"""Programs that may take as many of several IPUs as are best: several numbers are compiled, and the fastest taken."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from ipu_mlir.dialects.analysis.loop_nest import is_structured
from ipu_mlir.dialects.analysis.matchers import symbol_of
from ipu_mlir.dialects.attributes.attributes import TARGET, target_to_attr
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import IpuError
from ipu_mlir.passes.core.manager import PassTime, run_steps
from ipu_mlir.passes.core.pipeline_steps import Step, replace_pass, step_of
from ipu_mlir.passes.placement.partition.choice_of_ipus import Tried, best_of, estimates
from ipu_mlir.passes.placement.partition.partition import Partition
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.runtime.profile.build_profile import profile_of

_MOST_OPS = 100  # of a program that is compiled several times: for others estimates say how many IPUs are best
_DOUBT = 1.05  # estimates leave out starts and syncs; so much above the best total nothing better is expected


class Fastest(NamedTuple):
    """A program, compiled for as many IPUs as are best.

    Attributes:
        module: its supersteps.
        partition: the pass that cut it, told how many IPUs it takes; all others are idle.
        times: what each pass took, of those that led to it.
    """

    module: ir.Operation
    partition: Partition
    times: list[PassTime]


def with_fastest_number(
    target: Target, begun: Callable[[Target], ir.Operation], rest: Sequence[Step], verify: Sequence[str]
) -> Fastest | None:
    """A program on the number of IPUs of ``target`` that takes the fewest cycles by its profile, without the host's.

    None where that is not up to the compiler, where the program is large, or where it compiles on no number of IPUs;
    then ``ipu-partition`` has to choose by estimates, or to refuse it. A program that leaves IPUs idle is the one for
    a machine that does not have them, so that more IPUs never make it slower.

    Args:
        begun: a copy of the program that has come to ``ipu-partition``, for a machine.
        rest: the steps from that pass to supersteps.
    """
    partition = step_of(rest[0], Partition)
    assert partition is not None, "the rest begins with the pass that chooses the number"
    if target.ipus == 1 or partition.ipus is not None:
        return None
    module = begun(target)
    entry = _only_entry(module)
    ops = sum(map(is_structured, list_ops(module)))
    if entry is None or ops > _MOST_OPS or not partition.chooses_ipus(module):
        return None

    def estimated(count: int, limit: int | None) -> tuple[bool, int]:
        return partition.estimated(begun(replace(target, ipus=count)), count, limit)

    guessed = estimates(module, target, estimated)
    totals: Tried = {}
    compiled: dict[int, Fastest] = {}
    for count in sorted(guessed, key=guessed.__getitem__):
        best = min((cycles for refused, cycles in totals.values() if not refused), default=None)
        if best is not None and guessed[count][1] > _DOUBT * best:
            continue
        copy = begun(replace(target, ipus=count))
        told = replace(partition, ipus=count)
        try:
            times = run_steps(copy, replace_pass(rest, told), verify=verify)
            profile = profile_of(copy, entry)
        except IpuError:
            continue
        compiled[count] = Fastest(copy, told, times)
        totals[count] = not profile.compilation.fits, profile.total_cycles - profile.execution.cycles.host
    best_number = best_of(totals)
    if best_number is None:
        return None
    set_target(compiled[best_number].module, target)
    return compiled[best_number]


def set_target(module: ir.Operation, target: Target) -> None:
    """Name the machine that ``module`` is for."""
    with module.context, ir.Location.unknown():
        module.attributes[TARGET] = target_to_attr(target)


def take_contents(module: ir.Operation, other: ir.Operation) -> None:
    """Put what ``other``, another module, has into ``module``, in place of what that has."""
    block = module.regions[0].blocks[0]
    for op in list(block.operations):
        op.operation.erase()
    for op in list(other.regions[0].blocks[0].operations):
        block.append(op.operation)
    for name in other.attributes:
        module.attributes[name] = other.attributes[name]


def _only_entry(module: ir.Operation) -> str | None:
    """The only function that can be called from outside; None if there are several."""
    names = [
        symbol_of(op)
        for op in list_ops(module, "func.func")
        if len(op.regions[0].blocks) and "sym_visibility" not in op.attributes
    ]
    return names[0] if len(names) == 1 else None
