"""``RemoteBuffer`` and ``HostEmbedding``: rows that live off the chip, from run to run."""

from itertools import count
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ipu_mlir.dialects.ipu import HostGatherOp, HostUpdateAddOp, RemoteBufferOp, RemoteLoadOp, RemoteStoreOp
from ipu_mlir.dialects.ops.remote import PARTITIONS
from ipu_mlir.dialects.support.arguments import read_array
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.engine.remote import RemoteArray
from ipu_mlir.specs.specs import TensorSpec, spec_of
from ipu_mlir.tracing.emit import index_constant
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.graph import Symbol, Trace, dense_attribute, own_trace
from ipu_mlir.tracing.numbers import number_as_index, number_of
from ipu_mlir.tracing.operands import tensor, tensor_of

if TYPE_CHECKING:
    import os

_NUMBERS = count()


class RemoteBuffer:
    """Rows off the chip, which traced functions load and store: the first dimension counts them.

        table = ipu.RemoteBuffer(ipu.TensorSpec((1_000_000, 64)), name="table", file="table.npy")

        @ipu.function
        def double(i):
            table.store(i, table.load(i) * 2)

    Only the rows that are loaded take memory of tiles. They keep their values between runs. Functions that are called
    directly share what the buffer holds itself; each session of a compiled program has rows of its own, unless they lie
    in one file.

    Attributes:
        name: by which sessions and files know it.
        spec: shape and element type of all rows.
        file: the ``.npy`` file in which they lie; None for memory.
    """

    kind = "remote"
    memory = "streaming"

    def __init__(
        self,
        init: Any,
        name: str | None = None,
        *,
        file: "str | os.PathLike[str] | None" = None,
        partition: Literal["encoding", "token"] | None = None,
    ) -> None:
        """Make a remote buffer.

        Args:
            init: what it begins with: an array; a ``TensorSpec`` stands for zeros.
            file: where its rows lie, so that they may be more than there is memory: what the file has is what it
                begins with, and it is made if there is none.
            partition: replicas share the rows among them: of each row every one keeps a part, ``"encoding"``; or each
                keeps every so many rows, ``"token"``, which then are looked up and added to only. All store the same.

        Raises:
            TraceValueError: there are no rows, or no such partition.
        """
        self.name = f"remote_{next(_NUMBERS)}" if name is None else name
        self._init = init if isinstance(init, TensorSpec) else np.array(read_array(init, self.name))
        self.spec, self.file = spec_of(self._init), file
        if not self.spec.shape or 0 in self.spec.shape:
            raise TraceValueError(f"remote buffer {self.name} is {self.spec}; give it one row at least")
        if partition not in (None, *PARTITIONS):
            raise TraceValueError(f"remote buffer {self.name}: a partition is 'encoding' or 'token', got {partition!r}")
        self.partition = partition
        self.own: RemoteArray | None = None

    def load(self, row: Any, rows: int | None = None) -> Any:
        """A row, or ``rows`` of them from ``row`` on; in traced functions only.

        Args:
            row: an integer, or a traced one. One that the buffer does not have is an error at run time.
        """
        trace = self._trace("loaded")
        shape = self.spec.shape[1:] if rows is None else (rows, *self.spec.shape[1:])
        if rows is not None and not 0 < rows <= self.spec.shape[0]:
            raise TraceValueError(f"remote buffer {self.name} has {self.spec.shape[0]} rows; {rows} cannot be loaded")
        with trace.emit("remote_load"):
            type_ = trace.tensor_type(shape, self.spec.dtype)
            op = RemoteLoadOp(buffer=self._symbol, row=self._row(row, rows or 1), value=type_)
            return trace.wrap(op.operation.results[0], shape, self.spec.dtype)

    def store(self, row: Any, value: Any) -> None:
        """Write ``value``, a row or several, from ``row`` on; in traced functions only.

        Raises:
            TraceValueError, TraceTypeError: rows have another shape or element type.
        """
        trace = self._trace("stored")
        shape = self.spec.shape[1:]
        ndim = getattr(value, "ndim", np.ndim(value))
        rows = value.shape[0] if ndim == len(shape) + 1 else None
        spec = TensorSpec(shape if rows is None else (rows, *shape), self.spec.dtype)
        found = tensor_of(trace, value, spec, f"a row of remote buffer {self.name}")
        with trace.emit("remote_store"):
            RemoteStoreOp(buffer=self._symbol, value=found.value, row=self._row(row, rows or 1))

    @property
    def _symbol(self) -> ir.Attribute:
        return ir.FlatSymbolRefAttr.get(self.name)

    def _trace(self, done: str) -> Trace:
        trace = own_trace()
        if trace is None:
            raise TraceTypeError(
                f"rows of remote buffer {self.name} are {done} in traced functions; elsewhere a session has them: "
                f"session[{self.name!r}]"
            )
        trace.declare(self.name, self, lambda: self._make(trace))
        return trace

    def _make(self, trace: Trace) -> None:
        type_ = trace.tensor_type(self.spec.shape, self.spec.dtype)
        op = RemoteBufferOp(sym_name=ir.StringAttr.get(self.name), type=ir.TypeAttr.get(type_))
        if not isinstance(self._init, TensorSpec):
            op.operation.attributes["init"] = dense_attribute(self._init, type_)
        if self.partition is not None:
            op.operation.attributes["partition"] = ir.StringAttr.get(self.partition)
        elif self.memory != "streaming":
            op.operation.attributes["memory"] = ir.StringAttr.get(self.memory)

    def _row(self, row: Any, rows: int) -> ir.Value:
        """The number of the first of ``rows`` rows, in the current block."""
        if isinstance(row, Symbol):
            if row.shape or row.dtype.kind not in "iu":
                raise TraceTypeError(f"remote buffer {self.name}: a row is one integer, got {row}")
            return number_as_index(number_of(row.value))
        if np.ndim(row) or np.asarray(row).dtype.kind not in "iu":
            raise TraceTypeError(f"remote buffer {self.name}: a row is one integer, got {row!r}")
        if not 0 <= row <= self.spec.shape[0] - rows:
            raise TraceValueError(f"remote buffer {self.name} has rows 0 to {self.spec.shape[0] - 1}, got {row}")
        return index_constant(int(row))

    def __getstate__(self) -> dict[str, Any]:
        """As another process gets it: with what it begins with, or with its file."""
        return {**self.__dict__, "own": None}

    def __repr__(self) -> str:
        return f"<ipu remote buffer {self.name}: {self.spec}>"


