"""Arrays of the host for floats that NumPy has no type for: they have the types of the package ml_dtypes."""

import importlib
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.element_types import ELEMENT_TYPES

ML_DTYPES: dict[str, str] = {row.name: row.host for row in ELEMENT_TYPES.values() if not row.is_in_numpy}
"""MLIR's name of each type, and that of ml_dtypes."""


def host_dtype(name: str) -> np.dtype[Any]:
    """The dtype of host arrays of the MLIR type ``name``.

    >>> host_dtype("f8E5M2").itemsize
    1
    """
    return ELEMENT_TYPES[name].dtype


def finite_range(name: str) -> tuple[float, float]:
    """The lowest and the highest finite number of the type ``name``, one of ``ML_DTYPES``.

    >>> finite_range("f8E4M3FN")
    (-448.0, 448.0)
    """
    limits = importlib.import_module("ml_dtypes").finfo(host_dtype(name))
    return float(limits.min), float(limits.max)


def holds_bits(found: np.dtype[Any], expected: np.dtype[Any]) -> bool:
    """True if arrays of ``found`` may hold the bits of ``expected``, a type of ml_dtypes: unsigned integers, or void.

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
