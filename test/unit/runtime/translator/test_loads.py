"""Loads, branches, assertions and library codelets in the bodies of structured ops."""

import numpy as np
import pytest

from ipu_mlir.dialects.support.errors import CompileError, RunError
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions

RNG = np.random.default_rng(5)
ROWS, FIRST = "affine_map<(d0, d1) -> (d0, d1)>", "affine_map<(d0, d1) -> (d0)>"


def f32(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def filled(arguments: str, result: str, body: str, *, maps: str = ROWS, ins: str = "", before: str = "") -> str:
    """A function whose one op fills ``result`` (two dimensions), each element as ``body`` yields."""
    dtype = result.rsplit("x", 1)[1].rstrip(">")
    block = "".join(f"%e{i}: {kind}, " for i, kind in enumerate(_element_types(ins)))
    return f"""func.func @main({arguments}) -> {result} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      {before}
      %o = memref.alloc() : {result}
      linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}
        {f"ins({ins})" if ins else ""} outs(%o : {result}) {{
      ^bb0({block}%z: {dtype}):
        %i = linalg.index 0 : index
        %j = linalg.index 1 : index
        {body}
        linalg.yield %r : {dtype}
      }}
      return %o : {result}
    }}"""


def _element_types(ins: str) -> list[str]:
    if not ins:
        return []
    return [kind.rsplit("x", 1)[-1].strip(" >").removeprefix("memref<") for kind in ins.split(" : ")[1].split(", ")]


def test_rows_of_an_embedding_are_one_take(engine):
    text = filled(
        "%t: memref<9x4xf32>, %ids: memref<5xi32>",
        "memref<5x4xf32>",
        """%k = arith.index_cast %e0 : i32 to index
        %r = memref.load %t[%k, %j] : memref<9x4xf32>""",
        maps=f"{FIRST}, {ROWS}",
        ins="%ids : memref<5xi32>",
    )
    made = engine(text)
    t, ids = f32(9, 4), np.array([8, 0, 3, 3, 1], np.int32)
    np.testing.assert_array_equal(made.run([t, ids])[0], t[ids])
    assert "arg0.take(" in made.source and "result0, 'clip')" in made.source


def test_a_load_whose_index_is_linear_in_the_loops_is_a_view(engine):
    text = filled(
        "%t: memref<4x12xf32>",
        "memref<3x4xf32>",
        """%k = arith.muli %i, %c3 : index
        %l = arith.addi %k, %c1 : index
        %m = arith.subi %c3, %j : index
        %r = memref.load %t[%m, %l] : memref<4x12xf32>""",
    )
    made, t = engine(text), f32(4, 12)
    np.testing.assert_array_equal(made.run([t])[0], t[::-1, 1:8:3].T)
    assert "take" not in made.source


@pytest.mark.parametrize("start", [0, 2, 5])
def test_a_dynamic_slice(run_plain, start):
    text = filled(
        "%t: memref<9x4xf32>, %s: memref<i32>",
        "memref<4x4xf32>",
        """%k = arith.addi %i, %n : index
        %r = memref.load %t[%k, %j] : memref<9x4xf32>""",
        before="%v = memref.load %s[] : memref<i32>\n %n = arith.index_cast %v : i32 to index",
    )
    t = f32(9, 4)
    np.testing.assert_array_equal(run_plain(text, t, np.array(start, np.int32))[0], t[start : start + 4])


def test_several_indices_that_are_data(run_plain):
    text = filled(
        "%t: memref<5x6x7xf32>, %a: memref<3x4xi32>, %b: memref<3x4xi32>",
        "memref<3x4xf32>",
        """%k = arith.index_cast %e0 : i32 to index
        %l = arith.index_cast %e1 : i32 to index
        %r = memref.load %t[%k, %j, %l] : memref<5x6x7xf32>""",
        maps=f"{ROWS}, {ROWS}, {ROWS}",
        ins="%a, %b : memref<3x4xi32>, memref<3x4xi32>",
    )
    t = f32(5, 6, 7)
    a, b = (RNG.integers(0, n, (3, 4)).astype(np.int32) for n in (5, 7))
    np.testing.assert_array_equal(run_plain(text, t, a, b)[0], t[a, np.arange(4), b])


def test_a_load_that_a_branch_guards_may_point_anywhere(run_plain):
    """A shifted copy with zeros at the border: the first index is -1 where the branch is not taken."""
    text = filled(
        "%t: memref<4x3xf32>",
        "memref<5x3xf32>",
        """%k = arith.subi %i, %c1 : index
        %inside = arith.cmpi sge, %k, %c0 : index
        %r = scf.if %inside -> (f32) {
          %v = memref.load %t[%k, %j] : memref<4x3xf32>
          scf.yield %v : f32
        } else {
          %zero = arith.constant 0.0 : f32
          scf.yield %zero : f32
        }""",
    )
    t = f32(4, 3)
    np.testing.assert_array_equal(run_plain(text, t)[0], np.vstack([np.zeros((1, 3), np.float32), t]))


def test_a_reduction_over_loaded_rows(run_plain):
    """The load moves with the reduced loop too."""
    text = """func.func @main(%t: memref<6x8xf32>, %w: memref<4xf32>) -> memref<3x4xf32> {
      %zero = arith.constant 0.0 : f32
      %c2 = arith.constant 2 : index
      %o = memref.alloc() : memref<3x4xf32>
      linalg.fill ins(%zero : f32) outs(%o : memref<3x4xf32>)
      linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%w : memref<4xf32>) outs(%o : memref<3x4xf32>) {
      ^bb0(%e: f32, %z: f32):
        %i = linalg.index 0 : index
        %j = linalg.index 1 : index
        %k = linalg.index 2 : index
        %l = arith.muli %i, %c2 : index
        %m = arith.addi %j, %k : index
        %v = memref.load %t[%l, %m] : memref<6x8xf32>
        %p = arith.mulf %v, %e : f32
        %s = arith.addf %z, %p : f32
        linalg.yield %s : f32
      }
      return %o : memref<3x4xf32>
    }"""
    t, w = f32(6, 8), f32(4)
    windows = np.lib.stride_tricks.sliding_window_view(t[::2], 4, axis=1)[:, :4]
    np.testing.assert_allclose(run_plain(text, t, w)[0], windows @ w, rtol=1e-5)


CHECKED = filled(
    "%t: memref<9x4xf32>, %ids: memref<5xi32>",
    "memref<5x4xf32>",
    """%k = arith.index_cast %e0 : i32 to index
    %low = arith.cmpi sge, %k, %c0 : index
    cf.assert %low, "{an} index is negative"
    %r = memref.load %t[%k, %j] : memref<9x4xf32>""",
    maps=f"{FIRST}, {ROWS}",
    ins="%ids : memref<5xi32>",
)


def test_an_assertion_in_a_body_stops_the_run(engine):
    made, t = engine(CHECKED), f32(9, 4)
    np.testing.assert_array_equal(made.run([t, np.arange(5, dtype=np.int32)])[0], t[:5])
    with pytest.raises(RunError, match=r"\{an\} index is negative"):
        made.run([t, np.array([0, 1, -1, 2, 3], np.int32)])


def test_an_assertion_about_loaded_rows_is_checked_for_all_of_them(engine):
    """The row is chosen at run time; the assertion varies along it only because of where it lies."""
    text = filled(
        "%t: memref<9x4xf32>, %id: memref<i32>",
        "memref<5x4xf32>",
        """%k = arith.index_cast %e0 : i32 to index
        %zero = arith.constant 0.0 : f32
        %r = memref.load %t[%k, %j] : memref<9x4xf32>
        %good = arith.cmpf oge, %r, %zero : f32
        cf.assert %good, "a number below 0" """,
        maps=f"affine_map<(d0, d1) -> ()>, {ROWS}",
        ins="%id : memref<i32>",
    )
    made, t = engine(text), np.abs(f32(9, 4))
    np.testing.assert_array_equal(made.run([t, np.int32(3)])[0], np.tile(t[3], (5, 1)))
    t[3, 2] = -1
    with pytest.raises(RunError, match="a number below 0"):
        made.run([t, np.int32(3)])


SORT = """func.func @main(%x: memref<3x5xf32>) -> memref<3x5xf32> {
  %o = memref.alloc() : memref<3x5xf32>
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "reduction"], library_call = "NAME"}
    ins(%x : memref<3x5xf32>) outs(%o : memref<3x5xf32>) {
  ^bb0(%a: f32, %z: f32):
    linalg.yield %a : f32
  }
  return %o : memref<3x5xf32>
}"""


def test_a_library_codelet_fills_its_output(run_plain):
    x = f32(3, 5)
    np.testing.assert_array_equal(run_plain(SORT.replace("NAME", "sort"), x)[0], np.sort(x))


def test_a_library_codelet_that_is_unknown_is_refused(engine):
    with pytest.raises(CompileError, match=r"no library codelet is called 'shuffle'; there are: .*sort"):
        engine(SORT.replace("NAME", "shuffle"))


def test_a_library_codelet_updates_a_carried_value_where_it_is(engine):
    """A loop that adds a row of updates per iteration: one call per iteration, the table is copied once."""
    text = """func.func @main(%t: memref<7xf32>, %at: memref<3xindex>, %u: memref<3xf32>) -> memref<7xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %true = arith.constant true
      %all = memref.alloc() : memref<7xindex>
      linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        outs(%all : memref<7xindex>) {
      ^bb0(%z: index):
        %i = linalg.index 0 : index
        linalg.yield %i : index
      }
      %guard = memref.alloc() : memref<1xi1>
      linalg.fill ins(%true : i1) outs(%guard : memref<1xi1>)
      %r = scf.for %n = %c0 to %c4 step %c1 iter_args(%s = %t) -> (memref<7xf32>) {
        %new = memref.alloc() : memref<7xf32>
        memref.copy %s, %new : memref<7xf32> to memref<7xf32>
        linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (0)>,
            affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>],
            iterator_types = ["reduction", "parallel"], library_call = "scatter_add"}
          ins(%at, %guard, %u, %all : memref<3xindex>, memref<1xi1>, memref<3xf32>, memref<7xindex>)
          outs(%new : memref<7xf32>) {
        ^bb0(%a: index, %b: i1, %c: f32, %d: index, %z: f32):
          linalg.yield %z : f32
        }
        scf.yield %new : memref<7xf32>
      }
      return %r : memref<7xf32>
    }"""
    made = engine(text)
    t, at, u = f32(7), np.array([2, 6, 2]), np.float32([1, 2, 3])
    expected = t.copy()
    for _ in range(4):
        np.add.at(expected, at, u)
    np.testing.assert_allclose(made.run([t, at, u])[0], expected, rtol=1e-6)
    inside = made.source.split("for i in range(4):")[1]
    assert inside.count("run_codelet(") == 1 and "copyto" not in inside


@pytest.mark.parametrize("kernels", ["never", "always"])
@pytest.mark.parametrize("place", ["%k", "%c3"])
def test_what_is_loaded_where_there_is_nothing_is_0(place, kernels, run_plain):
    text = f"""func.func @main(%x: memref<0xf32>, %at: memref<i64>) -> memref<f32> {{
      %c3 = arith.constant 3 : index
      %i = memref.load %at[] : memref<i64>
      %k = arith.index_cast %i : i64 to index
      %v = memref.load %x[{place}] : memref<0xf32>
      %o = memref.alloc() : memref<f32>
      memref.store %v, %o[] : memref<f32>
      return %o : memref<f32>
    }}"""
    (got,) = run_plain(text, np.zeros(0, np.float32), np.array(1), options=TranslatorOptions(kernels=kernels))
    assert got == 0
