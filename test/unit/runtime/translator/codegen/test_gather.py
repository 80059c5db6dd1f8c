"""Loads whose place depends on data; branches, assertions and library codelets in bodies."""

import numpy as np
import pytest

from ipu_mlir.dialects.support.errors import RunError

RNG = np.random.default_rng(21)


def f32(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def lookup(load: str, rank: int, out: str, arguments: str, operands: str, types: str, maps: str) -> str:
    """``out[i, ...] = table[...]`` with the lines of ``load``, which define %v."""
    dims = ", ".join(f"d{i}" for i in range(rank))
    kinds = ", ".join(['"parallel"'] * rank)
    return f"""func.func @main({arguments}) -> memref<{out}> {{
      %o = memref.alloc() : memref<{out}>
      linalg.generic {{indexing_maps = [{maps}, affine_map<({dims}) -> ({dims})>], iterator_types = [{kinds}]}}
        ins({operands} : {types}) outs(%o : memref<{out}>) {{
      ^bb0(%i: i32, %z: f32):
        %n = arith.index_cast %i : i32 to index
        {load}
        linalg.yield %v : f32
      }}
      return %o : memref<{out}>
    }}"""


def embedding(load: str, table: str, out: str, ids: str, rank: int = 2, which: str = "d0") -> str:
    dims = ", ".join(f"d{i}" for i in range(rank))
    arguments = f"%t: memref<{table}>, %ids: memref<{ids}>"
    return lookup(load, rank, out, arguments, "%ids", f"memref<{ids}>", f"affine_map<({dims}) -> ({which})>")


def test_rows_of_a_table(run_plain, engine):
    load = """%j = linalg.index 1 : index
        %v = memref.load %t[%n, %j] : memref<50x8xf32>"""
    text = embedding(load, "50x8xf32", "6x8xf32", "6xi32")
    table, ids = f32(50, 8), np.array([3, 49, 0, 3, 7, 20], np.int32)
    np.testing.assert_array_equal(run_plain(text, table, ids)[0], table[ids])
    assert ".take(" in engine(text).source
    assert "add(" not in engine(text).source, "whole rows, no address arithmetic"


def test_elements_of_a_transposed_or_reversed_copy(run_plain):
    """The index counts elements of the copy; the same number names another element of the copy's source."""
    cases = [
        ("3x4", "linalg.transpose ins(%x : memref<3x4xf32>) outs(%t : memref<4x3xf32>) permutation = [1, 0]", "4x3"),
        (
            "12",
            """linalg.generic {indexing_maps = [affine_map<(i) -> (11 - i)>, affine_map<(i) -> (i)>],
              iterator_types = ["parallel"]} ins(%x : memref<12xf32>) outs(%t : memref<12xf32>) {
            ^bb0(%v: f32, %w: f32):
              linalg.yield %v : f32
            }""",
            "12",
        ),
    ]
    for source, copy, shape in cases:
        flat = f"%f = memref.collapse_shape %t [[0, 1]] : memref<{shape}xf32> into memref<12xf32>"
        text = f"""func.func @main(%x: memref<{source}xf32>, %i: memref<5xi32>) -> memref<5xf32> {{
          %t = memref.alloc() : memref<{shape}xf32>
          {copy}
          {flat if "x" in shape else "%f = memref.cast %t : memref<12xf32> to memref<12xf32>"}
          %o = memref.alloc() : memref<5xf32>
          linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
            iterator_types = ["parallel"]}} ins(%i : memref<5xi32>) outs(%o : memref<5xf32>) {{
          ^bb0(%n: i32, %z: f32):
            %k = arith.index_cast %n : i32 to index
            %v = memref.load %f[%k] : memref<12xf32>
            linalg.yield %v : f32
          }}
          return %o : memref<5xf32>
        }}"""
        x, i = np.arange(12, dtype=np.float32), np.array([0, 11, 5, 2, 7], np.int32)
        flat_copy = x[::-1] if source == "12" else x.reshape(3, 4).T.ravel()
        np.testing.assert_array_equal(run_plain(text, x if source == "12" else x.reshape(3, 4), i)[0], flat_copy[i])


def test_a_column_per_row(run_plain):
    """The index and the loop both move along the table: the address is computed."""
    load = """%j = linalg.index 0 : index
        %v = memref.load %t[%j, %n] : memref<6x8xf32>"""
    text = embedding(load, "6x8xf32", "6xf32", "6xi32", 1)
    table, ids = f32(6, 8), np.array([3, 7, 0, 3, 7, 2], np.int32)
    np.testing.assert_array_equal(run_plain(text, table, ids)[0], table[np.arange(6), ids])


def test_the_chosen_axis_is_in_the_middle(run_plain):
    load = """%a = linalg.index 0 : index
        %c = linalg.index 2 : index
        %v = memref.load %t[%a, %n, %c] : memref<3x5x4xf32>"""
    text = embedding(load, "3x5x4xf32", "3x6x4xf32", "6xi32", 3, "d1")
    table, ids = f32(3, 5, 4), np.array([4, 0, 1, 1, 2, 3], np.int32)
    np.testing.assert_array_equal(run_plain(text, table, ids)[0], table[:, ids])


def test_the_same_in_small_blocks(run_plain, small_blocks):
    load = """%j = linalg.index 1 : index
        %u = memref.load %t[%n, %j] : memref<50x8xf32>
        %w = math.exp %u : f32
        %v = arith.addf %w, %u : f32"""
    text = embedding(load, "50x8xf32", "30x8xf32", "30xi32")
    table, ids = f32(50, 8), RNG.integers(0, 50, 30).astype(np.int32)
    want = np.exp(table[ids]) + table[ids]
    np.testing.assert_array_equal(run_plain(text, table, ids, options=small_blocks)[0], want)


def test_a_block_of_a_table_is_not_copied(engine, run_plain, small_blocks):
    """One element of an outer axis, for blocks of an inner one: a block of the whole table is no array to take from."""
    load = """%j = linalg.index 0 : index
        %k = linalg.index 1 : index
        %w = memref.load %t[%n, %j, %k] : memref<7x32x8xf32>
        %v = math.exp %w : f32"""
    text = embedding(load, "7x32x8xf32", "32x8xf32", "1xi32", which="0")
    table, ids = f32(7, 32, 8), np.array([5], np.int32)
    np.testing.assert_array_equal(run_plain(text, table, ids, options=small_blocks)[0], np.exp(table[5]))
    source = engine(text, small_blocks).source
    takes = [line.strip() for line in source.splitlines() if ".take(" in line]
    assert "run_blocks" in source
    assert takes
    assert not any(line.startswith("arg0_b") for line in takes)


def test_a_guarded_load_may_name_no_element(run_plain):
    load = """%low = arith.constant 0 : index
        %high = arith.constant 50 : index
        %minus = arith.constant -1.0 : f32
        %p = arith.cmpi sge, %n, %low : index
        %q = arith.cmpi slt, %n, %high : index
        %ok = arith.andi %p, %q : i1
        %j = linalg.index 1 : index
        %v = scf.if %ok -> (f32) {
          %u = memref.load %t[%n, %j] : memref<50x8xf32>
          scf.yield %u : f32
        } else {
          scf.yield %minus : f32
        }"""
    text = embedding(load, "50x8xf32", "4x8xf32", "4xi32")
    table, ids = f32(50, 8), np.array([3, -1, 50, 2_000_000_000], np.int32)
    want = np.full((4, 8), -1, np.float32)
    want[0] = table[3]
    np.testing.assert_array_equal(run_plain(text, table, ids)[0], want)


def test_an_index_that_is_computed_from_loops(run_plain):
    load = """%a = linalg.index 0 : index
        %b = affine.apply affine_map<(d0) -> ((d0 * 3 + 1) mod 7)>(%a)
        %v = memref.load %t[%b] : memref<7xf32>"""
    text = embedding(load, "7xf32", "6xf32", "6xi32", 1)
    table = f32(7)
    want = table[(np.arange(6) * 3 + 1) % 7]
    np.testing.assert_array_equal(run_plain(text, table, np.zeros(6, np.int32))[0], want)


def test_an_assertion_that_fails_is_an_error_with_its_message(run_plain):
    load = """%high = arith.constant 50 : index
        %q = arith.cmpi slt, %n, %high : index
        cf.assert %q, "index {must} be smaller"
        %j = linalg.index 1 : index
        %v = memref.load %t[%n, %j] : memref<50x8xf32>"""
    text = embedding(load, "50x8xf32", "2x8xf32", "2xi32")
    table = f32(50, 8)
    np.testing.assert_array_equal(run_plain(text, table, np.array([49, 0], np.int32))[0], table[[49, 0]])
    with pytest.raises(RunError, match=r"index \{must\} be smaller"):
        run_plain(text, table, np.array([49, 50], np.int32))


def test_a_library_codelet_gets_whole_arrays(run_plain):
    one = "affine_map<(d0) -> (d0)>"
    text = f"""func.func @main(%x: memref<9xf32>) -> memref<9xf32> {{
      %o = memref.alloc() : memref<9xf32>
      linalg.generic {{indexing_maps = [{one}, {one}], iterator_types = ["parallel"], library_call = "sort"}}
        ins(%x : memref<9xf32>) outs(%o : memref<9xf32>) {{
      ^bb0(%a: f32, %z: f32):
        linalg.yield %a : f32
      }}
      return %o : memref<9xf32>
    }}"""
    x = f32(9)
    np.testing.assert_array_equal(run_plain(text, x)[0], np.sort(x))


def test_an_unknown_codelet_is_reported(engine):
    one = "affine_map<(d0) -> (d0)>"
    text = f"""func.func @main(%x: memref<9xf32>) {{
      linalg.generic {{indexing_maps = [{one}], iterator_types = ["parallel"], library_call = "sorted"}}
        outs(%x : memref<9xf32>) {{
      ^bb0(%z: f32):
        linalg.yield %z : f32
      }}
      return
    }}"""
    with pytest.raises(Exception, match=r"no library codelet is called 'sorted'; .*there are: .*sort"):
        engine(text)
