"""Errors of tracing: each names the user's line, what was found there, and the way out.

They are also the ``TypeError``, ``ValueError`` or ``IndexError`` that NumPy would raise in their place.
"""

import os
from collections.abc import Callable
from types import TracebackType
from typing import Any

from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.tracing.places import Place, is_users, user_place

FULL_TRACEBACK = "IPU_MLIR_FULL_TRACEBACK"
"""Set this environment variable to see our frames below the user's line."""


class TraceError(CompileError):
    """The Python function does something that cannot become part of a program.

    Attributes:
        place: file, line and column of the user's code.
    """

    def __init__(self, message: str, place: Place | None = None) -> None:
        self.place = place or user_place()
        super().__init__(f"{self.place}: {message}")


class TraceTypeError(TraceError, TypeError):
    """A value of the wrong kind or element type, or an operation that is not supported."""


class TraceValueError(TraceError, ValueError):
    """Shapes that do not fit, or an argument out of its range."""


class TraceAttributeError(TraceError, AttributeError):
    """What traced tensors lack that arrays have."""


class TraceIndexError(TraceError, IndexError):
    """An index outside its dimension, or of a kind that is not supported."""


_KINDS: dict[type[Exception], type[TraceError]] = {
    TypeError: TraceTypeError,
    ValueError: TraceValueError,
    IndexError: TraceIndexError,
}


def located(name: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``function(*args, **kwargs)``, which users know as ``name``.

    Raises:
        TraceError: at the user's line, what Python or NumPy say about arguments of a kind that they cannot take.
    """
    try:
        return function(*args, **kwargs)
    except TraceError:
        raise
    except tuple(_KINDS) as error:
        kind = next(ours for theirs, ours in _KINDS.items() if isinstance(error, theirs))
        raise kind(f"{name} while tracing: {error}") from error


def at_the_users_line(error: TraceError) -> TraceError:
    """``error`` with a traceback of the user's own frames, whose last one is the line that it names."""
    if os.environ.get(FULL_TRACEBACK):
        return error
    frames: list[TracebackType] = []
    trace = error.__traceback__
    while trace is not None:
        if is_users(trace.tb_frame):
            frames.append(trace)
        trace = trace.tb_next
    shortened: TracebackType | None = None
    for frame in reversed(frames):
        shortened = TracebackType(shortened, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    error.__cause__, error.__suppress_context__ = None, True
    return error.with_traceback(shortened)
