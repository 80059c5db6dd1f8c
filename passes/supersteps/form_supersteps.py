"""``ipu-form-supersteps``: bufferized ops become exchanges and compute sets of vertices."""

from dataclasses import dataclass
from math import prod
from typing import Any

from ipu_mlir.dialects.analysis.buffers import memory_mapping, strides_and_offset
from ipu_mlir.dialects.analysis.loop_nest import is_structured, loop_nest
from ipu_mlir.dialects.attributes.attributes import parts_to_attr
from ipu_mlir.dialects.codelets.naming import codelet_name
from ipu_mlir.dialects.ipu import ComputeSetOp, ExchangeOp, ReadControlOp, VerticesOp
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.mapping.parts import Parts
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.placement.planner.follow import parts_that_follow
from ipu_mlir.passes.raising.elements.raise_element_ops import is_in_body
from ipu_mlir.passes.support.named_ops import copy_into
from ipu_mlir.passes.support.placement_hints import PARTS
from ipu_mlir.passes.support.rewriting import list_ops


@dataclass(frozen=True)
class FormSupersteps(Pass):
    """Wrap structured ops into vertices of compute sets, and copies between mappings into exchanges.

    Needs:  bufferized IR whose memory spaces are mappings; ``ipu.parts`` on structured ops.
    Leaves: supersteps: ``ipu.exchange`` where mappings or views differ, every other linalg op or copy in an
            ``ipu.compute_set`` of its own, and ``ipu.read_control`` where control flow reads a scalar.
    """

    name = "ipu-form-supersteps"

    def run(self, module: ir.Operation) -> None:
        with module.context, ir.Location.unknown(), Refusals() as refuse:
            for op in list_ops(module):
                if op.name in ("memref.copy", "linalg.copy"):
                    _form_copy(op)
                elif op.name == "memref.load" and not is_in_body(op):
                    _form_read(op, refuse)
                elif is_structured(op):
                    if PARTS not in op.attributes:
                        refuse(op, "has no ipu.parts; run ipu-partition before bufferization")
                        continue
                    parts = op.attributes[PARTS]
                    del op.attributes[PARTS]
                    _wrap(op, parts)


def _form_copy(op: ir.Operation) -> None:
    """A copy runs on the tiles where both sides lie, if it can be cut so; an exchange does it otherwise."""
    source, dest = op.operands
    parts = _parts_on_tile(dest.type) if _same_place(source.type, dest.type) else None
    if parts is not None:
        with ir.InsertionPoint(op), op.location:
            copy = copy_into(source, dest)
        op.erase()
        _wrap(copy, parts_to_attr(parts))
        return
    with ir.InsertionPoint(op):
        ExchangeOp(source=source, dest=dest, loc=op.location)
    op.erase()


def _form_read(op: ir.Operation, refuse: Refusals) -> None:
    if len(op.operands) > 1:
        refuse(op, "reads one element outside vertices; run ipu-raise-element-ops before bufferization")
        return
    with ir.InsertionPoint(op):
        read = ReadControlOp(source=op.operands[0], value=op.results[0].type, loc=op.location)
    op.results[0].replace_all_uses_with(read.value)
    op.erase()


def _same_place(source: Any, dest: Any) -> bool:
    """Whether every element lies on the same tiles on both sides."""
    return source.memory_space == dest.memory_space and strides_and_offset(source) == strides_and_offset(dest)


def _parts_on_tile(memref: Any) -> Parts | None:
    """Parts of a copy that runs where the buffer lies."""
    strides, _ = strides_and_offset(memref)
    mapping: Mapping | None = memory_mapping(memref)
    assert mapping is not None, "bufferization left a buffer without a mapping"
    if prod(memref.shape) == 0:
        return None
    return parts_that_follow(mapping, tuple(memref.shape), strides, tuple(range(len(memref.shape))))


def _wrap(op: ir.Operation, parts: ir.Attribute) -> None:
    """Put ``op`` into vertices, and those into a compute set, where ``op`` stands."""
    nest = loop_nest(op)
    assert nest is not None, "ipu-partition refuses ops without known loops"
    with ir.InsertionPoint(op):
        compute_set = ir.Operation.create(ComputeSetOp.OPERATION_NAME, regions=1, loc=op.location)
    attributes = {"codelet": ir.StringAttr.get(codelet_name(op, nest)), "parts": parts}
    with ir.InsertionPoint(compute_set.regions[0].blocks.append()):
        vertices = ir.Operation.create(VerticesOp.OPERATION_NAME, attributes=attributes, regions=1, loc=op.location)
    vertices.regions[0].blocks.append().append(op)
