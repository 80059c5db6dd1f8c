"""The remote buffers of a module, and those of them that its functions use."""

from dataclasses import dataclass
from math import prod

from ipu_mlir.dialects.analysis.buffers import element_bytes
from ipu_mlir.dialects.analysis.matchers import module_around, symbol_of
from ipu_mlir.dialects.support.bindings import ir

REMOTE_BUFFER = "ipu.remote_buffer"

LOADS = frozenset(("ipu.remote_load", "ipu.host_gather"))
"""Ops that give rows of a remote buffer, as tensors; ``ipu.fetch`` does so in supersteps."""
STORES = frozenset(("ipu.remote_store", "ipu.host_update_add"))
"""Ops that change rows of a remote buffer."""
MOVES = LOADS | STORES | {"ipu.fetch"}
"""Ops that work on a remote buffer."""


@dataclass(frozen=True)
class RemoteBuffer:
    """An ``ipu.remote_buffer``.

    Attributes:
        memory: ``streaming``, beside the chip, or ``host``.
        partition: how replicas share its rows among them, ``encoding`` or ``token``; None if each has all.
    """

    name: str
    type: ir.RankedTensorType
    memory: str
    op: ir.Operation

    @property
    def partition(self) -> str | None:
        return ir.StringAttr(self.op.attributes["partition"]).value if "partition" in self.op.attributes else None

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables that its rows are, if they are."""
        if "variable" in self.op.attributes:
            return (self.name,)
        names = self.op.attributes.get("variables", None)
        return () if names is None else tuple(ir.StringAttr(each).value for each in ir.ArrayAttr(names))

    @property
    def rows(self) -> int:
        return self.type.shape[0]

    @property
    def row_shape(self) -> list[int]:
        return list(self.type.shape)[1:]

    @property
    def num_bytes(self) -> int:
        return prod(self.type.shape) * element_bytes(self.type.element_type)


def remote_buffers_in(module: ir.Operation) -> dict[str, RemoteBuffer]:
    """The remote buffers of ``module`` by name, in the order in which they stand there."""
    ops = (op.operation for op in module.regions[0].blocks[0].operations)
    found = [_remote_buffer(op) for op in ops if op.name == REMOTE_BUFFER]
    return {buffer.name: buffer for buffer in found}


def _remote_buffer(op: ir.Operation) -> RemoteBuffer:
    memory = ir.StringAttr(op.attributes["memory"]).value if "memory" in op.attributes else "streaming"
    name, kind = symbol_of(op), ir.TypeAttr(op.attributes["type"]).value
    return RemoteBuffer(name, ir.RankedTensorType(kind), memory, op)


def remote_buffer_of(op: ir.Operation) -> str:
    """The name of the remote buffer that an op of ``MOVES`` works on."""
    return ir.FlatSymbolRefAttr(op.attributes["buffer"]).value


def remote_buffer_around(op: ir.Operation) -> RemoteBuffer:
    """The remote buffer that an op of ``MOVES`` works on, in the module around it."""
    return remote_buffers_in(module_around(op))[remote_buffer_of(op)]


def num_remote_bytes(module: ir.Operation) -> int:
    """Bytes of all buffers of ``module`` in streaming memory."""
    return sum(each.num_bytes for each in remote_buffers_in(module).values() if each.memory == "streaming")


def moved_and_rows(op: ir.Operation) -> tuple[ir.Value, ir.Value]:
    """The value that an op of ``MOVES`` moves, and where in the buffer it lies: an index, or a tensor of indices."""
    values = (*op.results, *op.operands)
    return values[::-1] if op.name == "ipu.host_update_add" else values
