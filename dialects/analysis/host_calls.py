"""Ops that ask the host for something while a program runs: each declares in its class what it asks, and of whom."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ipu_mlir.dialects.analysis.effects import Effects
from ipu_mlir.dialects.support.bindings import ir

Server = Literal["streams", "remote"]

FROM_HOST = frozenset(("ipu.element", "ipu.remote_load", "ipu.host_gather"))
"""Each gives a tensor that is not computed on tiles."""
TO_HOST = frozenset(("ipu.print", "ipu.put", "ipu.remote_store", "ipu.host_gather", "ipu.host_update_add"))
"""Each takes tensors off the tiles."""


@dataclass(frozen=True)
class HostCall:
    """The request of an op of supersteps: a method of the session that is called as the op, without ``ipu.``.

    It is called with the symbol, the number if there is one, what the op reads in the order of its operands, and memory
    for what it fills. Its cost is that of the bytes which go over, or of a sync where there are none.

    Attributes:
        server: which part of a session has the method.
        symbol: the attribute that says which queue or buffer it is about.
        number: the attribute with a number that goes with it, or a unit attribute that is 1 where it stands.
        fills: the operand that is written; all others are read.
    """

    server: Server
    symbol: str
    number: str | None = None
    fills: int | None = None

    @cached_property
    def effects(self) -> Effects:
        """It stays in its order, reads and fills the buffers among its operands."""

        def touches(op: ir.OpView) -> list[tuple[ir.Value, bool]]:
            operands = enumerate(op.operation.operands)
            return [(each, n == self.fills) for n, each in operands if isinstance(each.type, ir.MemRefType)]

        return Effects(touches, host=True, ordered=True)

    def symbol_of(self, op: ir.Operation) -> str:
        """The queue, buffer or label that ``op`` is about."""
        attribute = op.attributes[self.symbol]
        return (ir.StringAttr if isinstance(attribute, ir.StringAttr) else ir.FlatSymbolRefAttr)(attribute).value

    def number_of(self, op: ir.Operation) -> int:
        """The number that goes with it; 0 where ``op`` has none."""
        attribute = None if self.number is None else op.attributes.get(self.number, None)
        return ir.IntegerAttr(attribute).value if isinstance(attribute, ir.IntegerAttr) else int(attribute is not None)

    def read_by(self, op: ir.Operation) -> list[ir.Value]:
        """The operands that ``op`` passes."""
        return [value for number, value in enumerate(op.operands) if number != self.fills]

    def filled_by(self, op: ir.Operation) -> ir.Value | None:
        """The operand that ``op`` writes."""
        return None if self.fills is None else op.operands[self.fills]


def host_call_of(op: ir.OpView | ir.Operation) -> HostCall | None:
    """The call of the host that ``op`` is; None if it is none."""
    operation = op.operation
    return getattr(operation.opview, "host_call", None) if operation.name.startswith("ipu.") else None
