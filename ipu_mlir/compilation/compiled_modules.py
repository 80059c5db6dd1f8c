"""Modules that nobody else changes, as executables."""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from ipu_mlir.compilation.dynamic_shapes import DynamicExecutable
from ipu_mlir.compilation.entry import entry_name, entry_of
from ipu_mlir.compilation.executable import Executable
from ipu_mlir.compilation.lowering import Lowering, level_of, lower_together
from ipu_mlir.compilation.programs import Programs, put_together
from ipu_mlir.dialects.analysis.queues import queues_in
from ipu_mlir.dialects.analysis.variables import variables_in
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.dialects.support.remembered import remembering
from ipu_mlir.frontends.stablehlo import import_stablehlo
from ipu_mlir.frontends.table import Call
from ipu_mlir.passes.importing.dynamic_types import dynamic_sizes

if TYPE_CHECKING:
    from ipu_mlir.programs.trace_all import Declared


def compile_together(
    module: ir.Module,
    entries: Sequence[str],
    lowering: Lowering,
    calls: Mapping[str, Call] | None = None,
    declared: "Mapping[str, Declared] | None" = None,
) -> Programs:
    """Several functions of a module, lowered at once: their variables lie in one place.

    Args:
        calls: for traced functions how their arguments and results are nested.
        declared: the variables and queues that Python made.
    """
    for entry in entries:
        _refuse_unknown_sizes(module, entry)
    import_stablehlo(module.operation)
    lowering = lowering.beginning_at(level_of(entry_of(module, entries[0])))
    with remembering():
        lower = cache(partial(lower_together, module, entries, lowering))
        programs = {
            name: Executable(module, name, lowering, (calls or {}).get(name), declared, entries, lower)
            for name in entries
        }
    return put_together(programs, declared or {})


def _refuse_unknown_sizes(module: ir.Module, entry: str) -> None:
    kinds = entry_of(module, entry).attributes["function_type"].value.inputs
    if any(dynamic_sizes(each) for each in kinds):
        raise CompileError(
            f"@{entry} has arguments of unknown sizes; programs with variables or queues have fixed ones"
        )


def compile_module(
    module: ir.Module,
    entry: str | None,
    lowering: Lowering,
    call: Call | None = None,
    declared: "Mapping[str, Declared] | None" = None,
    source_key: str | None = None,
) -> Executable | DynamicExecutable:
    """The executable of a module that nobody else changes.

    Args:
        call: for a traced function, or one of another framework, how its arguments and results are nested.
        declared: the variables and queues that Python made.
        source_key: what it is kept as on disk for whoever has its source.
    """
    entry = entry_name(module, entry)
    function = entry_of(module, entry)
    if any(dynamic_sizes(each) for each in function.attributes["function_type"].value.inputs):
        if variables_in(module.operation) or queues_in(module.operation):
            _refuse_unknown_sizes(module, entry)
        return DynamicExecutable(module, entry, lowering, call)
    import_stablehlo(module.operation)
    function = entry_of(module, entry)
    with remembering():
        return Executable(
            module, entry, lowering.beginning_at(level_of(function)), call, declared, source_key=source_key
        )
