"""``update_slice``: only the slice is written, where it is; a slice that may be outside is demanded to be inside."""

import numpy as np
import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.codelets.first_extreme import FIRST_EXTREMES
from ipu_mlir.dialects.codelets.library import LIBRARY
from ipu_mlir.dialects.codelets.update_slice import UPDATE_SLICE
from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.translator.translate import translate

ROWS = 3


def test_what_has_no_fast_form_is_a_statement() -> None:
    names = {name for name, codelet in LIBRARY.items() if codelet.vectorised is None}
    assert names == {UPDATE_SLICE.name, *(codelet.name for codelet in FIRST_EXTREMES)}


def program(rows: int, low: str = "%at") -> str:
    """An update of ``rows`` rows of 8 at ``low``, in place of the argument's copy."""
    row = "0" if rows == 1 else "d2"
    kinds, loops = (
        ('"parallel", "parallel"', "d0, d1") if rows == 1 else ('"parallel", "parallel", "reduction"', "d0, d1, d2")
    )
    return f"""func.func @main(%x: memref<8x4xf32>, %u: memref<{rows}x4xf32>, %i: memref<index>) -> memref<8x4xf32> {{
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %at = memref.load %i[] : memref<index>
  %least = arith.maxsi %at, %c0 : index
  %inside = arith.minsi %least, %c5 : index
  %y = memref.alloc() : memref<8x4xf32>
  memref.copy %x, %y : memref<8x4xf32> to memref<8x4xf32>
  linalg.generic {{indexing_maps = [affine_map<({loops}) -> ()>, affine_map<({loops}) -> ()>,
                                    affine_map<({loops}) -> ({row}, d1)>, affine_map<({loops}) -> (d0, d1)>],
                   iterator_types = [{kinds}], library_call = "update_slice"}}
      ins({low}, %c0, %u : index, index, memref<{rows}x4xf32>) outs(%y : memref<8x4xf32>) {{
  ^bb0(%a: index, %b: index, %new: f32, %old: f32):
    linalg.yield %old : f32
  }}
  return %y : memref<8x4xf32>
}}"""


def run(text: str, at: int, rows: int) -> tuple[str, np.ndarray, np.ndarray]:
    """The source, what it gives and what it has to give."""
    made = Engine(parse_module(text, ipu.context()))
    x, u = np.arange(32, dtype=np.float32).reshape(8, 4), -np.ones((rows, 4), np.float32)
    want = x.copy()
    if 0 <= at <= 8 - rows:
        want[at : at + rows] = u
    return made.source, made.run([x, u, np.array(at)])[0], want


@pytest.mark.parametrize("at", [0, 3, 5])
def test_a_slice_that_is_known_to_be_inside_is_assigned_without_a_test(at: int) -> None:
    source, found, want = run(program(ROWS, "%inside"), at, ROWS)
    np.testing.assert_array_equal(found, want)
    assert "require(" not in source and "if 0 <=" not in source


def test_a_slice_of_no_rows_writes_nothing() -> None:
    _, found, want = run(program(0, "%inside"), 2, 0)
    np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize("at", [-1, 6, 2**62])
def test_a_slice_outside_is_an_error(at: int) -> None:
    with pytest.raises(RunError, match="a slice is updated that is not inside its tensor"):
        run(program(ROWS), at, ROWS)


@pytest.mark.parametrize("at", [0, 7])
def test_a_slice_that_may_be_outside_is_tested(at: int) -> None:
    source, found, want = run(program(1), at, 1)
    np.testing.assert_array_equal(found, want)
    assert "if 0 <=" in source


@pytest.mark.parametrize("at", [-1, 8])
def test_a_single_row_outside_is_not_written(at: int) -> None:
    _, found, want = run(program(1), at, 1)
    np.testing.assert_array_equal(found, want)


def test_a_constant_row_outside_is_no_statement() -> None:
    text = program(1).replace("%c5 = arith.constant 5", "%c5 = arith.constant 9").replace("ins(%at", "ins(%c5")
    assert "linalg.generic" not in translate(parse_module(text, ipu.context())).source
