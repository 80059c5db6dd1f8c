"""Collects the FileCheck tests for pytest: one test per ``.mlir`` file with RUN lines, as lit does.

Our tools and ``filecheck`` run inside the test process, because starting each anew would cost more than the test;
any other command is a process of its own.
"""

import contextlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import filecheck.main
import pytest
from lit.ShCommands import Command, Pipeline, Seq
from lit.ShUtil import ShParser

from ipu_mlir.tools import ipu_opt, ipu_run, ipu_translate

_RUN = re.compile(r"^\W*RUN:(.*)$", re.MULTILINE)
_IN_PROCESS: dict[str, Callable[[list[str]], int | None]] = {
    "ipu-opt": lambda arguments: ipu_opt.main(arguments),
    "ipu-run": lambda arguments: ipu_run.main(arguments),
    "ipu-translate": lambda arguments: ipu_translate.main(arguments),
    "filecheck": lambda arguments: filecheck.main.main(["filecheck", *arguments]),
}


class Ended(NamedTuple):
    """How a command ended; ``log`` is for reading: what ran and what it said on stderr."""

    status: int
    stdout: bytes
    log: str


def run_lines(path: Path) -> list[str]:
    """The commands of the file's RUN lines, continued lines joined."""
    joined = "\n".join(_RUN.findall(path.read_text()))
    return [line.strip() for line in re.sub(r"\\\n", " ", joined).splitlines() if line.strip()]


def run_command(line: str, path: Path, folder: Path) -> Ended:
    """Run one RUN line of the test ``path``; its temporary files go to ``folder``."""
    values = {"%s": str(path), "%S": str(path.parent), "%t": str(folder / f"{path.name}.tmp"), "%%": "%"}
    return _run(ShParser(re.sub(r"%[sSt%]", lambda match: values[match.group()], line)).parse())


def _run(parsed: Command | Pipeline | Seq, stdin: bytes = b"") -> Ended:
    if isinstance(parsed, Seq):
        first = _run(parsed.lhs)
        if (parsed.op, first.status == 0) in (("&&", False), ("||", True)):
            return first
        second = _run(parsed.rhs)
        return Ended(second.status, first.stdout + second.stdout, first.log + second.log)
    if isinstance(parsed, Pipeline):
        status, log = 0, ""
        for command in parsed.commands:
            ended = _run(command, stdin)
            stdin, log = ended.stdout, log + ended.log
            status = ended.status or status  # as lit's pipefail: any failure counts
        return Ended(status, stdin, log)
    return _run_redirected(parsed, stdin)


def _run_redirected(command: Command, stdin: bytes) -> Ended:
    arguments = list(command.args)
    inverted = arguments[0] == "not"
    goes_to: dict[int, Path | str] = {1: "pipe", 2: "log"}
    for operator, target in command.redirects:
        if operator == ("<",):
            stdin = Path(target).read_bytes()
        elif operator == (">&", 2) and target == "1":
            goes_to[2] = goes_to[1]
        elif operator in ((">",), (">", 2)):
            goes_to[operator[1] if len(operator) > 1 else 1] = Path(target)
        else:
            raise ValueError(f"the test runner does not know the redirection {operator} {target}")
    status, stdout, stderr = _start(arguments[inverted:], stdin, merged=goes_to[1] == goes_to[2])
    got = {"pipe": b"", "log": b"", goes_to[2]: stderr, goes_to[1]: stdout}  # merged, stderr is part of stdout
    for target, content in got.items():
        if isinstance(target, Path):
            target.write_bytes(content)
    log = f"$ {' '.join(arguments)}\n{got['log'].decode(errors='replace')}"
    return Ended(int((status != 0) == (not inverted)), got["pipe"], log)


def _start(arguments: list[str], stdin: bytes, merged: bool) -> tuple[int, bytes, bytes]:
    """Status, stdout and stderr of one command; ``merged`` sends stderr to stdout."""
    tool = _IN_PROCESS.get(arguments[0])
    if tool is None:
        path = os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"]))
        errors = subprocess.STDOUT if merged else subprocess.PIPE
        environment = {**os.environ, "PATH": path}
        done = subprocess.run(
            arguments, input=stdin, stdout=subprocess.PIPE, stderr=errors, env=environment, check=False
        )
        return done.returncode, done.stdout, done.stderr or b""
    inward, outward, errors = (io.TextIOWrapper(io.BytesIO(content), "utf-8") for content in (stdin, b"", b""))
    sys_stdin = sys.stdin
    try:
        sys.stdin = inward
        with contextlib.redirect_stdout(outward), contextlib.redirect_stderr(outward if merged else errors):
            status = tool(arguments[1:])
    except SystemExit as exit_:
        status = exit_.code if isinstance(exit_.code, int) else int(exit_.code is not None)
    finally:
        sys.stdin = sys_stdin
    outward.flush()
    errors.flush()
    return status or 0, outward.buffer.getvalue(), errors.buffer.getvalue()


class RunLinesFailed(Exception):
    """A RUN line did not end as it should."""


class MlirItem(pytest.Item):
    """The RUN lines of one file, in order."""

    def runtest(self) -> None:
        folder = Path(self.config._tmp_path_factory.mktemp(self.path.stem))
        lines = run_lines(self.path)
        if not lines:
            raise RunLinesFailed("the test has no RUN line")
        for line in lines:
            ended = run_command(line, self.path, folder)
            if ended.status:
                raise RunLinesFailed(f"RUN: {line}\n{ended.log}{ended.stdout.decode(errors='replace')}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> object:
        if isinstance(excinfo.value, RunLinesFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"RUN lines of {self.path.name}"


class MlirFile(pytest.File):
    """A ``.mlir`` file, which is one test."""

    def collect(self) -> Iterator[pytest.Item]:
        item = MlirItem.from_parent(self, name="RUN")
        if "unreadable" in self.path.name:
            item.add_marker("deadly")
        yield item


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Take ``.mlir`` files as tests, but not those that are only inputs of others."""
    if file_path.suffix == ".mlir" and "Inputs" not in file_path.parts:
        return MlirFile.from_parent(parent, path=file_path)
    return None
