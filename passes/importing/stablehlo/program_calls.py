"""Custom calls named ``ipu.*``, by which StableHLO carries the ops of programs: ``CALLS`` is the table of them."""

from collections.abc import Callable, Sequence

from ipu_mlir.dialects.analysis.collectives import REDUCTIONS
from ipu_mlir.dialects.ipu import (
    AssignOp,
    DequeueOp,
    ElementOp,
    EnqueueOp,
    FifoOp,
    HostCallOp,
    PlaceOp,
    PrintOp,
    PutOp,
    ReadOp,
    ToShardOp,
)
from ipu_mlir.dialects.ops.remote import PARTITIONS
from ipu_mlir.dialects.ops.streams import MODES
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.importing.stablehlo.codelet_call import CODELET
from ipu_mlir.passes.importing.stablehlo.program_call import PREFIX, Call, ProgramCall, Setting, Symbol
from ipu_mlir.passes.importing.stablehlo.region_calls import REGION_CALLS
from ipu_mlir.passes.importing.stablehlo.scalar_regions import extract


def _dequeue(call: Call) -> list[ir.Value]:
    queue = call.attributes["queue"]
    DequeueOp(queue=queue)
    return _elements(call, queue)


def _enqueue(call: Call) -> list[ir.Value]:
    queue = call.attributes["queue"]
    _put(call, queue)
    EnqueueOp(queue=queue)
    return []


def _host_call(call: Call) -> list[ir.Value]:
    queue = call.attributes["function"]
    _put(call, queue)
    HostCallOp(queue=queue)
    return _elements(call, queue)


def _put(call: Call, queue: ir.Attribute) -> None:
    """Put the operands of ``call`` into an element of ``queue``."""
    for index, value in enumerate(call.operands):
        PutOp(queue=queue, index=_number(index), value=value)


def _elements(call: Call, queue: ir.Attribute) -> list[ir.Value]:
    """The results of ``call``: the tensors of an element of ``queue``."""
    ops = [ElementOp(queue=queue, index=_number(index), value=kind) for index, kind in enumerate(call.gives)]
    return [op.operation.results[0] for op in ops]


def _assign(call: Call) -> list[ir.Value]:
    AssignOp(variable=call.attributes["variable"], value=call.operands[0])
    return []


def _read(call: Call) -> list[ir.Value]:
    return list(ReadOp(variable=call.attributes["variable"], value=call.gives[0]).operation.results)


def _place(call: Call) -> list[ir.Value]:
    op = PlaceOp(source=call.operands[0], mapping=call.attributes["mapping"], placed=call.gives[0])
    return list(op.operation.results)


def _print(call: Call) -> list[ir.Value]:
    op = PrintOp(label=call.attributes["label"], value=call.operands[0])
    if call.unsigned[0]:
        op.operation.attributes["unsigned"] = ir.UnitAttr.get()
    return []


def _same(name: str) -> Callable[[Call], Sequence[ir.Value]]:
    """The op of a name with the operands, types and attributes of the call."""
    return lambda call: ir.Operation.create(PREFIX + name, call.gives, call.operands, call.attributes).results


def _rows(name: str, row: int | None = None) -> Callable[[Call], Sequence[ir.Value]]:
    """The op of a name on a remote buffer; its operand number ``row`` is an index there, and a number in the call."""

    def make(call: Call) -> Sequence[ir.Value]:
        operands = list(call.operands)
        if row is not None:
            operands[row] = upstream("arith").IndexCastOp(ir.IndexType.get(), extract(operands[row])).result
        attributes = call.chosen("buffer", "every")
        return ir.Operation.create(PREFIX + name, call.gives, operands, attributes).results

    return make


def _remote(moved: Callable[[Call], ir.Type], is_table: bool = False) -> Symbol:
    """A remote buffer, of elements as those of what is moved; a table is on the host, unless replicas share it."""

    def attributes(call: Call) -> dict[str, ir.Attribute]:
        shape = list(ir.DenseI64ArrayAttr(call.attributes["shape"]))
        element = ir.RankedTensorType(moved(call)).element_type
        where = call.chosen("partition") or ({"memory": ir.StringAttr.get("host")} if is_table else {})
        return {"type": ir.TypeAttr.get(ir.RankedTensorType.get(shape, element)), **where}

    return Symbol("ipu.remote_buffer", "buffer", attributes)


