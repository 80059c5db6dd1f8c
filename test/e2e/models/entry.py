"""The models of other people's libraries that are tried: how each is made, and how far its results may be off."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

FORWARD, STEP = KINDS = ("forward", "step")


@dataclass(frozen=True)
class Program:
    """A program of a framework with its inputs and results.

    Attributes:
        source: is compiled, with ``args`` and ``kwargs``.
        expected: the results of the framework, flat.
        flat: gives arrays of arguments or results, in the order of the compiled program.
    """

    source: Any
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    expected: Sequence[np.ndarray]
    flat: Callable[[Any], list[np.ndarray]]


@dataclass(frozen=True)
class Entry:
    """A model.

    Attributes:
        name: of the library and the model.
        packages: are imported for it, beside the framework.
        make: gives a program of a kind, ``forward`` or ``step``: a step of training gives the loss, gradients (or
            parameters after the step), and statistics that it changes.
        kinds: those that the model has.
        tolerance: the largest difference, of the largest number of each result.
        per_tile: whether it is small enough for the per-tile executor.
    """

    name: str
    packages: tuple[str, ...]
    make: Callable[[str], Program]
    kinds: tuple[str, ...] = KINDS
    tolerance: Mapping[str, float] = field(default_factory=lambda: {FORWARD: 2e-5, STEP: 2e-4})
    per_tile: bool = False

    def __repr__(self) -> str:
        return self.name


def error(found: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> float:
    """The largest difference of a number, of the largest number of its result; infinite where results differ in form.

    A gradient that is rounding alone is measured by a thousandth of the largest number of all results.
    """
    if [(each.shape, each.dtype) for each in found] != [(each.shape, each.dtype) for each in expected]:
        return float("inf")
    pairs = [tuple(np.asarray(each, np.float64) for each in pair) for pair in zip(found, expected, strict=True)]
    sizes = [float(np.max(np.abs(want), initial=0)) for _, want in pairs]
    least = 1e-3 * max(sizes, default=0.0) or 1.0
    worst = [
        np.max(np.abs(got - want), initial=0) / max(size, least) for (got, want), size in zip(pairs, sizes, strict=True)
    ]
    return float(np.max(worst, initial=0.0))  # not a number where a result has such
