"""``ipu.compute_set``: one superstep's compute phase."""

from ipu_mlir.dialects.bindings import ext, ir
from ipu_mlir.dialects.dialect import Ipu


class ComputeSetOp(Ipu.Operation, name="compute_set", traits=[ir.NoTerminatorTrait]):
    """Run families of vertices that do not depend on each other, all tiles at once, then synchronise.

        "ipu.compute_set"() ({ "ipu.vertices"() ({ ... }) {...} : () -> () }) : () -> ()
    """

    body: ext.Region
