"""``ipu-offload-variables``: variables that lie in remote memory while nobody uses them."""

from collections.abc import Container
from dataclasses import dataclass
from math import prod

from ipu_mlir.dialects.analysis.buffers import element_bytes
from ipu_mlir.dialects.analysis.control_flow import blocks_of, control_op
from ipu_mlir.dialects.analysis.variables import ASSIGN, READ, variable_of, variables_in
from ipu_mlir.dialects.ipu import RemoteBufferOp, RemoteLoadOp, RemoteStoreOp
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.linalg_builders import constant_index
from ipu_mlir.passes.support.rewriting import list_ops


@dataclass(frozen=True)
class OffloadVariables(Pass):
    """Keep variables in remote memory: they are loaded where they are read, and stored where they are assigned.

    Those that say ``offload``, and all that have a value to begin with and no place on tiles of their own if they take
    ``minimum_bytes`` or more; with 0, no others. A block loads a variable once, and reads what it has stored itself
    from the tiles.

    Needs:  nothing.
    Leaves: ``ipu.remote_buffer`` with ``variable`` for each of them, which nobody reads or assigns.
    """

    name = "ipu-offload-variables"

    minimum_bytes: int = 0

    def run(self, module: ir.Operation) -> None:
        found = {name: op for name, op in variables_in(module).items() if self._is_offloaded(op)}
        with module.context:
            for op in found.values():
                _replace_variable(op)
            for function in list_ops(module, "func.func") if found else ():
                for block in blocks_of(function):
                    _load_and_store(block, found.keys())

    def _is_offloaded(self, op: ir.Operation) -> bool:
        if "offload" in op.attributes:
            return True
        tensor = ir.RankedTensorType(ir.TypeAttr(op.attributes["type"]).value)
        is_large = prod(tensor.shape) * element_bytes(tensor.element_type) >= self.minimum_bytes > 0
        return is_large and "init" in op.attributes and "ipu.map" not in op.attributes


def _replace_variable(op: ir.Operation) -> None:
    tensor = ir.RankedTensorType(ir.TypeAttr(op.attributes["type"]).value)
    rows = ir.RankedTensorType.get([1, *tensor.shape], tensor.element_type)
    with ir.InsertionPoint(op), op.location:
        buffer = RemoteBufferOp(sym_name=op.attributes["sym_name"], type=ir.TypeAttr.get(rows)).operation
    buffer.attributes["init"] = op.attributes["init"]
    buffer.attributes["variable"] = ir.UnitAttr.get()
    if "partition" in op.attributes:
        buffer.attributes["partition"] = ir.StringAttr.get("encoding")
    op.erase()


def _load_and_store(block: ir.Block, names: Container[str]) -> set[str]:
    """Rewrite ``block``; gives the variables that are assigned in it."""
    known: dict[str, ir.Value] = {}
    assigned: set[str] = set()
    for view in list(block.operations):
        op = view.operation
        if control_op(op) is not None:
            inside = set().union(*(_load_and_store(inner, names) for inner in blocks_of(op)))
            assigned |= inside
            for name in inside & known.keys():
                del known[name]
        elif op.name in (READ, ASSIGN) and (name := variable_of(op)) in names:
            symbol = op.attributes["variable"]
            with ir.InsertionPoint(op), op.location:
                if op.name == ASSIGN:
                    known[name] = op.operands[0]
                    assigned.add(name)
                    RemoteStoreOp(buffer=symbol, value=known[name], row=constant_index(0))
                elif name not in known:
                    kind = op.results[0].type
                    known[name] = RemoteLoadOp(buffer=symbol, row=constant_index(0), value=kind).value
            if op.name == READ:
                op.results[0].replace_all_uses_with(known[name])
            op.erase()
    return assigned
