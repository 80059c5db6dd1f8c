"""An open ``.mlir`` file: what is under a position, where it is defined, what is wrong with it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ipu_mlir.compilation.kernels import ALL_PASSES
from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.diagnostics import DiagnosedError, Diagnostic, collect
from ipu_mlir.dialects.support.errors import IpuError
from ipu_mlir.dialects.support.parsing import Source, parse_module, split_input
from ipu_mlir.passes.plugins import loaded_passes

_NAME = re.compile(r"[%@#^!][\w$.]+(?:::@[\w$.]+)*|--?[a-z][a-z0-9-]+|[A-Za-z_][\w$]*(?:[.-][\w$]+)*")
_SEPARATOR = re.compile(r"^// -----", re.MULTILINE)
_SEVERITIES = {"error": 1, "warning": 2, "remark": 3, "note": 4}


@dataclass(frozen=True)
class Name:
    """A name in the text.

    Attributes:
        text: as it is written, with its sign: ``%x``, ``@main``, ``#map``, ``ipu.exchange``.
        begin, end: where it is in the text.
    """

    text: str
    begin: int
    end: int


@dataclass(frozen=True)
class Document:
    """The text of a file."""

    text: str

    def diagnostics(self) -> list[dict[str, Any]]:
        """What the parser and the verifiers say, as the protocol has it."""
        return [
            self._diagnostic(each) for part in split_input(Source(self.text, "<open file>")) for each in _said(part)
        ]

    def name_at(self, position: dict[str, int]) -> Name | None:
        """The name under a position."""
        at = self.index(position)
        begin = self.text.rfind("\n", 0, at) + 1
        end = self.text.find("\n", at)
        line = self.text[begin : end if end >= 0 else len(self.text)]
        found = (m for m in _NAME.finditer(line) if begin + m.start() <= at <= begin + m.end())
        match = next(found, None)
        return match and Name(match[0].partition("#")[0] or match[0], begin + match.start(), begin + match.end())

    def definition(self, name: Name) -> Name | None:
        """Where ``name`` is defined; None for what the text does not define, such as an op."""
        patterns = _definitions(name.text)
        begin, end = self._part(name.begin)
        before: list[Name] = []
        after: list[Name] = []
        for pattern in patterns:
            for match in re.compile(pattern, re.MULTILINE).finditer(self.text, begin, end):
                found = Name(name.text, match.start("name"), match.end("name"))
                (before if found.begin <= name.begin else after).append(found)
        if before and name.text.startswith("%"):  # of values with one name, the one above; functions have their own
            return max(before, key=lambda found: found.begin)
        return min(before + after, key=lambda found: found.begin, default=None)

    def hover(self, name: Name) -> str | None:
        """What there is to know of ``name``, as Markdown."""
        text = name.text
        op = _ops().get(text)
        if op is not None:
            return f"**{text}**\n\n{_docstring(op)}"
        known = ALL_PASSES.with_others(loaded_passes()).get(text.lstrip("-"))
        if known is not None:
            return f"**{known.name}** (pass)\n\n{_docstring(known)}"
        defined = self.definition(name)
        return f"```mlir\n{self._line_of(defined.begin).strip()}\n```" if defined else None

    def symbols(self) -> Iterator[Name]:
        """The functions and globals, in the order of the text."""
        for match in re.finditer(r"^[^/\n]*?\b[\w.]+ (?:\w+ )*(?P<name>@[\w$.]+)[ (:{=]", self.text, re.MULTILINE):
            if re.match(r"\s*(?:func\.func|memref\.global|\"?ipu\.)", match[0]):
                yield Name(match["name"], match.start("name"), match.end("name"))

    def index(self, position: dict[str, int]) -> int:
        """The place in the text of a position, whose characters are units of UTF-16."""
        begin = 0
        for _ in range(position["line"]):
            end = self.text.find("\n", begin)
            if end < 0:
                return len(self.text)
            begin = end + 1
        end = self.text.find("\n", begin)
        line = self.text[begin : end if end >= 0 else len(self.text)]
        units = line.encode("utf-16-le")[: 2 * position["character"]]
        return begin + len(units.decode("utf-16-le", errors="ignore"))

    def range(self, begin: int, end: int) -> dict[str, dict[str, int]]:
        """A piece of the text as the protocol has it."""
        return {"start": self._position(begin), "end": self._position(end)}

    def _position(self, at: int) -> dict[str, int]:
        begin = self.text.rfind("\n", 0, at) + 1
        return {
            "line": self.text.count("\n", 0, at),
            "character": len(self.text[begin:at].encode("utf-16-le")) // 2,
        }

    def _line_of(self, at: int) -> str:
        end = self.text.find("\n", at)
        return self.text[self.text.rfind("\n", 0, at) + 1 : end if end >= 0 else len(self.text)]

    def _part(self, at: int) -> tuple[int, int]:
        """Where the module around ``at`` begins and ends in a file of several."""
        cuts = [match.start() for match in _SEPARATOR.finditer(self.text)]
        return max((cut for cut in cuts if cut <= at), default=0), min(
            (c for c in cuts if c > at), default=len(self.text)
        )

    def _diagnostic(self, said: Diagnostic) -> dict[str, Any]:
        line = max(0, said.line - 1)
        begin = self.index({"line": line, "character": 0})
        text = self._line_of(begin)
        begin += len(text.encode()[: max(0, said.column - 1)].decode(errors="ignore"))  # MLIR counts bytes
        word = _NAME.match(self.text, begin)
        notes = "".join(f"\nnote: {note.message}" for note in said.notes)
        return {
            "range": self.range(begin, word.end() if word else min(begin + 1, len(self.text))),
            "severity": _SEVERITIES.get(said.severity, 1),
            "source": "ipu-mlir",
            "message": said.message.strip() + notes,
        }


def _said(part: Source) -> list[Diagnostic]:
    context = ipu.context()
    context.allow_unregistered_dialects = "--allow-unregistered-dialect" in str(part.content)
    with collect(context, frozenset({"error", "warning", "remark"})) as reported:
        try:
            parse_module(part, context)
        except DiagnosedError as error:
            reported += error.diagnostics
        except IpuError as error:
            reported.append(Diagnostic(str(error), part.name))
    return reported


def _definitions(text: str) -> tuple[str, ...]:
    """Patterns of the places that define a name."""
    sign, word = text[0], re.escape(text)
    if sign == "%":  # a result, one of several results, an argument of a block or function, an induction variable
        whole = rf"(?P<name>{word})(?![\w$.])"
        result = rf"^\s*(?:%[\w$.]+(?::\d+)?,\s*)*{whole}(?::\d+)?(?:\s*,\s*%[\w$.]+(?::\d+)?)*\s*="
        return result, rf"[(,]\s*{whole}\s*:", rf"[(,]\s*{whole}\s*=\s*%", rf"\bfor\s+{whole}\s*="
    if sign == "@":
        first = re.escape(text.partition("::")[0])
        return (rf"^[^/\n]*?\b(?:func\.func|memref\.global|ipu\.\w+|module)\b[^@\n]*(?P<name>{first})(?![\w$.])",)
    if sign in "#!":
        return (rf"^\s*(?P<name>{word})\s*=",)
    return (rf"^\s*(?P<name>{word})(?:\(.*\))?\s*:",) if sign == "^" else ()


def _ops() -> dict[str, Any]:
    classes = (each for each in vars(ipu).values() if isinstance(each, type))
    return {each.OPERATION_NAME: each for each in classes if hasattr(each, "OPERATION_NAME")}


def _docstring(documented: Any) -> str:
    import inspect

    return (inspect.getdoc(documented) or "").replace("``", "`")
