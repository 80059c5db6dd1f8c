"""The memory that a structured op touches: its operands, and what its body loads from."""

from dataclasses import dataclass

from ipu_mlir.dialects.analysis.index import Index
from ipu_mlir.dialects.analysis.loop_nest import LoopNest, loads_in, reads_operand
from ipu_mlir.dialects.support.bindings import ir


@dataclass(frozen=True)
class MemoryAccess:
    """One place where a structured op touches memory.

    Attributes:
        owner: the op that has the memory as operand: the structured op, or a load in its body.
        number: which operand.
        indices: per dimension, the index in terms of the loops of the structured op.
        written: whether the op writes there (it may read what was there before as well).
        name: what to call it in a message.
    """

    owner: ir.Operation
    number: int
    indices: tuple[Index, ...]
    written: bool
    name: str

    @property
    def value(self) -> ir.Value:
        """The tensor or buffer."""
        return self.owner.operands[self.number]

    def replace_value(self, new: ir.Value) -> None:
        """Let the op touch ``new`` instead."""
        self.owner.operands[self.number] = new


def memory_accesses(op: ir.Operation | ir.OpView, nest: LoopNest) -> list[MemoryAccess]:
    """Every access of ``op``: inputs whose elements matter, then outputs, then what the body loads.

    Scalars are part of the code, and a pooling window has only a shape: neither is an access.
    """
    operation = op.operation
    accesses = []
    for number, indices in enumerate(nest.indices):
        if not isinstance(operation.operands[number].type, ir.ShapedType):
            continue
        written = number >= nest.num_inputs
        if written or reads_operand(operation, number):
            name = f"result {number - nest.num_inputs}" if written else f"operand {number}"
            accesses.append(MemoryAccess(operation, number, indices, written, name))
    loads = loads_in(operation) if nest.loads else []
    for number, (load, indices) in enumerate(zip(loads, nest.loads, strict=True)):
        accesses.append(MemoryAccess(load, 0, indices, False, f"load {number} of the body"))
    return accesses
