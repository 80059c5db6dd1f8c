"""How wide the floats of a program are: its tensors decide, not the arrays and NumPy scalars around them.

NumPy makes float64 of whatever is not said otherwise, which a machine without float64 pays for. So arrays and scalars
of float64 that a traced function finds outside of itself, and integers, take the type of the float tensors they meet.
"""

import warnings
from contextlib import ContextDecorator
from contextvars import ContextVar, Token
from typing import Any

import numpy as np

from ipu_mlir.specs.tensor_types import is_of_ml_dtypes, kind_of
from ipu_mlir.tracing.graph import Symbol, Trace
from ipu_mlir.tracing.user_places import user_place

WIDE = (np.dtype(np.float64), np.dtype(np.complex128))
_NUMPY_WIDTHS: ContextVar[bool] = ContextVar("numpy_widths", default=False)


class WideFloatWarning(UserWarning):
    """A program computes in float64 although nobody asked for it."""


class x64(ContextDecorator):
    """Within the block, or the function that it decorates, traced functions promote element types as NumPy does.

    ``x * np.linspace(0, 1, 3)`` is then float64, whatever ``x`` is, as are ``int32 + float32`` and
    ``x / np.sqrt(64)``, and nothing warns of float64. Programs that were compiled in the block stay as they are.

    Args:
        enabled: False takes up the rule of float32 again, in a block inside.
    """

    def __init__(self, enabled: bool = True) -> None:
        self._enabled = enabled
        self._tokens: list[Token[bool]] = []

    def __enter__(self) -> "x64":
        self._tokens.append(_NUMPY_WIDTHS.set(self._enabled))
        return self

    def __exit__(self, *_: object) -> None:
        _NUMPY_WIDTHS.reset(self._tokens.pop())


def has_numpy_widths() -> bool:
    """True in a block of ``x64``."""
    return _NUMPY_WIDTHS.get()


def stand_ins(kinds: list[Any], decides: list[bool]) -> list[Any]:
    """``kinds``, element types and Python numbers, as they take part in the choice of a common type.

    Args:
        decides: for each, True for what is a tensor, or of a type that somebody chose; False for the float64 of NumPy.

    >>> f32, f64, i32 = np.dtype("f4"), np.dtype("f8"), np.dtype("i4")
    >>> stand_ins([f32, f64, i32], [True, False, True])
    [dtype('float32'), 0.0, 0]
    >>> stand_ins([i32, f64], [True, False]), stand_ins([f32, f64], [True, True])
    ([dtype('int32'), dtype('float64')], [dtype('float32'), dtype('float64')])
    """
    types = [isinstance(kind, np.dtype) for kind in kinds]
    floats = [is_type and kind_of(kind) in "fc" for is_type, kind in zip(types, kinds, strict=True)]
    if has_numpy_widths() or not any(map(all, zip(floats, decides, strict=True))):
        return kinds
    return [
        0
        if is_type and kind_of(kind) in "iu"
        else {"f": 0.0, "c": 0j}[kind.kind]
        if is_float and not decided and not is_of_ml_dtypes(kind)
        else kind
        for kind, is_type, is_float, decided in zip(kinds, types, floats, decides, strict=True)
    ]


def is_outside(value: Symbol) -> bool:
    """True for an array that the function found outside of itself."""
    owner: Any = value.value.owner
    return getattr(owner, "name", "") == "arith.constant"


def warn_of_width(trace: Trace, name: str, given: str) -> None:
    """Say once per program that ``name`` of ``given`` is float64, with the line."""
    if has_numpy_widths() or trace.root.knows_of_width:
        return
    trace.root.knows_of_width = True
    warn(f"{user_place()}: {name} of {given} is float64")


def warn(what: str) -> None:
    """Say that something is float64, and the ways out."""
    warnings.warn(
        f"{what}, which the machine computes in software, many times slower than float32; use astype(np.float32) "
        "before it, or compile in `with ipu.x64():` where float64 is meant",
        WideFloatWarning,
        stacklevel=3,
    )
