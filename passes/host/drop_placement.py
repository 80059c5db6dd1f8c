"""``ipu-drop-placement``: what supersteps compute, without tiles."""

from typing import get_args

from ipu_mlir.dialects.analysis.control_flow import blocks_of
from ipu_mlir.dialects.analysis.loop_nest import is_structured
from ipu_mlir.dialects.analysis.matchers import function_type
from ipu_mlir.dialects.analysis.replicas import REPLICAS
from ipu_mlir.dialects.analysis.vertex_loops import ONE_VERTEX
from ipu_mlir.dialects.attributes.attributes import TARGET, target_from_attr
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.placement_hints import MAP
from ipu_mlir.passes.support.rewriting import list_outside_bodies, replace_op
from ipu_mlir.passes.support.value_attributes import Which, set_value_attributes, value_attributes


class DropPlacement(Pass):
    """Write supersteps as linalg on buffers in one memory: no mapping, part, compute set, exchange or target.

    Families of one compute set do not depend on each other, so they run one after the other as they stand.

    Needs:  supersteps (``ipu-form-supersteps``), or linalg on buffers already.
    Leaves: linalg, memref, scf, func and arith; a ``memref.copy`` for each exchange, a ``memref.load`` for each read of
            control flow; of the target, ``ipu.replicas`` if there are several.
    """

    name = "ipu-drop-placement"

    def run(self, module: ir.Operation) -> None:
        plain = _PlainTypes()
        containers: list[ir.Operation] = []
        with module.context:
            if TARGET in module.attributes:
                replicas = target_from_attr(module.attributes[TARGET]).replicas
                if replicas > 1:
                    module.attributes[REPLICAS] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), replicas)
                del module.attributes[TARGET]
            for op in list_outside_bodies(module):
                if op.name in ("ipu.exchange", "ipu.read_control"):
                    _replace(op)
                elif op.name == "ipu.compute_set":
                    containers.append(op)
                elif is_structured(op) or op.name == "ipu.vertices":
                    pass  # on buffers: nothing in it has a mapping of its own
                else:
                    plain.in_place_of_those_of(op)
                    if ONE_VERTEX in op.attributes:
                        del op.attributes[ONE_VERTEX]
            for compute_set in containers:
                _inline(compute_set)


def _replace(op: ir.Operation) -> None:
    """An exchange is a copy, a read of control flow a load."""
    name = "memref.copy" if op.name == "ipu.exchange" else "memref.load"
    with ir.InsertionPoint(op):
        new = ir.Operation.create(name, [each.type for each in op.results], list(op.operands), loc=op.location)
    replace_op(op, new.results)


def _inline(compute_set: ir.Operation) -> None:
    for family in list(compute_set.regions[0].blocks[0].operations):
        for op in list(family.operation.regions[0].blocks[0].operations):
            op.operation.move_before(compute_set)
    compute_set.erase()


class _PlainTypes:
    """Types of buffers as they are in one memory; each is made once."""

    def __init__(self) -> None:
        self._of: dict[ir.Type, ir.Type] = {}

    def in_place_of_those_of(self, op: ir.Operation) -> None:
        """Drop the mappings from what ``op`` gives, hands to its blocks or declares."""
        for values in (op.results, *(block.arguments for block in blocks_of(op))):
            for value in values:
                if isinstance(value.type, ir.MemRefType):
                    value.set_type(self._plain(value.type))
        if op.name == "memref.global":
            op.attributes["type"] = ir.TypeAttr.get(self._plain(ir.TypeAttr(op.attributes["type"]).value))
        elif op.name == "func.func":
            self._function(op)

    def _function(self, function: ir.Operation) -> None:
        old = function_type(function)
        inputs, results = ([self._plain(each) for each in types] for types in (old.inputs, old.results))
        function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results))
        for which in get_args(Which):
            entries = value_attributes(function, which)
            for entry in entries:
                entry.pop(MAP, None)
            set_value_attributes(function, which, entries)

    def _plain(self, kind: ir.Type) -> ir.Type:
        if not isinstance(kind, ir.MemRefType):
            return kind
        if kind not in self._of:
            self._of[kind] = ir.MemRefType.get(list(kind.shape), kind.element_type, layout=kind.layout)
        return self._of[kind]
