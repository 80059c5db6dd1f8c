"""NumPy's names for MLIR's types."""

from typing import Any

import numpy as np

from ipu_mlir.dialects.bindings import ir

DTYPES: dict[str, np.dtype[Any]] = {
    "bf16": np.dtype(np.float32),  # rounded after each operation
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "i1": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "index": np.dtype(np.int64),
}


def dtype_of(mlir_type: ir.Type) -> np.dtype[Any] | None:
    """The dtype of a scalar type, or None if the runtime has none for it."""
    return DTYPES.get(str(mlir_type))


def is_bf16(mlir_type: ir.Type) -> bool:
    """True for bf16, and for memrefs of it."""
    return str(mlir_type.element_type if isinstance(mlir_type, ir.ShapedType) else mlir_type) == "bf16"


def unsigned(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The unsigned integer type of the same width."""
    return np.dtype(f"u{dtype.itemsize}")
