"""``ipu.vertices``: the code of one family of vertices."""

from collections.abc import Iterator
from typing import Any

from ipu_mlir.dialects.analysis.buffers import memory_mapping, strides_and_offset
from ipu_mlir.dialects.analysis.effects import Effects
from ipu_mlir.dialects.analysis.loop_nest import is_structured, loads_in, loop_nest, num_outputs, reads_operand
from ipu_mlir.dialects.analysis.memory_access import MemoryAccess, memory_accesses
from ipu_mlir.dialects.analysis.operand_mapping import operand_mapping
from ipu_mlir.dialects.attributes.attributes import PartsAttr, parts_from_attr
from ipu_mlir.dialects.attributes.dialect import Ipu
from ipu_mlir.dialects.codelets.library import broken_call
from ipu_mlir.dialects.mapping.part_rules import broken_part_rule
from ipu_mlir.dialects.mapping.parts import Parts
from ipu_mlir.dialects.support.bindings import ext, ir
from ipu_mlir.dialects.support.diagnostics import fail
from ipu_mlir.dialects.support.verifiers import verifier


class VerticesOp(Ipu.Operation, name="vertices", traits=[ir.NoTerminatorTrait]):
    """One vertex per part: each runs the structured op inside over its own part of the loops, on its own tile.

        "ipu.vertices"() ({ linalg.add ins(...) outs(...) }) {codelet = "add_f32", parts = #ipu.parts<...>} : () -> ()

    The parts cut every loop of the op completely; no two lie on one tile. Whatever a part reads lies on its tile, and
    whatever it writes lies there and nowhere else. A body without ops, which is left of a copy of a buffer to itself,
    does nothing: ``ipu-merge-compute-sets`` drops the family.
    """

    codelet: ir.StringAttr
    parts: PartsAttr
    body: ext.Region
    effects = Effects(lambda op: accesses(op))

    @staticmethod
    @verifier
    def verify_region_invariants(op: Any) -> bool:
        if is_idle(op):
            return True
        inner = structured_op(op)
        if inner is None:
            return fail(op, "needs exactly one linalg op inside")
        nest = loop_nest(inner)
        if nest is None:
            return fail(op, f"holds {inner.name}, whose loops are not known; rewrite it as linalg.generic")
        is_library = "library_call" in inner.attributes
        broken = broken_call(inner, nest.num_inputs) if is_library else nest.broken_results
        if broken is not None:
            return fail(op, broken)
        parts = parts_from_attr(op.operation.attributes["parts"])
        broken = broken_part_rule(parts, nest.extents, nest.cut_multiples)
        if broken is not None:
            return fail(op, broken)
        return all(_verify_access(op, parts, access) for access in memory_accesses(inner, nest))


def structured_op(vertices: ir.OpView) -> ir.Operation | None:
    """The one linalg op that every vertex of the family runs; None where there is no such single op."""
    blocks = list(vertices.operation.regions[0].blocks)
    operations = list(blocks[0].operations) if len(blocks) == 1 else []
    if len(operations) != 1 or not is_structured(operations[0]):
        return None
    return operations[0].operation


def is_idle(vertices: ir.OpView) -> bool:
    """True if no vertex of the family runs anything."""
    blocks = list(vertices.operation.regions[0].blocks)
    return len(blocks) == 1 and not list(blocks[0].operations)


def accesses(vertices: ir.OpView) -> Iterator[tuple[ir.Value, bool]]:
    """Every buffer that the family reads (False) or writes (True); one that it updates comes with both."""
    if is_idle(vertices):
        return
    inner = structured_op(vertices)
    assert inner is not None, "accesses of a family that did not verify"
    outputs = num_outputs(inner)
    for number, value in enumerate(inner.operands):
        if isinstance(value.type, ir.MemRefType):
            if reads_operand(inner, number):
                yield value, False
            if number >= len(inner.operands) - outputs:
                yield value, True
    for load in loads_in(inner):
        yield load.operands[0], False


def _verify_access(op: Any, parts: Parts, access: MemoryAccess) -> bool:
    memref = access.value.type
    mapping = memory_mapping(memref)
    if mapping is None:
        return fail(op, f"has {access.name} on no tile: {memref}; give it a #ipu.mapping as memory space")
    if not mapping.tiles_are_distinct():
        return fail(op, f"has {access.name} with a mapping that puts two parts on one tile: {memref}")
    strides, offset = strides_and_offset(memref)
    needed = operand_mapping(parts, access.indices, memref.shape, strides, offset, mapping.elements)
    missing = None if mapping.contains(needed) else mapping.missing(needed)
    if missing is not None:
        tile, element = missing
        verb = "writes" if access.written else "reads"
        return fail(
            op,
            f"{verb} element {element} of {access.name} on tile {tile}, where it does not lie ({memref}); "
            "exchange it into a mapping that holds what the parts need",
        )
    if access.written and not mapping.is_disjoint():
        return fail(op, f"writes {access.name}, whose elements lie on several tiles each ({memref}); write to a home")
    assert not access.written or needed.is_disjoint(), "a mapping that holds each element once has held all of them"
    return True
