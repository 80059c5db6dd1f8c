"""Results of ONNX models that are no tensors, and the tensors that stand for them in a program."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.frontends.of_onnx.narrow import holder


@dataclass(frozen=True)
class Texts:
    """Text that comes when the program runs: for each element the place of its text in ``table``."""

    places: Any
    table: np.ndarray


@dataclass(frozen=True)
class Maps:
    """For each row of ``scores`` a dictionary, whose keys are those of the columns."""

    scores: Any
    keys: tuple[Any, ...]


@dataclass(frozen=True)
class Counted:
    """A tensor of which the first ``count`` along ``axis`` are there; ``rows`` has as many as there may be."""

    rows: Any
    count: Any
    axis: int = 0

    def where(self, neutral: Any) -> Any:
        """All rows, with ``neutral`` in place of those that are not there."""
        size, behind = self.rows.shape[self.axis], len(self.rows.shape) - self.axis - 1
        return np.where((np.arange(size) < self.count).reshape((-1,) + (1,) * behind), self.rows, neutral)


@dataclass(frozen=True)
class Result:
    """How a result is read from the arrays that a program gives.

    Attributes:
        name: as the model has it.
        dtype: NumPy's type of its elements; None where the model leaves it open.
        length: how many tensors a sequence has; None for a tensor.
        table: the texts that an array has the places of.
        keys: those of the dictionaries that an array has the values of.
        axis: along which the next array says how many there are.
    """

    name: str
    dtype: np.dtype[Any] | None = None
    length: int | None = None
    table: np.ndarray | None = None
    keys: tuple[Any, ...] | None = None
    axis: int | None = None

    @property
    def names(self) -> list[str]:
        """A name for each array that it takes."""
        if self.axis is not None:
            return [self.name, f"{self.name}.count"]
        return [self.name] if self.length is None else [f"{self.name}.{place}" for place in range(self.length)]

    def read(self, arrays: Iterator[np.ndarray]) -> Any:
        """The result as ONNX has it, of the next arrays."""
        if self.length is not None:
            return [self._typed(next(arrays)) for _ in range(self.length)]
        found = self._typed(next(arrays))
        if self.axis is not None:
            found = found[(slice(None),) * self.axis + (slice(0, int(next(arrays))),)]
        if self.table is not None:
            return self.table[found]
        if self.keys is not None:
            return [dict(zip(self.keys, row, strict=True)) for row in found.tolist()]
        return found

    def _typed(self, array: np.ndarray) -> np.ndarray:
        if self.dtype is None:
            return array
        in_program = holder(self.dtype)
        if in_program.itemsize == array.itemsize:
            array = array.view(in_program)
        return array.astype(self.dtype) if in_program != self.dtype else array
