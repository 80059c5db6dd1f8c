"""``ipu-drop-idle-ops``: nothing is done to tensors without elements."""

from typing import Any

from ipu_mlir.dialects.analysis.loop_nest import is_structured, loop_nest
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.linalg_builders import zero
from ipu_mlir.passes.support.rewriting import list_ops, list_outside_bodies, replace_op


class DropIdleOps(Pass):
    """Remove ops that run no iteration, and what is done to tensors without elements.

    A reduction over nothing is its initial value. A tensor without elements is as good as any other of its type, and a
    load from it stands where it never runs: in the branch of a concatenation that no index takes.

    Needs:  linalg on tensors.
    Leaves: no structured op without iterations; no load from a tensor without elements, and nobody uses one that
            anything but ``tensor.empty`` makes.
    """

    name = "ipu-drop-idle-ops"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in list_outside_bodies(module):
                if is_structured(op) and _runs_nothing(op):
                    replace_op(op, list(op.operands)[len(op.operands) - len(op.results) :])
                elif op.name == "tensor.insert_slice" and _is_idle(op.operands[0].type):
                    replace_op(op, [op.operands[1]])
                elif op.name != "tensor.empty" and any(_is_idle(result.type) for result in op.results):
                    _drop_results(op)
            for load in list_ops(module, "tensor.extract"):
                if _is_idle(load.operands[0].type):
                    _drop_load(load)


def _runs_nothing(op: ir.Operation) -> bool:
    if not len(op.results) or not any(_is_idle(value.type) for value in op.operands):
        return False
    nest = loop_nest(op)
    return nest is not None and 0 in nest.extents


def _drop_results(op: ir.Operation) -> None:
    """Results without elements are empty tensors; ``canonicalize`` removes what nobody uses any more."""
    for result in op.results:
        if _is_idle(result.type):
            with ir.InsertionPoint.after(op), op.location:
                empty = upstream("tensor").EmptyOp(list(result.type.shape), result.type.element_type).result
            result.replace_all_uses_with(empty)


def _drop_load(load: ir.Operation) -> None:
    """There is no element, so no value is wrong."""
    with ir.InsertionPoint(load), load.location:
        load.results[0].replace_all_uses_with(zero(load.results[0].type))
    load.erase()


def _is_idle(kind: Any) -> bool:
    return isinstance(kind, ir.RankedTensorType) and 0 in kind.shape
