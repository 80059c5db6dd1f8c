"""Others on the tiles while a function runs: the functions that share variables and queues with it."""

from collections.abc import Iterable

from ipu_mlir.dialects.analysis.matchers import symbol_of
from ipu_mlir.dialects.analysis.program.build_program import program_tree
from ipu_mlir.dialects.analysis.program.tree import Sequence
from ipu_mlir.dialects.analysis.queues import queues_in
from ipu_mlir.dialects.analysis.variables import variable_arguments, variables_in
from ipu_mlir.dialects.support.bindings import ir


def trees_beside(module: ir.Module | ir.Operation | ir.OpView, entry: str) -> list[Sequence]:
    """The trees of the other public functions of ``module``, if it has variables or queues: their code lies beside that
    of ``entry``. Without them every function is a program of its own.

    Raises:
        CompileError: as of ``program_tree``.
    """
    operation: ir.Operation = module.operation
    if operation.name == "func.func" or not (variables_in(operation) or queues_in(operation)):
        return []
    return [program_tree(operation, name) for name in map(symbol_of, entries_of(operation)) if name != entry]


def entries_of(module: ir.Operation) -> list[ir.Operation]:
    """The functions of ``module`` that the host can run; those that others call count where they are called."""
    ops = [op.operation for op in module.regions[0].blocks[0].operations]
    return [op for op in ops if op.name == "func.func" and len(op.regions[0].blocks) == 1 and not _is_private(op)]


def _is_private(function: ir.Operation) -> bool:
    return "sym_visibility" in function.attributes and str(function.attributes["sym_visibility"]) == '"private"'


def kept_arguments(tree: Sequence, beside: Iterable[Sequence]) -> list[ir.BlockArgument]:
    """The buffers that the function of ``tree`` takes, and variables of the functions ``beside`` it: each once."""
    own = variable_arguments(tree.block.owner.operation).values()
    found = [each for each in tree.block.arguments if isinstance(each.type, ir.MemRefType)]
    seen = set(own)
    for other in beside:
        for number, name in variable_arguments(other.block.owner.operation).items():
            if name not in seen:
                seen.add(name)
                found.append(other.block.arguments[number])
    return found


def kept_constants(constants: Iterable[ir.Operation]) -> list[ir.Operation]:
    """The ``memref.get_global`` ops among ``constants``, one for each global."""
    found: dict[str, ir.Operation] = {}
    for op in constants:
        found.setdefault(ir.FlatSymbolRefAttr(op.attributes["name"]).value, op)
    return list(found.values())
