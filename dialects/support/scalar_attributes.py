"""Numbers as attributes."""

from typing import Any

from ipu_mlir.dialects.support.bindings import ir


def scalar_attribute(type_: ir.Type, number: Any) -> ir.Attribute:
    """``number`` as an attribute of ``type_``.

    ``IntegerAttr.get`` takes any type at its word: of a float, it reads a width that is none, and may then not return.

    >>> with ir.Context(), ir.Location.unknown():
    ...     print(scalar_attribute(ir.F32Type.get(), 0), scalar_attribute(ir.IntegerType.get_signless(8), 3.0))
    0.000000e+00 : f32 3 : i8

    Raises:
        TypeError: no number has the type.
    """
    if isinstance(type_, ir.FloatType):
        return ir.FloatAttr.get(type_, float(number))
    if isinstance(type_, ir.IntegerType | ir.IndexType):
        return ir.IntegerAttr.get(type_, int(number))
    raise TypeError(f"{number!r} is no {type_}; give the type of a float, an integer or an index")
