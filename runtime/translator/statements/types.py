"""NumPy's names for MLIR's types."""

from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.element_types import ELEMENT_TYPES
from ipu_mlir.runtime.numeric.narrow_floats import NAMES

DTYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(np.float32) if row.is_narrow else row.dtype for name, row in ELEMENT_TYPES.items()
}
"""The types in which values of each type are computed; narrow floats are rounded after each operation."""


def dtype_of(mlir_type: ir.Type) -> np.dtype[Any] | None:
    """The dtype of a scalar type, or None if the runtime has none for it."""
    return DTYPES.get(str(mlir_type))


def narrow_float(mlir_type: ir.Type) -> str | None:
    """The name of a float type of 16 or 8 bits, also for memrefs of it; None for any other type."""
    name = str(mlir_type.element_type if isinstance(mlir_type, ir.ShapedType) else mlir_type)
    return name if name in NAMES else None


def unsigned(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The unsigned integer type of the same width."""
    return np.dtype(f"u{dtype.itemsize}")


def is_integer(dtype: np.dtype[Any]) -> bool:
    """True for integers with or without a sign; truth values are none."""
    return dtype.kind in "iu"
