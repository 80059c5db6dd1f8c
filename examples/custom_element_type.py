"""An element type of your own: the float of six bits that MLIR and ml_dtypes have, as one row of the table.

A type that is here to stay is a row of ``dialects/support/element_types.py``. A row that is added from outside must be
there before the compiler is imported: it derives tables of its own from the rows.

    python examples/custom_element_type.py
"""

import numpy as np

from ipu_mlir.dialects.support.element_types import ELEMENT_TYPES, ElementType

SIX_BITS = ElementType(
    name="f6E3M2FN",  # in MLIR
    bits=6,  # a tile stores it in a byte
    host="float6_e3m2fn",  # in ml_dtypes
    unit="f8",  # the instructions that take it; it is computed in f32, and rounded
)
ELEMENT_TYPES[SIX_BITS.name] = SIX_BITS

PROGRAM = """
func.func @main(%x: tensor<5xf6E3M2FN>, %y: tensor<5xf6E3M2FN>) -> tensor<5xf6E3M2FN> {
  %sum = arith.addf %x, %y : tensor<5xf6E3M2FN>
  return %sum : tensor<5xf6E3M2FN>
}
"""


def main() -> None:
    """Add numbers of the type on both executors."""
    import ipu_mlir as ipu
    from ipu_mlir.runtime.per_tile.executor import PerTileExecutor

    exe = ipu.compile(PROGRAM, target=ipu.Target(tiles_per_ipu=2))
    x = np.array([1, 1.25, 5, -28, 0.0625], SIX_BITS.dtype)
    y = np.array([0.1875, 1.25, 0.5, -28, 0], SIX_BITS.dtype)
    for (found,) in (exe.run([x, y]), PerTileExecutor(exe.module()).run([x, y])):
        print(found.dtype, found.astype(np.float32).tolist())
    print("compute cycles:", exe.profile().execution.cycles.compute)


if __name__ == "__main__":
    main()
