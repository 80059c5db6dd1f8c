"""Arrays of ``.npz`` files for ``ipu-run``: inputs ``in0, in1, ...``, results ``out0, out1, ...``.

NumPy's files know nothing of bf16 and f8: arrays of ml_dtypes lie in them as void of their size, and come back so.
"""

import io
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ipu_mlir.dialects.storage.npz import array_in_file
from ipu_mlir.dialects.support.counted import counted
from ipu_mlir.dialects.support.errors import IpuError
from ipu_mlir.dialects.support.narrow_floats import holds_bits, host_dtype
from ipu_mlir.specs.specs import TensorSpec, spec_of


def npz_bytes(results: Sequence[np.ndarray]) -> bytes:
    """The content of a ``.npz`` file of ``results`` as ``out0, out1, ...``."""
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {f"out{index}": array_in_file(result) for index, result in enumerate(results)}
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def take_inputs(arrays: dict[str, np.ndarray], specs: Sequence[TensorSpec], path: str) -> list[np.ndarray]:
    """``in0, in1, ...`` of ``arrays``, as many as ``specs``.

    Raises:
        IpuError: one is missing, or has another shape or type; ``path`` names the file in the message.
    """
    inputs: list[np.ndarray] = []
    for index, spec in enumerate(specs):
        name = f"in{index}"
        if name not in arrays:
            raise IpuError(f"{path} has no {name}; the function takes {counted(len(specs), 'array')}: {_listed(specs)}")
        array = typed(arrays[name], spec.dtype)
        if spec_of(array) != spec:
            raise IpuError(f"{name} of {path} is {spec_of(array)}, but the function takes {spec}")
        inputs.append(array)
    return inputs


def arguments_of(arrays: dict[str, np.ndarray]) -> list[np.ndarray]:
    """``in0, in1, ...`` of ``arrays``, as many as there are."""
    return [arrays[f"in{number}"] for number in range(len(arrays)) if f"in{number}" in arrays]


def typed(array: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """``array``, as numbers of ``dtype`` where it holds the bits of such numbers: of bf16 or f8.

    >>> import ml_dtypes
    >>> typed(np.array([0x3F80, 0xC000], np.uint16), np.dtype(ml_dtypes.bfloat16)).tolist()
    [1.0, -2.0]
    """
    return array.view(dtype) if holds_bits(array.dtype, dtype) else array


def random_inputs(specs: Sequence[TensorSpec], seed: int) -> list[np.ndarray]:
    """Inputs for ``specs``: normal floats, integers from 0 to 9, booleans; the same for the same ``seed``.

    Raises:
        IpuError: this machine has not the memory for them.
    """
    generator = np.random.default_rng(seed)
    try:
        return [_random(spec, generator) for spec in specs]
    except (MemoryError, ValueError) as error:  # NumPy says ValueError of arrays beyond the address space
        size = sum(prod(spec.shape) * spec.dtype.itemsize for spec in specs)
        raise IpuError(
            f"the inputs need {size:,} B, which this machine does not have; --no-run --profile gives cycles and "
            "memory per tile without them"
        ) from error


def _random(spec: TensorSpec, generator: np.random.Generator) -> np.ndarray:
    if spec.dtype.kind == "b":
        return generator.integers(0, 2, spec.shape).astype(bool)
    if spec.dtype.kind in "iu":
        return generator.integers(0, 10, spec.shape).astype(spec.dtype)
    numbers = np.asarray(generator.standard_normal(spec.shape))
    return (np.abs(numbers) if spec.dtype == host_dtype("f8E8M0FNU") else numbers).astype(spec.dtype)  # it has no sign


def _listed(specs: Sequence[TensorSpec]) -> str:
    return ", ".join(f"in{index}: {spec}" for index, spec in enumerate(specs))
