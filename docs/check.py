"""Runs the commands and examples of pages, and compares what they print with what the page says.

    python docs/check.py docs/tour.md            say what differs
    python docs/check.py --write docs/tour.md    put what commands print into the page

Two kinds of blocks run, in a folder that shows the project's files and takes those that commands write; all others are
left alone:

- ``sh`` blocks with lines that begin with ``$``: what follows a command is what it prints (stdout and stderr).
  A line ``...`` stands for any number of lines.
- ``python`` blocks with ``>>>``, as doctests; all blocks of a page share their names. A block that begins with the
  import of a framework is left out where that is not installed.
"""

import argparse
import contextlib
import doctest
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).parents[1]
_FRAMEWORKS = ("jax", "onnx", "tensorflow", "torch")
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
    names: dict[str, object] = {}
    for block in _BLOCK.finditer(page):
        if block[1] != "python" or ">>> " not in block[2] or _lacks_framework(block[2]):
            continue
        # A name of its own: a traceback through an earlier block looks for lines in the block of that name.
        name = f"line {_line(page, block.start(2))}"
        test = doctest.DocTestParser().get_doctest(block[2], names, name, None, None)
        found: list[str] = []
        runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
        with contextlib.chdir(folder):
            failed = runner.run(test, out=found.append, clear_globs=False).failed
        names = test.globs
        if failed:
            yield Difference(_line(page, block.start(2)), "examples", block[2], "".join(found))


def _lacks_framework(examples: str) -> bool:
    imported = re.match(rf">>> import ({'|'.join(_FRAMEWORKS)})\b", examples)
    return imported is not None and importlib.util.find_spec(imported[1]) is None


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
