"""Tensors that follow from where an element stands."""

from typing import Any

import numpy as np

from ipu_mlir.dialects import linalg
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.tracing.conversions import convert
from ipu_mlir.tracing.emit import Loop, structured
from ipu_mlir.tracing.graph import Symbol

arith = upstream("arith")


def one_hot(labels: Symbol, classes: int, dtype: np.dtype[Any]) -> Any:
    """1 where the last index equals the label, 0 elsewhere; shape ``(*labels.shape, classes)``."""
    last = len(labels.shape)

    def code(label: ir.Value, _: ir.Value) -> ir.Value:
        place = arith.index_cast(label.type, linalg.IndexOp(last).result)
        return convert(arith.cmpi(arith.CmpIPredicate.eq, label, place), np.dtype(np.bool_), dtype)

    loops = [*map(Loop, labels.shape), Loop(classes)]
    inputs = [(labels, tuple(range(last)))]
    return structured(labels.program, "one_hot", inputs, loops, tuple(range(last + 1)), dtype, code)
