"""The standard streams of a tool: closed ones, full ones, and terminals that know fewer characters than we print."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_STREAMS = ("stdin", "stdout", "stderr")


class StreamError(Exception):
    """A standard stream cannot be read or written; the text says which, and why."""


def take_streams() -> None:
    """Make the streams of this process safe to use; call it before anything else is opened.

    A stream that the caller closed stays one that cannot be used (but for stderr, whose text is dropped): no file that
    is opened later gets its number. Characters that the encoding of stdout or stderr lacks are printed as escapes.
    """
    for number, name in enumerate(_STREAMS):
        try:
            os.fstat(number)
        except OSError:
            wrong_way = os.O_WRONLY if name == "stdin" else os.O_RDONLY
            opened = os.open(os.devnull, os.O_WRONLY if name == "stderr" else wrong_way)
            assert opened == number, "the lowest number that is free is taken"
            setattr(sys, name, open(number, "r" if name == "stdin" else "w", closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def read_stdin() -> bytes:
    """All of stdin.

    Raises:
        StreamError: it is closed, or nothing that can be read.
    """
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise StreamError(f"cannot read stdin: {error.strerror}") from error


@contextmanager
def stdout_errors() -> Iterator[None]:
    """Turn what goes wrong when the block writes to stdout into a ``StreamError``; a pipe that broke stays as it is."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        drop_stdout()
        raise
    except OSError as error:
        if error.filename is not None:
            raise  # of some file
        drop_stdout()
        raise StreamError(f"cannot write to stdout: {error.strerror}") from error


def drop_stdout() -> None:
    """Send what is still to be written to stdout nowhere, so that the end of the process does not fail on it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
