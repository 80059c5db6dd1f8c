"""The infeeds, outfeeds and functions of the host that a module has, and those of them that its functions use."""

from dataclasses import dataclass
from typing import Final, Literal

from ipu_mlir.dialects.analysis.matchers import symbol_of
from ipu_mlir.dialects.support.bindings import ir

_DEFAULT_DEPTH = 3

INFEED: Final = "infeed"
OUTFEED: Final = "outfeed"
FUNCTION: Final = "host_function"
WORKS_ON = {
    "ipu.dequeue": (INFEED,),
    "ipu.element": (INFEED, FUNCTION),
    "ipu.receive": (INFEED, FUNCTION),
    "ipu.put": (OUTFEED, FUNCTION),
    "ipu.enqueue": (OUTFEED,),
    "ipu.host_call": (FUNCTION,),
}
"""By name of the op, the kinds of queues that it works on; functions of the host count as one."""


@dataclass(frozen=True)
class Queue:
    """An ``ipu.infeed``, ``ipu.outfeed`` or ``ipu.host_function``.

    Attributes:
        takes: types of the tensors that the host gets.
        gives: types of those that it gives.
        depth: of an infeed, how many elements may wait.
        mode: of an outfeed, what it keeps.
    """

    name: str
    kind: Literal["infeed", "outfeed", "host_function"]
    takes: tuple[ir.Type, ...] = ()
    gives: tuple[ir.Type, ...] = ()
    depth: int = _DEFAULT_DEPTH
    mode: str = "all"


def queues_in(module: ir.Operation) -> dict[str, Queue]:
    """The queues of ``module`` by name, in the order in which they stand there."""
    ops = (op.operation for op in module.regions[0].blocks[0].operations)
    found = [_queue(op) for op in ops if op.name.removeprefix("ipu.") in (INFEED, OUTFEED, FUNCTION)]
    return {queue.name: queue for queue in found}


def _queue(op: ir.Operation) -> Queue:
    def types(attribute: str) -> tuple[ir.Type, ...]:
        return tuple(each.value for each in op.attributes[attribute])

    name = symbol_of(op)
    if op.name == "ipu.host_function":
        return Queue(name, FUNCTION, types("takes"), types("gives"))
    if op.name == "ipu.outfeed":
        return Queue(name, OUTFEED, takes=types("types"), mode=ir.StringAttr(op.attributes["mode"]).value)
    depth = op.attributes.get("prefetch_depth", None)
    waiting = _DEFAULT_DEPTH if depth is None else ir.IntegerAttr(depth).value
    return Queue(name, INFEED, gives=types("types"), depth=waiting)


def queue_of(op: ir.Operation) -> str:
    """The name of the queue that an op of ``WORKS_ON`` works on."""
    return ir.FlatSymbolRefAttr(op.attributes["queue"]).value


def index_of(op: ir.Operation) -> int:
    """The number of the tensor of the element that an op works on."""
    return ir.IntegerAttr(op.attributes["index"]).value
