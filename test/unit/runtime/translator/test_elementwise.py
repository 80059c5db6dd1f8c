"""Element-wise bodies: ranks, broadcasting, order, and memory that is written over."""

import numpy as np
import pytest

RNG = np.random.default_rng(7)

ROWS = "affine_map<(d0, d1) -> (d0)>"
COLUMNS = "affine_map<(d0, d1) -> (d1)>"
BOTH = "affine_map<(d0, d1) -> (d0, d1)>"
SWAPPED = "affine_map<(d0, d1) -> (d1, d0)>"


def f32(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def test_rows_and_columns_are_broadcast(run):
    text = f"""func.func @main(%x: memref<3x5xf32>, %r: memref<3xf32>, %c: memref<5xf32>) -> memref<3x5xf32> {{
      %o = memref.alloc() : memref<3x5xf32>
      linalg.generic {{indexing_maps = [{BOTH}, {ROWS}, {COLUMNS}, {BOTH}], iterator_types = ["parallel", "parallel"]}}
        ins(%x, %r, %c : memref<3x5xf32>, memref<3xf32>, memref<5xf32>) outs(%o : memref<3x5xf32>) {{
      ^bb0(%a: f32, %b: f32, %d: f32, %out: f32):
        %0 = math.sqrt %b : f32
        %1 = arith.divf %a, %0 : f32
        %2 = arith.mulf %1, %d : f32
        linalg.yield %2 : f32
      }}
      return %o : memref<3x5xf32>
    }}"""
    x, r, c = f32(3, 5), np.abs(f32(3)), f32(5)
    (got,) = run(text, x, r, c)
    np.testing.assert_array_equal(got, x / np.sqrt(r)[:, None] * c)


def test_a_row_statistic_stays_a_column(engine):
    text = f"""func.func @main(%x: memref<300x50xf32>, %r: memref<300xf32>) -> memref<300x50xf32> {{
      %o = memref.alloc() : memref<300x50xf32>
      linalg.generic {{indexing_maps = [{BOTH}, {ROWS}, {BOTH}], iterator_types = ["parallel", "parallel"]}}
        ins(%x, %r : memref<300x50xf32>, memref<300xf32>) outs(%o : memref<300x50xf32>) {{
      ^bb0(%a: f32, %b: f32, %out: f32):
        %0 = math.exp %b : f32
        %1 = arith.mulf %a, %0 : f32
        linalg.yield %1 : f32
      }}
      return %o : memref<300x50xf32>
    }}"""
    made = engine(text)
    assert made.translation.temporary_bytes == 1216  # 300 numbers, in whole cache lines
    assert "exp(" in made.source


def test_a_transposed_operand_is_read_in_place(run):
    text = f"""func.func @main(%x: memref<3x5xf32>, %y: memref<5x3xf32>) -> memref<3x5xf32> {{
      %o = memref.alloc() : memref<3x5xf32>
      linalg.generic {{indexing_maps = [{BOTH}, {SWAPPED}, {BOTH}], iterator_types = ["parallel", "parallel"]}}
        ins(%x, %y : memref<3x5xf32>, memref<5x3xf32>) outs(%o : memref<3x5xf32>) {{
      ^bb0(%a: f32, %b: f32, %out: f32):
        %0 = arith.subf %a, %b : f32
        linalg.yield %0 : f32
      }}
      return %o : memref<3x5xf32>
    }}"""
    x, y = f32(3, 5), f32(5, 3)
    (got,) = run(text, x, y)
    np.testing.assert_array_equal(got, x - y.T)


def test_results_may_be_written_over_operands(run):
    text = f"""func.func @main(%x: memref<3x5xf32>) -> memref<3x5xf32> {{
      %o = memref.alloc() : memref<3x5xf32>
      linalg.exp ins(%x : memref<3x5xf32>) outs(%o : memref<3x5xf32>)
      linalg.generic {{indexing_maps = [{BOTH}, {BOTH}], iterator_types = ["parallel", "parallel"]}}
        ins(%o : memref<3x5xf32>) outs(%o : memref<3x5xf32>) {{
      ^bb0(%a: f32, %out: f32):
        %0 = arith.mulf %a, %a : f32
        %1 = arith.addf %0, %a : f32
        %2 = arith.mulf %0, %1 : f32
        linalg.yield %2 : f32
      }}
      return %o : memref<3x5xf32>
    }}"""
    x = f32(3, 5)
    e = np.exp(x)
    (got,) = run(text, x)
    np.testing.assert_array_equal(got, (e * e) * (e * e + e))


def test_an_output_can_be_read_as_it_was(run):
    text = """func.func @main(%x: memref<4xf32>) -> memref<4xf32> {
      %o = memref.alloc() : memref<4xf32>
      %c = arith.constant 2.5 : f32
      linalg.fill ins(%c : f32) outs(%o : memref<4xf32>)
      linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
        iterator_types = ["parallel"]}
        ins(%x : memref<4xf32>) outs(%o : memref<4xf32>) {
      ^bb0(%a: f32, %out: f32):
        %0 = arith.addf %a, %out : f32
        linalg.yield %0 : f32
      }
      return %o : memref<4xf32>
    }"""
    x = f32(4)
    np.testing.assert_array_equal(run(text, x)[0], x + np.float32(2.5))


def test_two_results_that_swap_their_operands(run_plain):
    """Each result lies where the other's operand does: neither may be stored before both are computed."""
    one = "affine_map<(d0) -> (d0)>"
    text = f"""func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {{
      %p = memref.alloc() : memref<8xf32>
      %a = memref.subview %p[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
      %b = memref.subview %p[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
      memref.copy %x, %a : memref<4xf32> to memref<4xf32, strided<[1]>>
      memref.copy %y, %b : memref<4xf32> to memref<4xf32, strided<[1], offset: 4>>
      linalg.generic {{indexing_maps = [{one}, {one}], iterator_types = ["parallel"]}}
        outs(%a, %b : memref<4xf32, strided<[1]>>, memref<4xf32, strided<[1], offset: 4>>) {{
      ^bb0(%u: f32, %v: f32):
        %0 = arith.addf %v, %v : f32
        %1 = arith.mulf %u, %u : f32
        linalg.yield %0, %1 : f32, f32
      }}
      %o = memref.alloc() : memref<4xf32>
      %q = memref.alloc() : memref<4xf32>
      memref.copy %a, %o : memref<4xf32, strided<[1]>> to memref<4xf32>
      memref.copy %b, %q : memref<4xf32, strided<[1], offset: 4>> to memref<4xf32>
      return %o, %q : memref<4xf32>, memref<4xf32>
    }}"""
    x, y = f32(4), f32(4)
    first, second = run_plain(text, x, y)
    np.testing.assert_array_equal(first, y + y)
    np.testing.assert_array_equal(second, x * x)


def test_a_shifted_copy_within_one_buffer(run_plain):
    one = "affine_map<(d0) -> (d0)>"
    text = f"""func.func @main(%x: memref<6xf32>) -> memref<6xf32> {{
      %p = memref.alloc() : memref<6xf32>
      memref.copy %x, %p : memref<6xf32> to memref<6xf32>
      %a = memref.subview %p[0] [5] [1] : memref<6xf32> to memref<5xf32, strided<[1]>>
      %b = memref.subview %p[1] [5] [1] : memref<6xf32> to memref<5xf32, strided<[1], offset: 1>>
      linalg.generic {{indexing_maps = [{one}, {one}], iterator_types = ["parallel"]}}
        ins(%b : memref<5xf32, strided<[1], offset: 1>>) outs(%a : memref<5xf32, strided<[1]>>) {{
      ^bb0(%u: f32, %v: f32):
        %0 = math.sqrt %u : f32
        %1 = arith.mulf %0, %u : f32
        linalg.yield %1 : f32
      }}
      return %p : memref<6xf32>
    }}"""
    x = np.abs(f32(6))
    want = x.copy()
    want[:5] = np.sqrt(x[1:]) * x[1:]
    np.testing.assert_array_equal(run_plain(text, x)[0], want)


def test_index_gives_the_number_of_the_point(run):
    text = f"""func.func @main(%y: memref<3xi32>) -> memref<3x5xf32> {{
      %o = memref.alloc() : memref<3x5xf32>
      linalg.generic {{indexing_maps = [{ROWS}, {BOTH}], iterator_types = ["parallel", "parallel"]}}
        ins(%y : memref<3xi32>) outs(%o : memref<3x5xf32>) {{
      ^bb0(%a: i32, %out: f32):
        %0 = linalg.index 1 : index
        %1 = arith.index_cast %0 : index to i32
        %2 = arith.cmpi eq, %a, %1 : i32
        %3 = arith.uitofp %2 : i1 to f32
        linalg.yield %3 : f32
      }}
      return %o : memref<3x5xf32>
    }}"""
    y = np.array([4, 0, 2], np.int32)
    np.testing.assert_array_equal(run(text, y)[0], np.eye(5, dtype=np.float32)[y])


def test_scalars_without_dimensions(run):
    text = """func.func @main(%x: memref<f32>, %y: memref<f32>) -> memref<f32> {
      %o = memref.alloc() : memref<f32>
      linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>,
        affine_map<() -> ()>], iterator_types = []}
        ins(%x, %y : memref<f32>, memref<f32>) outs(%o : memref<f32>) {
      ^bb0(%a: f32, %b: f32, %out: f32):
        %0 = arith.mulf %a, %b : f32
        %1 = arith.subf %0, %a : f32
        linalg.yield %1 : f32
      }
      return %o : memref<f32>
    }"""
    (got,) = run(text, np.float32(3), 4.0)
    assert got.shape == () and got == 9.0


def test_named_and_mapped_ops(run_plain):
    text = """func.func @main(%x: memref<2x3xf32>, %y: memref<2x3xf32>)
      -> (memref<2x3xf32>, memref<3x2xf32>, memref<2x3x4xf32>) {
      %s = memref.alloc() : memref<2x3xf32>
      linalg.map { arith.mulf } ins(%x, %y : memref<2x3xf32>, memref<2x3xf32>) outs(%s : memref<2x3xf32>)
      %t = memref.alloc() : memref<3x2xf32>
      linalg.transpose ins(%s : memref<2x3xf32>) outs(%t : memref<3x2xf32>) permutation = [1, 0]
      %b = memref.alloc() : memref<2x3x4xf32>
      linalg.broadcast ins(%s : memref<2x3xf32>) outs(%b : memref<2x3x4xf32>) dimensions = [2]
      return %s, %t, %b : memref<2x3xf32>, memref<3x2xf32>, memref<2x3x4xf32>
    }"""
    x, y = f32(2, 3), f32(2, 3)
    product, turned, wide = run_plain(text, x, y)
    np.testing.assert_array_equal(product, x * y)
    np.testing.assert_array_equal(turned, (x * y).T)
    np.testing.assert_array_equal(wide, np.repeat((x * y)[:, :, None], 4, axis=2))


def test_equal_subexpressions_are_computed_once(engine):
    text = """func.func @main(%x: memref<4xf32>) -> memref<4xf32> {
      %o = memref.alloc() : memref<4xf32>
      linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
        iterator_types = ["parallel"]}
        ins(%x : memref<4xf32>) outs(%o : memref<4xf32>) {
      ^bb0(%a: f32, %out: f32):
        %0 = math.exp %a : f32
        %1 = math.exp %a : f32
        %2 = arith.mulf %0, %1 : f32
        linalg.yield %2 : f32
      }
      return %o : memref<4xf32>
    }"""
    assert engine(text).source.count(" exp(") == 1


@pytest.mark.parametrize("high", [127.0, 127.5])
def test_numbers_that_do_not_fit(engine, high):
    """As integers of 8 bits: 127.5 rounds to 128."""
    text = f"""func.func @main(%x: memref<3x5xf32>) -> memref<3x5xi8> {{
      %o = memref.alloc() : memref<3x5xi8>
      linalg.generic {{indexing_maps = [{BOTH}, {BOTH}], iterator_types = ["parallel", "parallel"]}}
        ins(%x : memref<3x5xf32>) outs(%o : memref<3x5xi8>) {{
      ^bb0(%a: f32, %out: i8):
        %low = arith.constant -128.0 : f32
        %high = arith.constant {high} : f32
        %0 = arith.maximumf %a, %low : f32
        %1 = arith.minimumf %0, %high : f32
        %2 = math.roundeven %1 : f32
        %3 = arith.fptosi %2 : f32 to i8
        linalg.yield %3 : i8
      }}
      return %o : memref<3x5xi8>
    }}"""
    made = engine(text)
    x = f32(3, 5) * 200
    x[1, 1:3] = np.nan, np.inf
    expected = np.clip(np.rint(np.clip(np.nan_to_num(x, posinf=200), -128, high)), -128, 127).astype(np.int8)
    np.testing.assert_array_equal(made.run([x])[0], expected)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("linalg.yield %q, %p : f32, f32", lambda x, y: (y, x)),
        ("%s = arith.addf %p, %q : f32\nlinalg.yield %s, %p : f32, f32", lambda x, y: (x + y, x)),
        ("%s = arith.addf %p, %q : f32\nlinalg.yield %q, %s : f32, f32", lambda x, y: (y, x + y)),
    ],
)
def test_results_that_lie_where_others_are_read(body, expected, run):
    """Every point reads all that it needs before it writes."""
    text = f"""func.func @main(%x: memref<3x5xf32>, %y: memref<3x5xf32>) -> (memref<3x5xf32>, memref<3x5xf32>) {{
      %a = memref.alloc() : memref<3x5xf32>
      %b = memref.alloc() : memref<3x5xf32>
      linalg.copy ins(%x : memref<3x5xf32>) outs(%a : memref<3x5xf32>)
      linalg.copy ins(%y : memref<3x5xf32>) outs(%b : memref<3x5xf32>)
      %low = arith.constant 0 : index
      %end = arith.constant 3 : index
      %one = arith.constant 1 : index
      scf.for %i = %low to %end step %one {{
      linalg.generic {{indexing_maps = [{BOTH}, {BOTH}], iterator_types = ["parallel", "parallel"]}}
        outs(%a, %b : memref<3x5xf32>, memref<3x5xf32>) {{
      ^bb0(%p: f32, %q: f32):
        {body}
      }}
      }}
      return %a, %b : memref<3x5xf32>, memref<3x5xf32>
    }}"""
    x, y = f32(3, 5), f32(3, 5)
    results = run(text, x, y)
    for _ in range(3):
        x, y = expected(x, y)
    for got, wanted in zip(results, (x, y), strict=True):
        np.testing.assert_array_equal(got, wanted)
