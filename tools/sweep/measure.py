"""What each setting of a sweep gives."""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial

from ipu_mlir.compilation.processes import in_processes, processes_for
from ipu_mlir.compilation.variants import Variants
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.errors import CompileError, IpuError
from ipu_mlir.inspect.outcomes import Outcome, outcome_of, with_frontier
from ipu_mlir.passes.normalize.widen_sums import WidenSums
from ipu_mlir.passes.placement.partition.partition import Partition
from ipu_mlir.tools.sweep.settings import Setting

Refused = tuple[Setting, str]
"""A setting with which a pass refuses the program, and why."""


def measure(
    variants: Variants,
    targets: Mapping[Setting, Target],
    progress: Callable[[int, Setting], None],
    processes: int | None = None,
) -> tuple[list[Outcome[Setting]], list[Refused]]:
    """The outcomes of the settings, and those that are refused; ``progress`` is told how many are done, and the last.

    Args:
        targets: the machine of each setting.
        processes: how many settings are compiled at the same time; by default as many as there are processors.

    Raises:
        CompileError: a pass refuses the program with every setting; says why with the first.
    """
    variants.source.context.enable_multithreading(False)  # copies of this process have no threads of it
    settings, machines = list(targets), list(targets.values())
    sums = [WidenSums(partials=each.partials_type) for each in settings]
    processes = processes_for(len(settings), processes)
    for common, count in Counter(zip(machines, sums, strict=True)).items():
        if count > 1 and processes > 1:
            variants.begin(*common)
    tasks = [partial(_outcome, variants, *each) for each in zip(settings, machines, sums, strict=True)]
    found, refused = dict[int, Outcome[Setting]](), dict[int, IpuError]()
    for number, result in in_processes(tasks, processes):
        if isinstance(result, IpuError):
            refused[number] = result
        else:
            found[number] = result
        progress(len(found) + len(refused), settings[number])
    if refused and not found:
        raise CompileError(f"with {settings[0]}: {refused[0]}") from refused[0]
    outcomes = with_frontier(found[number] for number in sorted(found))
    return outcomes, [(settings[number], str(refused[number])) for number in sorted(refused)]


def _outcome(variants: Variants, setting: Setting, target: Target, sums: WidenSums) -> Outcome[Setting]:
    partition = Partition(
        available_memory_proportion=setting.proportion,
        most_partials=setting.most_partials,
    )
    return outcome_of(setting, variants.profile(target, partition, sums))
