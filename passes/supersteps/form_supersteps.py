"""``ipu-form-supersteps``: bufferized ops become exchanges and compute sets of vertices."""

from ipu_mlir.dialects.analysis.loop_nest import is_structured, loop_nest
from ipu_mlir.dialects.analysis.shards import LINKS
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.codelets.naming import codelet_name
from ipu_mlir.dialects.costs.exchange import crosses_ipus, side_of
from ipu_mlir.dialects.ipu import ComputeSetOp, ExchangeOp, ReadControlOp, VerticesOp
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.support.linalg_builders import copy_into
from ipu_mlir.passes.support.placement_hints import PARTS
from ipu_mlir.passes.support.rewriting import list_outside_bodies, replace_op


class FormSupersteps(Pass):
    """Wrap structured ops into vertices of compute sets, and copies between mappings into exchanges.

    Needs:  bufferized IR whose memory spaces are mappings; ``ipu.parts`` on structured ops, and on copies that run
            where their buffers lie (``ipu-cut-copies``).
    Leaves: supersteps: ``ipu.exchange`` for every other copy, with ``ipu.links`` where data goes between IPUs, every
            structured op and copy with parts in an ``ipu.compute_set`` of its own, and ``ipu.read_control`` where
            control flow reads a scalar.
    """

    name = "ipu-form-supersteps"

    def run(self, module: ir.Operation) -> None:
        with module.context, ir.Location.unknown(), Refusals() as refuse:
            target = module_target(module)
            for op in list_outside_bodies(module):
                if op.name in ("memref.copy", "linalg.copy") and not op.results:
                    _form_copy(op, target)
                elif op.name == "memref.load":
                    _form_read(op, refuse)
                elif is_structured(op):
                    if PARTS not in op.attributes:
                        refuse(op, "has no ipu.parts; run ipu-partition before bufferization")
                        continue
                    parts = op.attributes[PARTS]
                    del op.attributes[PARTS]
                    put_in_compute_set(op, parts)


def _form_copy(op: ir.Operation, target: Target) -> None:
    """A copy with parts runs on its tiles, an exchange does any other."""
    source, dest = op.operands
    with ir.InsertionPoint(op), op.location:
        if PARTS in op.attributes:
            put_in_compute_set(copy_into(source, dest), op.attributes[PARTS])
        else:
            exchange = ExchangeOp(source=source, dest=dest)
            if crosses_ipus(side_of(source.type), side_of(dest.type), target):
                exchange.operation.attributes[LINKS] = ir.UnitAttr.get()
    op.erase()


def _form_read(op: ir.Operation, refuse: Refusals) -> None:
    if len(op.operands) > 1:
        refuse(op, "reads one element outside vertices; run ipu-raise-element-ops before bufferization")
        return
    with ir.InsertionPoint(op):
        read = ReadControlOp(source=op.operands[0], value=op.results[0].type, loc=op.location)
    replace_op(op, [read.value])


def put_in_compute_set(op: ir.Operation, parts: ir.Attribute) -> None:
    """Put ``op`` into vertices, and those into a compute set, where ``op`` stands."""
    nest = loop_nest(op)
    assert nest is not None, "ipu-partition refuses ops without known loops"
    with ir.InsertionPoint(op):
        compute_set = ir.Operation.create(ComputeSetOp.OPERATION_NAME, regions=1, loc=op.location)
    attributes = {"codelet": ir.StringAttr.get(codelet_name(op, nest)), "parts": parts}
    with ir.InsertionPoint(compute_set.regions[0].blocks.append()):
        vertices = ir.Operation.create(VerticesOp.OPERATION_NAME, attributes=attributes, regions=1, loc=op.location)
    vertices.regions[0].blocks.append().append(op)
