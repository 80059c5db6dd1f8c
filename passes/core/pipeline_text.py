"""The text of a pass pipeline, as ``mlir-opt`` writes it, as plain data.

    builtin.module(canonicalize,ipu-partition{grain=2},func.func(cse))

is a ``Nest`` on ``builtin.module`` of two ``PassText`` and a ``Nest`` on ``func.func``. Which
passes exist is no question here.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ipu_mlir.dialects.support.errors import CompileError

_OPENING = {"(": ")", "{": "}", "[": "]", "<": ">"}
_NAME = re.compile(r"[A-Za-z_][\w.\-]*")
_MOST_NESTED = 64


class PipelineError(CompileError):
    """A pipeline that cannot be understood: its syntax, a pass that does not exist, an option that is wrong."""


@dataclass(frozen=True)
class PassText:
    """A pass or a named pipeline, with its options as they are written between the braces."""

    name: str
    options: str = ""

    def __str__(self) -> str:
        return f"{self.name}{{{self.options}}}" if self.options else self.name


@dataclass(frozen=True)
class Nest:
    """Passes that run on each op named ``anchor`` of the level below."""

    anchor: str
    elements: "tuple[Element, ...]"

    def __str__(self) -> str:
        return f"{self.anchor}({','.join(map(str, self.elements))})"


Element = PassText | Nest


def parse_pipeline(text: str) -> tuple[Element, ...]:
    """The elements of a pipeline for a module; an outermost ``builtin.module(...)`` or ``any(...)`` is taken off.

    >>> parse_pipeline("builtin.module(cse, ipu-partition{grain=2})")
    (PassText(name='cse', options=''), PassText(name='ipu-partition', options='grain=2'))

    Raises:
        PipelineError: with the column (from 1) and what stands there.
    """
    elements = tuple(_elements(text, 0, len(text)))
    if len(elements) == 1 and isinstance(elements[0], Nest) and elements[0].anchor in ("builtin.module", "any"):
        return elements[0].elements
    return elements


def pipeline_text(elements: Sequence[Element]) -> str:
    """The text that ``parse_pipeline`` reads as ``elements``."""
    return f"builtin.module({','.join(map(str, elements))})"


def _elements(text: str, start: int, end: int, depth: int = 0) -> Iterator[Element]:
    if depth > _MOST_NESTED:
        raise PipelineError(f"more than {_MOST_NESTED} pipelines stand in each other, column {start + 1}")
    for first, last in _split(text, start, end):
        stripped = text[first:last].strip()
        if not stripped and last - first == end - start:
            return  # nothing at all between the parentheses
        yield _element(text, first + text[first:last].index(stripped) if stripped else first, stripped, depth)


def _element(text: str, at: int, stripped: str, depth: int) -> Element:
    match = _NAME.match(stripped)
    if match is None:
        raise _error(text, at, f"expected the name of a pass, found {_shown(stripped)}")
    name, rest = match.group(), stripped[match.end() :].strip()
    if not rest:
        return PassText(name)
    body = at + stripped.index(rest, match.end()) + 1
    closing = _OPENING.get(rest[0])
    if closing not in (")", "}") or _closing(text, body - 1, at + len(stripped)) != at + len(stripped) - 1:
        raise _error(text, body - 1, f"expected ',', '(' or '{{' after '{name}', found {_shown(rest)}")
    if closing == "}":
        return PassText(name, " ".join(rest[1:-1].split()))
    return Nest(name, tuple(_elements(text, body, at + len(stripped) - 1, depth + 1)))


def _split(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Ranges between the commas of ``text[start:end]`` that are not inside brackets."""
    first = at = start
    while at < end:
        if text[at] in _OPENING:
            at = _closing(text, at, end)
        elif text[at] in ")}]":
            raise _error(text, at, f"unexpected {text[at]!r}")
        elif text[at] == ",":
            yield first, at
            first = at + 1
        at += 1
    yield first, end


def _closing(text: str, opening: int, end: int) -> int:
    """Where the bracket at ``opening`` is closed, brackets in between and quoted text left alone."""
    expected = [_OPENING[text[opening]]]
    at = opening + 1
    while at < end:
        char = text[at]
        if char == expected[-1]:
            expected.pop()
            if not expected:
                return at
        elif char in "\"'" and expected[-1] == "}" and text.find(char, at + 1, end) > 0:
            at = text.index(char, at + 1)
        elif char in _OPENING:
            expected.append(_OPENING[char])
        elif char in ")}]":
            raise _error(text, at, f"expected {expected[-1]!r}, found {char!r}")
        at += 1
    raise _error(text, opening, f"{text[opening]!r} is never closed")


def _shown(text: str) -> str:
    return repr(text) if text else "nothing"


def _error(text: str, at: int, message: str) -> PipelineError:
    return PipelineError(f"pipeline '{text}', column {at + 1}: {message}")
