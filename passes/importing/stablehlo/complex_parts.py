"""The parts of complex numbers: two tensors, or one whose last dimension has both."""

from typing import Any

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.importing.stablehlo.builders import half_of, stablehlo_op
from ipu_mlir.passes.importing.stablehlo.complex_functions import Parts


def is_complex(value: Any) -> bool:
    """True if ``value`` is a tensor of complex numbers."""
    return isinstance(getattr(value.type, "element_type", None), ir.ComplexType)


class ComplexParts:
    """The parts of the complex values of one function."""

    def __init__(self) -> None:
        self._known: dict[ir.Value, Parts] = {}

    def has(self, value: ir.Value) -> bool:
        """True if ``value`` is complex, or was so before it became an argument of pairs."""
        return value in self._known or is_complex(value)

    def of(self, value: ir.Value) -> Parts:
        return self._known[value]

    def note(self, value: ir.Value, real: ir.Value, imaginary: ir.Value) -> None:
        self._known[value] = real, imaginary


def part_type(kind: Any) -> ir.RankedTensorType:
    """The type of each part of a tensor of the complex type ``kind``."""
    return ir.RankedTensorType.get(list(kind.shape), ir.ComplexType(kind.element_type).element_type)


def pairs_type(kind: Any) -> ir.RankedTensorType:
    """The type of both parts in one tensor."""
    return ir.RankedTensorType.get([*kind.shape, 2], ir.ComplexType(kind.element_type).element_type)


def apart(pairs: ir.Value) -> Parts:
    """The two halves of the last dimension."""
    return half_of(pairs, 0), half_of(pairs, 1)


def joined(real: ir.Value, imaginary: ir.Value) -> ir.Value:
    """Both parts in a last dimension."""
    shape, element = list(real.type.shape), real.type.element_type
    one = ir.RankedTensorType.get([*shape, 1], element)
    halves = [stablehlo_op("stablehlo.reshape", one, [each]) for each in (real, imaginary)]
    return upstream("tensor").ConcatOp(ir.RankedTensorType.get([*shape, 2], element), len(shape), halves).result
