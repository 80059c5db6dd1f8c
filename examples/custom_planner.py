"""A planner of your own: every operation by rows, on the first tiles only.

A planner gets an operation (its loops, and where its operands lie) and the target, and answers with parts: how each
loop is cut, and on which tiles the pieces run. Everything else follows from it: mappings, exchanges, supersteps.

    python examples/custom_planner.py
"""

from dataclasses import dataclass

import numpy as np

import ipu_mlir as ipu
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.parts import PartLoop, Parts
from ipu_mlir.passes.placement.planner.operation import Operation


@dataclass(frozen=True)
class RowsOnFirstTiles:
    """Cut the first loop that may be cut into equal blocks over the first ``tiles`` tiles, and no other loop."""

    tiles: int

    def __call__(self, operation: Operation, target: Target) -> Parts:
        """The parts of ``operation``."""
        loops = [PartLoop(block=extent, extent=extent, tile_step=0) for extent in operation.extents]
        for first in operation.cuttable[:1]:
            rows = operation.extents[first]
            loops[first] = PartLoop(block=-(-rows // min(self.tiles, target.num_tiles)), extent=rows, tile_step=1)
        return Parts(tuple(loops))


@ipu.function
def layer(x, w, b):
    """A dense layer."""
    return ipu.nn.relu(x @ w + b)


def main() -> None:
    """Compile a layer with this planner and with the default one, and show where its tensors lie."""
    specs = [ipu.TensorSpec((64, 32)), ipu.TensorSpec((32, 16)), ipu.TensorSpec((16,))]
    target = ipu.Target(tiles_per_ipu=64)
    default = ipu.compile(layer, args=specs, target=target)
    by_rows = ipu.compile(layer, args=specs, target=target, planner=RowsOnFirstTiles(tiles=8))
    print("default planner:", default.placements(), sep="\n", end="\n\n")
    print("rows on the first 8 tiles:", by_rows.placements(), sep="\n", end="\n\n")

    rng = np.random.default_rng(0)
    inputs = [rng.standard_normal(spec.shape, dtype=np.float32) for spec in specs]
    difference = np.abs(default(*inputs) - by_rows(*inputs)).max()
    print(f"the results differ by at most {difference:.1g}")


if __name__ == "__main__":
    main()
