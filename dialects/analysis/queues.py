"""Which infeeds and outfeeds a module has, and which of them its functions use."""

from dataclasses import dataclass
from typing import Literal

from ipu_mlir.dialects.support.bindings import ir

_DEFAULT_DEPTH = 3

TAKES = frozenset(("ipu.dequeue", "ipu.element", "ipu.receive"))
"""Ops that work on an infeed."""
GIVES = frozenset(("ipu.put", "ipu.enqueue"))
"""Ops that work on an outfeed."""


@dataclass(frozen=True)
class Queue:
    """An ``ipu.infeed`` or ``ipu.outfeed``.

    Attributes:
        types: of the tensors of an element.
        depth: of an infeed, how many elements may wait.
        mode: of an outfeed, what it keeps.
    """

    name: str
    kind: Literal["infeed", "outfeed"]
    types: tuple[ir.Type, ...]
    depth: int = _DEFAULT_DEPTH
    mode: str = "all"


def queues_in(module: ir.Operation) -> dict[str, Queue]:
    """The queues of ``module`` by name, in the order in which they stand there."""
    ops = (op.operation for op in module.regions[0].blocks[0].operations)
    found = [_queue(op) for op in ops if op.name in ("ipu.infeed", "ipu.outfeed")]
    return {queue.name: queue for queue in found}


def _queue(op: ir.Operation) -> Queue:
    name = ir.StringAttr(op.attributes["sym_name"]).value
    types = tuple(each.value for each in op.attributes["types"])
    if op.name == "ipu.outfeed":
        return Queue(name, "outfeed", types, mode=ir.StringAttr(op.attributes["mode"]).value)
    depth = op.attributes.get("prefetch_depth", None)
    return Queue(name, "infeed", types, depth=_DEFAULT_DEPTH if depth is None else ir.IntegerAttr(depth).value)


def queue_of(op: ir.Operation) -> str:
    """The name of the queue that an op of ``TAKES`` or ``GIVES`` works on."""
    return ir.FlatSymbolRefAttr(op.attributes["queue"]).value


def index_of(op: ir.Operation) -> int:
    """Which tensor of the element an op works on."""
    return ir.IntegerAttr(op.attributes["index"]).value
