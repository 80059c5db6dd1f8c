"""``ipu-check-memory``: whether the program fits into the memory of every tile."""

from dataclasses import replace
from typing import Any

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.analysis.matchers import symbol_of
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.memory.bound import memory_bound
from ipu_mlir.dialects.memory.problems import Problem, memory_problems, remote_problems
from ipu_mlir.dialects.memory.report import MemoryReport, memory_report
from ipu_mlir.dialects.memory.resident import entries_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.diagnostics import diagnostic_at
from ipu_mlir.dialects.support.errors import warn_of_memory
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.dialects.support.printing import to_text
from ipu_mlir.passes.core.base import Pass, PassFailed

_OF_THE_IR = ("report", "problems", "_module")


class OutOfMemoryError(PassFailed):
    """The program needs more memory than the tiles of its target have.

    Attributes:
        entry: the function that does not fit.
        report: what it needs of every tile.
        problems: what is too much, where and when.
        module_text: the supersteps, with the places that they come from: what a profile can be made of.
    """

    def __init__(self, entry: str, report: MemoryReport, problems: tuple[Problem, ...], module_text: str) -> None:
        settings = tuple(settings for each in problems for settings in each.settings)
        super().__init__([diagnostic_at(each.op.location, diagnostic_text(each)) for each in problems], settings)
        self.entry = entry
        self.report = report
        self.problems = problems
        self.module_text = module_text
        self._advice = tuple((each.advice, each.tried) for each in problems)

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave behind what is made of the IR; it is made again of its text where somebody asks for it."""
        remake, (kind, args, attributes) = super().__reduce__()
        return remake, (kind, args, {name: each for name, each in attributes.items() if name not in _OF_THE_IR})

    def __getattr__(self, name: str) -> Any:
        if name not in _OF_THE_IR:
            raise AttributeError(name)
        self._module = parse_module(self.module_text, ipu.context())
        with self._module.context, ir.Location.unknown():
            self.report = memory_report(self._module.operation, self.entry)
            problems = zip(memory_problems(self.report), self._advice, strict=True)
            self.problems = tuple(replace(each, advice=advice, tried=tried) for each, (advice, tried) in problems)
        return getattr(self, name)


def diagnostic_text(problem: Problem) -> str:
    """The problem as MLIR's verifiers would say it."""
    return f"'{problem.op.name}' op {problem.message}"


class CheckMemory(Pass):
    """Refuse a program that does not fit into the memory of every tile, or its remote buffers into streaming memory.

    Buffers while they live, code, state and gaps count (``dialects/memory``). For a target that is ``emulated`` it is a
    warning of the class ``MemoryWarning``, and compilation goes on.

    Needs:  supersteps (``ipu-form-supersteps``) that hold together (``ipu-check-supersteps``).
    Leaves: the module as it was.
    """

    name = "ipu-check-memory"
    keeps_analyses = True

    def run(self, module: ir.Operation) -> None:
        with module.context, ir.Location.unknown():
            for function in entries_of(module):
                _check(module, symbol_of(function))


def _check(module: ir.Operation, entry: str) -> None:
    target = module_target(module)
    if memory_bound(module, entry) <= target.bytes_per_tile and not remote_problems(module, target):
        return
    report = memory_report(module, entry)
    problems = memory_problems(report)
    if not problems:
        return
    if report.target.emulated:
        for each in problems:
            place = diagnostic_at(each.op.location, diagnostic_text(each), severity="warning")
            warn_of_memory(str(place), each.settings)
        return
    error = OutOfMemoryError(entry, report, problems, to_text(module, locations=True))
    for each in problems:
        each.op.location.emit_error(diagnostic_text(each))
    raise error
