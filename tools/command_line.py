"""The common parts of all tools: exit status, errors in one line, files that are written whole or not at all."""

import argparse
import gc
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from ipu_mlir.dialects.support.text import printable_lines
from ipu_mlir.tools.program_files import forget_programs
from ipu_mlir.tools.standard_streams import StreamError, stdout_errors, take_streams

if TYPE_CHECKING:
    from ipu_mlir.dialects.support.diagnostics import DiagnosedError, Diagnostic

FAILED = 1
WRONG_USAGE = 2


class UsageError(Exception):
    """The tool was called in a way that it does not understand."""


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """As wide as the terminal; argparse would ask ``shutil``, with which come four kinds of compressed files."""

    def __init__(self, prog: str) -> None:
        columns = os.environ.get("COLUMNS", "")
        width = int(columns) if columns.isdecimal() else 0
        if not width:
            try:
                width = os.get_terminal_size(1).columns
            except OSError:  # no terminal
                width = 0
        super().__init__(prog, width=(width or 80) - 2)


class Parser(argparse.ArgumentParser):
    """Options of a tool; long options must be written out."""

    def __init__(self, prog: str, description: str, epilog: str = "") -> None:
        super().__init__(prog, description=description, epilog=epilog, formatter_class=_Formatter, allow_abbrev=False)
        self.add_argument("--version", action=_Version, help="show the versions of ipu-mlir, MLIR and LLVM")
        shells = "print a script that completes these options: source <(%(prog)s --completion bash)"
        self.add_argument("--completion", action=_Completion, metavar="bash|zsh|fish", help=shells)

    def pass_names(self) -> Sequence[str]:
        """The options besides those that were added: names of passes."""
        return ()

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)

    def print_help(self, file: Any = None) -> None:
        """Print the help; argparse would keep silent where it cannot be written."""
        print(self.format_help(), end="", file=file)


class _Version(argparse.Action):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, nargs=0, **kwargs)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from ipu_mlir.tools.versions import version_text

        print(version_text(parser.prog), end="")
        parser.exit()


class _Completion(argparse.Action):
    def __call__(self, parser: Any, namespace: Any, shell: Any, *_: Any) -> None:
        from ipu_mlir.tools.completion import SHELLS, completion_script

        if shell not in SHELLS:
            raise UsageError(f"argument --completion: expected one of {', '.join(SHELLS)}, got '{shell}'")
        print(completion_script(parser.prog, parser, shell, parser.pass_names()), end="")
        parser.exit()


def run_tool(
    name: str,
    tool: Callable[[Sequence[str]], int],
    argv: Sequence[str] | None,
    flags: Mapping[str, str] = MappingProxyType({}),
) -> int:
    """Run ``tool`` on its arguments; gives the exit status: 0, 1 for a wrong program or input, 2 for wrong usage.

    An error for the user becomes one line on stderr, or one per place in the program. Others are bugs and go through.

    Args:
        flags: by the names that settings have in Python, how they are given to this tool: ``{"ipus": "--ipus {}"}``.
    """
    if argv is None:  # a process of our own: looking for garbage among all that is imported takes a tenth of its time
        take_streams()
        end_when_interrupted()
        gc.set_threshold(100_000, 50, 100)
        warnings.formatwarning = lambda message, *_, **__: (
            printable_lines(_in_flags(str(message), message, flags)) + "\n"
        )
    forget_programs()
    try:
        with stdout_errors():
            return _ended(lambda: tool(sys.argv[1:] if argv is None else argv))
    except UsageError as error:
        text = _in_flags(str(error), error.__cause__, flags)
        print(printable_lines(f"{name}: error: {text}; see {name} --help"), file=sys.stderr)
        return WRONG_USAGE
    except BrokenPipeError:  # the reader of our output has seen enough
        return FAILED
    except Exception as error:
        return _report(name, error, flags)


def _ended(run: Callable[[], int]) -> int:
    try:
        return run()
    except SystemExit as end:  # argparse has printed the help
        if end.code:
            raise
        return 0


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


def _report(name: str, error: Exception, flags: Mapping[str, str]) -> int:
    from ipu_mlir.dialects.support.diagnostics import DiagnosedError
    from ipu_mlir.dialects.support.errors import IpuError

    if isinstance(error, DiagnosedError):
        from ipu_mlir.tools.diagnostics_output import print_diagnostics

        print_diagnostics(in_flags(error, flags))
    elif isinstance(error, MemoryError):
        print(f"{name}: error: this machine has not enough memory: {error or 'no more is given'}", file=sys.stderr)
    elif isinstance(error, IpuError | StreamError):
        print(printable_lines(f"{name}: error: {_in_flags(str(error), error, flags)}"), file=sys.stderr)
    else:
        raise error
    return FAILED


def in_flags(error: "DiagnosedError", flags: Mapping[str, str]) -> "list[Diagnostic]":
    """The diagnostics of ``error``, with the flags of a tool for the settings that it speaks of."""
    from dataclasses import replace

    return [replace(each, message=_in_flags(each.message, error, flags)) for each in error.diagnostics]


def _in_flags(text: str, error: object, flags: Mapping[str, str]) -> str:
    for settings in getattr(error, "settings", ()):
        if settings.keys() <= flags.keys():
            given = [flags[name].format("" if value is None else value).strip() for name, value in settings.items()]
            text = text.replace(str(settings), " ".join(given))
    return text


def write_output(path: str, content: str | bytes) -> None:
    """Write ``content`` to the file ``path``, or to stdout for ``-``. A file appears whole or stays as it was.

    A link stays a link, to a file with the new content; a file that was there keeps its mode.

    Raises:
        IpuError: the file cannot be written.
    """
    from ipu_mlir.dialects.storage.whole_files import cannot_write, write_whole

    data = content.encode(errors="backslashreplace") if isinstance(content, str) else content
    if path == "-":
        with stdout_errors():
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
        return
    if path.startswith("/dev/") or (os.path.exists(path) and not os.path.isfile(path)):  # a pipe or a device
        try:
            Path(path).write_bytes(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise cannot_write(path, error) from error
        return
    with uninterrupted():
        write_whole(path, data)
