"""Text of others where it is shown."""

import ast

import pytest

from ipu_mlir.dialects.analysis.locations import name_scope, place_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.diagnostics import Diagnostic, source_place
from ipu_mlir.dialects.support.text import in_docstring, printable, printable_lines

_TEXTS = [
    "plain",
    "a\nb",
    "a\rb",
    "\x1b[2J",
    "\x9b31m",
    "\u202e",
    "\u2028",
    "\0",
    '"""',
    "\\",
    "'",
    "\ud800",
    "\x7f",
    "é€😀",
    "\xa0",
]


@pytest.mark.parametrize("text", _TEXTS)
def test_what_is_shown_is_one_line_without_controls(text: str) -> None:
    for shown in (printable(text), str(Diagnostic(text, text, 1, 2))):
        assert shown.isprintable() and len(shown.splitlines()) == 1
        shown.encode()
    assert printable_lines(f"{text}\n{text}".replace("\n", "\n")).count("\n") == 1 + 2 * text.count("\n")


@pytest.mark.parametrize("text", [*_TEXTS, "".join(_TEXTS)])
def test_a_docstring_holds_any_text(text: str) -> None:
    assert ast.literal_eval(f'"""{in_docstring(text)}"""') == printable(text)


def test_text_is_cut() -> None:
    assert printable("x" * 300, 10) == "xxxxxxxxx…"


def test_places_of_locations_are_printable() -> None:
    with ir.Context():
        named = ir.Location.name("a\n\x1b[31m")
        assert place_of(named) == name_scope(named) == r"a\n\x1b[31m"
        assert place_of(ir.Location.file("dir/f\n.mlir", 3, 4)) == r"f\n.mlir:3:4"


def test_the_place_of_calls_that_are_nested_as_deeply_as_a_program_is_large() -> None:
    with ir.Context():
        file = ir.Location.file("f.mlir", 3, 4)
        callee = caller = file
        for _ in range(5000):
            callee = ir.Location.callsite(callee, [file])
            caller = ir.Location.callsite(ir.Location.unknown(), [caller])
        assert source_place(callee) == source_place(caller) == ("f.mlir", 3, 4)
        assert name_scope(callee) == ""


def test_the_place_of_locations_that_share_their_parts() -> None:
    with ir.Context() as context:
        several = ir.Location.unknown()
        for level in range(60):
            several = ir.Location.fused(
                [ir.Location.callsite(several, [several]), ir.Location.name(f"{level}", several)]
            )
        with context:
            assert source_place(several) == ("", 0, 0)
            assert name_scope(several) == "0"
