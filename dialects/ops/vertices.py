"""``ipu.vertices``: the code of one family of vertices."""

from ipu_mlir.dialects.attributes import PartsAttr
from ipu_mlir.dialects.bindings import ext, ir
from ipu_mlir.dialects.dialect import Ipu


class VerticesOp(Ipu.Operation, name="vertices", traits=[ir.NoTerminatorTrait]):
    """One vertex per part: each runs the structured op inside over its own part of the loops, on its own tile.

        "ipu.vertices"() ({ linalg.add ins(...) outs(...) }) {codelet = "binary_f32", parts = #ipu.parts<...>} : () -> ()
    """

    codelet: ir.StringAttr
    parts: PartsAttr
    body: ext.Region
