"""Element types of MLIR as NumPy dtypes, and what memory holds before anything is written to it."""

from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.dialects.support.narrow_floats import ML_DTYPES

_INTEGERS: dict[int, Any] = {1: np.bool_, 8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}


def dtype_of(element_type: ir.Type) -> np.dtype[Any]:
    """The dtype that holds ``element_type``: signless integers as signed, ``index`` as 64 bits, bf16 and f8 in float32.

    Raises:
        CompileError: no dtype does.
    """
    if isinstance(element_type, ir.IntegerType) and element_type.width in _INTEGERS:
        return np.dtype(_INTEGERS[element_type.width])
    if isinstance(element_type, ir.IndexType):
        return np.dtype(np.int64)
    if isinstance(element_type, ir.F16Type | ir.F32Type | ir.F64Type):
        return np.dtype(f"f{element_type.width // 8}")
    if str(element_type) in ML_DTYPES:
        return np.dtype(np.float32)
    raise CompileError(
        f"the per-tile executor has no element type {element_type}; "
        f"it has {', '.join(ML_DTYPES)}, f16, f32, f64, i1, i8 to i64, index"
    )


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
