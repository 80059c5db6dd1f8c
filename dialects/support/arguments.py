"""The contract for arguments of programs: a value either is what the program takes, or is refused; none changes.

Every front end and the engine ask here. ``docs/frontends.md`` has the contract as a table.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.dialects.support.narrow_floats import ML_DTYPES, holds_bits

_KINDS = {"b": "b", "i": "bi", "u": "biu", "f": "biuf", "c": "biufc"}
"""By the kind of an argument, the kinds of Python numbers that it holds."""
Name = str | Callable[[], str]
"""What an argument is called, or gives that: names of leaves take longer than runs of small programs."""
_WORDS = {"b": "a bool", "i": "an integer", "u": "an integer that is not negative", "f": "a real number"}


def as_argument(value: Any, shape: Sequence[int | None] | None, dtype: np.dtype[Any], where: Name) -> np.ndarray:
    """``value`` as an array of ``shape`` and ``dtype``.

    Arrays, and tensors of any framework, have that element type, in any order of bytes and elements. Python numbers,
    and lists of them, are of its kind or a narrower one (bool, int, float, complex), and in its range.

    Args:
        value: an array, a Python number, or a list of numbers.
        shape: None is a size, or a whole shape, that is the value's own.
        where: names the argument; it begins the message.

    Raises:
        RunError: another element type or shape, or no numbers at all.
    """
    if type(value) is np.ndarray:
        array = value
    elif isinstance(value, np.generic) or hasattr(value, "dtype") or hasattr(value, "__array__"):
        array = read_array(value, where)
    else:
        array = _of_numbers(value, dtype, where)
    if array.dtype != dtype:
        array = _in_order_of_bytes(array, dtype, where)
    if shape is not None and array.shape != shape:
        _check_shape(array.shape, shape, where)
    return array


def as_signless(value: Any, shape: Sequence[int | None], dtype: np.dtype[Any], where: Name) -> np.ndarray:
    """As ``as_argument`` for a program whose integers have no sign, and whose narrow floats may come as bits."""
    found = getattr(value, "dtype", None)
    if isinstance(found, np.dtype) and found != dtype:
        if found.kind == "u" and dtype.kind == "i" and found.itemsize == dtype.itemsize:
            value = read_array(value, where).astype(found.newbyteorder("="), copy=False).view(dtype)
        elif holds_bits(found, dtype):
            value = read_array(value, where).view(dtype)
    return as_argument(value, shape, dtype, where)


def check_constant(found: Any, known: Any, where: Name) -> None:
    """Check that an argument that is part of the program is the one that it was compiled for.

    Raises:
        RunError: it is another value, or one of another type: ``x * 2`` and ``x * 2.0`` are two programs.
    """
    if found is known:
        return
    both_nan = False
    try:
        both_nan = bool(found != found and known != known)
        same = type(found) is type(known) and bool(both_nan or found == known)
    except (TypeError, ValueError, RuntimeError):  # arrays, and others that are not one truth
        same = False
    if not same or (isinstance(known, float) and not both_nan and known.hex() != found.hex()):
        raise RunError(
            f"{_said(where)} is {found!r:.60}, the program was compiled for {known!r:.60}; compile it for this value"
        )


def refuse_type(where: Name, found: Any, expected: Any, way_out: str) -> RunError:
    """The error of an array of another element type."""
    return RunError(
        f"{_said(where)} has dtype {found}, expected {expected}; {way_out}, or compile the program for {found}"
    )


def _said(where: Name) -> str:
    return where if isinstance(where, str) else where()


def read_array(value: Any, where: Name) -> np.ndarray:
    """An array of something that is one, of any framework.

    Raises:
        RunError: NumPy cannot read it.
    """
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise RunError(f"{_said(where)} has masked elements, which no program knows; fill them, x.filled(0)")
    try:
        return np.asarray(value)
    except Exception as error:  # of any kind: every framework has its own
        kind = f"{type(value).__module__}.{type(value).__name__}"
        raise RunError(f"{_said(where)} is a {kind} that NumPy cannot read: {error}; give it as an array") from error


def _of_numbers(value: Any, dtype: np.dtype[Any], where: Name) -> np.ndarray:
    """A Python number, or numbers in lists."""
    kind = "f" if dtype.name in ML_DTYPES.values() else dtype.kind
    try:
        found = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise RunError(f"{_said(where)} is {value!r:.60}, expected an array of {dtype}: {error}") from error
    if found.size == 0:
        found = found.astype(dtype)  # an empty list has numbers of any kind
    if found.dtype.kind not in _KINDS.get(kind, ""):
        wanted = _WORDS.get(kind, "numbers")
        raise RunError(
            f"{_said(where)} is {value!r:.60}, expected numbers that fit {dtype}, {wanted}; convert it, or compile the "
            "program for it"
        )
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            array = np.asarray(value, dtype)
    except (ValueError, TypeError, OverflowError) as error:
        raise RunError(f"{_said(where)} is {value!r:.60}, expected an array of {dtype}: {error}") from error
    if kind in "fc" and (np.isfinite(found) & ~np.isfinite(array.astype(np.complex128))).any():
        raise RunError(
            f"{_said(where)} is {value!r:.60}, which is too large for {dtype}; compile the program for a wider type"
        )
    return array


def _in_order_of_bytes(array: np.ndarray, dtype: np.dtype[Any], where: Name) -> np.ndarray:
    """``array`` with bytes in the order of this machine."""
    if array.dtype.newbyteorder("=") == dtype:
        return array.astype(dtype)
    raise refuse_type(where, array.dtype, dtype, f"convert it with .astype('{dtype}')")


def _check_shape(found: tuple[int, ...], shape: Sequence[int | None], where: Name) -> None:
    if len(found) == len(shape) and all(size in (own, None) for own, size in zip(found, shape, strict=True)):
        return
    expected = ", ".join("?" if size is None else str(size) for size in shape)
    expected = f"({expected},)" if len(shape) == 1 else f"({expected})"
    raise RunError(
        f"{_said(where)} has shape {found}, expected {expected}; reshape it, or compile the program for this shape"
    )
