"""Argmax in the forms of torch-mlir and XLA, where no pass on tensors has found it: whatever a NaN does."""

import numpy as np
import pytest

import ipu_mlir as ipu

RNG = np.random.default_rng(12)


def arg(shape, *, best="maximumf", better="ogt", start="0xFF800000", outer="parallel", payload=False) -> str:
    """The best element of each row of ``%x`` (of all where ``outer`` is a reduction), and its place or ``%p`` there."""
    rows, columns = shape
    kept, one = ("d0", f"{rows}x") if outer == "parallel" else ("", "")
    reads = f", affine_map<(d0, d1) -> ({kept + ', ' if kept else ''}d1)>" if payload else ""
    table = f"memref<{one}{columns}xi64>"
    return f"""func.func @main(%x: memref<{rows}x{columns}xf32>, %p: {table}) -> (memref<{one}f32>, memref<{one}i64>) {{
      %low = arith.constant {start} : f32
      %none = arith.constant 7 : i64
      %v = memref.alloc() : memref<{one}f32>
      %i = memref.alloc() : memref<{one}i64>
      linalg.fill ins(%low : f32) outs(%v : memref<{one}f32>)
      linalg.fill ins(%none : i64) outs(%i : memref<{one}i64>)
      linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>{reads}, affine_map<(d0, d1) -> ({kept})>,
        affine_map<(d0, d1) -> ({kept})>], iterator_types = ["{outer}", "reduction"]}}
        ins(%x{", %p" if payload else ""} : memref<{rows}x{columns}xf32>{", " + table if payload else ""})
        outs(%v, %i : memref<{one}f32>, memref<{one}i64>) {{
      ^bb0(%e: f32{", %q: i64" if payload else ""}, %a: f32, %old: i64):
        %row = linalg.index 0 : index
        %column = linalg.index 1 : index
        %width = arith.constant {columns if outer == "reduction" else 0} : index
        %first = arith.muli %row, %width : index
        %at = arith.addi %first, %column : index
        %here = arith.index_cast %at : index to i64
        %m = arith.{best} %e, %a : f32
        %c = arith.cmpf {better}, %e, %a : f32
        %n = arith.select %c, {"%q" if payload else "%here"}, %old : i64
        linalg.yield %m, %n : f32, i64
      }}
      return %v, %i : memref<{one}f32>, memref<{one}i64>
    }}"""


