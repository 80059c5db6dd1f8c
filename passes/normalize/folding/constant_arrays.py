"""The elements of constants as arrays of the host, and constants of such arrays."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.element_types import ELEMENT_TYPES

Array = np.ndarray[Any, Any]
Lookup = Callable[[ir.Value], Array | None]
"""The array that a tensor or a scalar is; None if that is not known."""

_HEX_DATA = re.compile(r'dense<"0x([0-9A-Fa-f]*)">')


def dtype_of(type_: ir.Type) -> np.dtype[Any] | None:
    """The dtype of the host's arrays of a scalar type; None if there are none.

    >>> with ir.Context():
    ...     dtype_of(ir.F16Type.get()), dtype_of(ir.IntegerType.get_signless(4))
    (dtype('float16'), None)
    """
    row = ELEMENT_TYPES.get(str(type_))
    return None if row is None else row.dtype


def array_of(attribute: Any) -> Array | None:
    """The elements of a dense attribute in its shape, or the number that a scalar attribute is; None if it has none."""
    if not isinstance(attribute, ir.DenseElementsAttr):
        dtype = dtype_of(attribute.type) if isinstance(attribute, ir.IntegerAttr | ir.FloatAttr | ir.BoolAttr) else None
        return None if dtype is None else np.asarray(attribute.value).astype(dtype)
    kind: Any = ir.ShapedType(attribute.type)
    dtype = dtype_of(kind.element_type)
    if dtype is None or not kind.has_static_shape:
        return None
    if attribute.is_splat:
        number = array_of(attribute.get_splat_value())
        return None if number is None else np.broadcast_to(number, tuple(kind.shape))
    if ELEMENT_TYPES[str(kind.element_type)].is_in_numpy:
        return np.asarray(attribute)
    return _of_text(str(attribute), dtype).reshape(kind.shape)


def _of_text(text: str, dtype: np.dtype[Any]) -> Array:
    """The elements of a constant in a type that the bindings do not hand out: raw data, or number by number."""
    data = _HEX_DATA.match(text)
    if data is not None:
        return np.frombuffer(bytes.fromhex(data[1]), dtype)
    found = re.split(r"[\[\],\s]+", text[: text.rindex("> : ")].removeprefix("dense<"))
    return np.array([_number(number, dtype) for number in found if number], dtype)


def _number(text: str, dtype: np.dtype[Any]) -> Any:
    """A number in decimal, or the bits of one (infinities and NaN) in hexadecimal."""
    if text.startswith("0x"):
        return np.array(int(text, 16), f"u{dtype.itemsize}").view(dtype)[()]
    return np.array(float(text)).astype(dtype)[()]


def dense_of(array: Array, type_: Any) -> ir.Attribute:
    """The dense attribute of ``array`` as a tensor of ``type_``, of one element for all if they have the same bits."""
    if not array.size:
        return ir.Attribute.parse(f"dense<> : {type_}", type_.context)
    whole = np.ascontiguousarray(array).reshape(array.shape)
    bits = whole.reshape(-1).view(np.uint8).reshape(whole.size, whole.itemsize)
    is_alike = bool((bits == bits[:1]).all())
    if whole.dtype.isbuiltin != 1:  # one of ml_dtypes
        whole = whole.view(f"u{whole.itemsize}")
    if not is_alike:
        return ir.DenseElementsAttr.get(whole, type=type_)
    one = ir.RankedTensorType.get([], type_.element_type)
    single: Any = ir.DenseElementsAttr.get(whole.reshape(-1)[:1].reshape(()), type=one)
    return ir.DenseElementsAttr.get_splat(type_, single.get_splat_value())
