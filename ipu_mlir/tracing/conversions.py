"""Scalars from one element type to another, as NumPy's ``astype`` does it."""

from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.specs.tensor_types import element_type, kind_of, part_dtype
from ipu_mlir.tracing.emit import constant

arith = upstream("arith")


def convert(value: ir.Value, source: np.dtype[Any], target: np.dtype[Any]) -> ir.Value:
    """``value``, a scalar of type ``source``, as a ``target``.

    A float becomes an integer by cutting its fraction off; what is not zero becomes True.
    """
    source, target = part_dtype(source), part_dtype(target)
    if source == target:
        return value
    type_ = element_type(target)
    match kind_of(source), kind_of(target):
        case _, "b":
            return truth(value, source)
        case "f", "f" if target.itemsize == source.itemsize:  # by way of a type that holds both
            wide = np.dtype(np.float32)
            return convert(convert(value, source, wide), wide, target)
        case "f", "f":
            return (arith.extf if target.itemsize > source.itemsize else arith.truncf)(type_, value)
        case "f", "i":
            return arith.fptosi(type_, value)
        case "f", "u":
            return arith.fptoui(type_, value)
        case "i", "f":
            return arith.sitofp(type_, value)
        case "u" | "b", "f":
            return arith.uitofp(type_, value)
        case "b", "i" | "u":
            return arith.extui(type_, value)
        case ("i" | "u") as kind, "i" | "u":
            if target.itemsize == source.itemsize:
                return value
            extend = arith.extsi if kind == "i" else arith.extui
            return (extend if target.itemsize > source.itemsize else arith.trunci)(type_, value)
    raise AssertionError(f"{source} and {target} are element types of programs")


def truth(value: ir.Value, dtype: np.dtype[Any]) -> ir.Value:
    """The condition that a scalar is not zero; NaN is not zero."""
    if dtype.kind == "b":
        return value
    zero = constant(0, dtype)
    if kind_of(dtype) == "f":
        return arith.cmpf(arith.CmpFPredicate.UNE, value, zero)
    return arith.cmpi(arith.CmpIPredicate.ne, value, zero)
