"""``ipu-hoist-casts``: data that a loop does not change moves once, before the loop."""

from ipu_mlir.dialects.analysis.control_flow import enclosing_loop
from ipu_mlir.dialects.analysis.matchers import is_made_inside
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_ops


class HoistCasts(Pass):
    """Move changes of mapping out of loops that do not change the data.

    Upstream's ``loop-invariant-code-motion`` would take fills along, which then have to be copied in every iteration.

    Needs:  placed tensors (``ipu-place-tensors``).
    Leaves: no ``tensor.cast`` in a loop of a value from outside that loop.
    """

    name = "ipu-hoist-casts"

    def run(self, module: ir.Operation) -> None:
        for cast in list_ops(module, "tensor.cast"):
            loop = enclosing_loop(cast)
            while loop is not None and not is_made_inside(cast.operands[0], loop):
                cast.move_before(loop)
                loop = enclosing_loop(cast)