def _fifo(call: Call) -> list[ir.Value]:
    op = FifoOp(depth=call.attributes["depth"], value=call.operands[0], delayed=call.gives[0])
    if "offload" in call.attributes and ir.BoolAttr(call.attributes["offload"]).value:
        op.operation.attributes["offload"] = ir.UnitAttr.get()
    return list(op.operation.results)


def _number(value: int) -> ir.IntegerAttr:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


def _types(kinds: Sequence[ir.Type]) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([ir.TypeAttr.get(kind) for kind in kinds])


_QUEUE = Setting("a name", "the name of the queue", is_required=True)
_GROUP = Setting("an integer", "how many consecutive replicas take part; all if not said")
_REDUCTION = Setting("text", "how values are combined", True, REDUCTIONS)
_BUFFER = {
    "buffer": Setting("a name", "the name of the remote buffer", is_required=True),
    "shape": Setting("a list of integers", "the shape of the whole buffer, rows first", is_required=True),
}
_TABLE = {
    **_BUFFER,
    "partition": Setting(
        "text", "how replicas share the table beside their chips; it is on the host if not said", False, PARTITIONS
    ),
}
_VARIABLE = Setting("a name", "the name of the variable", is_required=True)

CALLS: dict[str, ProgramCall] = {
    "all_gather": ProgramCall(
        "gives the values of all replicas of a group, along one more first dimension",
        _same("all_gather"),
        operands=1,
        results=1,
        settings={"group": _GROUP},
    ),
    "all_reduce": ProgramCall(
        "gives the values of all replicas of a group, combined element by element",
        _same("all_reduce"),
        operands=1,
        results=1,
        settings={"op": _REDUCTION, "group": _GROUP},
        keeps_types=True,
    ),
    "all_to_all": ProgramCall(
        "gives each replica of a group its block of the value of every one",
        _same("all_to_all"),
        operands=1,
        results=1,
        settings={
            "split_dimension": Setting("an integer", "the dimension that is cut into blocks", is_required=True),
            "concat_dimension": Setting(
                "an integer", "the dimension along which they are put together", is_required=True
            ),
            "group": _GROUP,
        },
    ),
    "assign": ProgramCall(
        "gives a variable of the device a value, which it keeps from run to run",
        _assign,
        operands=1,
        settings={"variable": _VARIABLE},
        is_ordered=True,
        symbol=Symbol("ipu.variable", "variable", lambda call: {"type": ir.TypeAttr.get(call.takes[0])}),
    ),
    "assume_equal": ProgramCall(
        "gives a value of which the program says that it is one on all replicas",
        _same("assume_equal"),
        operands=1,
        results=1,
        keeps_types=True,
    ),
    "barrier": ProgramCall(
        "gives its operands when all of them are there, as everything does where one superstep follows another",
        lambda call: call.operands,
        operands=None,
        results=None,
        is_ordered=True,
        keeps_types=True,
    ),
    "broadcast": ProgramCall(
        "gives the value of one replica of a group to all of them",
        _same("broadcast"),
        operands=1,
        results=1,
        settings={"root": Setting("an integer", "which replica of the group; 0 if not said"), "group": _GROUP},
        keeps_types=True,
    ),
    "codelet": CODELET,
    "dequeue": ProgramCall(
        "takes the next element from the host, one result for each of its tensors",
        _dequeue,
        results=None,
        settings={
            "queue": _QUEUE,
            "prefetch_depth": Setting("an integer", "how many elements may wait, from 1 to 255; 3 if not said"),
        },
        is_ordered=True,
        symbol=Symbol(
            "ipu.infeed", "queue", lambda call: {"types": _types(call.gives), **call.chosen("prefetch_depth")}
        ),
    ),
    "enqueue": ProgramCall(
        "hands an element to the host, one operand for each of its tensors",
        _enqueue,
        operands=None,
        settings={
            "queue": _QUEUE,
            "mode": Setting(
                "text", "whether the queue keeps all elements, or the last one; all if not said", False, MODES
            ),
        },
        is_ordered=True,
        symbol=Symbol(
            "ipu.outfeed",
            "queue",
            lambda call: {"types": _types(call.takes), **call.chosen("mode")},
            {"mode": "all"},
        ),
    ),
    "fifo": ProgramCall(
        "gives what its operand was some executions ago, zeros before there is such a value",
        _fifo,
        operands=1,
        results=1,
        settings={
            "depth": Setting("an integer", "how many executions ago; below 1 it is the operand", is_required=True),
            "offload": Setting("true or false", "whether the values wait in remote memory; false if not said"),
        },
        is_ordered=True,
        keeps_types=True,
    ),
    "host_call": ProgramCall(
        "lets the host call a function with the operands; its results are those of the call",
        _host_call,
        operands=None,
        results=None,
        settings={"function": Setting("a name", "the name of the function", is_required=True)},
        is_ordered=True,
        symbol=Symbol(
            "ipu.host_function", "function", lambda call: {"takes": _types(call.takes), "gives": _types(call.gives)}
        ),
    ),
    "host_gather": ProgramCall(
        "gives the rows of a table on the host that a tensor of numbers names",
        _rows("host_gather"),
        operands=1,
        results=1,
        settings=_TABLE,
        is_ordered=True,
        symbol=_remote(lambda call: call.gives[0], is_table=True),
    ),
    "host_update_add": ProgramCall(
        "adds the second operand to the rows of a table on the host that the first one names",
        _rows("host_update_add"),
        operands=2,
        settings={**_TABLE, "every": Setting("an integer", "how many updates are added together; 1 if not said")},
        is_ordered=True,
        symbol=_remote(lambda call: call.takes[1], is_table=True),
    ),
    "keep": ProgramCall(
        "gives its operand, which a stage of a pipeline stores for its backward part and does not compute again",
        _same("keep"),
        operands=1,
        results=1,
        keeps_types=True,
    ),
    "micro_batch": ProgramCall(
        "gives the number of the micro-batch that a stage of a pipeline works on, from 0",
        _same("micro_batch"),
        results=1,
    ),
    "place": ProgramCall(
        "says on which tiles a value is stored",
        _place,
        operands=1,
        results=1,
        settings={
            "mapping": Setting(
                "a mapping, as in #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>",
                "which tile has which elements",
                is_required=True,
            )
        },
        keeps_types=True,
    ),
    "print": ProgramCall(
        "shows a value on standard error of the host",
        _print,
        operands=1,
        settings={"label": Setting("text", "what stands before the value", is_required=True)},
        is_ordered=True,
    ),
    "read": ProgramCall(
        "gives the value that a variable of the device has at this point",
        _read,
        results=1,
        settings={"variable": _VARIABLE},
        is_ordered=True,
        symbol=Symbol("ipu.variable", "variable", lambda call: {"type": ir.TypeAttr.get(call.gives[0])}),
    ),
    "reduce_scatter": ProgramCall(
        "as `ipu.all_reduce`, but each replica gets only its block of the result",
        _same("reduce_scatter"),
        operands=1,
        results=1,
        settings={"op": _REDUCTION, "group": _GROUP},
    ),
    "remote_load": ProgramCall(
        "gives rows of a remote buffer, from the one on whose number it takes",
        _rows("remote_load", row=0),
        operands=1,
        results=1,
        settings=_BUFFER,
        scalars=[0],
        is_ordered=True,
        symbol=_remote(lambda call: call.gives[0]),
    ),
    "remote_store": ProgramCall(
        "writes the first operand to rows of a remote buffer, from the one on whose number is the second",
        _rows("remote_store", row=1),
        operands=2,
        settings=_BUFFER,
        scalars=[1],
        is_ordered=True,
        symbol=_remote(lambda call: call.takes[0]),
    ),
    "replica_index": ProgramCall(
        "gives the number of the replica, from 0",
        _same("replica_index"),
        results=1,
    ),
    "stop_gradient": ProgramCall(
        "gives its operand, which gradients take for a constant",
        _same("stop_gradient"),
        operands=1,
        results=1,
        keeps_types=True,
    ),
    "to_shard": ProgramCall(
        "gives its operand on the tiles of an IPU of the replica",
        lambda call: ToShardOp(source=call.operands[0], shard=call.attributes["shard"], moved=call.gives[0]).results,
        operands=1,
        results=1,
        settings={"shard": Setting("an integer", "which IPU, from 0; -1 for all of them", is_required=True)},
        keeps_types=True,
    ),
    **REGION_CALLS,
}
"""By name without the prefix: a new row is all that a new call needs."""
