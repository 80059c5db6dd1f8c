"""``ipu-check-supersteps``: what must hold for a whole program of supersteps."""

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ipu_mlir.dialects.attributes import parts_from_attr
from ipu_mlir.dialects.bindings import ir
from ipu_mlir.dialects.buffers import VIEW_OPS, memory_mapping, root_of, strides_and_offset
from ipu_mlir.dialects.ipu import ComputeSetOp, ExchangeOp, ReadControlOp, VerticesOp
from ipu_mlir.dialects.loop_nest import is_structured
from ipu_mlir.dialects.module_target import module_target
from ipu_mlir.dialects.ops.vertices import accesses
from ipu_mlir.dialects.target import Target
from ipu_mlir.passes.base import Pass, Refusals
from ipu_mlir.passes.rewriting import list_ops

_OUTSIDE_VERTICES = frozenset(("memref.load", "memref.store", "memref.copy", "memref.dealloc"))


@dataclass(frozen=True)
class CheckSupersteps(Pass):
    """Refuse supersteps that no machine could run.

    The verifiers of the ops ask what can be seen at one op; this asks the rest: that every buffer lies on tiles of the
    target and has the size of its mapping, that arguments and results lie somewhere whole, that nothing touches memory
    outside vertices and exchanges, and that nothing is read before it was written.

    Needs:  supersteps (``ipu-form-supersteps``).
    Leaves: the module as it was.
    """

    name = "ipu-check-supersteps"

    def run(self, module: ir.Operation) -> None:
        target = module_target(module)
        with module.context, ir.Location.unknown(), Refusals() as refuse:
            for function in list_ops(module, "func.func"):
                if not len(function.regions[0].blocks):
                    continue
                _check_boundary(function, target, refuse)
                for op in list_ops(function):
                    _check_op(op, target, refuse)
                _WrittenElements(refuse).check(function.regions[0].blocks[0])


def _check_op(op: ir.Operation, target: Target, refuse: Refusals) -> None:
    if (op.name in _OUTSIDE_VERTICES or is_structured(op)) and not _inside_vertices(op):
        refuse(op, "touches memory outside ipu.vertices; run ipu-form-supersteps")
    elif op.name == "ipu.vertices":
        tiles = parts_from_attr(op.attributes["parts"]).tiles()
        if tiles.min() < 0 or tiles.max() >= target.num_tiles:
            refuse(op, f"runs on tiles {tiles.min()} to {tiles.max()}, but {_tiles_of(target)}")
    elif op.name in ("memref.alloc", "memref.get_global", "memref.alloca"):
        _check_buffer(op, "result", op.results[0].type, target, refuse)


def _inside_vertices(op: ir.Operation) -> bool:
    parent = op.parent
    while parent is not None and parent.operation.name != "func.func":
        if parent.operation.name == "ipu.vertices":
            return True
        parent = parent.operation.parent
    return False


def _check_boundary(function: ir.Operation, target: Target, refuse: Refusals) -> None:
    for argument in function.regions[0].blocks[0].arguments:
        _check_whole(function, f"argument {argument.arg_number}", argument.type, target, refuse)
    last = list(function.regions[0].blocks[0].operations)[-1].operation
    for number, value in enumerate(last.operands):
        _check_whole(last, f"result {number}", value.type, target, refuse)


def _check_whole(op: ir.Operation, name: str, memref: Any, target: Target, refuse: Refusals) -> None:
    if not isinstance(memref, ir.MemRefType):
        return
    mapping = _check_buffer(op, name, memref, target, refuse)
    if mapping is not None and not mapping.covers():
        refuse(op, f"has {name} with elements on no tile: {memref}")


def _check_buffer(op: ir.Operation, name: str, memref: Any, target: Target, refuse: Refusals) -> Any:
    mapping = memory_mapping(memref)
    if mapping is None:
        refuse(op, f"has {name} on no tile: {memref}; give it a #ipu.mapping as memory space")
        return None
    elements = prod(memref.shape)
    if mapping.elements != elements:
        refuse(op, f"has {name} of {elements} elements with a mapping of {mapping.elements}: {memref}")
    elif not mapping.in_bounds():
        refuse(op, f"has {name} with a mapping that names elements beyond its {elements}: {memref}")
    elif not mapping.tiles_are_distinct():
        refuse(op, f"has {name} with a mapping that puts two parts on one tile: {memref}")
    elif mapping.min_tile < 0 or mapping.max_tile >= target.num_tiles:
        refuse(op, f"has {name} on tiles {mapping.min_tile} to {mapping.max_tile}, but {_tiles_of(target)}: {memref}")
    else:
        return mapping
    return None


def _tiles_of(target: Target) -> str:
    return f"the target '{target.name}' has tiles 0 to {target.num_tiles - 1}"


class _WrittenElements:
    """Follows which elements of each allocation have been written, in program order."""

    def __init__(self, refuse: Refusals) -> None:
        self.refuse = refuse
        self.written: dict[ir.Value, np.ndarray | bool] = {}
        """Per allocation, True once it is written whole, or which of its elements are."""

    def check(self, block: ir.Block) -> None:
        for op in block.operations:
            if isinstance(op, ExchangeOp):
                self._read(op, op.source)
                self._write(op.dest)
            elif isinstance(op, ComputeSetOp):
                self._compute_set(op)
            elif isinstance(op, ReadControlOp):
                self._read(op, op.source)
            elif op.operation.name == "func.return":
                for value in op.operation.operands:
                    self._read(op, value)
            elif op.operation.name not in VIEW_OPS:
                for region in op.operation.regions:
                    for inner in region.blocks:
                        self.check(inner)

    def _compute_set(self, compute_set: ComputeSetOp) -> None:
        families = [op for op in compute_set.body.blocks[0].operations if isinstance(op, VerticesOp)]
        for vertices in families:
            for value, is_written in accesses(vertices):
                if not is_written:
                    self._read(vertices, value)
        for vertices in families:
            for value, is_written in accesses(vertices):
                if is_written:
                    self._write(value)

    def _read(self, op: Any, value: ir.Value) -> None:
        root = root_of(value)
        if not isinstance(value.type, ir.MemRefType) or isinstance(root.owner, ir.Block):
            return
        if root.owner.name != "memref.alloc":
            return
        written = self.written.get(root, False)
        if written is True or (written is not False and _show(written, value.type).all()):
            return
        self.written[root] = True  # said once
        self.refuse(
            op, f"reads a buffer that nothing has written before: {value.type}; an exchange or a fill is missing"
        )

    def _write(self, value: ir.Value) -> None:
        root = root_of(value)
        if self.written.get(root) is True:
            return
        elements = prod(root.type.shape)
        if prod(value.type.shape) == elements:
            self.written[root] = True
            return
        known = self.written.setdefault(root, np.zeros(elements, dtype=np.bool_))
        _show(known, value.type)[...] = True
        if known.all():
            self.written[root] = True


def _show(elements: np.ndarray, memref: Any) -> np.ndarray:
    """The flags of those elements of an allocation that a view shows."""
    strides, offset = strides_and_offset(memref)
    return as_strided(elements[offset:], tuple(memref.shape), strides)
