"""Arrays of integers of 2 and 4 bits, which programs hold in 8, with their sign."""

from typing import Any

import numpy as np


def is_of_few_bits(dtype: np.dtype[Any]) -> bool:
    return dtype.name in ("int2", "uint2", "int4", "uint4")


def in_bytes(array: np.ndarray) -> np.ndarray:
    """``array`` as ``ipu-widen-integers`` has it: its highest bit is the sign, also of what has none."""
    above = 8 - int(array.dtype.name[-1])
    return (array.astype(np.int8) << above) >> above
