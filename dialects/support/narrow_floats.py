"""Floats narrower than f32, above all those that NumPy has no type for: bf16 and the f8 types.

Arrays of the host have the types of the package ml_dtypes.

Source of the names: ml_dtypes follows MLIR's, letter by letter (https://github.com/jax-ml/ml_dtypes).
"""

import importlib
from functools import cache
from typing import Any

import numpy as np

ML_DTYPES: dict[str, str] = {
    "bf16": "bfloat16",
    "f8E3M4": "float8_e3m4",
    "f8E4M3": "float8_e4m3",
    "f8E4M3B11FNUZ": "float8_e4m3b11fnuz",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E5M2": "float8_e5m2",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
    "f8E8M0FNU": "float8_e8m0fnu",
}
"""MLIR's name of each type, and that of ml_dtypes."""


@cache
def host_dtype(name: str) -> np.dtype[Any]:
    """The dtype of host arrays of the MLIR type ``name``, one of ``ML_DTYPES``.

    >>> host_dtype("f8E5M2").itemsize
    1
    """
    return np.dtype(getattr(importlib.import_module("ml_dtypes"), ML_DTYPES[name]))


def is_narrow_float(name: str) -> bool:
    """Whether MLIR's type ``name`` is a float of 16 or 8 bits: one that is computed in more, and rounded.

    >>> [is_narrow_float(name) for name in ("f16", "bf16", "f8E5M2", "f32", "i8")]
    [True, True, True, False, False]
    """
    return name == "f16" or name in ML_DTYPES


def is_f8(name: str) -> bool:
    """Whether MLIR's type ``name`` is a float of 8 bits.

    >>> is_f8("f8E4M3FN"), is_f8("bf16"), is_f8("i8")
    (True, False, False)
    """
    return name in ML_DTYPES and name != "bf16"


def finite_range(name: str) -> tuple[float, float]:
    """The lowest and the highest finite number of the type ``name``, one of ``ML_DTYPES``.

    >>> finite_range("f8E4M3FN")
    (-448.0, 448.0)
    """
    limits = importlib.import_module("ml_dtypes").finfo(host_dtype(name))
    return float(limits.min), float(limits.max)


def holds_bits(found: np.dtype[Any], expected: np.dtype[Any]) -> bool:
    """Whether arrays of ``found`` may hold the bits of ``expected``, a type of ml_dtypes: unsigned integers, or void.

    ``np.load`` gives void for arrays that were saved in such a type.

    >>> e5m2 = host_dtype("f8E5M2")
    >>> [holds_bits(np.dtype(found), e5m2) for found in ("u1", "V1", "i1", "u2")]
    [True, True, False, False]
    >>> holds_bits(np.dtype("u4"), np.dtype("f4"))
    False
    """
    if expected.name not in ML_DTYPES.values():
        return False
    return found in (np.dtype(f"u{expected.itemsize}"), np.dtype(f"V{expected.itemsize}"))
