"""Dense constants of bf16: the bindings do not hand out their elements, so they are read from the text."""

import re

import numpy as np

from ipu_mlir.dialects.bindings import ir
from ipu_mlir.runtime.numeric.bfloat16 import from_host, round_to_bf16

_DATA = re.compile(r'dense<"0x([0-9A-Fa-f]*)">')


def bf16_elements(value: ir.DenseElementsAttr) -> np.ndarray:
    """The elements of ``value`` as float32 numbers, in its shape."""
    shape, text = tuple(ir.ShapedType(value.type).shape), str(value)
    data = _DATA.match(text)
    if data is not None:
        found = from_host(np.frombuffer(bytes.fromhex(data[1]), np.uint16))
    else:
        inside = text[: text.rindex("> : ")].removeprefix("dense<")
        numbers = [_number(number) for number in re.split(r"[\[\],\s]+", inside) if number]
        found = np.array(numbers, np.float32)
    return np.broadcast_to(found, shape) if found.size == 1 else found.reshape(shape)


def _number(text: str) -> float:
    """A number in decimal, or the bits of one (infinities and NaN) in hexadecimal."""
    if text.startswith("0x"):
        return float(from_host(np.array(int(text, 16), np.uint16)))
    return float(round_to_bf16(np.array([float(text)]), np.empty(1, np.float32))[0])
