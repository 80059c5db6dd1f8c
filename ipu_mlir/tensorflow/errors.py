"""Errors in the classes that users of TensorFlow know, also those of Python inside of graphs."""

import functools
import re
from collections import OrderedDict
from collections.abc import Callable
from itertools import count
from typing import Any, TypeVar

import tensorflow as tf
from tensorflow.python.client.session import BaseSession

from ipu_mlir.dialects.support.errors import IpuError

_NUMBERS = count()
_MARK = re.compile(r"\[error (\d+) of the host\]")
_RAISED: "OrderedDict[int, Exception]" = OrderedDict()
"""The newest errors, by the number in the message that TensorFlow makes of them."""
_MOST_KEPT = 64
Error = TypeVar("Error", bound=IpuError)
_BOTH: dict[type, type] = {}


def as_invalid_argument(error: Error) -> Error:
    """``error`` as one that is a ``tf.errors.InvalidArgumentError`` too, as XLA raises where it cannot compile."""
    if isinstance(error, tf.errors.OpError):
        return error
    about = {"_node_def": None, "_op": None, "_message": str(error), "_error_code": tf.errors.INVALID_ARGUMENT}
    return _made_again(type(error), error.args, error.__dict__ | about)


def _made_again(kind: type[Error], args: tuple[Any, ...], attributes: dict[str, Any]) -> Error:
    """An error of ``kind`` and of TensorFlow, whose class any other process can make, too."""
    if kind not in _BOTH:
        members = {
            "__str__": kind.__str__,
            "__reduce__": lambda error: (_made_again, (kind, error.args, error.__dict__)),
        }
        _BOTH[kind] = type(kind.__name__, (kind, tf.errors.InvalidArgumentError), members)
    made: Any = _BOTH[kind].__new__(_BOTH[kind], *args)
    made.__dict__.update(attributes)
    return made


def marked(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` for an operation of a graph, which gives all of its errors one class: ``own_error`` finds them."""

    @functools.wraps(function)
    def run(*args: Any) -> Any:
        found: Exception
        try:
            return function(*args)
        except StopIteration as error:
            found = tf.errors.OutOfRangeError(None, None, f"the dataset has ended {error}".strip())
        except Exception as error:
            found = error
        raise _kept(found) from None  # TensorFlow puts the whole chain into the log

    return run


def _kept(error: Exception) -> RuntimeError:
    number = next(_NUMBERS)
    _RAISED[number] = error
    while len(_RAISED) > _MOST_KEPT:
        _RAISED.popitem(last=False)
    return RuntimeError(f"{type(error).__name__}: {error} [error {number} of the host]")


def own_error(error: Exception) -> Exception:
    """The error that ``error`` of TensorFlow was made of; ``error`` itself if it was made of none."""
    found = _MARK.search(str(error))
    own = error if found is None else _RAISED.get(int(found.group(1)), error)
    return as_invalid_argument(own) if isinstance(own, IpuError) else own


@functools.cache
def take_over_sessions() -> None:
    """Let ``run`` of sessions raise the errors of operations that are ``marked``."""
    BaseSession.run = _raising_own(BaseSession.run)


def _raising_own(theirs: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(theirs)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return theirs(*args, **kwargs)
        except tf.errors.UnknownError as error:
            own = own_error(error)
            if own is error:
                raise
            raise own from error

    return run
