"""Reductions in floats of 16 and 8 bits are done in f32 and rounded once.

Maxima and minima are the same, and faster. Sums in such types are left only where ``ipu-widen-sums`` was told to leave
them, or where somebody wrote such supersteps; step by step, as those say, they would take hundreds of times as long.
"""

from dataclasses import replace

import numpy as np

from ipu_mlir.runtime.translator.importing.narrow_floats import not_rounded
from ipu_mlir.runtime.translator.statements.access import temporary
from ipu_mlir.runtime.translator.statements.combiner import combiner_of
from ipu_mlir.runtime.translator.statements.expression import Accumulator, Apply, Read, apply
from ipu_mlir.runtime.translator.statements.statements import Elementwise, Fold
from ipu_mlir.runtime.translator.statements.transform import parallel_extents

F32 = np.dtype(np.float32)


def widened(fold: Fold) -> tuple[Fold, Elementwise] | None:
    """``fold`` with one result that is not rounded, and the statement that rounds it; None if there is no such sum."""
    if len(fold.values) != 1:
        return None
    (value,), (out,) = fold.values, fold.outputs
    inner, rounding = not_rounded(value)
    found = None if rounding is None else combiner_of(inner)
    if rounding is None or found is None or found[0] != "add":
        return None
    term = found[2]
    extents = parallel_extents(fold)
    loops = sorted((loop for loop, n in enumerate(extents) if n > 1), key=lambda loop: -out.strides[loop])
    wide = temporary(f"{out.buffer.name}_wide", F32, fold.extents, loops)
    product, _ = not_rounded(term)
    if isinstance(product, Apply) and product.call == "multiply":
        term = product  # exact in f32, and not rounded before it is summed
    total = apply("add", Accumulator(F32, 0), term)
    folded = replace(fold, outputs=(wide,), values=(total,))
    return folded, Elementwise(extents, fold.origin, (out,), (apply(rounding, Read(F32, wide)),))
