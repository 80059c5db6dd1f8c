"""Ops that check what they read, and perhaps give nothing."""

import re
from collections.abc import Iterator

import numpy as np
import pytest
from test_cases import CASES

import ipu_mlir as ipu
from ipu_mlir.dialects.support.errors import RunError

_OF_TRUTHS = """linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<3x4xi1>) {
  ^bb0(%b: i1):
    cf.assert %b, "c holds"
    linalg.yield
  }"""
_IN_A_REDUCTION = _OF_TRUTHS.replace('"parallel"]', '"reduction"]')
_OF_WHAT_IS_COMPUTED = """linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<3x4xi1>) {
  ^bb0(%b: i1):
    %yes = arith.constant true
    %same = arith.cmpi eq, %b, %yes : i1
    cf.assert %same, "c holds"
    linalg.yield
  }"""
_IN_A_LOOP = f"""%zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  scf.for %i = %zero to %three step %one {{
    {_OF_TRUTHS}
  }}"""


@pytest.mark.parametrize("check", [_OF_TRUTHS, _IN_A_REDUCTION, _OF_WHAT_IS_COMPUTED, _IN_A_LOOP])
@pytest.mark.parametrize("tiles", [1, 4])
def test_op_that_only_checks(check: str, tiles: int) -> None:
    text = f"func.func @main(%c: tensor<3x4xi1>) -> tensor<3x4xi1> {{\n  {check}\n  return %c : tensor<3x4xi1>\n}}"
    exe = ipu.compile(text, target=ipu.Target(tiles_per_ipu=tiles))
    truths = np.ones((3, 4), np.bool_)
    for run in (exe.run, exe.run_per_tile):
        np.testing.assert_array_equal(run([truths])[0], truths)
        with pytest.raises(RunError, match="c holds"):
            run([truths & (np.arange(4) < 3)])


PLANTED = "planted here"
_BODY = re.compile(r"\^bb0\((%\w+): (\w+)[^)]*\):")


def with_planted_checks(text: str) -> Iterator[str]:
    """``text`` with a check that fails in the body of one of its structured ops: of a constant, or of an element."""
    for body in _BODY.finditer(text):
        head = text[: body.start()].rpartition("linalg.")[2]
        if not head.startswith("generic") or "library_call" in head:
            continue
        name, kind = body.groups()
        compare = {"f": "cmpf une", "i": "cmpi ne"}[kind[0]]
        for check in ("arith.constant false", f"arith.{compare}, {name}, {name} : {kind}"):
            planted = f'\n    %planted = {check}\n    cf.assert %planted, "{PLANTED}"'
            yield text[: body.end()] + planted + text[body.end() :]


def see_planted_checks_fail(name: str) -> None:
    case = CASES[name]
    for text in with_planted_checks(case.text):
        exe = ipu.compile(text, target=ipu.Target(tiles_per_ipu=4))
        for run in (exe.run, exe.run_per_tile):
            with pytest.raises(RunError, match=PLANTED):
                run(case.inputs)


@pytest.mark.parametrize("name", ["scan-add-f32-vector", "scan-max-i32-vector"])
def test_a_check_stays_in_an_op_that_has_another_form(name: str) -> None:
    see_planted_checks_fail(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_check_stays_in_any_op(name: str) -> None:
    see_planted_checks_fail(name)
