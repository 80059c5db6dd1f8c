"""Damaged programs and odd command lines for all tools, run in children of the process, which may die of them."""

import contextlib
import gc
import io
import json
import os
import random
import re
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ipu_mlir.tools import ipu_opt, ipu_report, ipu_run, ipu_sweep, ipu_translate

TOOLS: dict[str, Callable[[Sequence[str]], int]] = {
    "ipu-opt": ipu_opt.main,
    "ipu-run": ipu_run.main,
    "ipu-translate": ipu_translate.main,
    "ipu-report": ipu_report.main,
    "ipu-sweep": ipu_sweep.main,
}
_SECONDS = 120
_BYTES = 6 << 30
_TOKEN = re.compile(r'"[^"\n]*"|[%@#!^]?[\w.$]+|->|[^\w\s]')
_NUMBERS = [
    "0",
    "1",
    "2",
    "3",
    "5",
    "7",
    "8",
    "16",
    "-1",
    "1000000",
    "2147483648",
    "4294967296",
    "4611686018427387904",
    "9223372036854775807",
    "99999999999999999999",
]
_TYPES = [
    "f32",
    "f64",
    "f16",
    "bf16",
    "f8E4M3FN",
    "f6E2M3FN",
    "i1",
    "i8",
    "i4",
    "i32",
    "i64",
    "ui8",
    "i128",
    "index",
    "none",
    "complex<f32>",
]


@dataclass(frozen=True)
class Run:
    """A tool, its arguments, the content of ``input.mlir`` and of stdin, and the file that only success leaves."""

    tool: str
    arguments: tuple[str, ...]
    content: bytes = b""
    output: str = "output"


def damaged_text(text: str, generator: random.Random) -> str:
    """``text`` with one to three tokens, lines, numbers, types or characters changed."""
    for _ in range(generator.choice((1, 1, 2, 3))):
        text = generator.choice(_DAMAGES)(text, generator)
    return text


def damaged_bytes(content: bytes, generator: random.Random) -> bytes:
    """``content`` with some bits turned, or cut."""
    if generator.random() < 0.1:
        return content[: generator.randrange(len(content))]
    found = bytearray(content)
    for _ in range(generator.choice((1, 1, 1, 2, 4))):
        place = generator.randrange(4, len(found))
        found[place] = generator.choice((found[place] ^ 1 << generator.randrange(8), generator.randrange(256)))
    return bytes(found)


def _replaced(text: str, place: re.Match[str], by: str) -> str:
    return text[: place.start()] + by + text[place.end() :]


def _token(text: str, generator: random.Random) -> str:
    """A token left out, twice, or in place of another."""
    tokens = list(_TOKEN.finditer(text))
    if not tokens:
        return text
    place, other = generator.choice(tokens), generator.choice(tokens)[0]
    return _replaced(
        text, place, generator.choice(("", f"{place[0]} {place[0]}", other, f"{other} {place[0]}", "?", "*"))
    )


def _number(text: str, generator: random.Random) -> str:
    places = list(re.finditer(r"(?<![\w%@#.])\d+|(?<=x)\d+(?=x)", text))
    return _replaced(text, generator.choice(places), generator.choice(_NUMBERS)) if places else text


def _type(text: str, generator: random.Random) -> str:
    """One type everywhere, or in one place."""
    places = list(re.finditer(r"(?<=[x<\s:])(f32|f64|f16|i1|i8|i16|i32|i64|index)\b", text))
    if not places:
        return text
    place, by = generator.choice(places), generator.choice(_TYPES)
    return (
        _replaced(text, place, by)
        if generator.random() < 0.5
        else re.sub(rf"\b{place[0]}\b|(?<=x){place[0]}\b", by, text)
    )


def _line(text: str, generator: random.Random) -> str:
    lines = text.split("\n")
    place, other = generator.randrange(len(lines)), generator.randrange(len(lines))
    how = generator.randrange(3)
    if how == 0:
        del lines[place]
    elif how == 1:
        lines.insert(other, lines[place])
    else:
        lines[place], lines[other] = lines[other], lines[place]
    return "\n".join(lines)


