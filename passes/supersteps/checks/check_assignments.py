"""``ipu-check-assignments``: memory of a variable is written only on the way to a value that the program assigns."""

from collections.abc import Iterable, Mapping
from typing import Any

from ipu_mlir.dialects.analysis.buffers import memories_of
from ipu_mlir.dialects.analysis.control_flow import blocks_of, control_op, is_branch
from ipu_mlir.dialects.analysis.effects import effects_of
from ipu_mlir.dialects.analysis.matchers import symbol_of
from ipu_mlir.dialects.analysis.outlined_calls import callee_of, callees_first
from ipu_mlir.dialects.analysis.variables import state_arguments, variable_arguments
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.support.rewriting import list_ops

_MARK = "ipu.assigned"


class CheckAssignments(Pass):
    """Refuse an op that writes to the memory of a variable which the program does not assign behind it.

    Behind means: on each way that goes on from the op, in a function, branch or round of a loop, there is
    ``ipu.assigned`` for the variable. An update of a variable that is only read would be the value of the variable
    in all runs that follow.

    Needs:  supersteps (``ipu-form-supersteps``) with ``ipu.assigned`` (``ipu-mark-assignments``,
            ``ipu-update-variables``).
    Leaves: no ``ipu.assigned``; everything else as it was.
    """

    name = "ipu-check-assignments"

    def run(self, module: ir.Operation) -> None:
        functions = [op for op in list_ops(module, "func.func") if len(op.regions[0].blocks) == 1]
        if not any(map(state_arguments, functions)):
            return
        writes: dict[str, set[int]] = {}
        for function in callees_first(functions):
            writes[symbol_of(function)] = _written_arguments(list_ops(function), function, writes)
        with module.context, ir.Location.unknown(), Refusals() as refuse:
            for function in functions:
                if state_arguments(function):
                    _Checked(function, writes, refuse).block(function.regions[0].blocks[0], frozenset())
        for mark in list_ops(module, _MARK):
            mark.erase()


def _written_arguments(ops: Iterable[ir.Operation], function: ir.Operation, writes: Mapping[str, set[int]]) -> set[int]:
    """Numbers of the arguments of ``function`` whose memory ``ops`` may write; ``writes`` says it of its callees."""
    block = function.regions[0].blocks[0]
    found: set[int] = set()
    for op in ops:
        if op.name == "func.call":
            written = [op.operands[number] for number in writes.get(callee_of(op), ())]
        else:
            effects = effects_of(op)
            written = [] if effects is None else [each for each, is_written in effects.touches(op.opview) if is_written]
        memories = (memory for value in written for memory in memories_of(value))
        found |= {ir.BlockArgument(each).arg_number for each in memories if each.owner == block}
    return found


class _Checked:
    """A function; ``writes`` are the numbers of the arguments that functions may write, by name."""

    def __init__(self, function: ir.Operation, writes: Mapping[str, set[int]], refuse: Refusals) -> None:
        self.function, self.writes, self.refuse = function, writes, refuse
        self.own = state_arguments(function)
        self.names = variable_arguments(function)

    def block(self, block: ir.Block, behind: frozenset[int]) -> frozenset[int]:
        """Check what is in ``block``; ``behind`` are the arguments that are assigned later on each way.

        Gives those that the block itself assigns on each way through it.
        """
        marked: frozenset[int] = frozenset()
        for op in reversed([view.operation for view in block.operations]):
            if op.name == _MARK:
                marked |= {ir.IntegerAttr(op.attributes["argument"]).value}
            elif control_op(op) is not None:
                inside = [self.block(inner, marked | behind) for inner in blocks_of(op)]
                if is_branch(op) and len(inside) == len(op.regions):
                    marked |= frozenset.intersection(*inside)
            else:
                written = _written_arguments([op], self.function, self.writes) & self.own
                for number in sorted(written - marked - behind):
                    self._report(op, number)
        return marked

    def _report(self, op: Any, number: int) -> None:
        name = f"variable @{self.names[number]}" if number in self.names else f"argument {number}, a variable"
        self.refuse(op, f"writes {name}, which the program does not assign behind it; write to a copy of it")