def values(*shape: int) -> np.ndarray:
    """Numbers with ties, a NaN in some rows and at the beginning of one, and a row of nothing but -inf."""
    x = RNG.integers(-4, 9, shape).astype(np.float32)
    x[0, shape[1] // 2], x[1, 0], x[2] = np.nan, np.nan, -np.inf
    return x


def in_order(rows: np.ndarray, start: float, better) -> np.ndarray:
    """The places as the loop finds them; 7 where nothing is better than ``start``."""
    places = []
    for row in rows:
        best, place = np.float32(start), 7
        for number, value in enumerate(row):
            if better(value, best) or np.isnan(value):
                best, place = value, place if np.isnan(value) else number
            if np.isnan(best):
                break
        places.append(place)
    return np.array(places)


@pytest.fixture
def unused() -> np.ndarray:
    return np.zeros((5, 12), np.int64)


def test_first_of_the_largest(run, unused):
    x = values(5, 12)
    best, place = run(arg((5, 12)), x, unused)
    np.testing.assert_array_equal(place, in_order(x, -np.inf, np.greater))
    np.testing.assert_array_equal(best, x.max(1))


def test_first_of_the_smallest(run, unused):
    x = values(5, 12)
    text = arg((5, 12), best="minimumf", better="olt", start="0x7F800000")
    best, place = run(text, x, unused)
    np.testing.assert_array_equal(place, in_order(x, np.inf, np.less))
    np.testing.assert_array_equal(best, x.min(1))


def test_last_of_the_largest(run, unused):
    x = values(5, 12)
    text = arg((5, 12), better="oge")
    np.testing.assert_array_equal(run(text, x, unused)[1], in_order(x, -np.inf, np.greater_equal))


def test_value_to_start_from_that_may_win(run, unused):
    x = np.minimum(values(5, 12), np.float32(3))
    place = run(arg((5, 12), start="0x40000000"), x, unused)[1]  # 2.0
    np.testing.assert_array_equal(place, in_order(x, 2, np.greater))


def test_place_among_all(run):
    x = RNG.integers(-4, 9, (5, 12)).astype(np.float32)
    best, place = run(arg((5, 12), outer="reduction"), x, np.zeros(12, np.int64))
    assert (best, place) == (x.max(), x.argmax())


@pytest.mark.parametrize("outer", ["parallel", "reduction"])
def test_something_else_from_where_the_largest_is(outer, run):
    x = RNG.permutation(60).reshape(5, 12).astype(np.float32)
    table = RNG.integers(0, 99, (5, 12) if outer == "parallel" else 12)
    got = run(arg((5, 12), outer=outer, payload=True), x, table)[1]
    at = x.argmax(1) if outer == "parallel" else x.argmax() % 12
    np.testing.assert_array_equal(got, table[np.arange(5), at] if outer == "parallel" else table[at])


def xla_arg(shape, *, keeps="oge", start="0xFF800000", none=0, outer="parallel") -> str:
    """The best element of each row of ``%x`` (of all where ``outer`` is a reduction), and its i32 place."""
    rows, columns = shape
    kept, one = ("d0", f"{rows}x") if outer == "parallel" else ("", "")
    return f"""func.func @main(%x: memref<{rows}x{columns}xf32>) -> (memref<{one}f32>, memref<{one}i32>) {{
      %low = arith.constant {start} : f32
      %none = arith.constant {none} : i32
      %v = memref.alloc() : memref<{one}f32>
      %i = memref.alloc() : memref<{one}i32>
      linalg.fill ins(%low : f32) outs(%v : memref<{one}f32>)
      linalg.fill ins(%none : i32) outs(%i : memref<{one}i32>)
      linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ({kept})>,
        affine_map<(d0, d1) -> ({kept})>], iterator_types = ["{outer}", "reduction"]}}
        ins(%x : memref<{rows}x{columns}xf32>) outs(%v, %i : memref<{one}f32>, memref<{one}i32>) {{
      ^bb0(%e: f32, %a: f32, %old: i32):
        %row = linalg.index 0 : index
        %column = linalg.index 1 : index
        %width = arith.constant {columns} : index
        %first = arith.muli %row, %width : index
        %at = arith.addi %first, %column : index
        %here = arith.index_cast {"%at" if outer == "reduction" else "%column"} : index to i32
        %k = arith.cmpf {keeps}, %a, %e : f32
        %m = arith.select %k, %a, %e : f32
        %s = arith.cmpf oeq, %a, %e : f32
        %l = arith.minsi %old, %here : i32
        %o = arith.select %k, %old, %here : i32
        %n = arith.select %s, %l, %o : i32
        linalg.yield %m, %n : f32, i32
      }}
      return %v, %i : memref<{one}f32>, memref<{one}i32>
    }}"""


def xla_in_order(rows: np.ndarray, start: float, keeps, none: int = 0) -> tuple[np.ndarray, np.ndarray]:
    found = []
    for row in rows:
        best, place = np.float32(start), none
        for number, value in enumerate(row):
            place = min(place, number) if best == value else place if keeps(best, value) else number
            best = best if keeps(best, value) else value
        found.append((best, place))
    return np.array([best for best, _ in found]), np.array([place for _, place in found])


@pytest.mark.parametrize(
    ("keeps", "order", "start", "text"),
    [("oge", np.greater_equal, -np.inf, "0xFF800000"), ("ole", np.less_equal, np.inf, "0x7F800000")],
)
def test_argmax_of_xla(keeps, order, start, text, run):
    x = values(6, 12)
    x[3, -1], x[4, 3:6], x[5] = np.nan, np.nan, np.inf
    program = xla_arg((6, 12), keeps=keeps, start=text)
    best, place = run(program, x)
    want = xla_in_order(x, start, order)
    np.testing.assert_array_equal(best, want[0])
    np.testing.assert_array_equal(place, want[1])


def test_argmax_of_xla_among_all(run):
    x = values(5, 12)
    program = xla_arg((5, 12), outer="reduction")
    best, place = run(program, x)
    want = xla_in_order(x.reshape(1, 60), -np.inf, np.greater_equal)
    assert (best, place) == (want[0][0], want[1][0])


def test_place_to_start_from_that_is_no_least_one(run):
    """Where nothing is larger than the lowest number, the least of 7 and the places of that number."""
    x = np.full((2, 12), -np.inf, np.float32)
    x[1, :3] = np.nan
    place = run(xla_arg((2, 12), none=7), x)[1]
    np.testing.assert_array_equal(place, xla_in_order(x, -np.inf, np.greater_equal, 7)[1])


def test_a_place_beside_a_value_of_one_operand_is_no_extreme() -> None:
    text = """func.func @main(%x: tensor<5xf32>) -> (tensor<f32>, tensor<i32>) {
  %z = arith.constant 0.0 : f32
  %zi = arith.constant 0 : i32
  %e = tensor.empty() : tensor<f32>
  %ei = tensor.empty() : tensor<i32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %fi = linalg.fill ins(%zi : i32) outs(%ei : tensor<i32>) -> tensor<i32>
  %r:2 = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> ()>],
      iterator_types = ["reduction"]}
      ins(%x : tensor<5xf32>) outs(%f, %fi : tensor<f32>, tensor<i32>) {
  ^bb0(%in: f32, %out: f32, %place: i32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %s = arith.addf %in, %out : f32
    %a = math.absf %s : f32
    %c = arith.cmpf ogt, %in, %out : f32
    %p = arith.select %c, %n, %place : i32
    linalg.yield %a, %p : f32, i32
  } -> (tensor<f32>, tensor<i32>)
  return %r#0, %r#1 : tensor<f32>, tensor<i32>
}"""
    x = np.array([1, -3, 5, 2, 9], np.float32)
    exe = ipu.compile(text, target=ipu.Target(tiles_per_ipu=1))
    assert [each.item() for each in exe.run([x])] == [each.item() for each in exe.run_per_tile([x])] == [18, 2]
