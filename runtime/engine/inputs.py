"""Checks of what a caller hands in; about 0.2 us per array that is as it should be."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.counted import counted
from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.dialects.support.narrow_floats import holds_bits
from ipu_mlir.runtime.translator.translate import ArraySpec, RemoteSpec, Variable


def checked_inputs(inputs: Sequence[Any], specs: Sequence[ArraySpec]) -> list[np.ndarray]:
    """``inputs`` as contiguous arrays; Python numbers and lists are converted, arrays must have the exact dtype.

    Raises:
        RunError: wrong number, shape or dtype; the message names the argument.
    """
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
    if not hasattr(value, "dtype"):
        value = _from_python(value, spec, where)
    array = np.asarray(value)
    if array.dtype.kind == "u" and spec.dtype.kind == "i" and array.dtype.itemsize == spec.dtype.itemsize:
        array = array.view(spec.dtype)  # integers of the IR have no sign of their own: the bits are what counts
    if holds_bits(array.dtype, spec.dtype):
        array = array.view(spec.dtype)
    if array.dtype != spec.dtype:
        raise RunError(
            f"{where} has dtype {array.dtype}, expected {spec.dtype}; convert it with .astype('{spec.dtype}')"
        )
    if array.shape != spec.shape:
        raise RunError(f"{where} has shape {array.shape}, expected {spec.shape}")
    return np.ascontiguousarray(array).reshape(spec.shape).astype(spec.dtype, copy=False)


def _from_python(value: Any, spec: ArraySpec | RemoteSpec | Variable, where: str) -> np.ndarray:
    try:
        array = np.asarray(value)
        kinds = {"b": "b", "i": "bi", "u": "bi", "f": "bif", "V": "bif"}[spec.dtype.kind]
        if array.dtype.kind not in kinds:
            raise RunError(f"{where} is {value!r:.60}, expected numbers that fit {spec.dtype}")
        return np.asarray(value, spec.dtype)
    except (ValueError, TypeError, OverflowError) as error:
        raise RunError(f"{where} is {value!r:.60}, expected an array {spec}: {error}") from error
