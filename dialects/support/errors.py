"""The exceptions of the project: what a user can act on. Everything else that escapes is a bug."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any


class Settings(dict[str, Any]):
    """Settings (or a method) that a message advises, by their names in Python; None stands for any value.

    The message has their text in it. A tool, which has flags in their place, finds them in ``IpuError.settings``.

    >>> print(Settings(tiles_per_ipu=1472, ipus=2), Settings(entry=None))
    tiles_per_ipu=1472, ipus=2 entry
    """

    def __str__(self) -> str:
        return ", ".join(name if value is None else f"{name}={value!r}" for name, value in self.items())


class IpuError(Exception):
    """Base of all errors whose message is for the user; a tool prints it in one line and exits with 1.

    Attributes:
        settings: those that the message speaks of.
    """

    settings: tuple[Settings, ...] = ()

    def __init__(self, *args: Any, settings: tuple[Settings, ...] = ()) -> None:
        super().__init__(*args)
        if settings:
            self.settings = settings

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors go from process to process as they are, whatever their classes take to be made."""
        return _made_again, (type(self), self.args, self.__dict__)


class CompileError(IpuError):
    """The program cannot be compiled; the message names the value or the op, and the way out."""


class TargetError(IpuError):
    """The machine that was asked for does not exist, or the program asks for more than it has."""


class MemoryWarning(UserWarning):
    """A program for an emulated target needs more memory than such a machine has, or data more than I/O tiles have.

    Attributes:
        settings: those that the message speaks of.
    """

    def __init__(self, message: str, settings: tuple[Settings, ...] = ()) -> None:
        super().__init__(message)
        self.settings = settings


def warn_of_memory(message: str, settings: tuple[Settings, ...] = ()) -> None:
    """Warn, and let who listens (``memory_warnings``) know."""
    warning, heard = MemoryWarning(message, settings), _heard.get()
    if heard is not None:
        heard.append(warning)
    warnings.warn(warning, stacklevel=3)


@contextmanager
def memory_warnings() -> Iterator[list[MemoryWarning]]:
    """All warnings of memory until the end of the block, those that a filter hides too."""
    heard: list[MemoryWarning] = []
    token = _heard.set(heard)
    try:
        yield heard
    finally:
        _heard.reset(token)


_heard: ContextVar[list[MemoryWarning] | None] = ContextVar("heard", default=None)


class RunError(IpuError):
    """A compiled program was given inputs that it cannot run on, or met a failed check while it ran."""


def _made_again(kind: type[IpuError], args: tuple[Any, ...], attributes: dict[str, Any]) -> IpuError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error
