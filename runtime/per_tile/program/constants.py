"""The values of ``memref.global`` constants, and what ``ipu.variable`` begins with."""

import re
from typing import Any

import numpy as np

from ipu_mlir.dialects.analysis.locations import place_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.runtime.per_tile.scalar.element_types import narrow_float
from ipu_mlir.runtime.per_tile.scalar.narrow_floats import bits_dtype, from_bits, round_to

Array = np.ndarray[Any, Any]

_HEX_DATA = re.compile(r'dense<"0x([0-9A-F]*)">')


def dense_value(op: ir.OpView, attribute: ir.Attribute | None) -> Array:
    """The array of ``attribute``, the value of ``op``, as the tiles hold it.

    Raises:
        CompileError: it has no dense value.
    """
    value: Any = None if attribute is None else attribute.maybe_downcast()
    if not isinstance(value, ir.DenseElementsAttr):
        raise CompileError(
            f"{place_of(op.location)}: the constant has no dense value in the program; give it dense<...>"
        )
    narrow = narrow_float(value.type)
    return _narrow(value, narrow) if narrow else np.asarray(value)


def _narrow(value: ir.DenseElementsAttr, name: str) -> Array:
    """The bindings do not hand out bf16 and f8, so read the text: raw data in hexadecimal, or numbers one by one."""
    shape, text = tuple(ir.ShapedType(value.type).shape), str(value)
    data = _HEX_DATA.match(text)
    if data is not None:
        found = from_bits(name, np.frombuffer(bytes.fromhex(data[1]), bits_dtype(name)))
    else:
        numbers = text[: text.rindex("> : ")].removeprefix("dense<").replace("[", "").replace("]", "").split(",")
        found = np.array([_number(number.strip(), name) for number in numbers if number.strip()], np.float32)
    return np.broadcast_to(found.reshape(()), shape) if found.size == 1 else found.reshape(shape)


def _number(text: str, name: str) -> np.float32:
    """A number in decimal, or the bits of one (infinities and NaN) in hexadecimal."""
    if text.startswith("0x"):
        return np.float32(from_bits(name, np.array(int(text, 16), bits_dtype(name))))
    return np.float32(round_to(name, np.float64(text)))
