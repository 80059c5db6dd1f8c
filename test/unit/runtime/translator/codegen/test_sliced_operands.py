"""Slices that one call reads are read where they lie."""

import numpy as np
import pytest

from ipu_mlir.runtime.translator.array_ir.access import Buffer, Role
from ipu_mlir.runtime.translator.array_ir.expression import LoopNumber
from ipu_mlir.runtime.translator.array_ir.iota import INDEX
from ipu_mlir.runtime.translator.array_ir.statements import Origin
from ipu_mlir.runtime.translator.codegen.schedule import COPY, Call, View
from ipu_mlir.runtime.translator.codegen.sliced_operands import with_sliced_operands

_F4 = np.dtype("f4")
_ORIGIN = Origin("", "")
_NUMBER = LoopNumber(INDEX, Buffer("count", 1, INDEX, Role.TEMPORARY))


def _row(name: str) -> View:
    return View(Buffer(name, 4, _F4, Role.TEMPORARY, (4,)), _F4, 0, (4,), (1,))


_MATRIX = View(Buffer("m", 12, _F4, Role.TEMPORARY, (3, 4)), _F4, 0, (3, 4), (4, 1))
_A, _B, _C = _row("a"), _row("b"), _row("c")
_TAKEN = Call("copyto({out}, {0}[{1}], 'unsafe')", (_MATRIX, _NUMBER), _A, _ORIGIN)
_ADD = "add({0}, {1}, {out})"


def _templates(*calls: Call) -> list[str]:
    return [call.template for call in with_sliced_operands(calls, {}) if isinstance(call, Call)]


@pytest.mark.parametrize("out", [_A, _B, _C])
def test_a_call_reads_the_slice_itself(out):
    (call,) = with_sliced_operands([_TAKEN, Call(_ADD, (_A, _B), out, _ORIGIN)], {})
    assert isinstance(call, Call)
    assert call.template == "add({0}[{2}], {1}, {out})"
    assert call.operands == (_MATRIX, _B, _NUMBER)


def test_two_slices_and_one_slice_twice():
    other = Call("copyto({out}, {0}[{1}], 'unsafe')", (_MATRIX, _NUMBER), _B, _ORIGIN)
    assert _templates(_TAKEN, other, Call(_ADD, (_A, _B), _C, _ORIGIN)) == ["add({0}[{2}], {1}[{3}], {out})"]
    assert _templates(_TAKEN, Call(_ADD, (_A, _A), _C, _ORIGIN)) == ["add({0}[{2}], {1}[{2}], {out})"]


def test_a_row_may_go_to_another_row():
    stored = Call("{out}[{1} + 1] = {0}", (_A, _NUMBER), _MATRIX, _ORIGIN)
    assert _templates(_TAKEN, stored) == ["{out}[{1} + 1] = {0}[{2}]"]


@pytest.mark.parametrize(
    "after",
    [
        [Call(_ADD, (_A, _B), _C, _ORIGIN), Call(_ADD, (_A, _C), _B, _ORIGIN)],  # read twice
        [Call(COPY, (_B,), _MATRIX, _ORIGIN), Call(_ADD, (_A, _B), _C, _ORIGIN)],  # changed in between
        [Call("run_codelet('sort', ({0},), ({0},))", (_A,), _A, _ORIGIN)],  # written through
    ],
)
def test_what_is_needed_as_it_was_is_copied(after):
    assert _templates(_TAKEN, *after) == [_TAKEN.template, *(call.template for call in after)]
