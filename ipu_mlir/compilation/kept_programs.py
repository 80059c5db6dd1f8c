"""Programs on disk, without the values with which their variables begin: these may differ from process to process."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ipu_mlir.compilation.portable import bytecode_of
from ipu_mlir.dialects.analysis.variables import variables_in
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import MemoryWarning
from ipu_mlir.runtime.engine import program_cache
from ipu_mlir.runtime.engine.native import possible
from ipu_mlir.runtime.translator.importing.read_memref import initial_value
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.translation import Translation


def key_of(module: ir.Module, entries: Sequence[str], entry: str, way: str, kernels: str | None) -> str | None:
    """What function ``entry`` of ``module`` is kept as that goes this ``way``; None if it cannot be."""
    options = f"{way} {possible(TranslatorOptions.of(kernels))}"
    return program_cache.key_of(lambda: bytecode_of(_without_initial_values(module)), entries, entry, options)


def read(key: str, module: ir.Module) -> program_cache.Kept | None:
    """What was kept as ``key``; its variables begin with the values of ``module``."""
    found = program_cache.read(key)
    if found is None:
        return None
    values = _initial_values(module)
    variables = tuple(replace(v, initial=values.get(v.name, v.initial)) for v in found.translation.variables)
    return found._replace(translation=replace(found.translation, variables=variables))


def write(key: str, module: ir.Module, translation: Translation, heard: Sequence[MemoryWarning], entry: str) -> None:
    """Keep ``translation``, unless a pass has changed a value that ``module`` gives, or brought it to remote memory."""
    values = _initial_values(module)
    rows = {name for each in translation.remote for name in (each.name, *each.variables)}
    of_module = [each for each in translation.variables if each.name in values]
    if rows & values.keys() or not all(_are_same(values[each.name], each.initial) for each in of_module):
        return
    variables = tuple(replace(v, initial=None) if v.name in values else v for v in translation.variables)
    program_cache.write(key, replace(translation, variables=variables), heard, entry)


def _are_same(first: np.ndarray, second: np.ndarray | None) -> bool:
    if second is None or first.dtype != second.dtype or first.shape != second.shape:
        return False
    return first is second or first.tobytes() == second.tobytes()


def _on_tiles(module: ir.Operation) -> dict[str, ir.Operation]:
    """The variables that begin with a value and do not say that they are offloaded."""
    ops = variables_in(module).items()
    return {name: op for name, op in ops if "init" in op.attributes and "offload" not in op.attributes}


def _initial_values(module: ir.Module) -> dict[str, np.ndarray]:
    values = {name: initial_value(op) for name, op in _on_tiles(module.operation).items()}
    return {name: value for name, value in values.items() if value is not None}


def _without_initial_values(module: ir.Module) -> ir.Operation:
    if not _on_tiles(module.operation):
        return module.operation
    copied = module.operation.clone()
    for op in _on_tiles(copied.operation).values():
        op.attributes["init"] = ir.UnitAttr.get(op.context)
    return copied.operation
