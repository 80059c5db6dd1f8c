"""The profile of a superstep program: static costs of its steps, times how often they run."""

import posixpath
from collections.abc import Sequence as Many
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from ipu_mlir.dialects.analysis.buffers import memory_mapping
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.memory.report import memory_report
from ipu_mlir.dialects.support.bindings import ADVANCE, SKIP_INSIDE, ir
from ipu_mlir.dialects.support.diagnostics import DiagnosedError, diagnostic_at, source_place
from ipu_mlir.runtime.engine.state import State
from ipu_mlir.runtime.profile import compilation, model
from ipu_mlir.runtime.profile.counting import block_counts, count_entries
from ipu_mlir.runtime.profile.memory_part import memory_part, problems, variables
from ipu_mlir.runtime.profile.profile import Profile
from ipu_mlir.runtime.profile.program_part import program_part
from ipu_mlir.runtime.profile.source_lines import lines_of
from ipu_mlir.runtime.profile.source_ops import SourceOps, op_names
from ipu_mlir.runtime.profile.steps_part import StepsPart
from ipu_mlir.runtime.profile.target_facts import target_facts


def profile_of(
    module: ir.Module | ir.Operation | ir.OpView,
    entry: str = "main",
    inputs: Many[np.ndarray] | None = None,
    source: ir.Operation | None = None,
    state: State | None = None,
    entered: dict[int, int] | None = None,
) -> Profile:
    """The profile of the function ``entry`` of a module of supersteps.

    Args:
        inputs: with them the program runs once, to count how often its loops and branches run.
        source: the program as it came in, which says what its ops are called.
        state: variables that this run starts with, and changes.
        entered: how often a run that counted has entered each open block; the program does not run again then.

    Raises:
        CompileError: the module is not at the level of supersteps, or the program has no tree (``program_tree``).
        RunError: the inputs do not fit it.
    """
    operation: ir.Operation = module.operation
    _require_supersteps(operation)
    target = module_target(operation)
    report = memory_report(operation, entry)
    if entered is None and inputs is not None:
        entered = count_entries(operation, entry, inputs, state)
    counts = block_counts(report.tree, entered)
    parts = StepsPart(report, counts, SourceOps(op_names(source) if source else {}))
    execution = parts.execution()
    facts = target_facts(target)
    in_memory, tile_bytes = variables(report)
    file = _file_of(source or operation)
    return Profile(
        schema=model.SCHEMA,
        version=model.VERSION,
        producer=model.Producer("ipu-mlir", _own_version()),
        program=model.Program(entry, file and posixpath.basename(file), lines_of(report.tree, file)),
        target=facts,
        compilation=compilation.Compilation(
            fits=not (found := problems(report)),
            problems=found,
            memory=memory_part(report),
            variables=in_memory,
            tile_bytes=tile_bytes,
            steps=tuple(parts.steps),
            program_tree=program_part(report.tree, counts, [step.name for step in parts.steps]),
            compute_sets=tuple(parts.compute_sets),
        ),
        execution=execution,
        ops=parts.ops.finished(execution.cycles.total, target.clock_hz, facts.peak_flops),
    )


def _require_supersteps(module: ir.Operation) -> None:
    """Refuse a module with buffers that lie on no tile, or with tensors: nobody can say what it takes."""
    homeless: list[tuple[ir.Operation, ir.Type]] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        arguments = [value for region in op.regions for block in region.blocks for value in block.arguments]
        homeless.extend((op, value.type) for value in (*op.results, *arguments) if _lies_nowhere(value.type))
        return SKIP_INSIDE if op.name == "ipu.compute_set" else ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    if homeless:
        op, kind = homeless[0]
        message = (
            f"a profile is made of supersteps, but {kind} of '{op.name}' lies on no tile; lower the program with "
            "ipu-compile, or end a pipeline of your own with ipu-lower"
        )
        raise DiagnosedError([diagnostic_at(op.location, message)])


def _lies_nowhere(kind: ir.Type) -> bool:
    if isinstance(kind, ir.MemRefType):
        return memory_mapping(kind) is None
    return isinstance(kind, ir.ShapedType) and not isinstance(kind, ir.VectorType)


def _file_of(module: ir.Operation) -> str | None:
    """The file that a module comes from; None if it comes from none."""
    file = source_place(module.location)[0]
    return None if not file or posixpath.basename(file).startswith("<") else file


def _own_version() -> str:
    try:
        return version("ipu-mlir")
    except PackageNotFoundError:  # runs from a folder that nobody installed
        return "unknown"
