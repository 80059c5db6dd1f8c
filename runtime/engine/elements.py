"""Elements of queues: what they take, how replicas get theirs, and what a queue counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ipu_mlir.runtime.translator.translation import ArraySpec

Element = Sequence[Any]
"""The tensors of an element, in the order of the queue's types."""


@dataclass(frozen=True)
class Statistics:
    """Counts of what a queue has done so far.

    Attributes:
        elements: passed to the program, or by it.
        bytes: of those elements.
        seconds_waited: how long the program waited for elements of an infeed.
    """

    elements: int
    bytes: int
    seconds_waited: float


def element_bytes(specs: Sequence[ArraySpec]) -> int:
    """The bytes of an element of these tensors."""
    return sum(prod(spec.shape) * spec.dtype.itemsize for spec in specs)


def hand_out(taken: Sequence[Element], index: int, out: np.ndarray) -> None:
    """Write tensor number ``index`` of what each replica has taken to ``out``; for several, that has a row for each."""
    if len(taken) == 1:
        np.copyto(out, taken[0][index], "unsafe")
        return
    for replica, arrays in enumerate(taken):
        np.copyto(out[replica, ...], arrays[index], "unsafe")
