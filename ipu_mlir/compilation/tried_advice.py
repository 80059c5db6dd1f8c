"""What a program that does not fit is advised, compiled before it is told."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ipu_mlir.compilation.entry import entries_alone
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.memory.advice import Advice
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import IpuError, Settings
from ipu_mlir.passes.supersteps.checks.check_memory import OutOfMemoryError

if TYPE_CHECKING:
    from ipu_mlir.compilation.lowering import Lowering

_SECONDS = 10.0
"""So long after the first try no other one begins: whoever waits for the reason has waited for a program already."""


def with_tried_advice(
    error: OutOfMemoryError, module: ir.Module, entries: Sequence[str], lowering: "Lowering"
) -> OutOfMemoryError:
    """``error``, with only such settings as ``module`` fits with; what cannot be tried stays, and is said to be that.

    Of settings that may be stronger or weaker the weakest is told that fits.
    """
    if lowering.own_pipeline:
        return error
    target, end = lowering.target or module_target(module.operation), time.monotonic() + _SECONDS

    def fits(settings: Settings) -> bool | None:
        if time.monotonic() > end:
            return None
        try:
            lowering.with_settings(settings, target).run(entries_alone(module.operation, entries).operation)
        except IpuError:
            return False
        return True

    problems = (
        replace(each, advice=tuple(tried(each.advice, fits)), tried=True)
        if any(a.choices for a in each.advice)
        else each
        for each in error.problems
    )
    return OutOfMemoryError(error.entry, error.report, tuple(problems), error.module_text)


def tried(advice: Sequence[Advice], fits: Callable[[Settings], bool | None]) -> Iterator[Advice]:
    """For what has choices the first that ``fits``, or nothing; all else as it is, and what nobody knows (None)."""
    for each in advice:
        known: bool | None = None
        for choice in each.choices:
            known = fits(choice.settings)
            if known:
                yield replace(choice, compiled=True)
            if known is not False:
                break
        if known is None:
            yield each
