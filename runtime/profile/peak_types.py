"""By which peak the operations of a type are measured."""

from ipu_mlir.dialects.support.narrow_floats import is_f8, is_narrow_float

PEAK_TYPES = {"f8": "f8E4M3FNUZ", "f16": "f16", "f32": "f32"}
"""The peaks, each with a type whose products run at it."""


def peak_type_of(dtype: str) -> str:
    """The peak for operations on MLIR's type ``dtype``; what is no float of 16 or 8 bits has that of f32.

    >>> [peak_type_of(dtype) for dtype in ("f8E5M2", "bf16", "f32", "i32")]
    ['f8', 'f16', 'f32', 'f32']
    """
    return "f8" if is_f8(dtype) else "f16" if is_narrow_float(dtype) else "f32"
