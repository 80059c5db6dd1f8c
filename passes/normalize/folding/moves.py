"""Ops that move the elements of constants, on arrays."""

from collections.abc import Callable

import numpy as np

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.normalize.folding.constant_arrays import Array, Lookup


def _box(op: ir.Operation) -> tuple[slice, ...] | None:
    """The part of a tensor that a slice takes; None if it is known at run time only."""
    offsets, sizes, strides = (list(op.attributes[f"static_{name}"]) for name in ("offsets", "sizes", "strides"))
    dynamic = ir.ShapedType.get_dynamic_size()
    if dynamic in (*offsets, *sizes, *strides):
        return None
    return tuple(slice(o, o + n * s, s) for o, n, s in zip(offsets, sizes, strides, strict=True))


def _slice(op: ir.Operation, lookup: Lookup) -> Array | None:
    whole, box = lookup(op.operands[0]), _box(op)
    return None if whole is None or box is None else whole[box].reshape(op.results[0].type.shape)


def _updated(op: ir.Operation, lookup: Lookup) -> Array | None:
    part, whole, box = lookup(op.operands[0]), lookup(op.operands[1]), _box(op)
    if part is None or whole is None or box is None:
        return None
    found = whole.copy()
    found[box] = part.reshape(found[box].shape)
    return found


def _joined(op: ir.Operation, lookup: Lookup) -> Array | None:
    parts = [lookup(value) for value in op.operands]
    known = [part for part in parts if part is not None]
    return np.concatenate(known, ir.IntegerAttr(op.attributes["dim"]).value) if len(known) == len(parts) else None


def _reshaped(op: ir.Operation, lookup: Lookup) -> Array | None:
    whole = lookup(op.operands[0])
    return None if whole is None else whole.reshape(op.results[0].type.shape)


MOVES: dict[str, Callable[[ir.Operation, Lookup], Array | None]] = {
    "tensor.collapse_shape": _reshaped,
    "tensor.concat": _joined,
    "tensor.expand_shape": _reshaped,
    "tensor.extract_slice": _slice,
    "tensor.insert_slice": _updated,
}
"""The array that each of these ops gives; None if that is not known."""
