"""Errors of tracing: each names the user's line, what was found there, and the way out.

They are also the ``TypeError``, ``ValueError`` or ``IndexError`` that NumPy would raise in their place.
"""

import importlib.util
import os
import re
from collections.abc import Callable
from functools import cache
from traceback import walk_tb
from types import TracebackType
from typing import Any, TypeVar

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError, IpuError
from ipu_mlir.tracing.user_places import Place, is_users, user_place

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


class OfAFrameworkError(TraceTypeError):
    """A framework, or a library, was called with a traced tensor.

    Attributes:
        framework: which one.
    """

    def __init__(self, framework: str, place: Place) -> None:
        self.framework = framework
        super().__init__(refusal_of(framework), place)


class OfOursError(TraceTypeError):
    """What only traced functions of ours do was called in one that another framework traces."""


class TraceValueError(TraceError, ValueError):
    """Shapes that do not fit, or an argument out of its range."""


class TraceAttributeError(TraceError, AttributeError):
    """What traced tensors lack that arrays have."""


class TraceIndexError(TraceError, IndexError):
    """An index outside its dimension, or of a kind that is not supported."""


_Error = TypeVar("_Error", bound=IpuError)
_KINDS: dict[type[Exception], type[TraceError]] = {
    TypeError: TraceTypeError,
    ValueError: TraceValueError,
    IndexError: TraceIndexError,
    AttributeError: TraceTypeError,
    ZeroDivisionError: TraceValueError,
    OverflowError: TraceValueError,
}


@cache
def _folders_without_users() -> tuple[str, ...]:
    """Folders of code that calls users' functions, and is never called by them but at the top."""
    found = [importlib.util.find_spec(f"ipu_mlir.{name}") for name in ("compilation", "passes", "dialects", "runtime")]
    folders = [folder for spec in found if spec for folder in spec.submodule_search_locations or ()]
    return tuple(f"{folder}{os.sep}" for folder in (*folders, os.path.dirname(ir.__file__)))


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


_OF_A_CALL = re.compile(
    r"[\w.<>]+\(\) (got|takes|missing)|Iterator operand|"
    r".*(<traced |__array_function__|Cannot interpret |order must be)",
    re.DOTALL,
)


def of_a_call(error: Exception) -> TraceError | None:
    """``error`` at the user's line, if it says that a call does not fit, before NumPy asks us; None for others."""
    kind = next((ours for theirs, ours in _KINDS.items() if isinstance(error, theirs)), None)
    frames = [*walk_tb(error.__traceback__)]
    place = next((Place(each.f_code.co_filename, line, 1) for each, line in reversed(frames) if is_users(each)), None)
    if kind is None or place is None or (is_users(frames[-1][0]) and not _OF_A_CALL.match(str(error))):
        return None
    return kind(str(error), place)


_ADVICE = {
    "jax": "compile jax.jit of the function, or give arrays of JAX as arguments",
    "torch": "give tensors of PyTorch as arguments when it is compiled",
    "tensorflow": "compile a tf.function, or give tensors of TensorFlow as arguments",
    "keras": "compile the model itself, or give tensors of TensorFlow as arguments",
}
_ADVICE_OF_LIBRARIES = {
    "einops": "use the functions of einops.array_api",
    "scipy": "call those of jax.scipy as ipu.imported(jax.jit(function)), or NumPy's",
    "sklearn": "call it outside of the traced function, on arrays",
}
"""Of packages that work on the arrays of others."""

_WITHOUT_FRAMES = {
    "JAX has removed its internal frames": "jax",
    "must be Tensor, not Tensor": "torch",
    "got Tensor": "torch",
}
"""What functions say, or note, that are none of Python's or take their own frames out of tracebacks."""

_OF_A_TENSOR = re.compile(r"Tensor|traced|\b(bool|u?int\d+|float\d+|complex\d+)\[|'tuple' object has no attribute")
"""The last of shapes, which are no objects of a framework."""


def framework_of(value: Any) -> str | None:
    """The framework, of those with advice, that the class of ``value`` belongs to."""
    name = type(value).__module__.partition(".")[0]
    name = "jax" if name == "jaxlib" else name
    return name if name in _ADVICE else None


def refusal_of(framework: str) -> str:
    """What to say where ``framework``, or a library, meets a traced tensor."""
    advice = (_ADVICE | _ADVICE_OF_LIBRARIES)[framework]
    return f"{framework} does not take traced tensors of ipu_mlir; {advice}"


def of_a_framework(error: Exception) -> OfAFrameworkError | None:
    """``error`` at the user's line, if a traced function called a framework with tensors of its own, or a library."""
    if not isinstance(error, IpuError) and not _OF_A_TENSOR.search(str(error)):
        return None
    place: Place | None = None
    said = "\n".join((str(error), *getattr(error, "__notes__", ())))
    found = next((name for text, name in _WITHOUT_FRAMES.items() if text in said), None)
    for frame, line in walk_tb(error.__traceback__):
        name = str(frame.f_globals.get("__name__")).partition(".")[0]
        if place is not None and name in _ADVICE | _ADVICE_OF_LIBRARIES:
            found = name
            break
        if is_users(frame):
            place = Place(frame.f_code.co_filename, line, 1)
    if place is None or found is None:
        return None
    return OfAFrameworkError(found, place)


def at_the_users_line(error: _Error) -> _Error:
    """``error`` with a traceback of the user's own frames alone; of a ``TraceError`` the last is the line it names.

    What caused it is left out as well, unless that was raised by the user's code.
    """
    if os.environ.get(FULL_TRACEBACK):
        return error
    shortened: TracebackType | None = None
    for trace in reversed(_frames(error)):
        if _is_all_users(trace):
            shortened = TracebackType(shortened, trace.tb_frame, trace.tb_lasti, trace.tb_lineno)
    cause = error.__cause__
    error.__suppress_context__ = True
    if cause is not None and not any(map(_is_all_users, _frames(cause)[-1:])):
        error.__cause__ = None
    return error.with_traceback(shortened)


def _frames(error: BaseException) -> list[TracebackType]:
    trace, found = error.__traceback__, []
    while trace is not None:
        found.append(trace)
        trace = trace.tb_next
    return found


def _is_all_users(trace: TracebackType) -> bool:
    file = trace.tb_frame.f_code.co_filename
    return is_users(trace.tb_frame) and not file.startswith(_folders_without_users())
