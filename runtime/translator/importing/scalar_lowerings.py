"""Scalar ops that take more than one call, or whose call depends on types or predicates.

``LOWERINGS`` maps an op's name to a function (operands, result dtype, attribute getter) -> expression.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ipu_mlir.runtime.translator.statements.expression import Accumulator, Apply, Const, Expression, apply, bits, cast
from ipu_mlir.runtime.translator.statements.types import unsigned

BOOL, F64 = np.dtype(np.bool_), np.dtype(np.float64)

_ORDERED = {"eq": "equal", "gt": "greater", "ge": "greater_equal", "lt": "less", "le": "less_equal"}
_INVERSE = {"gt": "less_equal", "ge": "less", "lt": "greater_equal", "le": "greater"}
_SWAPPED = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge"}

# The order of the enumerations in MLIR: predicates are stored as numbers.
CMPF_PREDICATES = ["false", *(f"o{how}" for how in ("eq", "gt", "ge", "lt", "le", "ne")), "ord"]
CMPF_PREDICATES += [*(f"u{how}" for how in ("eq", "gt", "ge", "lt", "le", "ne")), "uno", "true"]
CMPI_PREDICATES = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]

Operands = tuple[Expression, ...]
Attribute = Callable[[str], Any]


def _compare(call: str, a: Expression, b: Expression) -> Expression:
    return Apply(BOOL, call, (a, b))


def negated(a: Expression) -> Expression:
    return Apply(BOOL, "logical_not", (a,))


def compare_floats(operands: Operands, dtype: Any, attribute: Attribute) -> Expression:
    """``arith.cmpf``: an ordered predicate is false on NaN, an unordered one true."""
    predicate = CMPF_PREDICATES[attribute("predicate").value]
    a, b = operands
    order, relation = predicate[0], predicate[1:]
    if predicate in ("false", "true"):
        return Const.of(predicate == "true", BOOL)
    if predicate == "une":
        return _compare("not_equal", a, b)
    if predicate in ("ord", "uno"):
        # x == x fails exactly for NaN
        both = Apply(BOOL, "logical_and", (_compare("equal", a, a), _compare("equal", b, b)))
        return both if predicate == "ord" else negated(both)
    if predicate in ("one", "ueq"):
        differ = Apply(BOOL, "logical_or", (_compare("less", a, b), _compare("greater", a, b)))
        return differ if predicate == "one" else negated(differ)
    if order == "o":
        return _compare(_ORDERED[relation], a, b)
    return negated(_compare(_INVERSE[relation], a, b))


def compare_integers(operands: Operands, dtype: Any, attribute: Attribute) -> Expression:
    """``arith.cmpi``: signed or unsigned by predicate; a signed i1 has true = -1."""
    predicate = CMPI_PREDICATES[attribute("predicate").value]
    a, b = operands
    if predicate in ("eq", "ne"):
        return _compare("equal" if predicate == "eq" else "not_equal", a, b)
    sign, relation = predicate[0], predicate[1:]
    if a.dtype == BOOL:
        return _compare(_ORDERED[_SWAPPED[relation] if sign == "s" else relation], a, b)
    if sign == "u":
        a, b = bits(a, unsigned(a.dtype)), bits(b, unsigned(b.dtype))
    return _compare(_ORDERED[relation], a, b)


def _signed_number(operands: Operands, dtype: Any, attribute: Attribute) -> Expression:
    """extsi, sitofp, index_cast: an i1 is 0 or -1, and a float 0 has no sign."""
    (a,) = operands
    return apply("subtract", Const.of(0, dtype), cast(a, dtype)) if a.dtype == BOOL else cast(a, dtype)


def _unsigned_number(operands: Operands, dtype: Any, attribute: Attribute) -> Expression:
    """extui, uitofp, index_castui; in one bit, the lowest."""
    (a,) = operands
    if dtype == BOOL:
        return _integer_cast(operands, dtype, attribute)
    return cast(a if a.dtype == BOOL else bits(a, unsigned(a.dtype)), dtype)


def _integer_cast(operands: Operands, dtype: Any, attribute: Attribute) -> Expression:
    """trunci, and index_cast to a narrower type: the low bits."""
    (a,) = operands
    if dtype != BOOL:
        return _signed_number(operands, dtype, attribute)
    return cast(apply("bitwise_and", a, Const.of(1, a.dtype)), BOOL) if a.dtype != BOOL else a


def _float_cast(operands: Operands, dtype: Any, attribute: Attribute) -> Expression:
    return cast(operands[0], dtype)


def _float_to_signed(operands: Operands, dtype: Any, attribute: Attribute) -> Expression:
    """As a signed number, one bit is 0 or -1."""
    (a,) = operands
    if dtype == BOOL:
        return _compare("less_equal", a, Const.of(-1, a.dtype))
    return apply("saturated_integer", a, dtype=dtype)


def _float_to_unsigned(operands: Operands, dtype: Any, attribute: Attribute) -> Expression:
    (a,) = operands
    if dtype == BOOL:
        return _compare("greater_equal", a, Const.of(1, a.dtype))
    return bits(apply("saturated_integer", a, dtype=unsigned(dtype)), dtype)


def _signed_remainder(operands: Operands, dtype: Any, attribute: Attribute) -> Expression:
    return Const.of(False, BOOL) if dtype == BOOL else apply("fmod", *operands)


def _unsigned_remainder(operands: Operands, dtype: Any, attribute: Attribute) -> Expression:
    if dtype == BOOL:
        return Const.of(False, BOOL)
    return bits(apply("remainder", *(bits(operand, unsigned(dtype)) for operand in operands)), dtype)


def _signed_shift_right(operands: Operands, dtype: Any, attribute: Attribute) -> Expression:
    """One bit is its own sign."""
    return operands[0] if dtype == BOOL else apply("right_shift", *operands)


def _reciprocal_sqrt(operands: Operands, dtype: Any, attribute: Attribute) -> Expression:
    return apply("divide", Const.of(1, dtype), apply("sqrt", operands[0]))


def _fused_multiply_add(operands: Operands, dtype: Any, attribute: Attribute) -> Expression:
    """Rounded once, unless the numbers are f64: their product is rounded too."""
    a, b, c = operands
    if a.dtype == F64:
        return apply("add", apply("multiply", a, b), c)
    return cast(apply("odd_multiply_add", *(cast(operand, F64) for operand in operands)), dtype)


def _float_to_integer_power(operands: Operands, dtype: Any, attribute: Attribute) -> Expression:
    base, exponent = operands
    return apply("power", base, cast(exponent, dtype))


def _extreme(call: str, ordered: str) -> Callable[[Operands, Any, Attribute], Expression]:
    """``arith.maximumf``, ``arith.minimumf``: +0 is above -0, of which NumPy's ``call`` gives either.

    Where no two zeros can meet, ``call`` is enough. A running value of a reduction is compared by ``call``.
    """

    def lowering(operands: Operands, dtype: Any, attribute: Attribute) -> Expression:
        if any(isinstance(each, Accumulator) or (isinstance(each, Const) and each.value != 0) for each in operands):
            return apply(call, *operands)
        if call == "maximum" and any(isinstance(each, Const) and not np.signbit(each.value) for each in operands):
            return apply("absolute", apply(call, *operands))
        return apply(ordered, *operands)

    return lowering


LOWERINGS: dict[str, Callable[[Operands, Any, Attribute], Expression]] = {
    "arith.cmpf": compare_floats,
    "arith.cmpi": compare_integers,
    "arith.extsi": _signed_number,
    "arith.sitofp": _signed_number,
    "arith.extui": _unsigned_number,
    "arith.uitofp": _unsigned_number,
    "arith.index_cast": _integer_cast,
    "arith.index_castui": _unsigned_number,
    "arith.trunci": _integer_cast,
    "arith.remsi": _signed_remainder,
    "arith.remui": _unsigned_remainder,
    "arith.shrsi": _signed_shift_right,
    "arith.maximumf": _extreme("maximum", "larger"),
    "arith.minimumf": _extreme("minimum", "smaller"),
    "arith.extf": _float_cast,
    "arith.truncf": _float_cast,
    "arith.fptosi": _float_to_signed,
    "arith.fptoui": _float_to_unsigned,
    "math.rsqrt": _reciprocal_sqrt,
    "math.fma": _fused_multiply_add,
    "math.fpowi": _float_to_integer_power,
}
