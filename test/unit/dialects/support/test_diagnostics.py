"""Diagnostics as plain values."""

import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.diagnostics import DiagnosedError, Diagnostic, collect, fail, source_place


@pytest.mark.parametrize(
    ("location", "place"),
    [
        ('"a.mlir":3:7', ("a.mlir", 3, 7)),
        ('"name"("a.mlir":3:7)', ("a.mlir", 3, 7)),
        ('fused["a.mlir":3:7, "b.mlir":1:1]', ("a.mlir", 3, 7)),
        ('fused[unknown, "b.mlir":1:1]', ("b.mlir", 1, 1)),
        ('callsite("a.mlir":3:7 at "b.mlir":1:1)', ("a.mlir", 3, 7)),
        ('callsite("name" at "b.mlir":1:1)', ("b.mlir", 1, 1)),
        ('"name"', ("", 0, 0)),
        ("unknown", ("", 0, 0)),
    ],
)
def test_place_of_every_kind_of_location(location: str, place: tuple[str, int, int]) -> None:
    with ir.Context():
        assert source_place(_location(location)) == place


def _location(text: str) -> ir.Location:
    return ir.Module.parse(f"module {{}} loc({text})").operation.location


def test_a_diagnostic_is_one_line() -> None:
    assert str(Diagnostic("two\n  lines", "a.mlir", 1, 2)) == "a.mlir:1:2: error: two lines"
    assert str(Diagnostic("no line", "a.mlir")) == "a.mlir: error: no line"
    assert str(Diagnostic("no place", severity="remark")) == "remark: no place"
    assert str(DiagnosedError([Diagnostic("a"), Diagnostic("b")])) == "error: a\nerror: b"


def test_collect_takes_what_is_reported_and_lets_go() -> None:
    context = ipu.context()
    with context:
        op = ir.Operation.parse("module {}", source_name="a.mlir")
    with collect(context) as outer:
        with collect(context) as inner:
            assert fail(op, "is wrong") is False
        op.location.emit_error("later")
    assert [str(error) for error in inner] == ["a.mlir:1:1: error: 'builtin.module' op is wrong"]
    assert [str(error) for error in outer] == ["a.mlir:1:1: error: later"]
    assert not context.emit_error_diagnostics


def test_other_severities_go_to_the_outer_collector() -> None:
    context = ipu.context()
    with context:
        op = ir.Operation.parse("module {}")
    with collect(context) as outer, collect(context, frozenset({"remark"})) as inner:
        op.location.emit_error("an error")
    assert len(outer) == 1 and not inner
