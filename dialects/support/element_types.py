"""The types of elements: one row for each says all that the machine, the host and the compiler ask of it.

A type that has a row is compiled, costed and run; nothing else lists types. Integers of other widths than those of the
host have a row as well, which says that the host has no arrays of them.

Source of the names of ml_dtypes: they follow MLIR's, letter by letter (https://github.com/jax-ml/ml_dtypes).
"""

import importlib
import re
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal

import numpy as np

from ipu_mlir.dialects.support.errors import CompileError


@dataclass(frozen=True)
class ElementType:
    """The facts of one type.

    Attributes:
        name: in MLIR.
        bits: of one element; on a tile it takes whole bytes, a boolean one.
        host: the dtype of the host's arrays, in NumPy or else in ml_dtypes; empty where there are none.
        unit: the type as whose numbers the vector instructions and the AMP units of a tile take them; empty for a type
            that they do not take. What is f16 or f8 there is computed in more bits, and rounded.
        slowdown: how much longer than f32 or i32 a type takes that has no instructions; assumed.
        is_ieee: whether numbers stay numbers of the type when they change their sign or are rounded to whole ones, as
            in IEEE 754; not so in the types without a -0 or without infinities.
    """

    name: str
    bits: int
    host: str
    unit: Literal["f32", "f16", "f8", ""] = ""
    slowdown: int = 1
    is_ieee: bool = False

    @property
    def bytes(self) -> int:
        """Of one element in the memory of a tile."""
        return -(-self.bits // 8)

    @property
    def is_float(self) -> bool:
        return self.name[0] in "fb"

    @property
    def is_narrow(self) -> bool:
        """True if numbers of this type are computed in f32, and rounded."""
        return self.unit in ("f16", "f8")

    @property
    def is_in_numpy(self) -> bool:
        """True if NumPy itself has the type of the host's arrays, without ml_dtypes."""
        return hasattr(np, self.host)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the host's arrays; the type has one."""
        return np.dtype(self.host if self.is_in_numpy else getattr(importlib.import_module("ml_dtypes"), self.host))


_ROWS = (
    ElementType("f64", 64, "float64", slowdown=20, is_ieee=True),
    ElementType("f32", 32, "float32", "f32", is_ieee=True),
    ElementType("f16", 16, "float16", "f16", is_ieee=True),
    ElementType("i64", 64, "int64", slowdown=2),
    ElementType("i32", 32, "int32"),
    ElementType("i16", 16, "int16"),
    ElementType("i8", 8, "int8"),
    ElementType("i1", 1, "bool"),
    ElementType("index", 64, "int64"),
    ElementType("bf16", 16, "bfloat16", "f16", is_ieee=True),
    ElementType("f8E3M4", 8, "float8_e3m4", "f8", is_ieee=True),
    ElementType("f8E4M3", 8, "float8_e4m3", "f8", is_ieee=True),
    ElementType("f8E4M3B11FNUZ", 8, "float8_e4m3b11fnuz", "f8"),
    ElementType("f8E4M3FN", 8, "float8_e4m3fn", "f8"),
    ElementType("f8E4M3FNUZ", 8, "float8_e4m3fnuz", "f8"),
    ElementType("f8E5M2", 8, "float8_e5m2", "f8", is_ieee=True),
    ElementType("f8E5M2FNUZ", 8, "float8_e5m2fnuz", "f8"),
    ElementType("f8E8M0FNU", 8, "float8_e8m0fnu", "f8"),
)

ELEMENT_TYPES: dict[str, ElementType] = {row.name: row for row in _ROWS}
"""The types that programs may be made of, by MLIR's names: first those of NumPy, then those of ml_dtypes."""


def element_type(name: str) -> ElementType:
    """The row of MLIR's type ``name``; integers have one whatever their width is.

    >>> element_type("bf16").bytes, element_type("i12").bytes, element_type("i1").bytes
    (2, 2, 1)

    Raises:
        CompileError: there is none.
    """
    return ELEMENT_TYPES.get(name) or _other(name)


@cache
def _other(name: str) -> ElementType:
    integer = re.fullmatch(r"i(\d+)", name)
    if integer is None:
        raise CompileError(f"elements of type {name} are not known; they can be {', '.join(ELEMENT_TYPES)}")
    return ElementType(name, int(integer[1]), "")


def is_narrow_float(name: str) -> bool:
    """True if MLIR's type ``name`` is a float that is computed in more bits, and rounded; false for what has no row.

    >>> [is_narrow_float(name) for name in ("f16", "bf16", "f8E5M2", "f32", "i8", "vector<4xf16>")]
    [True, True, True, False, False, False]
    """
    return name in ELEMENT_TYPES and ELEMENT_TYPES[name].is_narrow
