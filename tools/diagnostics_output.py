"""Errors about places in a program, as compilers print them: with the line of the source, and a caret under the column.

model.mlir:3:8: error: 'arith.addf' op expected 2 operands, but found 1
  %y = "arith.addf"(%x) : (f32) -> f32
       ^
"""

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TextIO

from ipu_mlir.dialects.support.diagnostics import Diagnostic, quoted
from ipu_mlir.tools.program_files import lines_of

_COLOURS = {"error": "1;31", "warning": "1;35", "remark": "1;34", "note": "1;36"}


def print_diagnostics(diagnostics: Iterable[Diagnostic], stream: TextIO | None = None) -> None:
    """Print ``diagnostics`` and their notes to ``stream`` (stderr), in colour if it is a terminal."""
    to = sys.stderr if stream is None else stream
    coloured = in_colour(to)
    for diagnostic in diagnostics:
        for line in diagnostic_lines(diagnostic, coloured):
            print(line, file=to)


def in_colour(stream: TextIO) -> bool:
    """True if colours are shown on ``stream``: on terminals that have them, unless ``NO_COLOR`` is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def diagnostic_lines(diagnostic: Diagnostic, coloured: bool = False) -> Iterator[str]:
    """The message, the line of the program that it speaks of with a caret, and the same of its notes.

    >>> list(diagnostic_lines(Diagnostic("expected ')'")))
    ["error: expected ')'"]
    """
    yield _message(diagnostic, coloured)
    for line in quoted(diagnostic, lines_of(diagnostic.file)):
        yield f"{line[:-1]}\x1b[1;32m^\x1b[0m" if coloured and line.strip() == "^" else line
    for note in diagnostic.notes:
        is_elsewhere = (note.file, note.line, note.column) != (diagnostic.file, diagnostic.line, diagnostic.column)
        yield from diagnostic_lines(note, coloured) if is_elsewhere else [_message(note, coloured)]


def _message(diagnostic: Diagnostic, coloured: bool) -> str:
    text = str(diagnostic)
    if not coloured:
        return text
    severity = f"{diagnostic.severity}: "
    place = str(replace(diagnostic, message="", notes=())).rstrip().removesuffix(severity.rstrip())
    message = text[len(place) + len(severity) :]
    colour = _COLOURS.get(diagnostic.severity, "1")
    return f"\x1b[1m{place}\x1b[0m\x1b[{colour}m{severity}\x1b[0m\x1b[1m{message}\x1b[0m"
