"""Checks of what a caller hands in; about 0.2 us per array that is as it should be."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.arguments import as_signless
from ipu_mlir.dialects.support.counted import counted
from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.translator.translation import ArraySpec, RemoteSpec, Variable


class AsExpected(list[np.ndarray]):
    """Inputs of a program that their caller has looked at: contiguous arrays of the shapes and dtypes that it takes."""


def checked_inputs(inputs: Sequence[Any], specs: Sequence[ArraySpec]) -> list[np.ndarray]:
    """``inputs`` as contiguous arrays; Python numbers and lists are converted, arrays must have the exact dtype.

    Raises:
        RunError: wrong number, shape or dtype; the message names the argument.
    """
    if type(inputs) is AsExpected:
        return inputs
    if len(inputs) != len(specs):
        wanted = ", ".join(f"{spec.name}: {spec}" for spec in specs)
        raise RunError(f"{counted(len(inputs), 'input')} given, {len(specs)} expected ({wanted})")
    arrays = []
    for value, spec in zip(inputs, specs, strict=True):
        if (
            type(value) is np.ndarray
            and value.dtype is spec.dtype
            and value.shape == spec.shape
            and value.flags.c_contiguous
        ):
            arrays.append(value)
        else:
            arrays.append(as_expected(value, spec, f"input {len(arrays)} ({spec.name})"))
    return arrays


def is_as_expected(values: Sequence[Any], specs: Sequence[ArraySpec]) -> bool:
    """True if ``values`` are arrays with exactly these shapes and dtypes, and need no conversion."""
    return len(values) == len(specs) and all(
        type(value) is np.ndarray and value.dtype is spec.dtype and value.shape == spec.shape
        for value, spec in zip(values, specs, strict=True)
    )


def as_expected(value: Any, spec: ArraySpec | RemoteSpec | Variable, where: str) -> np.ndarray:
    """``value`` in the form that programs need.

    Raises:
        RunError: another shape or dtype; ``where`` begins the message.
    """
    array = as_signless(value, spec.shape, spec.dtype, where)
    return np.ascontiguousarray(array).reshape(spec.shape)
