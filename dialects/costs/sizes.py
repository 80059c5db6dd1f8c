"""Arithmetic on sizes, each a number or an array of numbers."""

from collections.abc import Iterable
from typing import TypeAlias, cast

import numpy as np

from ipu_mlir.dialects.machine import Machine
from ipu_mlir.dialects.mapping.loops import IntArray

Size: TypeAlias = int | IntArray

_BYTES = {"f64": 8, "i64": 8, "index": 8, "f32": 4, "i32": 4, "f16": 2, "bf16": 2, "i16": 2, "i8": 1, "i1": 1}


def ceil_div(a: Size, b: Size) -> Size:
    """``a / b`` rounded up."""
    return -(-a // b)


def per_worker(n: Size, machine: Machine) -> Size:
    """The largest share when the workers of a tile split ``n``."""
    return ceil_div(n, machine.workers)


def total(sizes: Iterable[Size]) -> Size:
    """The sum; 0 of nothing."""
    result: Size = 0
    for size in sizes:
        result = result + size
    return result


def smaller(a: Size, b: Size) -> Size:
    return cast(IntArray, np.minimum(a, b))


def larger(a: Size, b: Size) -> Size:
    return cast(IntArray, np.maximum(a, b))


def choose(condition: bool | np.ndarray, a: Size, b: Size) -> Size:
    """``a`` where the condition holds, otherwise ``b``."""
    return np.where(condition, a, b)


def ceil_log2(n: Size) -> Size:
    """How often ``n`` can be halved, rounded up; 0 for 1 and less.

    >>> [int(ceil_log2(n)) for n in (1, 2, 3, 8)]
    [0, 1, 2, 3]
    """
    return np.ceil(np.log2(np.maximum(n, 1))).astype(np.int64)


def bytes_of(dtype: str) -> int:
    """Bytes of an element; 4 for a type that is not known."""
    return _BYTES.get(dtype, 4)


def is_float(dtype: str) -> bool:
    return dtype.startswith(("f", "bf"))
