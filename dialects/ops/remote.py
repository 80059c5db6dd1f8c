"""``ipu.remote_buffer``: rows in memory beside the chip or on the host, and what moves them to tiles and back.

All ops but the buffers themselves happen in the order of the program: nothing moves, repeats or drops them.
"""

from collections.abc import Iterator
from typing import Any

from ipu_mlir.dialects.analysis.buffers import BUFFER, is_buffer
from ipu_mlir.dialects.analysis.effects import Effects
from ipu_mlir.dialects.analysis.host_calls import HostCall
from ipu_mlir.dialects.attributes.dialect import Ipu
from ipu_mlir.dialects.support.bindings import ext, ir
from ipu_mlir.dialects.support.diagnostics import fail
from ipu_mlir.dialects.support.verifiers import verifier

MEMORIES = ("streaming", "host")
PARTITIONS = ("encoding", "token")
_NUMBERS = ("i32", "index")


class RemoteBufferOp(Ipu.Operation, name="remote_buffer"):
    """Rows that live off the chip from run to run; a row is what the type has behind its first dimension.

        "ipu.remote_buffer"() {sym_name = "b", type = tensor<1000000x64xf32>} : () -> ()

    ``memory`` is ``"streaming"``, beside the chip, where it is not given, or ``"host"``. Without ``init`` the buffer
    begins with zeros. With ``variable`` its only row is a variable to the host, and ``init``
    is of its type: ``ipu-offload-variables`` makes such. With ``variables`` each row is the variable of that name, and
    has an entry of ``init``: ``ipu-merge-remote-buffers`` makes such.

    What is beside the chip is of one replica: each has these rows, and where ``ipu.varies`` says so they may differ.
    What is on the host all replicas share. With ``partition`` each replica keeps a part, and ``init`` is of
    all: of each row where it is ``"encoding"``, and every so many rows where it is ``"token"``.
    """

    sym_name: ir.StringAttr
    type: ir.TypeAttr

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        return all(fail(op, broken) for broken in _broken_buffer(op.operation, op.attributes["type"].value))


def _broken_buffer(op: ir.Operation, tensor: ir.Type) -> Iterator[str]:
    """The errors of a remote buffer, as ends of sentences."""
    if op.parent is None or op.parent.operation.name != "builtin.module":
        yield "stands inside a function; a remote buffer belongs to the module"
    memory = op.attributes.get("memory", None)
    if memory is not None and not (isinstance(memory, ir.StringAttr) and memory.value in MEMORIES):
        yield f"lies in memory {memory}; it is {' or '.join(map(repr, MEMORIES))}"
    is_plain = isinstance(tensor, ir.RankedTensorType) and tensor.has_static_shape and tensor.encoding is None
    if not is_plain or not len(tensor.shape) or 0 in tensor.shape:
        yield f"is of type {tensor}; it is a ranked tensor of static shape, with one row at least, without encoding"
        return
    if "variable" in op.attributes and tensor.shape[0] != 1:
        yield f"is a variable of type {tensor}; a variable is one row"
    partition = op.attributes.get("partition", None)
    if partition is not None and not (isinstance(partition, ir.StringAttr) and partition.value in PARTITIONS):
        yield f"is cut by {partition}; it is {' or '.join(map(repr, PARTITIONS))}"
    if partition is not None and str(memory) == '"host"':
        yield "is cut for replicas, which share what is on the host; leave out partition or memory"
    if "whole" in op.attributes:  # the parts that ipu-partition-remote-buffers has made
        tensor = ir.RankedTensorType(ir.TypeAttr(op.attributes["whole"]).value)
    init, rows = op.attributes.get("init", None), tensor
    if "variable" in op.attributes or "variables" in op.attributes:
        rows = ir.RankedTensorType.get(tensor.shape[1:], tensor.element_type, loc=op.location)
    values = [] if init is None else [init]
    if (names := op.attributes.get("variables", None)) is not None:
        if init is None or not isinstance(names, ir.ArrayAttr) or not isinstance(init, ir.ArrayAttr):
            yield "has variables without a list of their names, or of what they begin with"
            return
        if not len(names) == len(init) == tensor.shape[0]:
            yield f"has {len(names)} variables with {len(init)} values for {tensor.shape[0]} rows; each has one row"
        values = list(init)
    for value in values:
        if not (isinstance(value, ir.DenseElementsAttr) and value.type == rows):
            begins = value.type if isinstance(value, ir.DenseElementsAttr) else value
            yield f"begins with {begins}, but is of type {rows}"


