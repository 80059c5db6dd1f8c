"""Checks that a program can be read at all: its strings as text, its nesting by functions that call themselves.

MLIR's strings hold any bytes. Python's are text, and where one stands in a location or a message the bindings end the
process over a byte that is none; so a program with such a string is refused where it comes in.
"""

import re

import numpy as np

from ipu_mlir.dialects.support.diagnostics import DiagnosedError, Diagnostic

DEEPEST = 1000
"""Levels of brackets that a program may have: regions, types, attributes and locations inside each other."""

_HIGH_ESCAPE = re.compile(r"\\[89a-fA-F][0-9a-fA-F]")
_COMMENT_OR_STRING = re.compile(r'//[^\n]*|"[^"\\\n]*(?:\\.[^"\\\n]*)*"')
_ESCAPE = re.compile(rb"\\(?:([0-9a-fA-F]{2})|(.))")
_ARRAY = re.compile(r"array(?<![\w.$]array)\s*<\s*([A-Za-z!][\w.$]*)\s*[:>]")
_KNOWN_IN_ARRAYS = frozenset(("i1", "i8", "i16", "i32", "i64", "f32", "f64"))
"""Types of the elements of attributes ``array<...>`` that the bindings have classes for; others end the process."""
_OPENING = "([{<"
_NO_BRACKETS = bytes(set(range(256)) - set(b"([{<)]}>"))
_STEPS = np.zeros(256, np.int8)
_STEPS[list(b"([{<")], _STEPS[list(b")]}>")] = 1, -1


def refuse_unreadable(text: str, name: str) -> None:
    """Refuse ``text`` of the file ``name`` if a string in it is not UTF-8, an array has elements that Python does not
    see, or if it is nested too deeply.

    Raises:
        DiagnosedError: at the first such place.
    """
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise _error("half of a surrogate pair is no character", text, error.start, name) from error
    if "\\" in text and _HIGH_ESCAPE.search(text):
        _refuse_bytes(text, name)
    if any(each[1] not in _KNOWN_IN_ARRAYS for each in _ARRAY.finditer(text)):
        _refuse_arrays(_without_strings(text), text, name)
    if sum(map(text.count, _OPENING)) > DEEPEST and _may_be_too_deep(text):
        place = _too_deep(_without_strings(text))
        if place is not None:
            raise _error(f"nested more than {DEEPEST:,} levels deep; split it into functions", text, place, name)


def _without_strings(text: str) -> str:
    """``text`` with spaces in place of strings and comments."""
    return _COMMENT_OR_STRING.sub(lambda match: " " * len(match[0]), text)


def _refuse_arrays(bare: str, text: str, name: str) -> None:
    for match in _ARRAY.finditer(bare):
        if match[1] not in _KNOWN_IN_ARRAYS:
            message = f"an array attribute has elements of {match[1]}, expected i1, i8, i16, i32, i64, f32 or f64"
            raise _error(message, text, match.start(), name)


def _refuse_bytes(text: str, name: str) -> None:
    for match in _COMMENT_OR_STRING.finditer(text):
        if match[0].startswith("//") or not _HIGH_ESCAPE.search(match[0]):
            continue
        try:
            _ESCAPE.sub(lambda each: bytes([int(each[1], 16)]) if each[1] else each[2], match[0].encode()).decode()
        except UnicodeDecodeError as error:
            message = f"a string with the byte {error.object[error.start]:02X} is not UTF-8; names and text have to be"
            raise _error(message, text, match.start(), name) from error


def _may_be_too_deep(text: str) -> bool:
    """True if a bracket opens too deep, strings and comments included; an arrow or a comparison is no bracket."""
    outside = text.encode().replace(b"->", b" ").replace(b"<=", b" ").replace(b">=", b" ")
    steps = _STEPS[np.frombuffer(outside.translate(None, _NO_BRACKETS), np.uint8)]
    return bool(np.cumsum(steps, dtype=np.int32).max(initial=0) > DEEPEST)


def _too_deep(text: str) -> int | None:
    """The place of the first bracket that opens too deep in ``text``, which has no strings and comments."""
    characters = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    places = np.flatnonzero(_STEPS[np.minimum(characters, 255)])
    found = characters[places]
    before, after = characters[np.maximum(places - 1, 0)], characters[np.minimum(places + 1, len(characters) - 1)]
    is_no_bracket = ((found == ord(">")) & (before == ord("-"))) | (
        np.isin(found, [ord("<"), ord(">")]) & (after == ord("="))
    )
    depth = np.cumsum(np.where(is_no_bracket, 0, _STEPS[np.minimum(found, 255)]), dtype=np.int32)
    deep = np.flatnonzero(depth > DEEPEST)
    return int(places[deep[0]]) if len(deep) else None


def _error(message: str, text: str, at: int, name: str) -> DiagnosedError:
    line = text.count("\n", 0, at) + 1
    return DiagnosedError([Diagnostic(message, name, line, at - text.rfind("\n", 0, at))])
