"""What each setting of a sweep gives."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from ipu_mlir.compilation.variants import Variants
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.inspect.outcomes import Outcome, outcome_of, with_frontier
from ipu_mlir.passes.normalize.widen_sums import WidenSums
from ipu_mlir.passes.placement.partition.partition import Partition
from ipu_mlir.tools.sweep.settings import Setting


def measure(
    variants: Variants, target: Target, settings: Sequence[Setting], progress: Callable[[int, Setting], None]
) -> list[Outcome[Setting]]:
    """The outcome of each setting; ``progress`` is told before each of them.

    Raises:
        CompileError: a pass refuses the program; says with which setting.
    """
    found = []
    for number, setting in enumerate(settings):
        progress(number, setting)
        partition = Partition(
            available_memory_proportion=setting.proportion,
            most_partials=setting.most_partials,
        )
        sums = WidenSums(partials=setting.partials_type)
        try:
            profile = variants.profile(replace(target, tiles_per_ipu=setting.tiles, emulated=True), partition, sums)
        except CompileError as error:
            raise CompileError(f"with {setting}: {error}") from error
        found.append(outcome_of(setting, profile))
    return with_frontier(found)
