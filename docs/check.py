"""Runs the commands and examples of pages, and compares what they print with what the page says.

    python docs/check.py docs/tour.md            say what differs
    python docs/check.py --write docs/tour.md    put what commands print into the page

Two kinds of blocks run, in a folder that shows the project's files and takes those that commands write; all others are
left alone:

- ``sh`` blocks with lines that begin with ``$``: what follows a command is what it prints (stdout and stderr).
  A line ``...`` stands for any number of lines.
- ``python`` blocks: those with ``>>>`` as doctests, others run to their end without an error. All blocks of a page
  share their names. A block that imports a framework is left out where that is not installed, and a block that is no
  program below a line ``<!-- sketch -->``.
"""

import argparse
import contextlib
import doctest
import importlib.util
import io
import linecache
import os
import re
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).parents[1]
_FRAMEWORKS = ("jax", "keras", "onnx", "tensorflow", "torch")
_IMPORT = re.compile(rf"^(?:>>> )?(?:import|from) ({'|'.join(_FRAMEWORKS)})\b", re.MULTILINE)
_SKETCH = "<!-- sketch -->\n"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


@dataclass(frozen=True)
class Difference:
    """A command or example of a page that does not print what the page says."""

    line: int
    command: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.command}\n--- the page says\n{self.expected}--- it prints\n{self.found}"


def differences(page: str) -> list[Difference]:
    """What of the text of a page is not so."""
    with scratch_folder() as folder:
        return [*_wrong_commands(page, folder), *_wrong_examples(page, folder)]


def written(page: str) -> str:
    """``page`` with what its commands print; outputs that match stay as they are."""
    pieces: list[str] = []
    end = 0
    with scratch_folder() as folder:
        for match in _commands(page):
            found = run_command(match[1], folder)
            pieces += [page[end : match.start(2)], match[2] if matches(match[2], found) else found]
            end = match.end(2)
    return "".join(pieces) + page[end:]


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder with links to everything in the project, for the time of the ``with`` block."""
    with tempfile.TemporaryDirectory() as name:
        for path in PROJECT.iterdir():
            if not path.name.startswith("."):
                (Path(name) / path.name).symlink_to(path)
        yield Path(name)


def run_command(command: str, folder: Path) -> str:
    """What a command of the shell prints in ``folder``, and its status if that is not 0."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    output = "".join(f"{line.rstrip()}\n" for line in done.stdout.strip("\n").splitlines())
    return output + (f"[exit status {done.returncode}]\n" if done.returncode else "")


def matches(expected: str, found: str) -> bool:
    """Whether ``found`` is ``expected``, in which lines ``...`` stand for anything.

    >>> matches("a\\n...\\nd\\n", "a\\nb\\nc\\nd\\n"), matches("a\\n...\\nd\\n", "a\\nb\\n")
    (True, False)
    """
    pieces = re.split(r"^\.\.\.\n", expected, flags=re.MULTILINE)
    return re.fullmatch("(?:.*\n)*?".join(map(re.escape, pieces)), found) is not None


def _commands(page: str) -> Iterator[re.Match[str]]:
    """Each command of the page with its output, as a match on the whole page."""
    for block in _BLOCK.finditer(page):
        if block[1] == "sh":
            yield from _COMMAND.finditer(page, block.start(2), block.end(2))


def _wrong_commands(page: str, folder: Path) -> Iterator[Difference]:
    for match in _commands(page):
        found = run_command(match[1], folder)
        if not matches(match[2], found):
            yield Difference(_line(page, match.start()), match[1], match[2], found)


def _wrong_examples(page: str, folder: Path) -> Iterator[Difference]:
    names: dict[str, object] = {"__name__": "__main__"}
    is_left_out = False
    for block in _BLOCK.finditer(page):
        if block[1] != "python" or page.endswith(_SKETCH, 0, block.start()):
            continue
        if _lacks_framework(block[2]):
            is_left_out = True
            continue
        run = _wrong_doctest if ">>> " in block[2] else _error_of_program
        with contextlib.chdir(folder):
            found = run(block[2], names, _line(page, block.start(2)))
        if found and not (is_left_out and "NameError: name" in found):  # which a block that is left out would define
            yield Difference(_line(page, block.start(2)), "examples", block[2], found)


def _wrong_doctest(examples: str, names: dict[str, object], line: int) -> str:
    # A name of its own: a traceback through an earlier block looks for lines in the block of that name.
    test = doctest.DocTestParser().get_doctest(examples, names, f"line {line}", None, None)
    found: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    failed = runner.run(test, out=found.append, clear_globs=False).failed
    names.update(test.globs)
    return "".join(found) if failed else ""


def _error_of_program(program: str, names: dict[str, object], line: int) -> str:
    name = f"<line {line}>"
    linecache.cache[name] = (len(program), None, program.splitlines(keepends=True), name)  # for what reads its source
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(program, name, "exec"), names)
    except Exception:  # of any kind: the page shows a program that runs
        return traceback.format_exc(limit=-4)
    return ""


def _lacks_framework(examples: str) -> bool:
    return any(importlib.util.find_spec(name) is None for name in _IMPORT.findall(examples))


def _line(page: str, at: int) -> int:
    return page.count("\n", 0, at) + 1


def main(argv: Sequence[str] | None = None) -> int:
    """Check or write the pages of the command line; gives the exit status."""
    parser = argparse.ArgumentParser("docs/check.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pages", nargs="+", type=Path, metavar="PAGE.md")
    parser.add_argument("--write", action="store_true", help="put what commands print into the pages")
    arguments = parser.parse_args(argv)
    wrong = False
    for path in arguments.pages:
        if arguments.write:
            path.write_text(written(path.read_text()))
        for difference in differences(path.read_text()):
            wrong = True
            print(f"{path}, {difference}")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
