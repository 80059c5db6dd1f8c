"""Dense constants of floats of 16 and 8 bits: the bindings lack elements of most, so the text is read."""

import re

import numpy as np

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.numeric import function
from ipu_mlir.runtime.numeric.narrow_floats import bits_dtype, of_bits, round_to

_DATA = re.compile(r'dense<"0x([0-9A-Fa-f]*)">')


def narrow_elements(value: ir.DenseElementsAttr, name: str) -> np.ndarray:
    """The elements of ``value``, whose type is called ``name``, as float32 numbers in its shape."""
    shape, text = tuple(ir.ShapedType(value.type).shape), str(value)
    data = _DATA.match(text)
    if data is not None:
        found = _numbers(np.frombuffer(bytes.fromhex(data[1]), bits_dtype(name)), name)
    else:
        inside = text[: text.rindex("> : ")].removeprefix("dense<")
        numbers = [_number(number, name) for number in re.split(r"[\[\],\s]+", inside) if number]
        found = np.array(numbers, np.float32)
    return np.broadcast_to(found.reshape(()), shape) if found.size == 1 else found.reshape(shape)


def _numbers(bits: np.ndarray, name: str) -> np.ndarray:
    return function(of_bits(name))(bits, np.empty(bits.shape, np.float32))


def _number(text: str, name: str) -> float:
    """A number in decimal, or the bits of one (infinities and NaN) in hexadecimal."""
    if text.startswith("0x"):
        return float(_numbers(np.array([int(text, 16)]).astype(bits_dtype(name)), name)[0])
    return float(function(round_to(name))(np.array([float(text)]), np.empty(1, np.float32))[0])
