"""``ipu-reuse-operands``: element-wise ops write over an operand that nobody reads afterwards."""

from typing import Any

from ipu_mlir.dialects.analysis.loop_nest import is_structured
from ipu_mlir.dialects.analysis.matchers import defining_op, has_one_use
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_ops


class ReuseOperands(Pass):
    """Write element-wise results over an operand that dies there.

    Needs:  placed tensors (``ipu-place-tensors``).
    Leaves: element-wise ops whose ``outs`` is an operand of the same type, index and mapping, read by nobody else, in
            place of an empty tensor; bufferization then updates it in place.
    """

    name = "ipu-reuse-operands"

    def run(self, module: ir.Operation) -> None:
        for op in list_ops(module, "linalg.generic"):
            if all("parallel" in str(kind) for kind in op.attributes["iterator_types"]):
                _write_over_operand(op)


def _write_over_operand(op: ir.Operation) -> None:
    maps = [str(attribute) for attribute in op.attributes["indexing_maps"]]
    inputs = len(op.operands) - len(op.results)
    taken: set[int] = set()
    for number in range(inputs, len(op.operands)):
        if defining_op(op.operands[number], "tensor.empty") is None:
            continue
        for candidate in range(inputs):
            value = op.operands[candidate]
            if candidate in taken or maps[candidate] != maps[number] or value.type != op.operands[number].type:
                continue
            if has_one_use(value) and _owns_memory(value):
                op.operands[number] = value
                taken.add(candidate)
                break


def _owns_memory(value: Any) -> bool:
    """True if ``value`` is the result of a structured op, whose memory is nobody else's."""
    owner = defining_op(value)
    return owner is not None and is_structured(owner)
