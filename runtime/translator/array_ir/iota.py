"""The numbers 0, 1, 2, ... as constant buffers: what ``linalg.index`` reads."""

from functools import lru_cache

import numpy as np

from ipu_mlir.runtime.translator.array_ir.access import Buffer, Role

INDEX = np.dtype(np.int64)


@lru_cache(maxsize=1024)
def numbers(extent: int, step: int = 1) -> Buffer:
    """0, ``step``, 2 ``step``, ...: ``extent`` numbers. The same buffer for the same request."""
    name = f"iota{extent}" if step == 1 else f"iota{extent}_by_{step}".replace("-", "minus_")
    return Buffer(name, extent, INDEX, Role.CONSTANT, (extent,), np.arange(extent, dtype=np.int64) * step)
