"""By which peak the operations of a type are measured."""

from ipu_mlir.dialects.support.element_types import element_type

PEAK_TYPES = {"f8": "f8E4M3FNUZ", "f16": "f16", "f32": "f32"}
"""The peaks, each with a type whose products run at it."""


def peak_type_of(dtype: str) -> str:
    """The peak for operations on MLIR's type ``dtype``; what is no float of 16 or 8 bits has that of f32.

    >>> [peak_type_of(dtype) for dtype in ("f8E5M2", "bf16", "f32", "i32")]
    ['f8', 'f16', 'f32', 'f32']
    """
    return element_type(dtype).unit or "f32"
