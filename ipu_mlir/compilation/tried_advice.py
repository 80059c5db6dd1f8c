"""What a program that does not fit is advised, compiled before it is told."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ipu_mlir.compilation.entry import entries_alone
from ipu_mlir.compilation.lowering import Lowering
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.memory.advice import Advice
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import IpuError, Settings
from ipu_mlir.passes.supersteps.checks.check_memory import OutOfMemoryError


def with_tried_advice(
    error: OutOfMemoryError, module: ir.Module, entries: Sequence[str], lowering: Lowering
) -> OutOfMemoryError:
    """``error``, with only such settings as ``module`` fits with; what cannot be tried stays, and is said to be that.

    Of settings that may be stronger or weaker the weakest is told that fits.
    """
    if lowering.own_pipeline:
        return error
    target = lowering.target or module_target(module.operation)

    def fits(settings: Settings) -> bool:
        trial = lowering.with_settings(settings, target)
        try:
            trial.run(entries_alone(module.operation, entries).operation)
        except IpuError:
            return False
        return True

    problems = tuple(replace(each, advice=tuple(tried(each.advice, fits)), tried=True) for each in error.problems)
    return OutOfMemoryError(error.entry, error.report, problems, error.module_text)


def tried(advice: Sequence[Advice], fits: Callable[[Settings], bool]) -> Iterator[Advice]:
    """For what has choices the first that ``fits``, or nothing; all else as it is."""
    for each in advice:
        found = next((choice for choice in each.choices if fits(choice.settings)), None)
        if found is not None:
            yield replace(found, compiled=True)
        elif not each.choices:
            yield each
