"""Element types of MLIR as NumPy dtypes, and what memory holds before anything is written to it."""

from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.element_types import ELEMENT_TYPES
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.dialects.support.narrow_floats import ML_DTYPES


def dtype_of(element_type: ir.Type) -> np.dtype[Any]:
    """The dtype that holds ``element_type``: that of the host's arrays, or float32 where NumPy has no such type.

    Raises:
        CompileError: no dtype does.
    """
    row = ELEMENT_TYPES.get(str(element_type))
    if row is None:
        raise CompileError(
            f"the per-tile executor has no element type {element_type}; it has {', '.join(ELEMENT_TYPES)}"
        )
    return row.dtype if row.is_in_numpy else np.dtype(np.float32)


def element_type_of(value_type: ir.Type) -> ir.Type:
    """The type of a scalar, or of the elements of a memref."""
    return value_type.element_type if isinstance(value_type, ir.ShapedType) else value_type


def narrow_float(value_type: ir.Type) -> str | None:
    """The name of the type of a scalar, or of the elements of a memref, if NumPy lacks it: one of ``ML_DTYPES``."""
    name = str(element_type_of(value_type))
    return name if name in ML_DTYPES else None


def poison_of(dtype: np.dtype[Any]) -> np.generic:
    """The value of memory that was never written: NaN, or bytes 0xA5 for integers; True for booleans."""
    if dtype.kind == "f":
        return dtype.type(np.nan)
    if dtype.kind == "b":
        return np.True_
    return np.frombuffer(b"\xa5" * dtype.itemsize, dtype)[0]


def same_bits(left: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Per element, whether both have the same bits; any NaN is the same as any other."""
    if left.dtype.kind != "f":
        return left == right
    bits = f"u{left.dtype.itemsize}"
    same: np.ndarray[Any, Any] = (left.view(bits) == right.view(bits)) | (np.isnan(left) & np.isnan(right))
    return same
