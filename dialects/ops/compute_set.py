"""``ipu.compute_set``: one superstep's compute phase."""

from collections.abc import Iterator
from typing import Any

from ipu_mlir.dialects.analysis.buffers import may_overlap, roots_of
from ipu_mlir.dialects.analysis.effects import Effects
from ipu_mlir.dialects.attributes.dialect import Ipu
from ipu_mlir.dialects.ops.vertices import VerticesOp, accesses
from ipu_mlir.dialects.support.bindings import ext, ir
from ipu_mlir.dialects.support.counted import counted
from ipu_mlir.dialects.support.diagnostics import fail
from ipu_mlir.dialects.support.verifiers import verifier


class ComputeSetOp(Ipu.Operation, name="compute_set", traits=[ir.NoTerminatorTrait]):
    """Run families of vertices that do not depend on each other, all tiles at once, then synchronise.

        "ipu.compute_set"() ({ "ipu.vertices"() ({ ... }) {...} : () -> () }) : () -> ()

    Holds ``ipu.vertices`` only. No family writes an element that another family reads or writes.
    """

    body: ext.Region
    effects = Effects(lambda op: (touched for family in families_of(op) for touched in accesses(family)))

    @staticmethod
    @verifier
    def verify_region_invariants(op: Any) -> bool:
        region = op.operation.regions[0]
        if len(region.blocks) != 1:
            return fail(op, f"needs one block of ipu.vertices, has {counted(len(region.blocks), 'block')}")
        families = list(region.blocks[0].operations)
        for inner in families:
            if not isinstance(inner, VerticesOp):
                return fail(op, f"holds {inner.operation.name}; only ipu.vertices may stand in a compute set")
        for family, other in _pairs(families) if len(families) > 1 and _may_meet(families) else ():
            shared = conflict(family, other)
            if shared is not None:
                return fail(
                    op,
                    f"has two families that meet in one buffer: '{family.codelet.value}' {shared[0]} what "
                    f"'{other.codelet.value}' {shared[1]} ({shared[2]}); put them in compute sets of their own",
                )
        return True


def families_of(op: ir.OpView | ir.Operation) -> list[VerticesOp]:
    """The families of vertices that a compute set runs."""
    return list(op.operation.regions[0].blocks[0].operations)


def _may_meet(families: list[VerticesOp]) -> bool:
    """True if a family touches an allocation that another one writes: if not, there are no pairs to look at."""
    touched: set[ir.Value] = set()
    written: set[ir.Value] = set()
    for family in families:
        own = [(root, writes) for value, writes in accesses(family) for root in roots_of(value)]
        if any(root in written or (writes and root in touched) for root, writes in own):
            return True
        touched.update(root for root, _ in own)
        written.update(root for root, writes in own if writes)
    return False


def conflict(family: VerticesOp, other: VerticesOp) -> tuple[str, str, ir.Type] | None:
    """The verbs by which two families meet in one buffer, and its type; None if they are independent."""
    for value, writes in accesses(family):
        for theirs, they_write in accesses(other):
            if (writes or they_write) and may_overlap(value, theirs):
                verb = ("reads", "writes")
                return verb[writes], verb[they_write], value.type
    return None


def _pairs(families: list[VerticesOp]) -> Iterator[tuple[VerticesOp, VerticesOp]]:
    for index, family in enumerate(families):
        for other in families[index + 1 :]:
            yield family, other
