"""Casts from bf16 and the f8 types and to them; each rounds once, whatever it comes from."""

from itertools import product

import numpy as np
from support.narrow_numbers import F8, NARROW, VALUES, WIDE, narrow_values, narrowed
from support.op_uses import Function, Use, case_of, use


def _cast(op: str, source: str, dest: str, values: np.ndarray, numpy: Function) -> Use:
    return use(op, [source], dest, numpy, values, types=f"{source} to {dest}")


def _widened(source: str, dest: str) -> Use:
    dtype = WIDE.get(dest) or NARROW[dest]
    return _cast("arith.extf", source, dest, narrow_values(source), lambda x: x.astype(np.float32).astype(dtype))


def _narrowed(source: str, dest: str) -> Use:
    dtype = WIDE.get(source) or NARROW[source]
    near_ties = [1.0625, 1.1875, -1.375, 2.75, 9.5, 1.5, 464.0, 3.0]
    with np.errstate(all="ignore"):
        values = np.array([*VALUES, *near_ties]).astype(dtype)
    return _cast("arith.truncf", source, dest, values, lambda x: narrowed(dest, x))


def _just_off_ties(dest: str) -> Use:
    """Numbers of f64 beside the middle of two neighbours, which lies at them in f32: expected is what lies further."""
    sides = np.array([1 + 2.0**-4, 1 + 2.0**-5, 1 + 2.0**-3, 1.5, 3.0, 1 + 2.0**-8])
    offsets = np.concatenate([sides * (1 + sign * 2.0**-40) for sign in (-1, 1)])
    further = np.concatenate([sides * (1 + sign * 2.0**-20) for sign in (-1, 1)])
    return _cast("arith.truncf", "f64", dest, offsets, lambda _: narrowed(dest, further))


_INTEGERS = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}


def _from_integer(op: str, source: str, dest: str) -> Use:
    numbers = np.array([0, 1, -1, 2, 3, 5, 7, 9, 17, -19, 21, 100, -128], _INTEGERS[source])
    read: Function = (lambda x: x) if op == "arith.sitofp" else (lambda x: x.view(f"u{x.dtype.itemsize}"))
    return _cast(op, source, dest, numbers, lambda x: narrowed(dest, read(x)))


def _to_integer(op: str, source: str, dest: str) -> Use:
    values = np.array([1.0, 1.5, 2.75, 6.5, 14.0]).astype(NARROW[source])
    return _cast(op, source, dest, values, lambda x: x.astype(np.float32).astype(_INTEGERS[dest]))


def _bits(element: str) -> tuple[Use, Use]:
    """From the bits of every number, and back."""
    integer = "i16" if element == "bf16" else "i8"
    size = np.dtype(NARROW[element]).itemsize
    numbers = np.arange(256, dtype=f"u{size}") * (1 if size == 1 else 251)
    values = numbers.view(NARROW[element])
    values = values[~np.isnan(values)]
    forth = _cast("arith.bitcast", element, integer, values, lambda x: x.view(_INTEGERS[integer]))
    back = _cast("arith.bitcast", integer, element, numbers.view(_INTEGERS[integer]), lambda x: x.view(NARROW[element]))
    return forth, back


CASES = (
    case_of("arith.extf-from-narrow", [_widened(*pair) for pair in product(NARROW, ("f32", "f64"))]),
    case_of("arith.extf-to-16-bits", [_widened(*pair) for pair in product(F8, ("f16", "bf16"))]),
    case_of("arith.truncf-to-narrow", [_narrowed(*pair) for pair in product(("f32", "f64"), NARROW)]),
    case_of("arith.truncf-from-16-bits", [_narrowed(*pair) for pair in product(("f16", "bf16"), F8)]),
    case_of("arith.truncf-rounds-f64-once", [_just_off_ties(element) for element in NARROW]),
    *(
        case_of(f"{op}-to-narrow", [_from_integer(op, *pair) for pair in product(_INTEGERS, NARROW)])
        for op in ("arith.sitofp", "arith.uitofp")
    ),
    *(
        case_of(f"{op}-from-narrow", [_to_integer(op, *pair) for pair in product(NARROW, _INTEGERS)])
        for op in ("arith.fptosi", "arith.fptoui")
    ),
    case_of("arith.bitcast-of-narrow-floats", [each for element in NARROW for each in _bits(element)]),
)
