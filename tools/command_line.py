"""What all tools share: exit status, errors in one line, files that are written whole or not at all."""

import argparse
import gc
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from ipu_mlir.dialects.text import printable_lines

FAILED = 1
WRONG_USAGE = 2


class UsageError(Exception):
    """The tool was called in a way that it does not understand."""


class Parser(argparse.ArgumentParser):
    """Options of a tool; long options must be written out."""

    def __init__(self, prog: str, description: str, epilog: str = "") -> None:
        formatter = argparse.RawDescriptionHelpFormatter
        super().__init__(prog, description=description, epilog=epilog, formatter_class=formatter, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def run_tool(name: str, tool: Callable[[Sequence[str]], int], argv: Sequence[str] | None) -> int:
    """Run ``tool`` on its arguments; gives the exit status: 0, 1 for a wrong program or input, 2 for wrong usage.

    An error for the user becomes one line on stderr, or one per place in the program. Others are bugs and go through.
    """
    if argv is None:  # a process of our own: looking for garbage among all that is imported takes a tenth of its time
        end_when_interrupted()
        gc.set_threshold(100_000, 50, 100)
        warnings.formatwarning = lambda message, *_, **__: (
            f"{printable_lines(str(message))}\n"
        )  # one line, as errors have
    try:
        status = tool(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
        return status
    except UsageError as error:
        print(printable_lines(f"{name}: error: {error}; see {name} --help"), file=sys.stderr)
        return WRONG_USAGE
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        return _report(name, error)


def end_when_interrupted() -> None:
    """Let Ctrl-C end this process at once and in silence, which a shell sees as exit status 130.

    Python would raise an exception, but only when the pass in C++ or the NumPy call that runs returns, which can take
    long, and inside callbacks of C++. Nothing has to be cleaned up: files are written in ``uninterrupted`` blocks.
    Where the caller ignores the signal, as ``nohup`` does, it stays ignored.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait until the end of the block."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _report(name: str, error: Exception) -> int:
    from ipu_mlir.dialects.diagnostics import DiagnosedError
    from ipu_mlir.dialects.errors import IpuError

    if not isinstance(error, IpuError):
        raise error
    print(
        printable_lines(str(error) if isinstance(error, DiagnosedError) else f"{name}: error: {error}"), file=sys.stderr
    )
    return FAILED


def write_output(path: str, content: str | bytes) -> None:
    """Write ``content`` to the file ``path``, or to stdout for ``-``. A file appears whole or stays as it was.

    Raises:
        UsageError: the file cannot be written.
    """
    data = content.encode(errors="backslashreplace") if isinstance(content, str) else content
    try:
        if path == "-":
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
        elif os.path.exists(path) and not os.path.isfile(path):  # a pipe or a device
            Path(path).write_bytes(data)
        else:
            with uninterrupted():
                _replace_file(path, data)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def _replace_file(path: str, data: bytes) -> None:
    unfinished = f"{path}.{os.getpid()}.unfinished"
    try:
        Path(unfinished).write_bytes(data)
        os.replace(unfinished, path)
    finally:
        Path(unfinished).unlink(missing_ok=True)
