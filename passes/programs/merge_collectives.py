"""``ipu-merge-collectives``: collectives that nobody waits for yet have one sync with the next one."""

from dataclasses import dataclass
from math import prod

from ipu_mlir.dialects.analysis.buffers import element_bytes, roots_of
from ipu_mlir.dialects.analysis.collectives import MERGED
from ipu_mlir.dialects.analysis.control_flow import blocks_of, control_op, is_terminator
from ipu_mlir.dialects.analysis.effects import effects_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_ops


@dataclass(frozen=True)
class MergeCollectives(Pass):
    """Let collectives wait for those after them, up to ``max-bytes`` of what replicas give to them together.

    One waits until an op reads what it gives, writes what it is given or gives, or deals with the host; and no longer
    than its block.

    Needs:  supersteps (``ipu-form-supersteps``).
    Leaves: collectives one after the other where that is possible, all but the first of them with ``ipu.merged``: they
            need no sync of their own. With 0 bytes, everything as it was.
    """

    name = "ipu-merge-collectives"

    max_bytes: int = 0

    def run(self, module: ir.Operation) -> None:
        if not self.max_bytes:
            return
        with module.context:
            for function in list_ops(module, "func.func"):
                for block in blocks_of(function):
                    self._block(block)

    def _block(self, block: ir.Block) -> None:
        waiting: list[ir.Operation] = []
        for op in [each.operation for each in block.operations]:
            if op.name == "ipu.collective" and not any(_depends(op, each) for each in waiting):
                if sum(map(_bytes, (*waiting, op))) > self.max_bytes:
                    waiting = []
                for each in waiting:
                    each.move_before(op)
                if waiting:
                    op.attributes[MERGED] = ir.UnitAttr.get()
                waiting.append(op)
            elif op.name == "ipu.collective":
                waiting = [op]
            elif control_op(op) is not None or is_terminator(op) or any(_depends(op, each) for each in waiting):
                waiting = []
                for inner in blocks_of(op) if control_op(op) is not None else ():
                    self._block(inner)


def _bytes(collective: ir.Operation) -> int:
    kind = collective.operands[0].type
    return prod(kind.shape) * element_bytes(kind.element_type)


def _depends(op: ir.Operation, collective: ir.Operation) -> bool:
    """True if ``op`` cannot change places with a collective before it: it may be anything, or meets its memory."""
    effects = effects_of(op)
    if effects is None:
        return any(isinstance(value.type, ir.MemRefType) for value in op.operands)
    if (effects.ordered or effects.host) and op.name != "ipu.collective":
        return True
    source, dest = (roots_of(value) for value in collective.operands)
    for value, writes in effects.touches(op):
        roots = roots_of(value)
        if not roots.isdisjoint(dest) or (writes and not roots.isdisjoint(source)):
            return True
    return False
