"""Numbers of 2 and 4 bits, which programs have in the elements of a wider type that holds them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx

_HOLDERS: dict[str, np.dtype[Any]] = {
    "int2": np.dtype(np.int8),
    "uint2": np.dtype(np.uint8),
    "int4": np.dtype(np.int8),
    "uint4": np.dtype(np.uint8),
    "float4_e2m1fn": np.dtype(np.float32),
}


def holder(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of a program's elements for numbers of ``dtype``, which is the same unless it is narrow.

    >>> holder(np.dtype("float32"))
    dtype('float32')
    """
    return _HOLDERS.get(dtype.name, dtype)


def held(array: np.ndarray) -> np.ndarray:
    """``array`` in the type that holds its numbers."""
    return array.astype(holder(array.dtype), copy=False)


def is_narrow(dtype: np.dtype[Any]) -> bool:
    return dtype.name in _HOLDERS


def narrowed(x: Any, dtype: np.dtype[Any]) -> Any:
    """A traced tensor with the numbers that it has as one of a narrow ``dtype``, in the type that holds them."""
    if dtype.name == "float4_e2m1fn":
        return _to_float4(x.astype(np.float32))
    bits = int(dtype.name[-1])
    low = x.astype(np.int32) & (2**bits - 1)
    if dtype.name.startswith("int"):
        half = 2 ** (bits - 1)
        low = (low ^ half) - half
    return low.astype(holder(dtype))


def _to_float4(x: Any) -> Any:
    """The nearest of 0, 0.5, 1, 1.5, 2, 3, 4 and 6, with a sign; of two the even one."""
    size = np.minimum(np.abs(x), np.float32(6))
    step = np.where(size < 2, np.float32(0.5), np.where(size < 4, np.float32(1), np.float32(2)))
    return np.copysign(np.rint(size / step) * step, x)


def narrow_values(graph: Any) -> Mapping[str, np.dtype[Any]]:
    """By name, the types of the values of a graph that are declared to be narrow."""
    if not isinstance(graph, onnx.GraphProto):
        return {}
    values = [(each.name, each.type.tensor_type.elem_type) for each in (*graph.input, *graph.value_info)]
    values += [(each.name, each.data_type) for each in graph.initializer]
    types = {name: np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind)) for name, kind in values if kind}
    return {name: dtype for name, dtype in types.items() if is_narrow(dtype)}
