"""The ``ipu`` dialect, complete. MLIR finds its op classes by this module's name.

``load(context)`` makes the dialect known to a context; loading it again does nothing.
"""

import re
import threading
from typing import Any

from ipu_mlir.dialects.analysis.host_calls import HostCall
from ipu_mlir.dialects.attributes.attributes import MappingAttr, PartsAttr, TargetAttr
from ipu_mlir.dialects.attributes.dialect import Ipu
from ipu_mlir.dialects.ops.barrier import BarrierOp
from ipu_mlir.dialects.ops.collectives import (
    AllGatherOp,
    AllReduceOp,
    AllToAllOp,
    AssumeEqualOp,
    BroadcastOp,
    CollectiveOp,
    NumberReplicaOp,
    ReduceScatterOp,
    ReplicaIndexOp,
)
from ipu_mlir.dialects.ops.compute_set import ComputeSetOp
from ipu_mlir.dialects.ops.exchange import ExchangeOp
from ipu_mlir.dialects.ops.fifo import FifoOp
from ipu_mlir.dialects.ops.library_call import LibraryCallOp
from ipu_mlir.dialects.ops.pipeline import KeepOp, MicroBatchOp, PipelineOp
from ipu_mlir.dialects.ops.place import PlaceOp
from ipu_mlir.dialects.ops.print import PrintOp
from ipu_mlir.dialects.ops.read_control import ReadControlOp
from ipu_mlir.dialects.ops.remote import (
    FetchOp,
    HostGatherOp,
    HostUpdateAddOp,
    RemoteBufferOp,
    RemoteLoadOp,
    RemoteStoreOp,
)
from ipu_mlir.dialects.ops.rounding import IsSoundOp, NoiseOp, RoundOp, SaturateOp
from ipu_mlir.dialects.ops.stop_gradient import StopGradientOp
from ipu_mlir.dialects.ops.streams import (
    DequeueOp,
    ElementOp,
    EnqueueOp,
    HostCallOp,
    HostFunctionOp,
    InfeedOp,
    OutfeedOp,
    PutOp,
    ReceiveOp,
)
from ipu_mlir.dialects.ops.to_shard import ToShardOp
from ipu_mlir.dialects.ops.variables import AssignedOp, AssignOp, ReadOp, VariableOp
from ipu_mlir.dialects.ops.vertices import VerticesOp
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.diagnostics import collect
from ipu_mlir.dialects.support.errors import CompileError

_DIALECT = re.compile(r"\w+")

HOST_CALLS: dict[str, HostCall] = {
    op.OPERATION_NAME.removeprefix("ipu."): op.host_call for op in list(globals().values()) if hasattr(op, "host_call")
}
"""What ops ask of the host, by their names without the dialect."""

__all__ = [
    "AllGatherOp",
    "AllReduceOp",
    "AllToAllOp",
    "AssignOp",
    "AssignedOp",
    "AssumeEqualOp",
    "BarrierOp",
    "BroadcastOp",
    "CollectiveOp",
    "ComputeSetOp",
    "DequeueOp",
    "ElementOp",
    "EnqueueOp",
    "ExchangeOp",
    "FetchOp",
    "FifoOp",
    "HostCallOp",
    "HostFunctionOp",
    "HostGatherOp",
    "HostUpdateAddOp",
    "InfeedOp",
    "Ipu",
    "IsSoundOp",
    "KeepOp",
    "LibraryCallOp",
    "MappingAttr",
    "MicroBatchOp",
    "NoiseOp",
    "NumberReplicaOp",
    "OutfeedOp",
    "PartsAttr",
    "PipelineOp",
    "PlaceOp",
    "PrintOp",
    "PutOp",
    "ReadControlOp",
    "ReadOp",
    "ReceiveOp",
    "ReduceScatterOp",
    "RemoteBufferOp",
    "RemoteLoadOp",
    "RemoteStoreOp",
    "ReplicaIndexOp",
    "RoundOp",
    "SaturateOp",
    "StopGradientOp",
    "TargetAttr",
    "ToShardOp",
    "VariableOp",
    "VerticesOp",
    "add_dialect",
    "context",
    "dialect_names",
    "load",
]


_LOADED = (
    *("affine", "arith", "bufferization", "cf", "complex", "func", "index", "irdl", "linalg", "math", "memref"),
    *("ml_program", "quant", "scf", "shape", "sparse_tensor", "tensor", "tosa", "ub", "vector"),
)
_OUTSIDE: dict[str, Any] = {}
"""Dialects of plugins, by name."""
_LOADING = threading.Lock()
"""The bindings keep on the dialect's class what they make for a context: two threads would take it from each other."""


def load(context: ir.Context) -> None:
    """Make the dialect known to ``context``; must come before any IR of the dialect is parsed in it."""
    with _LOADING:
        if not context.is_dialect_loaded("ipu"):
            with context, ir.Location.unknown():
                Ipu.load()
        for dialect in _OUTSIDE.values():
            if not context.is_dialect_loaded(dialect.DIALECT_NAMESPACE):
                with context, ir.Location.unknown():
                    dialect.load()


def add_dialect(dialect: Any) -> None:
    """Let ``load`` make one more dialect known: a class that derives from the bindings' ``Dialect``, with its ops.

    Raises:
        CompileError: the name is that of a dialect of ours or of upstream.
    """
    name = dialect.DIALECT_NAMESPACE
    if name not in _OUTSIDE and name in dialect_names():
        raise CompileError(f"there is a dialect '{name}' already; give {dialect.__name__} another name")
    _OUTSIDE[name] = dialect


def dialect_names() -> list[str]:
    """All dialects whose ops can be read, ours included; the bindings name them only in the error for another one."""
    fresh = context()
    fresh.allow_unregistered_dialects = False
    with collect(fresh) as errors, fresh:
        try:
            ir.Module.parse("unknown.op")
        except ir.MLIRError:
            return _DIALECT.findall(errors[0].notes[0].message.partition(":")[2].partition(" (* ")[0])
    raise AssertionError("MLIR knows an op that is called unknown.op")


def context() -> ir.Context:
    """A fresh context that knows the dialect, and those whose ops Python makes.

    The parser and passes of upstream load others when they need them. To load all takes longer than a small program
    does to compile, and every canonicalization would ask all of their ops for patterns.
    """
    fresh = ir.Context(load_on_create_dialects=_LOADED)
    load(fresh)
    return fresh