def _broken_rows(rows: ir.Value, moved: ir.Value) -> str | None:
    """The error of ``rows``, which say where in the buffer ``moved`` lies, as the end of a sentence."""
    if isinstance(rows.type, ir.IndexType):
        return None
    if not isinstance(rows.type, ir.RankedTensorType | ir.MemRefType) or str(rows.type.element_type) not in _NUMBERS:
        return f"has rows {rows.type}; they are an index, or a tensor or a memref of i32"
    shape, found = list(rows.type.shape), list(moved.type.shape)
    if found[: len(shape)] != shape:
        return f"moves {moved.type} at rows {rows.type}; there is one row for each number"
    return None


def _verify(op: Any, moved: ir.Value, rows: ir.Value) -> bool:
    if not isinstance(moved.type, ir.RankedTensorType | ir.MemRefType) or not moved.type.has_static_shape:
        return fail(op, f"moves {moved.type}; rows are tensors of static shape, or buffers in supersteps")
    broken = _broken_rows(rows, moved)
    return fail(op, broken) if broken is not None else True


def _verify_row(op: Any) -> bool:
    """The verifier of what moves ``op.value``, from ``op.row`` on."""
    if not isinstance(op.row.type, ir.IndexType):
        return fail(op, f"has row {op.row.type}; it is an index")
    return _verify(op, op.value, op.row)


_READS = Effects(host=True, ordered=True)


class RemoteLoadOp(Ipu.Operation, name="remote_load"):
    """Rows of a remote buffer: one, or as many as the result has from that one on.

        %x = "ipu.remote_load"(%row) {buffer = @b} : (index) -> tensor<64xf32>
        %y = "ipu.remote_load"(%row) {buffer = @b} : (index) -> tensor<8x64xf32>

    A row that the buffer does not have is an error at run time.
    """

    buffer: ir.FlatSymbolRefAttr
    row: ext.Operand[Any]
    value: ext.Result[Any]
    effects = _READS

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        return _verify_row(op)


class RemoteStoreOp(Ipu.Operation, name="remote_store"):
    """Write rows to a remote buffer, from one on.

    "ipu.remote_store"(%x, %row) {buffer = @b} : (tensor<64xf32>, index) -> ()
    """

    buffer: ir.FlatSymbolRefAttr
    value: ext.Operand[Any]
    row: ext.Operand[Any]
    host_call = HostCall("remote", "buffer")
    effects = host_call.effects

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        if isinstance(op.row.type, ir.MemRefType):  # of a row for each replica
            return _verify(op, op.value, op.row)
        return _verify_row(op)


class HostGatherOp(Ipu.Operation, name="host_gather"):
    """The rows of a table on the host that ``rows`` names, any number of times and in any order.

        %x = "ipu.host_gather"(%rows) {buffer = @t} : (tensor<8xi32>) -> tensor<8x64xf32>

    A row that the table does not have is an error at run time.
    """

    buffer: ir.FlatSymbolRefAttr
    rows: ext.Operand[Any]
    value: ext.Result[Any]
    effects = _READS

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        if isinstance(op.rows.type, ir.IndexType):
            return fail(op, "has one row; give it a tensor of i32, or use ipu.remote_load")
        return _verify(op, op.value, op.rows)


class HostUpdateAddOp(Ipu.Operation, name="host_update_add"):
    """Add ``update`` to the rows of a table on the host that ``rows`` names; what one row gets twice adds up.

        "ipu.host_update_add"(%rows, %update) {buffer = @t, every = 4} : (tensor<8xi32>, tensor<8x64xf32>) -> ()

    With ``every`` updates are gathered, and are added together whenever there are so many.
    """

    buffer: ir.FlatSymbolRefAttr
    rows: ext.Operand[Any]
    update: ext.Operand[Any]
    host_call = HostCall("remote", "buffer", number="every")
    effects = host_call.effects

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        if isinstance(op.rows.type, ir.IndexType):
            return fail(op, "has one row; give it a tensor of i32, or use ipu.remote_store")
        every = op.operation.attributes.get("every", None)
        if every is not None and not (isinstance(every, ir.IntegerAttr) and every.value > 0):
            return fail(op, f"gathers every {every} updates; it is a number above 0")
        return _verify(op, op.update, op.rows)


class FetchOp(Ipu.Operation, name="fetch"):
    """Write rows of a remote buffer to tiles: ``ipu.remote_load`` and ``ipu.host_gather`` in supersteps.

    "ipu.fetch"(%x, %row) {buffer = @b} : (memref<64xf32, #home>, index) -> ()
    """

    buffer: ir.FlatSymbolRefAttr
    dest: ext.Operand[Any]
    rows: ext.Operand[Any]
    host_call = HostCall("remote", "buffer", fills=0)
    effects = host_call.effects

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        if not is_buffer(op.dest.type):
            return fail(op, f"fills {op.dest.type}; it writes {BUFFER}")
        return _verify(op, op.dest, op.rows)
