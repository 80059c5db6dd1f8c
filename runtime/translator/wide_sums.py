"""Reductions in 16-bit floats are done in f32 and rounded once.

Maxima and minima are the same, and faster. Sums in 16 bits are left only where ``ipu-widen-sums`` was told to leave
them, or where somebody wrote such supersteps; step by step, as those say, they would take hundreds of times as long.
"""

from dataclasses import replace

import numpy as np

from ipu_mlir.runtime.translator.emit_elementwise import temporary
from ipu_mlir.runtime.translator.expression import Accumulator, Apply, Expression, Read, apply, cast, uses_accumulator
from ipu_mlir.runtime.translator.statements import Elementwise, Fold
from ipu_mlir.runtime.translator.transform import parallel_extents

F16, F32 = np.dtype(np.float16), np.dtype(np.float32)
ROUND_BF16 = "round_to_bf16"

_EXACT_OR_SUM = ("add", "maximum", "minimum", "fmax", "fmin")


def widened(fold: Fold) -> tuple[Fold, Elementwise] | None:
    """``fold`` on f32 with one result, and the statement that rounds it; None if ``fold`` has nothing to widen."""
    if len(fold.values) != 1:
        return None
    (value,), (out,), (init,) = fold.values, fold.outputs, fold.inits
    rounded = isinstance(value, Apply) and value.call == ROUND_BF16
    inner = value.args[0] if isinstance(value, Apply) and rounded else value
    if not rounded and value.dtype != F16:
        return None
    if not isinstance(inner, Apply) or inner.call not in _EXACT_OR_SUM:
        return None
    for running, term in (inner.args, inner.args[::-1]):
        if isinstance(running, Accumulator) and not uses_accumulator(term):
            break
    else:
        return None
    extents = parallel_extents(fold)
    loops = sorted((loop for loop, n in enumerate(extents) if n > 1), key=lambda loop: -out.strides[loop])
    wide = temporary(f"{out.buffer.name}_wide", F32, fold.extents, loops)
    total = Apply(F32, inner.call, (Accumulator(F32, running.index), _wide(term)))
    narrow = apply(ROUND_BF16, Read(F32, wide)) if rounded else cast(Read(F32, wide), F16)
    folded = replace(fold, outputs=(wide,), inits=(cast(init, F32),), values=(total,))
    return folded, Elementwise(extents, fold.origin, (out,), (narrow,))


def _wide(term: Expression) -> Expression:
    """``term`` in f32; a product is exact there and is not rounded before it is summed."""
    if isinstance(term, Apply) and term.call == ROUND_BF16:
        (term,) = term.args
    if isinstance(term, Apply) and term.call == "multiply" and term.dtype == F16:
        return Apply(F32, "multiply", tuple(cast(factor, F32) for factor in term.args))
    return cast(term, F32)
