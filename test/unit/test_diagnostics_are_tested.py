"""Every diagnostic of a verifier and of a pass is produced by a FileCheck test.

The messages are read from the source: what is given to ``fail(op, ...)`` and ``refuse(op, ...)``, and the sentences
that functions answer whose name says that they look for broken rules.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [
    *sorted((ROOT / "dialects" / "ops").glob("*.py")),
    *sorted((ROOT / "passes").rglob("*.py")),
    ROOT / "dialects" / "mapping" / "part_rules.py",
]
NOT_A_DIAGNOSTIC = {"base.py"}  # where refusals are made, not where they are used
EXPECTED = re.compile(r"expected-error(?:-re)?\s*(?:@\S+)?\s*\{\{(.*)\}\}")
KNOWN_GAPS: dict[str, str] = {}


class Message(NamedTuple):
    """A message with ``{}`` where numbers and names go in."""

    text: str
    place: str


def text_of(node: ast.expr) -> str | None:
    """The text of a string or an f-string, with ``{}`` for its values."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(piece.value if isinstance(piece, ast.Constant) else "{}" for piece in node.values)
    return None


def messages() -> Iterator[Message]:
    for path in SOURCES:
        if path.name in NOT_A_DIAGNOSTIC:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            found: list[ast.expr] = []
            if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("fail", "refuse"):
                found = node.args[1:]
            elif isinstance(node, ast.FunctionDef) and "broken" in node.name:
                found = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Return) and inner.value]
            for value in found:
                text = text_of(value)
                if text is not None and len(text.replace("{}", "").split()) >= 3:
                    yield Message(text, f"{path.name}:{value.lineno}")


def expected_texts() -> list[str]:
    folder = ROOT / "test" / "filecheck"
    return [text for path in sorted(folder.rglob("*.mlir")) for text in EXPECTED.findall(path.read_text())]


def says(message: Message, expected: str) -> bool:
    """Whether ``expected``, a part of some message, can be a part of this one and says something of it."""
    pieces = [piece.strip() for piece in message.text.split("{}") if len(piece.split()) >= 2]
    pieces = pieces or [message.text.replace("{}", "").strip()]
    opening = " ".join(max(pieces, key=len).split()[:4])
    return opening in expected or any(" ".join(piece.split()[:4]) in expected for piece in pieces)


MESSAGES = sorted(set(messages()))


def test_messages_are_found():
    assert {message.place.partition(":")[0] for message in MESSAGES} >= {
        "exchange.py",
        "function_parts.py",
        "part_rules.py",
    }


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: f"{message.place} {message.text[:50]}")
def test_diagnostic_is_expected_somewhere(message, request):
    if message.text in KNOWN_GAPS:
        request.applymarker(pytest.mark.xfail(reason=KNOWN_GAPS[message.text], strict=True))
    assert any(says(message, expected) for expected in expected_texts()), f"no test expects: {message.text}"
