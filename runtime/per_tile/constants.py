"""The values of ``memref.global`` constants."""

import re
from typing import Any

import numpy as np

from ipu_mlir.dialects.bindings import ir
from ipu_mlir.dialects.errors import CompileError
from ipu_mlir.dialects.program.places import place_of
from ipu_mlir.runtime.per_tile.bfloat16 import from_bits, round_to_bf16
from ipu_mlir.runtime.per_tile.element_types import is_bf16

Array = np.ndarray[Any, Any]

_HEX_DATA = re.compile(r'dense<"0x([0-9A-F]*)">')


def dense_value(op: ir.OpView) -> Array:
    """The array of a ``memref.global``, as the tiles hold it.

    Raises:
        CompileError: it has no dense value.
    """
    has_value = "initial_value" in op.attributes
    value: Any = op.attributes["initial_value"].maybe_downcast() if has_value else None
    if not isinstance(value, ir.DenseElementsAttr):
        raise CompileError(
            f"{place_of(op.location)}: the constant has no dense value in the program; give it dense<...>"
        )
    return _of_bf16(value) if is_bf16(value.type) else np.asarray(value)


def _of_bf16(value: ir.DenseElementsAttr) -> Array:
    """The bindings do not hand out bf16, so read the text: raw data in hexadecimal, or numbers one by one."""
    shape, text = tuple(ir.ShapedType(value.type).shape), str(value)
    data = _HEX_DATA.match(text)
    if data is not None:
        found = from_bits(np.frombuffer(bytes.fromhex(data[1]), np.uint16))
    else:
        numbers = text[: text.rindex("> : ")].removeprefix("dense<").replace("[", "").replace("]", "").split(",")
        found = np.array([_number(number.strip()) for number in numbers if number.strip()], np.float32)
    return np.broadcast_to(found, shape) if found.size == 1 else found.reshape(shape)


def _number(text: str) -> np.float32:
    """A number in decimal, or the bits of one (infinities and NaN) in hexadecimal."""
    if text.startswith("0x"):
        return np.float32(from_bits(np.uint16(int(text, 16))))
    return np.float32(round_to_bf16(np.float64(text)))
