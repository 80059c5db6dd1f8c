"""The ``ipu`` dialect, complete. MLIR finds its op classes by this module's name.

``load(context)`` makes the dialect known to a context; loading it again does nothing.
"""

from ipu_mlir.dialects.attributes import MappingAttr, PartsAttr, TargetAttr
from ipu_mlir.dialects.bindings import ir
from ipu_mlir.dialects.dialect import Ipu
from ipu_mlir.dialects.ops.compute_set import ComputeSetOp
from ipu_mlir.dialects.ops.exchange import ExchangeOp
from ipu_mlir.dialects.ops.place import PlaceOp
from ipu_mlir.dialects.ops.read_control import ReadControlOp
from ipu_mlir.dialects.ops.vertices import VerticesOp

__all__ = [
    "ComputeSetOp",
    "ExchangeOp",
    "Ipu",
    "MappingAttr",
    "PartsAttr",
    "PlaceOp",
    "ReadControlOp",
    "TargetAttr",
    "VerticesOp",
    "context",
    "load",
]


def load(context: ir.Context) -> None:
    """Make the dialect known to ``context``; must come before any IR of the dialect is parsed in it."""
    if not context.is_dialect_loaded("ipu"):
        with context, ir.Location.unknown():
            Ipu.load()


def context() -> ir.Context:
    """A fresh context that knows the dialect."""
    fresh = ir.Context()
    load(fresh)
    return fresh
