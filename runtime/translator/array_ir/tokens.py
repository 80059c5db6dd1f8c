"""The text of array programs as tokens: what comes next, and errors that name the line."""

import re
from collections.abc import Callable
from typing import Any, Never

import numpy as np

from ipu_mlir.dialects.support.errors import CompileError

_TOKEN = re.compile(
    r"""\s+|//[^\n]*
    |(?P<string>"[^"]*")
    |(?P<shape>scalar\b|\d+(?:x\d+)+(?!\w))
    |(?P<number>-?(?:0x[0-9a-f]+|\d+(?:\.\d*)?(?:e[+-]?\d+)?|inf\b))
    |(?P<word>[@%#]?\w(?:[\w.]|(?<=\.)\#)*)
    |(?P<mark>->|[][(){}:,=*+#.@-])""",
    re.VERBOSE,
)


class ArrayTextError(CompileError):
    """The text of an array program is wrong: what was found in which line, and what was expected."""


class Tokens:
    """A text, and the token in it that comes next."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._kind = self._token = ""
        self._begin = 0
        self._next()

    def _go_to(self, position: int) -> None:
        """Let the token at ``position`` come next."""
        self._at, self._token = position, ""
        self._next()

    def _next(self) -> str:
        """Step over the current token, and give it."""
        passed = self._token
        while True:
            self._begin = self._at
            if self._at == len(self._text):
                self._kind = self._token = ""
                return passed
            found = _TOKEN.match(self._text, self._at)
            if found is None:
                self._token = self._text[self._at]
                return self._fail("a token")
            self._at = found.end()
            if found.lastgroup:
                self._kind, self._token = found.lastgroup, found[0]
                return passed

    def _fail(self, expected: str) -> Never:
        line = self._text.count("\n", 0, self._begin) + 1
        raise ArrayTextError(f"line {line} of the array program has {self._token!r} where {expected} is expected")

    def _take(self, token: str) -> bool:
        """Step over ``token`` if it comes next."""
        if self._token != token or self._kind == "string":
            return False
        self._next()
        return True

    def _expect(self, *tokens: str) -> None:
        for token in tokens:
            if not self._take(token):
                self._fail(repr(token))

    def _of_kind(self, kind: str, what: str) -> str:
        if self._kind != kind:
            self._fail(what)
        return self._next()

    def _integer(self) -> int:
        text = self._of_kind("number", "a whole number")
        try:
            return int(text, 0)
        except ValueError:
            self._fail("a whole number")

    def _shape(self) -> tuple[int, ...]:
        if self._kind == "number":
            return (self._integer(),)
        text = self._of_kind("shape", "a shape such as 2x3")
        return () if text == "scalar" else tuple(map(int, text.split("x")))

    def _name(self) -> str:
        """A word, or text in quotation marks."""
        if self._kind == "string":
            return self._next()[1:-1].encode().decode("unicode_escape")
        return self._of_kind("word", "a name").removeprefix("@")

    def _dtype(self) -> np.dtype[Any]:
        name = self._of_kind("word", "a type")
        try:
            return np.dtype(name)
        except TypeError:
            self._fail(f"a NumPy type, not {name!r},")

    def _listed(self, item: Callable[[], Any], end: str) -> list[Any]:
        """Items with commas between them, and ``end``."""
        found = []
        while not self._take(end):
            if found:
                self._expect(",")
            found.append(item())
        return found
