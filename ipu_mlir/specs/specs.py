"""What goes into a program and what comes out: shapes and element types."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.errors import CompileError


@dataclass(frozen=True)
class TensorSpec:
    """Shape and element type of one argument or result.

    >>> TensorSpec((32, 784), "float32")
    TensorSpec(shape=(32, 784), dtype=dtype('float32'))
    >>> str(TensorSpec((32, 784), "float32"))
    'float32[32, 784]'
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def __init__(self, shape: int | Sequence[int], dtype: Any = np.float32) -> None:
        try:
            sizes = (shape,) if isinstance(shape, int) else tuple(int(size) for size in shape)
        except (TypeError, ValueError) as error:
            raise CompileError(f"a shape is one whole number or several, got {shape!r}") from error
        object.__setattr__(self, "shape", sizes)
        try:
            object.__setattr__(self, "dtype", np.dtype(dtype))
        except TypeError as error:
            raise CompileError(f"{dtype!r} names no element type: {error}; use np.float32 or another type") from error

    @property
    def nbytes(self) -> int:
        """Bytes of the tensor in NumPy's storage."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


class PerReplica(TensorSpec):
    """The spec of an argument of which each replica gets one of its own: given with a first dimension for replicas."""


def spec_of(value: Any) -> TensorSpec:
    """The spec of an array, or of anything that has ``shape`` and ``dtype``; a spec is its own."""
    if isinstance(value, TensorSpec):
        return value
    return TensorSpec(tuple(value.shape), value.dtype)
