"""``ipu.infeed``, ``ipu.outfeed`` and ``ipu.host_function``, and what moves elements between them and the program.

An element is one tensor or several, in the order of the queue's types. All ops but the queues themselves happen in the
order of the program: nothing moves, repeats or drops them.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from ipu_mlir.dialects.analysis.buffers import BUFFER, is_buffer
from ipu_mlir.dialects.analysis.effects import Effects
from ipu_mlir.dialects.analysis.host_calls import HostCall
from ipu_mlir.dialects.attributes.dialect import Ipu
from ipu_mlir.dialects.support.bindings import ext, ir
from ipu_mlir.dialects.support.diagnostics import fail
from ipu_mlir.dialects.support.verifiers import verifier

MODES = ("all", "last")
MOST_PREFETCHED = 255


def _broken_queue(op: ir.Operation) -> Iterator[str]:
    """The errors of a queue, as ends of sentences."""
    types = list(op.attributes["types"])
    if not types:
        yield "has elements without tensors; name the type of at least one"
    yield from _broken_types(op, types)


def _broken_types(op: ir.Operation, types: Iterable[ir.Attribute]) -> Iterator[str]:
    if op.parent is None or op.parent.operation.name != "builtin.module":
        yield "stands inside a function; a queue belongs to the module"
    for each in types:
        tensor: Any = each.value if isinstance(each, ir.TypeAttr) else None
        if not isinstance(tensor, ir.RankedTensorType) or not tensor.has_static_shape or tensor.encoding is not None:
            yield f"has {each} in its elements; they are ranked tensors of static shape, without encoding"
        elif 0 in tensor.shape:
            yield f"has {tensor} in its elements, which has a dimension of size 0; give it its size"


class InfeedOp(Ipu.Operation, name="infeed"):
    """A queue of elements from the host, which threads there fetch before the program asks for them.

        "ipu.infeed"() {sym_name = "q", types = [tensor<8x4xf32>, tensor<8xi32>], prefetch_depth = 3} : () -> ()

    ``prefetch_depth`` is how many elements may wait, from 1 to 255; 3 where it is not given.
    """

    sym_name: ir.StringAttr
    types: ir.ArrayAttr

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        depth = op.operation.attributes.get("prefetch_depth", None)
        if depth is not None and not (isinstance(depth, ir.IntegerAttr) and 0 < depth.value <= MOST_PREFETCHED):
            return fail(op, f"has a prefetch_depth of {depth}; it is a number from 1 to {MOST_PREFETCHED}")
        return all(fail(op, broken) for broken in _broken_queue(op.operation))


class OutfeedOp(Ipu.Operation, name="outfeed"):
    """A queue of elements for the host: ``mode`` says whether it keeps all of them or the last one.

        "ipu.outfeed"() {sym_name = "losses", types = [tensor<f32>], mode = "all"} : () -> ()

    A unit attribute ``at_once`` says that the host waits for an element before it gives the next one to an infeed.
    """

    sym_name: ir.StringAttr
    types: ir.ArrayAttr
    mode: ir.StringAttr

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        if op.mode.value not in MODES:
            return fail(op, f"has mode {op.mode}; it is {' or '.join(map(repr, MODES))}")
        return all(fail(op, broken) for broken in _broken_queue(op.operation))


class HostFunctionOp(Ipu.Operation, name="host_function"):
    """A function of the host that programs call: it takes an element, and gives one; both may have no tensors.

    "ipu.host_function"() {sym_name = "f", takes = [tensor<8xf32>], gives = [tensor<f32>]} : () -> ()
    """

    sym_name: ir.StringAttr
    takes: ir.ArrayAttr
    gives: ir.ArrayAttr

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        attributes = op.operation.attributes
        if "takes" not in attributes or "gives" not in attributes:
            return True  # the generated check reports it
        types = [*attributes["takes"], *attributes["gives"]]
        return all(fail(op, broken) for broken in _broken_types(op.operation, types))


class HostCallOp(Ipu.Operation, name="host_call"):
    """Let the host call a function with the element that was put together; ``ipu.element`` has what it gives.

    "ipu.host_call"() {queue = @f} : () -> ()
    """

    queue: ir.FlatSymbolRefAttr
    host_call = HostCall("streams", "queue")
    effects = host_call.effects


class DequeueOp(Ipu.Operation, name="dequeue"):
    """Take the next element from an infeed; wait until there is one.

    "ipu.dequeue"() {queue = @q} : () -> ()
    """

    queue: ir.FlatSymbolRefAttr
    host_call = HostCall("streams", "queue")
    effects = host_call.effects


class ElementOp(Ipu.Operation, name="element"):
    """A tensor of the element that was taken last.

    %x = "ipu.element"() {queue = @q, index = 0} : () -> tensor<8x4xf32>
    """

    queue: ir.FlatSymbolRefAttr
    index: ir.IntegerAttr
    value: ext.Result[Any]
    effects = Effects(host=True, ordered=True)


class ReceiveOp(Ipu.Operation, name="receive"):
    """Write a tensor of the element that was taken last to tiles: ``ipu.element`` in supersteps.

    "ipu.receive"(%x) {queue = @q, index = 0} : (memref<8x4xf32, #home>) -> ()
    """

    queue: ir.FlatSymbolRefAttr
    index: ir.IntegerAttr
    dest: ext.Operand[Any]
    host_call = HostCall("streams", "queue", number="index", fills=0)
    effects = host_call.effects

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        if not is_buffer(op.dest.type):
            return fail(op, f"fills {op.dest.type}; it writes {BUFFER}")
        return True


class PutOp(Ipu.Operation, name="put"):
    """Let a tensor be part of the element that ``ipu.enqueue`` hands to the host next.

    "ipu.put"(%loss) {queue = @losses, index = 0} : (tensor<f32>) -> ()
    """

    queue: ir.FlatSymbolRefAttr
    index: ir.IntegerAttr
    value: ext.Operand[Any]
    host_call = HostCall("streams", "queue", number="index")
    effects = host_call.effects


class EnqueueOp(Ipu.Operation, name="enqueue"):
    """Hand the element that was put together to an outfeed.

    "ipu.enqueue"() {queue = @losses} : () -> ()
    """

    queue: ir.FlatSymbolRefAttr
    host_call = HostCall("streams", "queue")
    effects = host_call.effects