class HostEmbedding(RemoteBuffer):
    """A table in the memory of the host, whose rows programs look up and add to by their numbers.

        words = ipu.HostEmbedding(np.zeros((1_000_000, 64), np.float32), name="words", file="words.npy")

        @ipu.function
        def step(ids, rate):
            found = words.lookup(ids)
            words.update_add(ids, -rate * gradient(found))

    All else is as of ``RemoteBuffer``. With ``partition`` the table is in remote memory beside the chips, where
    replicas share it.
    """

    memory = "host"

    def lookup(self, rows: Any, *, clip: bool = True) -> Any:
        """The rows of the numbers in ``rows``, an int32 tensor: of its shape, with that of a row behind it.

        Args:
            clip: a number that is no row stands for the first or the last one; otherwise it is an error at run time.
        """
        trace = self._trace("looked up")
        numbers = self._numbers(trace, rows, clip=clip)
        shape = (*numbers.shape, *self.spec.shape[1:])
        with trace.emit("host_gather"):
            type_ = trace.tensor_type(shape, self.spec.dtype)
            op = HostGatherOp(buffer=self._symbol, rows=numbers.value, value=type_)
            return trace.wrap(op.operation.results[0], shape, self.spec.dtype)

    def update_add(self, rows: Any, update: Any, *, every: int = 1, clip: bool = True) -> None:
        """Add ``update`` to the rows of the numbers in ``rows``; what one row gets several times adds up.

        Stochastic gradient descent adds the gradient of what was looked up, times minus the rate.

        Args:
            every: updates are gathered, and are added together whenever there are so many: accumulated descent.
                Lookups find the old rows until then.
            clip: as of ``lookup``.

        Raises:
            TraceValueError, TraceTypeError: the update has another shape or element type.
        """
        trace = self._trace("updated")
        if type(every) is not int or every < 1:
            raise TraceValueError(f"host embedding {self.name}: every is a number above 0, got {every!r}")
        numbers = self._numbers(trace, rows, clip=clip)
        spec = TensorSpec((*numbers.shape, *self.spec.shape[1:]), self.spec.dtype)
        found = tensor_of(trace, update, spec, f"an update of host embedding {self.name}")
        with trace.emit("host_update_add"):
            op = HostUpdateAddOp(buffer=self._symbol, rows=numbers.value, update=found.value)
            if every > 1:
                op.operation.attributes["every"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), every)

    def _numbers(self, trace: Trace, rows: Any, *, clip: bool) -> Any:
        found = tensor(trace, rows)
        if found.dtype.kind not in "iu":
            raise TraceTypeError(f"host embedding {self.name}: numbers of rows are integers, got {found}")
        if clip:
            found = np.clip(found, 0, self.spec.shape[0] - 1)
        return found.astype(np.int32)