def _character(text: str, generator: random.Random) -> str:
    place = generator.randrange(len(text) + 1)
    by = generator.choice((*'"\\(){}[]<>,:=%#@!-?*/ \n\0\x1b', "é", "\\FF", chr(generator.randrange(32, 127))))
    return text[:place] + by + text[place + generator.randrange(2) :]


_DAMAGES = (_token, _token, _number, _type, _line, _character)


def died(runs: Sequence[Run], folder: Path) -> list[str]:
    """For each of ``runs`` that ended by a signal, with a traceback or with a half-written file: its number and why.

    A program that counts to a huge number may run longer than anybody waits; then it only has to be translated.
    """
    found: list[str] = []
    first = 0
    while first < len(runs):
        reading, writing = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            child = os.fork()
        if child == 0:
            os.close(reading)
            _run_all(runs, first, writing, folder)
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as pipe:
            reports = [json.loads(line) for line in pipe]
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        found += [f"run {number}: {why}" for number, why in reports if why]
        begun = reports[-1][0] if reports else first
        if code == 0:
            break
        if not (code == -signal.SIGALRM and _counts_far(runs[begun]) and not died([_translated(runs[begun])], folder)):
            found.append(f"run {begun}: {signal.Signals(-code).name if code < 0 else f'status {code}'}")
        first = begun + 1
    return found


def _counts_far(run: Run) -> bool:
    return run.tool == "ipu-run" and re.search(rb"\b\d{7,}\b", run.content) is not None


def _translated(run: Run) -> Run:
    return Run("ipu-translate", ("input.mlir", "--to-numpy", "--compile", "-o", "output"), run.content)


def _run_all(runs: Sequence[Run], first: int, writing: int, folder: Path) -> None:
    """The life of a child: runs from ``first`` on, with a report before each and another if it went wrong."""
    status = 1
    gc.freeze()  # contexts of the parent: to destroy one waits for its threads, which no child has
    try:
        os.chdir(folder)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_AS, (_BYTES, resource.RLIM_INFINITY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        with os.fdopen(writing, "w", encoding="utf-8") as pipe:
            for number in range(first, len(runs)):
                for why in ("", _wrong_with(runs[number])) if _say(pipe, number, "") else ():
                    if why:
                        _say(pipe, number, why)
        status = 0
    finally:
        os._exit(status)


def _say(pipe: io.TextIOBase, number: int, why: str) -> bool:
    pipe.write(json.dumps((number, why)) + "\n")
    pipe.flush()
    return True


def _wrong_with(run: Run) -> str:
    """What is wrong with what a tool did; empty if nothing is."""
    for file in Path().iterdir():
        if file.is_file():
            file.unlink()
    Path("input.mlir").write_bytes(run.content)
    sys.stdin = io.TextIOWrapper(io.BytesIO(run.content), encoding="utf-8")
    signal.alarm(_SECONDS)
    with contextlib.redirect_stdout(_Stream()) as out, contextlib.redirect_stderr(_Stream()) as err:
        try:
            status = TOOLS[run.tool](run.arguments)
        except SystemExit as error:
            status = error.code
        except BaseException:
            return traceback.format_exc()
        finally:
            signal.alarm(0)
    if status not in (0, 1, 2):
        return f"status {status}"
    if status and not (err.text() or out.text()):
        return f"status {status} without a word"
    left = {file.name for file in Path().iterdir()} - {"input.mlir", "input.html", "again.mlir", *run.arguments}
    if left:
        return f"left {sorted(left)}"
    return f"status {status}, but there is an output" if status and Path(run.output).exists() else ""


class _Stream(io.TextIOWrapper):
    """Text or bytes that a tool prints."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)

    def text(self) -> str:
        return self.buffer.getvalue().decode(errors="replace")
