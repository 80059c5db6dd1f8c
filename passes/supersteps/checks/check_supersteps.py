"""``ipu-check-supersteps``: what must hold for a whole program of supersteps."""

from math import prod
from typing import Any

from ipu_mlir.dialects.analysis.buffers import memory_mapping
from ipu_mlir.dialects.analysis.loop_nest import is_structured
from ipu_mlir.dialects.analysis.matchers import ops_around, terminator
from ipu_mlir.dialects.analysis.vertex_loops import ONE_VERTEX, vertex_tile
from ipu_mlir.dialects.attributes.attributes import module_target, parts_from_attr
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.ops.vertices import is_idle
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.placement.partition.placeable import has_one_block
from ipu_mlir.passes.programs.check_remote_buffers import refuse_wrong_remote_buffers
from ipu_mlir.passes.programs.check_streams import refuse_wrong_streams
from ipu_mlir.passes.supersteps.checks.written_elements import Touched, WrittenElements
from ipu_mlir.passes.support.malformed import refuse_malformed
from ipu_mlir.passes.support.rewriting import list_ops

_OUTSIDE_VERTICES = frozenset(("memref.load", "memref.store", "memref.copy", "memref.dealloc"))


class CheckSupersteps(Pass):
    """Refuse supersteps that no machine could run.

    The verifiers of the ops ask what can be seen at one op; this asks the rest: that every buffer lies on tiles of the
    target and has the size of its mapping, that arguments and results lie somewhere whole, that nothing touches memory
    outside vertices and exchanges, that nothing is read before it was written, and that nobody writes arguments and
    constants.

    Needs:  supersteps (``ipu-form-supersteps``).
    Leaves: the module as it was.
    """

    name = "ipu-check-supersteps"

    def run(self, module: ir.Operation) -> None:
        with module.context, ir.Location.unknown(), Refusals() as refuse:
            refuse_malformed(module, refuse)
            if refuse.diagnostics:
                return
            refuse_wrong_streams(module, refuse)
            refuse_wrong_remote_buffers(module, refuse)
            target = module_target(module)
            touched: dict[str, Touched] = {}
            for function in list_ops(module, "func.func"):
                if not len(function.regions[0].blocks) or not has_one_block(function, refuse):
                    continue
                _check_boundary(function, target, refuse)
                for op in list_ops(function):
                    _check_op(op, target, refuse)
                WrittenElements(refuse, touched).check(function.regions[0].blocks[0])


def _check_op(op: ir.Operation, target: Target, refuse: Refusals) -> None:
    is_work = op.name in _OUTSIDE_VERTICES or is_structured(op)
    if is_work and all(each.name != "ipu.vertices" for each in ops_around(op)):
        refuse(op, "touches memory outside ipu.vertices; run ipu-form-supersteps")
    elif op.name == "ipu.vertices" and is_idle(op.opview):
        refuse(op, "runs nothing; run ipu-merge-compute-sets, which drops it")
    elif op.name == "ipu.vertices":
        parts = parts_from_attr(op.attributes["parts"])
        if parts.min_tile < 0 or parts.max_tile >= target.num_tiles:
            refuse(op, f"runs on tiles {parts.min_tile} to {parts.max_tile}, but {_tiles_of(target)}")
    elif ONE_VERTEX in op.attributes and vertex_tile(op) != op.attributes[ONE_VERTEX].value:
        tile = op.attributes[ONE_VERTEX].value
        refuse(op, f"is no loop of compute sets on tile {tile}, each of one vertex, which one vertex could run")
    elif op.name in ("memref.alloc", "memref.get_global", "memref.alloca"):
        _check_buffer(op, "result", op.results[0].type, target, refuse)


def _check_boundary(function: ir.Operation, target: Target, refuse: Refusals) -> None:
    for argument in function.regions[0].blocks[0].arguments:
        _check_whole(function, f"argument {argument.arg_number}", argument.type, target, refuse)
    last = terminator(function.regions[0].blocks[0])
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
