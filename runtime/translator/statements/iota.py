"""Numbers of loops: 0, 1, 2, ... as constant buffers, which ``linalg.index`` reads, and variables of loops around."""

from functools import lru_cache

import numpy as np

from ipu_mlir.runtime.translator.statements.access import Buffer, Role
from ipu_mlir.runtime.translator.statements.expression import Apply, Const, Expression, LoopNumber, Read

INDEX = np.dtype(np.int64)


def numbers(extent: int, step: int = 1) -> Buffer:
    """0, ``step``, 2 ``step``, ...: ``extent`` numbers. The same buffer for the same request."""
    return _numbers(extent, step)  # a cache tells a step that is given from one that is not


@lru_cache(maxsize=1024)
def _numbers(extent: int, step: int) -> Buffer:
    name = f"iota{extent}" if step == 1 else f"iota{extent}_by_{step}".replace("-", "minus_")
    return Buffer(name, extent, INDEX, Role.CONSTANT, (extent,), np.arange(extent, dtype=np.int64) * step)


def loop_number(index: Expression) -> LoopNumber | None:
    """``index`` as the variable of a loop around, plus a constant."""
    offset = 0
    while isinstance(index, Apply):
        if index.call == "cast" and index.args[0].dtype.kind == "i" and index.dtype.itemsize >= 4:
            (index,) = index.args
        elif index.call in ("add", "subtract") and isinstance(index.args[1], Const):
            offset += int(index.args[1].value) * (1 if index.call == "add" else -1)
            index = index.args[0]
        else:
            return None
    if not isinstance(index, Read) or not index.access.buffer.counts:
        return None
    return LoopNumber(INDEX, index.access.buffer, offset)
