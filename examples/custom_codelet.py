"""A codelet of your own: the median of each row, which no loop nest over scalars says.

One declaration holds what a vertex computes and what it costs. A program calls the codelet by its name, in a
``linalg.generic`` whose loops and maps say what each vertex reads and writes.

    python examples/custom_codelet.py
"""

from typing import Any

import numpy as np

import ipu_mlir as ipu
from ipu_mlir.dialects.codelets.codelet import CodeletCall, LibraryCodelet
from ipu_mlir.dialects.codelets.library import register
from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.size_arithmetic import Size, per_worker, product_over
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.runtime.per_tile.executor import PerTileExecutor


def median_of_rows(values: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], ...]:
    """The rows of one vertex, or of all of them, to their medians."""
    return (np.median(values, axis=1).astype(values.dtype),)


def cycles(call: CodeletCall, sizes: IntArray, machine: Machine) -> Size:
    """A worker takes row after row, ten cycles per element."""
    return 100 + 10 * per_worker(product_over(sizes, call.kept), machine) * product_over(sizes, call.reduced)


MEDIAN = LibraryCodelet(
    name="median",
    per_tile=median_of_rows,
    vectorised=median_of_rows,
    cycles=cycles,
    scratch_bytes=lambda call, sizes, machine: 4 * product_over(sizes, call.reduced),
    code_bytes=512,
    source="meaning: numpy.median; cycles and bytes: assumption",
    needs="rows, and a result for each",
    takes=lambda inputs, outputs: len(inputs) == len(outputs) == 1 and inputs[0][:1] == outputs[0],
)

PROGRAM = """
func.func @main(%x: tensor<8x5xf32>) -> tensor<8xf32> {
  %empty = tensor.empty() : tensor<8xf32>
  %median = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                            iterator_types = ["parallel", "reduction"], library_call = "median"}
      ins(%x : tensor<8x5xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f32, %old: f32):
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %median : tensor<8xf32>
}
"""


def main() -> None:
    """Make the codelet known, run a program that calls it on both executors, and show what it costs."""
    register(MEDIAN)
    exe = ipu.compile(PROGRAM, target=ipu.Target(tiles_per_ipu=4))
    x = np.random.default_rng(0).standard_normal((8, 5), dtype=np.float32)
    for (found,) in (exe.run([x]), PerTileExecutor(exe.module()).run([x])):
        print("right:", np.array_equal(found, np.median(x, axis=1)))
    print("compute cycles:", exe.profile().execution.cycles.compute)


if __name__ == "__main__":
    main()
