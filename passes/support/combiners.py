"""Operations that combine numbers in any order, and what changes no number that they combine it with."""

import math
from collections.abc import Callable

import numpy as np

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.element_types import element_type
from ipu_mlir.dialects.support.narrow_floats import finite_range

_OF_FLOATS = {
    "arith.addf": -0.0,  # 0.0 would make 0.0 of -0.0
    "arith.mulf": 1.0,
    "arith.maximumf": -math.inf,
    "arith.minimumf": math.inf,
    "arith.maxnumf": -math.inf,
    "arith.minnumf": math.inf,
}
_OF_INTEGERS: dict[str, Callable[[int], int]] = {
    "arith.addi": lambda width: 0,
    "arith.ori": lambda width: 0,
    "arith.xori": lambda width: 0,
    "arith.maxui": lambda width: 0,
    "arith.muli": lambda width: 1,
    "arith.andi": lambda width: -1,
    "arith.minui": lambda width: -1,
    "arith.maxsi": lambda width: -(1 << (width - 1)),
    "arith.minsi": lambda width: (1 << (width - 1)) - 1,
}
COMBINERS = frozenset((*_OF_FLOATS, *_OF_INTEGERS))

OPS_OF_KIND = {
    "add": ("arith.addf", "arith.addi"),
    "mul": ("arith.mulf", "arith.muli"),
    "max": ("arith.maximumf", "arith.maxsi"),
    "min": ("arith.minimumf", "arith.minsi"),
}
"""What scans and scatters of these kinds combine floats with, and integers."""

KIND_OF_OP = {op: kind for kind, ops in OPS_OF_KIND.items() for op in ops}


def neutral(combiner: str, element: ir.Type) -> ir.Attribute | None:
    """The number that leaves the other operand of ``combiner`` as it is; None where the type has no such number."""
    if combiner in _OF_FLOATS and isinstance(element, ir.FloatType):
        number = _in_type(_OF_FLOATS[combiner], str(element))
        return None if number is None else ir.FloatAttr.get(element, number, loc=ir.Location.unknown())
    if combiner in _OF_INTEGERS and isinstance(element, ir.IntegerType | ir.IndexType):
        width = element.width if isinstance(element, ir.IntegerType) else 64
        return ir.IntegerAttr.get(element, _OF_INTEGERS[combiner](width))
    return None


def _in_type(number: float, name: str) -> float | None:
    """``number``, for an infinity the last number on that side of a type without any; None if the type has no such.

    >>> _in_type(-math.inf, "f8E4M3FN"), _in_type(-math.inf, "f8E5M2"), _in_type(-0.0, "f8E8M0FNU")
    (-448.0, -inf, None)
    """
    held = float(np.float32(number).astype(element_type(name).dtype))
    if held == number:
        return held  # 0.0 in a type without a -0.0
    return finite_range(name)[number > 0] if math.isinf(number) else None
