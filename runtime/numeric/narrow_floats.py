"""Floats of 16 and 8 bits, whose numbers lie in float32 arrays and are rounded after each operation."""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.element_types import ELEMENT_TYPES
from ipu_mlir.dialects.support.narrow_floats import host_dtype
from ipu_mlir.runtime.numeric.bfloat16 import bf16_of_bits, bits_of_bf16, round_to_bf16
from ipu_mlir.runtime.numeric.chunks import in_chunks
from ipu_mlir.runtime.numeric.float8 import Float8
from ipu_mlir.runtime.numeric.half import bits_of_f16, f16_of_bits, round_to_f16

NAMES: frozenset[str] = frozenset(row.name for row in ELEMENT_TYPES.values() if row.is_narrow)
"""MLIR's names of the types."""


def round_to(name: str) -> str:
    """The name, in generated source, of the rounding to the type ``name``."""
    return f"round_to_{name}"


def bits_of(name: str) -> str:
    """The name, in generated source, of the function to bits of numbers of the type ``name``, as signed integers."""
    return f"bits_of_{name}"


def of_bits(name: str) -> str:
    """The name, in generated source, of the function from bits to numbers of the type ``name``."""
    return f"{name}_of_bits"


def is_rounding(call: str) -> bool:
    """True for the names that ``round_to`` gives."""
    return call.startswith("round_to_")


def bits_dtype(name: str) -> np.dtype[Any]:
    """The integers that have as many bits as the type ``name``."""
    return np.dtype(f"i{ELEMENT_TYPES[name].bytes}")


def smallest_normal(name: str) -> float:
    """The smallest number above 0 that is as exact as larger ones.

    >>> smallest_normal("f16") == 2.0**-14
    True
    """
    if name == "f16":
        return float(np.finfo(np.float16).smallest_normal)
    return float(importlib.import_module("ml_dtypes").finfo(host_dtype(name)).smallest_normal)


def functions() -> dict[str, Callable[..., Any]]:
    """The functions of all types by the names that generated source knows them by."""
    found: dict[str, Callable[..., Any]] = {
        round_to("bf16"): round_to_bf16,
        bits_of("bf16"): bits_of_bf16,
        of_bits("bf16"): bf16_of_bits,
        round_to("f16"): round_to_f16,
        bits_of("f16"): bits_of_f16,
        of_bits("f16"): f16_of_bits,
    }
    for name in NAMES - {"bf16", "f16"}:
        float8 = Float8(name)
        found |= {
            round_to(name): in_chunks(float8.round),
            bits_of(name): in_chunks(float8.bits),
            of_bits(name): in_chunks(float8.of_bits),
        }
    return found
