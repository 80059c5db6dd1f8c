"""``ipu-merge-collectives``: collectives that nobody waits for yet have one sync with the next one."""

from dataclasses import dataclass
from math import prod

from ipu_mlir.dialects.analysis.buffers import element_bytes, roots_of
from ipu_mlir.dialects.analysis.collectives import MERGED, collective_of
from ipu_mlir.dialects.analysis.control_flow import blocks_of, control_op, is_terminator
from ipu_mlir.dialects.analysis.effects import effects_of
from ipu_mlir.dialects.analysis.shards import LINKS
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_ops

_LINKS = "links"
"""Exchanges between IPUs, among the kinds of what waits."""


@dataclass(frozen=True)
class MergeCollectives(Pass):
    """Let collectives wait for those after them, up to ``max-bytes`` of what replicas give to them together.

    One waits until an op reads what it gives, writes what it is given or gives, or deals with the host; and no longer
    than its block. A kind with a limit of its own, as in ``all-reduce-bytes``, waits for others of that kind only. With
    ``inter-ipu-bytes`` exchanges between IPUs wait for each other in the same way; without it those that are neighbours
    already share a sync.

    Needs:  supersteps (``ipu-form-supersteps``).
    Leaves: collectives one after the other where that is possible, and exchanges, all but the first of them with
            ``ipu.merged``: they need no sync of their own. With 0 bytes, collectives are as they were.
    """

    name = "ipu-merge-collectives"

    max_bytes: int = 0
    all_reduce_bytes: int | None = None
    reduce_scatter_bytes: int | None = None
    all_gather_bytes: int | None = None
    inter_ipu_bytes: int | None = None

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for function in list_ops(module, "func.func"):
                for block in blocks_of(function):
                    if any((self.max_bytes, *self._own_limits().values())):
                        self._block(block)
                    if self.inter_ipu_bytes is None:
                        _merge_neighbours(block)

    def _own_limits(self) -> dict[str, int]:
        limits = {
            "all_reduce": self.all_reduce_bytes,
            "reduce_scatter": self.reduce_scatter_bytes,
            "all_gather": self.all_gather_bytes,
            _LINKS: self.inter_ipu_bytes,
        }
        return {kind: limit for kind, limit in limits.items() if limit is not None}

    def _block(self, block: ir.Block) -> None:
        limits = self._own_limits()
        waiting: dict[str, list[ir.Operation]] = {}  # by the kind with a limit of its own; those of all others together
        for op in [each.operation for each in block.operations]:
            if control_op(op) is not None or is_terminator(op):
                waiting = {}
                for inner in blocks_of(op) if control_op(op) is not None else ():
                    self._block(inner)
                continue
            waiting = {kind: ops for kind, ops in waiting.items() if not any(_depends(op, each) for each in ops)}
            kind = _kind(op, limits)
            if kind is None:
                continue
            before = waiting.get(kind, [])
            if sum(map(_bytes, (*before, op))) > limits.get(kind, self.max_bytes):
                before = []
            for each in before:
                each.move_before(op)
            if before:
                op.attributes[MERGED] = ir.UnitAttr.get()
            waiting[kind] = [*before, op]


def _merge_neighbours(block: ir.Block) -> None:
    """Let exchanges between IPUs that nothing stands between share the sync of the first of them."""
    together: list[ir.Operation] = []
    for op in [each.operation for each in block.operations]:
        if op.name == "ipu.exchange" and LINKS in op.attributes:
            if together and not any(_depends(op, each) for each in together):
                op.attributes[MERGED] = ir.UnitAttr.get()
                together.append(op)
            else:
                together = [op]
        elif op.name.partition(".")[0] != "arith":
            effects = effects_of(op)
            if effects is None or not effects.is_free_to_move or any(effects.touches(op)):
                together = []
        for inner in blocks_of(op) if control_op(op) is not None else ():
            _merge_neighbours(inner)


def _kind(op: ir.Operation, limits: dict[str, int]) -> str | None:
    """The entry of ``limits`` that ``op`` waits by, or "" for that of all other collectives; None if it does not."""
    if op.name == "ipu.exchange":
        return _LINKS if LINKS in op.attributes and _LINKS in limits else None
    collective = collective_of(op) if op.name == "ipu.collective" else None
    if collective is None:
        return None
    return collective.kind if collective.kind in limits else ""


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
