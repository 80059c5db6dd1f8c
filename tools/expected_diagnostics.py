"""``--verify-diagnostics``: the errors that a test file expects in its comments, against those that were reported.

    // expected-error @below {{moves memref<4xf32}}
    // expected-error-re @+2 {{one of {{[0-9]+}} tiles}}          (-re: inner braces hold a regular expression)

A comment without ``@`` speaks of its own line, ``@above`` and ``@below`` of the nearest line without such a comment,
``@unknown`` of no line. The text has to occur in the message. Notes and remarks may be expected as well; those that
nobody expects are let pass.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ipu_mlir.dialects.support.diagnostics import Diagnostic

_EXPECTATION = re.compile(
    r"expected-(?P<severity>error|note|remark|warning)(?P<regex>-re)? *"
    r"(?:@(?P<place>[+-]\d+|above|below|unknown))? *\{\{(?P<text>.*)\}\}[ \t]*$"
)
_INNER = re.compile(r"\{\{(.*?)\}\}")
_UNKNOWN = 0


@dataclass(frozen=True)
class Expectation:
    """A message that has to be reported at ``line`` (0: at no known line); ``written`` is the line of the comment."""

    severity: str
    line: int
    pattern: re.Pattern[str]
    text: str
    written: int

    def matches(self, found: Diagnostic, file: str) -> bool:
        """True if ``found``, reported while ``file`` was compiled, is the expected message."""
        line = found.line if found.file == file else _UNKNOWN
        return found.severity == self.severity and line == self.line and bool(self.pattern.search(found.message))


def read_expectations(text: str, line_offset: int = 0) -> list[Expectation]:
    """The expectations in the comments of ``text``, whose first line is number ``line_offset + 1`` of its file."""
    found: list[Expectation] = []
    for_next_line: list[int] = []  # places in ``found`` that still have to get their line
    last_plain_line = _UNKNOWN
    for number, line in enumerate(text.split("\n"), start=line_offset + 1):
        match = _EXPECTATION.search(line) if "expected-" in line else None
        if match is None:
            for index in for_next_line:
                found[index] = replace(found[index], line=number)
            for_next_line.clear()
            last_plain_line = number
            continue
        place = match["place"]
        if place == "below":
            for_next_line.append(len(found))
        target = {None: number, "above": last_plain_line, "below": number, "unknown": _UNKNOWN}
        at = target[place] if place in target else number + int(place)
        pattern = _regex(match["text"]) if match["regex"] else re.escape(match["text"])
        found.append(Expectation(match["severity"], at, re.compile(pattern), match["text"], number))
    return found


def unmet(expected: Iterable[Expectation], reported: Iterable[Diagnostic], file: str) -> list[Diagnostic]:
    """The errors: messages that nobody expected, and expected ones that were not reported."""
    missing = list(expected)
    wrong: list[Diagnostic] = []
    for diagnostic in _with_notes(reported):
        met = next((each for each in missing if each.matches(diagnostic, file)), None)
        if met is not None:
            missing.remove(met)
        elif diagnostic.severity in ("error", "warning"):
            place = (diagnostic.file, diagnostic.line, diagnostic.column)
            wrong.append(Diagnostic(f"unexpected {diagnostic.severity}: {diagnostic.message}", *place))
    for each in missing:
        message = f'expected {each.severity} "{each.text}" was not produced at {_line_text(each.line)}'
        wrong.append(Diagnostic(message, file, each.written, 1))
    return wrong


def _with_notes(diagnostics: Iterable[Diagnostic]) -> Iterable[Diagnostic]:
    for diagnostic in diagnostics:
        yield diagnostic
        yield from diagnostic.notes


def _regex(text: str) -> str:
    """``text`` as a regular expression: as it is, but for what stands in inner double braces."""
    pieces = _INNER.split(text)
    return "".join(piece if index % 2 else re.escape(piece) for index, piece in enumerate(pieces))


def _line_text(line: int) -> str:
    return f"line {line}" if line else "an unknown place"
