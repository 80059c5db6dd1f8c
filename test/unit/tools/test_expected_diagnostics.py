"""Expected diagnostics in comments."""

import pytest

from ipu_mlir.dialects.support.diagnostics import Diagnostic
from ipu_mlir.tools.expected_diagnostics import read_expectations, unmet


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("op // expected-error {{a}}", [1]),
        ("// expected-error @below {{a}}\nop", [2]),
        ("// expected-error @below {{a}}\n// expected-error @below {{b}}\nop", [3, 3]),
        ("op\n// expected-error @above {{a}}\n// expected-error @above {{b}}", [1, 1]),
        ("// expected-error @+2 {{a}}\n\nop", [3]),
        ("op\n\n// expected-error @-2 {{a}}", [1]),
        ("// expected-error @unknown {{a}}", [0]),
        ("// expected-error@below {{a}}\nop", [2]),
        ("// expected-warning @below {{a}}\n// expected-note @below {{a}}\nop", [3, 3]),
        ("// no expectation {{a}}", []),
    ],
)
def test_lines(text: str, lines: list[int]) -> None:
    assert [each.line for each in read_expectations(text)] == lines


def test_lines_count_from_the_offset() -> None:
    assert read_expectations("// expected-error @below {{a}}\nop", line_offset=10)[0].line == 12


def error(message: str, line: int = 2, file: str = "f", **more: object) -> Diagnostic:
    return Diagnostic(message, file, line, 5, **more)


@pytest.mark.parametrize(
    ("comment", "reported"),
    [
        ("expected-error @below {{text}}", error("some text here")),
        ("expected-error-re @below {{a {{[0-9]+}}.}}", error("has a 12. item")),
        ("expected-error @below {{a.b}}", error("a.b")),
        ("expected-error @below {{{{x}}}}", error("braces {{x}}")),
        ("expected-remark @below {{text}}", error("text", severity="remark")),
        ("expected-error @unknown {{text}}", error("text", line=0, file="")),
        ("expected-error @unknown {{text}}", error("text", file="elsewhere")),
    ],
)
def test_met(comment: str, reported: Diagnostic) -> None:
    assert unmet(read_expectations(f"// {comment}\nop"), [reported], "f") == []


@pytest.mark.parametrize(
    ("comment", "reported"),
    [
        ("expected-error @below {{text}}", error("another")),
        ("expected-error @below {{text}}", error("text", line=3)),
        ("expected-error @below {{a.b}}", error("axb")),
        ("expected-warning @below {{text}}", error("text")),
        ("expected-error @below {{text}}", error("text", file="elsewhere")),
    ],
)
def test_unmet_reports_both_sides(comment: str, reported: Diagnostic) -> None:
    unexpected, missing = unmet(read_expectations(f"// {comment}\nop"), [reported], "f")
    assert unexpected.message == f"unexpected error: {reported.message}"
    assert missing.message.startswith("expected ") and "was not produced at line 2" in missing.message
    assert (missing.file, missing.line) == ("f", 1)


def test_one_report_meets_one_expectation() -> None:
    two = read_expectations("// expected-error @below {{a}}\n// expected-error @below {{a}}\nop")
    assert len(unmet(two, [error("a", line=3)], "f")) == 1
    assert unmet(two, [error("a", line=3)] * 2, "f") == []


def test_notes_may_be_expected_but_need_not() -> None:
    reported = error("a", notes=(error("see", line=1, severity="note"),))
    assert unmet(read_expectations("op\nop // expected-error {{a}}"), [reported], "f") == []
    both = read_expectations("op // expected-note {{see}}\nop // expected-error {{a}}")
    assert unmet(both, [reported], "f") == []
    assert len(unmet(both, [error("a")], "f")) == 1
