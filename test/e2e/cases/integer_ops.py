"""Every op of ``arith`` and ``math`` on integers: two's complement, signed or not by op, with wrap-around."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from support.case import Case
from support.op_uses import ALL_INTEGERS, INTEGERS, Function, case_of, exact, low_bits, signed, unsigned, use, values_of
from support.tensor_text import DTYPES


def _case(
    op: str,
    read: Function,
    numpy: Function,
    *,
    arity: int = 2,
    types: Sequence[str] = ALL_INTEGERS,
    second: Function | None = None,
) -> Case:
    """``numpy`` works on the numbers that ``read`` sees in the bits, and wraps around.

    Args:
        second: the values of the second operand for a type, where not all will do.
    """
    uses = []
    for element in types:
        values = [values_of(element)] * arity
        if second is not None:
            values[1] = second(element)

        def meaning(*operands: np.ndarray, dtype: np.dtype[Any] = DTYPES[element]) -> np.ndarray:
            return low_bits(numpy(*map(read, operands)), dtype)

        uses.append(use(op, [element] * arity, element, meaning, *values))
    return case_of(op, uses)


def _amounts(element: str) -> np.ndarray:
    """Shifts by less than the width, by the width, and by more."""
    if element == "i1":
        return values_of(element)
    width = 8 * DTYPES[element].itemsize
    return np.array([0, 1, width // 2, width - 1, width, width + 1, 127, -1], DTYPES[element])


def _exponents(element: str) -> np.ndarray:
    return values_of(element) if element == "i1" else np.array([0, 1, 2, 3, 9, -1, -2], DTYPES[element])


def _power(a: int, b: int) -> int:
    """Of negative powers, the integer part."""
    if b >= 0:
        return a**b
    return {1: 1, -1: -1 if b % 2 else 1}.get(a, 0)


def _unless_zero(divide: Function) -> Function:
    """A division by zero gives 0."""
    return lambda a, b: divide(a, b) if b else 0


def _towards_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _leading_zeros(bits: str) -> int:
    return len(bits) - len(bits.lstrip("0"))


def _trailing_zeros(bits: str) -> int:
    return len(bits) - len(bits.rstrip("0"))


def _bit_case(op: str, count: Function) -> Case:
    """``count`` works on the bits as text."""

    def meaning(x: np.ndarray) -> np.ndarray:
        width = 1 if x.dtype == np.bool_ else 8 * x.dtype.itemsize
        return np.array([count(format(int(number), f"0{width}b")) for number in unsigned(x)], x.dtype)

    return case_of(op, [use(op, [e], e, meaning, values_of(e)) for e in ALL_INTEGERS])


_ON_UNSIGNED: dict[str, Function] = {
    "addi": np.add,
    "subi": np.subtract,
    "muli": np.multiply,
    "andi": np.bitwise_and,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
    "maxui": np.maximum,
    "minui": np.minimum,
}
_SIGNED_DIVISIONS: dict[str, Function] = {
    "divsi": _towards_zero,
    "remsi": lambda a, b: a - b * _towards_zero(a, b),
    "floordivsi": lambda a, b: a // b,
    "ceildivsi": lambda a, b: -(-a // b),
}
_UNSIGNED_DIVISIONS: dict[str, Function] = {
    "divui": lambda a, b: a // b,
    "remui": lambda a, b: a % b,
    "ceildivui": lambda a, b: -(-a // b),
}
_SHIFTS: dict[str, tuple[Function, Function]] = {
    "shli": (unsigned, lambda a, b: a << b if 0 <= b < 64 else 0),
    "shrui": (unsigned, lambda a, b: a >> b),
    "shrsi": (signed, lambda a, b: a >> (b if 0 <= b < 64 else 63)),
}


CASES = (
    *(_case(f"arith.{op}", unsigned, numpy) for op, numpy in _ON_UNSIGNED.items()),
    _case("arith.maxsi", signed, np.maximum),
    _case("arith.minsi", signed, np.minimum),
    *(
        _case(f"arith.{op}", read, exact(_unless_zero(numpy)))
        for read, table in ((signed, _SIGNED_DIVISIONS), (unsigned, _UNSIGNED_DIVISIONS))
        for op, numpy in table.items()
    ),
    *(_case(f"arith.{op}", read, exact(numpy), second=_amounts) for op, (read, numpy) in _SHIFTS.items()),
    _case("math.absi", signed, np.abs, arity=1, types=INTEGERS),
    _case("math.ctpop", unsigned, exact(int.bit_count), arity=1),
    _bit_case("math.ctlz", _leading_zeros),
    _bit_case("math.cttz", _trailing_zeros),
    _case("math.ipowi", signed, exact(_power), second=_exponents),
)
