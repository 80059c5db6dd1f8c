"""Uses of one scalar op in several types, tried on all combinations of some values, as one ``Case``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from support.case import Case
from support.tensor_text import DTYPES, function, generic, short_type

Function = Callable[..., Any]

FLOATS = ("f32", "f64")
INTEGERS = ("i8", "i16", "i32", "i64", "index")
ALL_INTEGERS = ("i1", *INTEGERS)

_FLOAT_VALUES = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -2.5, 3.7, -7.25, 20.0, 1e-20, 1e30, np.inf, -np.inf, np.nan]


@dataclass(frozen=True)
class Use:
    """One op in the types of one use.

    Attributes:
        body: the op on ``%x0, %x1, ...``.
        takes: the types of the operands.
        gives: the type of the result.
        numpy: what it means, on arrays of the operands' types.
        values: of each operand; all combinations are tried.
    """

    body: str
    takes: tuple[str, ...]
    gives: str
    numpy: Function
    values: tuple[np.ndarray, ...]

    def columns(self) -> list[np.ndarray]:
        """The operands, one element per combination of values."""
        columns = zip(*product(*self.values), strict=True)
        return [np.array(column, values.dtype) for column, values in zip(columns, self.values, strict=True)]


def use(
    op: str,
    takes: Sequence[str],
    gives: str,
    numpy: Function,
    *values: np.ndarray,
    predicate: str = "",
    types: str | None = None,
) -> Use:
    """``op`` on operands of the types ``takes``; ``types`` is what stands behind the colon, if not the first."""
    operands = ", ".join(f"%x{place}" for place in range(len(takes)))
    return Use(f"{op}{predicate} {operands} : {types or takes[0]}", tuple(takes), gives, numpy, values)


def case_of(name: str, uses: Sequence[Use]) -> Case:
    """One program that has every one of ``uses`` as a result of its own."""
    arguments: list[str] = []
    arrays: list[np.ndarray] = []
    results: list[str] = []
    lines: list[str] = []
    slices: list[slice] = []
    for number, each in enumerate(uses):
        columns = each.columns()
        size, first = len(columns[0]), len(arguments)
        operands = [(f"%a{first + place}", f"{size}x{element}[i]") for place, element in enumerate(each.takes)]
        slices.append(slice(first, first + len(columns)))
        arguments += [short_type((size,), element) for element in each.takes]
        arrays += columns
        results.append(short_type((size,), each.gives))
        lines.append(generic(f"%r{number}", "i", operands, f"{size}x{each.gives}[i]", each.body))

    def expected(*inputs: np.ndarray) -> tuple[Any, ...]:
        return tuple(each.numpy(*inputs[place]) for each, place in zip(uses, slices, strict=True))

    return Case(name, function(arguments, results, "\n".join(lines)), tuple(arrays), expected)


def values_of(element: str) -> np.ndarray:
    """Ordinary and special values of a type."""
    if element in FLOATS:
        return np.array(_FLOAT_VALUES, DTYPES[element])
    if element == "i1":
        return np.array([False, True])
    info = np.iinfo(DTYPES[element])
    return np.array([0, 1, -1, 2, -2, 3, 7, -7, 10, -100, 100, info.max, info.min, info.max - 1], DTYPES[element])


def unsigned(x: np.ndarray) -> np.ndarray:
    """The same bits as a number without sign."""
    return x.astype(np.uint8) if x.dtype == np.bool_ else x.view(f"u{x.dtype.itemsize}")


def signed(x: np.ndarray) -> np.ndarray:
    """The number that the bits of an MLIR integer mean with a sign: a true i1 is -1."""
    return -x.astype(np.int8) if x.dtype == np.bool_ else x


def low_bits(x: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """The bits of ``x`` that ``dtype`` has room for."""
    return (np.asarray(x) & 1).astype(np.bool_) if dtype == np.bool_ else np.asarray(x).astype(dtype)


def saturated(x: np.ndarray, width: int, is_signed: bool) -> np.ndarray:
    """Floats as integers of ``width`` bits, exact: without their fraction, the nearest that fits, and 0 for NaN."""
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if is_signed else (0, (1 << width) - 1)

    def of(number: float) -> int:
        return 0 if number != number else low if number <= low else high if number >= high else int(number)

    bits = [of(number) & (1 << width) - 1 for number in x.astype(np.float64).ravel().tolist()]
    found = np.array(bits, np.uint64).reshape(x.shape)
    return found != 0 if width == 1 else found.astype(f"u{width // 8}").view(f"i{width // 8}")


def exact(function: Function) -> Function:
    """``function`` of Python's integers of any size, of which the lowest 64 bits are taken."""

    def run(*operands: np.ndarray) -> np.ndarray:
        found = [function(*map(int, numbers)) & (1 << 64) - 1 for numbers in zip(*operands, strict=True)]
        return np.array(found, np.uint64)

    return run
