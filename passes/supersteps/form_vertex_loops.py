"""``ipu-form-vertex-loops``: a loop on one tile becomes one vertex."""

from ipu_mlir.dialects.analysis.control_flow import blocks_of
from ipu_mlir.dialects.analysis.loop_nest import is_structured
from ipu_mlir.dialects.analysis.vertex_loops import ONE_VERTEX, steps_in, vertex_tile
from ipu_mlir.dialects.attributes.attributes import parts_to_attr
from ipu_mlir.dialects.mapping.parts import PartLoop, Parts
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.supersteps.form_supersteps import put_in_compute_set
from ipu_mlir.passes.support.linalg_builders import copy_into


class FormVertexLoops(Pass):
    """Let one vertex run a loop all of whose vertices are on one tile.

    Within it no tile waits for another: there is no sync, nothing is started anew, and control flow reads what it goes
    by in its own memory. An exchange of the tile with itself becomes a copy. Of loops in each other the outermost
    becomes one vertex.

    Needs:  supersteps (``ipu-form-supersteps``).
    Leaves: ``ipu.one_vertex``, with the tile, on loops of compute sets there; ``ipu-check-supersteps`` holds to it.
    """

    name = "ipu-form-vertex-loops"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for block in blocks_of(module):
                _mark(block)


def _mark(block: ir.Block) -> None:
    for each in block.operations:
        op = each.operation
        tile = vertex_tile(op, is_formed=False)
        if tile is not None:
            for exchange in [step for step in steps_in(op) if step.name == "ipu.exchange"]:
                _copy_on_tile(exchange, tile)
            op.attributes[ONE_VERTEX] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), tile)
        elif not op.name.startswith("ipu.") and not is_structured(op):
            for inner in blocks_of(op):
                _mark(inner)


def _copy_on_tile(exchange: ir.Operation, tile: int) -> None:
    """Let a vertex on ``tile`` do what ``exchange`` does there."""
    source, dest = exchange.operands
    with ir.InsertionPoint(exchange), exchange.location:
        loops = tuple(PartLoop(max(1, size), size, 0) for size in dest.type.shape)
        put_in_compute_set(copy_into(source, dest), parts_to_attr(Parts(loops, tile)))
    exchange.erase()
