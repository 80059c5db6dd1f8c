"""``ipu-cut-copies``: which part of a copy runs on which tile, where both buffers lie alike."""

from math import prod

from ipu_mlir.dialects.analysis.buffers import memories_of, memory_mapping, strides_and_offset
from ipu_mlir.dialects.attributes.attributes import parts_to_attr
from ipu_mlir.dialects.mapping.parts import Parts
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.placement.planner.follow import parts_that_follow
from ipu_mlir.passes.support.placement_hints import PARTS
from ipu_mlir.passes.support.rewriting import list_ops


class CutCopies(Pass):
    """Give copies within tiles the parts that their buffers have, so that they need no exchange.

    Bufferization makes such copies, long after ``ipu-partition`` has cut everything else.

    Needs:  bufferized IR whose memory spaces are mappings.
    Leaves: ``ipu.parts`` on every copy that can run where both its buffers lie, and on no other copy; no copy of a
            buffer to itself, by whatever name.
    """

    name = "ipu-cut-copies"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for copy in list_ops(module, "memref.copy", "linalg.copy"):
                if _is_idle(copy):
                    copy.erase()
                    continue
                parts = _parts_on_tile(*(operand.type for operand in copy.operands))
                if parts is not None:
                    copy.attributes[PARTS] = parts_to_attr(parts)
                elif PARTS in copy.attributes:
                    del copy.attributes[PARTS]


def _is_idle(copy: ir.Operation) -> bool:
    """True if ``copy`` brings all of a buffer to where it is: a branch or a loop has left it there."""
    source, dest = copy.operands
    (memory, *others) = memories_of(source)
    return not others and source.type == dest.type == memory.type and memories_of(dest) == {memory}


def _parts_on_tile(source: ir.Type, dest: ir.Type) -> Parts | None:
    """Parts of a copy between buffers that lie alike; None if they do not, or cannot be cut along their dimensions."""
    if not isinstance(source, ir.MemRefType) or not isinstance(dest, ir.MemRefType):
        return None
    if source.memory_space != dest.memory_space or prod(dest.shape) == 0:
        return None
    strides, _ = strides_and_offset(dest)
    mapping = memory_mapping(dest)
    if mapping is None or strides_and_offset(source) != strides_and_offset(dest):
        return None
    return parts_that_follow(mapping, tuple(dest.shape), strides, tuple(range(len(dest.shape))))
