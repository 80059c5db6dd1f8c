"""A program's text is parsed in a child of the process, and what comes from there is the module of that text."""

from pathlib import Path

import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support import parsing
from ipu_mlir.dialects.support.diagnostics import DiagnosedError
from ipu_mlir.dialects.support.printing import to_text

FILECHECK = Path(__file__).parents[3] / "filecheck"
PROGRAMS = sorted(FILECHECK.rglob("*.mlir"))
ORDINARY = """// from a file
module @m attributes {ipu.a = [1, "b"]} {
  func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {
    %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %r = arith.addf %a, %c : tensor<2xf32> loc(fused<"x">["n", callsite("g" at "a.py":2:3)])
    return %r : tensor<2xf32>
  }
}
"""


def differs(source: parsing.Source) -> bool:
    """True if the module passed is not the one that the process itself parses; of wrong text, the message."""
    results: list[str] = []
    for _ in ("through a child, as nobody has seen it", "here, as it is known"):
        context = ipu.context()
        context.allow_unregistered_dialects = True
        try:
            results.append(to_text(parsing.parse_module(source, context), locations=True))
        except DiagnosedError as error:
            results.append(str(error))
    return results[0] != results[1]


def parts(path: Path) -> list[parsing.Source]:
    """The programs of a file."""
    return parsing.split_input(parsing.read_source(path))


@pytest.fixture(autouse=True)
def nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """No text was seen before."""
    monkeypatch.setattr(parsing, "_survived", set())


def test_the_process_does_not_parse_what_its_child_has_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(text: str, name: str) -> None:
        raise AssertionError("parsed again")

    expected = str(parsing.parse_module(ORDINARY, ipu.context()))
    parsing._survived.clear()
    monkeypatch.setattr(parsing, "_module_here", parse)
    assert str(parsing.parse_module(ORDINARY, ipu.context())) == expected
    with pytest.raises(AssertionError, match="parsed again"):
        parsing.parse_module("module {", ipu.context())  # for its message


@pytest.mark.parametrize("text", [ORDINARY, "", "func.func @f() { return }", "// -----", "module {", ORDINARY * 2])
def test_the_module_is_that_of_the_text(text: str) -> None:
    assert not differs(parsing.Source(text, "a.mlir", 3))


def test_programs_of_all_kinds() -> None:
    assert not [path for path in PROGRAMS[::50] for part in parts(path) if differs(part)]


@pytest.mark.slow
def test_every_program() -> None:
    assert len(PROGRAMS) > 200
    assert not [path for path in PROGRAMS for part in parts(path) if differs(part)]
