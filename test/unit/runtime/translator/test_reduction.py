"""Reductions with one ufunc, over windows, and with bodies of any kind."""

import numpy as np
import pytest

RNG = np.random.default_rng(5)


def ints(*shape: int) -> np.ndarray:
    return RNG.integers(-9, 10, shape).astype(np.float32)


def program(
    source: str, target: str, op: str, init: str, map_in: str, map_out: str, dims: int, reduced: str, kind: str = "f32"
) -> str:
    """``out = op(out, in)`` over the loops named in ``reduced``, beginning with ``init``."""
    loops = ", ".join(f"d{i}" for i in range(dims))
    kinds = ", ".join('"reduction"' if f"d{i}" in reduced.split() else '"parallel"' for i in range(dims))
    return f"""func.func @main(%x: memref<{source}>) -> memref<{target}> {{
      %c = arith.constant {init}{"" if kind == "i1" else f" : {kind}"}
      %o = memref.alloc() : memref<{target}>
      linalg.fill ins(%c : {kind}) outs(%o : memref<{target}>)
      linalg.generic {{indexing_maps = [affine_map<({loops}) -> ({map_in})>,
        affine_map<({loops}) -> ({map_out})>], iterator_types = [{kinds}]}}
        ins(%x : memref<{source}>) outs(%o : memref<{target}>) {{
      ^bb0(%a: {kind}, %z: {kind}):
        %0 = {op} %z, %a : {kind}
        linalg.yield %0 : {kind}
      }}
      return %o : memref<{target}>
    }}"""


@pytest.mark.parametrize(
    ("shape", "map_in", "map_out", "reduced", "axis"),
    [
        ((5, 7), "d0, d1", "d0", "d1", 1),
        ((5, 7), "d0, d1", "d1", "d0", 0),
        ((5, 7), "d0, d1", "", "d0 d1", (0, 1)),
        ((3, 4, 5), "d0, d1, d2", "d0, d2", "d1", 1),
        ((3, 4, 5), "d0, d1, d2", "d1", "d0 d2", (0, 2)),
        ((3, 4, 5), "d0, d1, d2", "d2", "d0 d1", (0, 1)),
        ((1, 6), "d0, d1", "d0", "d1", 1),
        ((6, 1), "d0, d1", "d0", "d1", 1),
    ],
)
@pytest.mark.parametrize(
    ("op", "init", "ufunc"), [("arith.addf", "0.0", np.add), ("arith.maximumf", "0xFF800000", np.maximum)]
)
def test_axes(shape, map_in, map_out, reduced, axis, op, init, ufunc, run):
    x = ints(*shape)
    want = ufunc.reduce(x, axis)
    source, target = ("x".join(map(str, (*s, "f32"))) for s in (x.shape, want.shape))
    text = program(source, target, op, init, map_in, map_out, len(shape), reduced)
    np.testing.assert_array_equal(run(text, x)[0], want)


@pytest.mark.parametrize(
    ("op", "init", "kind", "want"),
    [
        ("arith.addf", "3.0", "f32", lambda x: 3 + x.sum(1)),
        ("arith.mulf", "1.0", "f32", lambda x: x.prod(1)),
        ("arith.minimumf", "0x7F800000", "f32", lambda x: x.min(1)),
        ("arith.maximumf", "5.0", "f32", lambda x: np.maximum(x.max(1), 5)),
        ("arith.maxnumf", "0xFF800000", "f32", lambda x: x.max(1)),
        ("arith.addi", "0", "i32", lambda x: x.sum(1, dtype=np.int32)),
        ("arith.addi", "0", "i8", lambda x: x.sum(1, dtype=np.int8)),
        ("arith.muli", "1", "i32", lambda x: x.prod(1, dtype=np.int32)),
        ("arith.maxsi", "-2147483648", "i32", lambda x: x.max(1)),
        ("arith.maxui", "0", "i32", lambda x: x.view(np.uint32).max(1).view(np.int32)),
        ("arith.minui", "-1", "i32", lambda x: x.view(np.uint32).min(1).view(np.int32)),
        ("arith.andi", "-1", "i32", lambda x: np.bitwise_and.reduce(x, 1)),
        ("arith.xori", "0", "i32", lambda x: np.bitwise_xor.reduce(x, 1)),
        ("arith.andi", "true", "i1", lambda x: x.all(1)),
        ("arith.ori", "false", "i1", lambda x: x.any(1)),
        ("arith.addi", "false", "i1", lambda x: np.logical_xor.reduce(x, 1)),
    ],
)
def test_combiners(op, init, kind, want, run):
    dtype = {"f32": np.float32, "i32": np.int32, "i8": np.int8, "i1": np.bool_}[kind]
    x = RNG.integers(-9, 10, (4, 6)).astype(dtype)
    text = program(f"4x6x{kind}", f"4x{kind}", op, init, "d0, d1", "d0", 2, "d1", kind)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(run(text, x)[0], want(x))


def test_maximum_keeps_nan_and_maxnum_drops_it(run):
    x = np.float32([[1, np.nan, 3], [np.nan, np.nan, np.nan]])
    for op, want in (("arith.maximumf", [np.nan, np.nan]), ("arith.maxnumf", [3, -np.inf])):
        text = program("2x3xf32", "2xf32", op, "0xFF800000", "d0, d1", "d0", 2, "d1")
        np.testing.assert_array_equal(run(text, x)[0], np.float32(want))


def test_long_rows_are_summed_without_losing_digits(run_plain):
    x = np.full((1, 1 << 20), 0.1, np.float32)
    text = program("1x1048576xf32", "1xf32", "arith.addf", "0.0", "d0, d1", "d0", 2, "d1")
    np.testing.assert_allclose(run_plain(text, x)[0], [np.float64(np.float32(0.1)) * 2**20], rtol=1e-6)


@pytest.mark.parametrize("size", [8, 64])
def test_pooling_windows(size, run):
    """Few and many results per tap take different routes."""
    half = (size - 3) // 2 + 1
    shape, out = f"2x{size}x{size}x5xf32", f"2x{half}x{half}x5xf32"
    text = f"""func.func @main(%x: memref<{shape}>) -> memref<{out}> {{
      %c = arith.constant 0xFF800000 : f32
      %w = memref.alloc() : memref<3x3xf32>
      %o = memref.alloc() : memref<{out}>
      linalg.fill ins(%c : f32) outs(%o : memref<{out}>)
      linalg.pooling_nhwc_max {{dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}}
        ins(%x, %w : memref<{shape}>, memref<3x3xf32>) outs(%o : memref<{out}>)
      return %o : memref<{out}>
    }}"""
    x = ints(2, size, size, 5)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2))[:, ::2, ::2]
    np.testing.assert_array_equal(run(text, x)[0], windows.max((-1, -2)))


def test_terms_may_be_computed(run):
    text = """func.func @main(%x: memref<4x6xf32>, %m: memref<4xf32>) -> memref<4xf32> {
      %c = arith.constant 0.0 : f32
      %o = memref.alloc() : memref<4xf32>
      linalg.fill ins(%c : f32) outs(%o : memref<4xf32>)
      linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>,
        affine_map<(d0, d1) -> (d0)>],
        iterator_types = ["parallel", "reduction"]} ins(%x, %m : memref<4x6xf32>, memref<4xf32>)
          outs(%o : memref<4xf32>) {
      ^bb0(%a: f32, %b: f32, %z: f32):
        %0 = arith.subf %a, %b : f32
        %1 = math.absf %0 : f32
        %2 = arith.addf %1, %z : f32
        linalg.yield %2 : f32
      }
      return %o : memref<4xf32>
    }"""
    x, m = ints(4, 6), ints(4)
    np.testing.assert_array_equal(run(text, x, m)[0], np.abs(x - m[:, None]).sum(1))


def test_argmax_has_two_running_values(run):
    one = "affine_map<(d0, d1) -> (d0)>"
    text = f"""func.func @main(%x: memref<4x6xf32>) -> (memref<4xf32>, memref<4xi32>) {{
      %low = arith.constant 0xFF800000 : f32
      %zero = arith.constant 0 : i32
      %v = memref.alloc() : memref<4xf32>
      %i = memref.alloc() : memref<4xi32>
      linalg.fill ins(%low : f32) outs(%v : memref<4xf32>)
      linalg.fill ins(%zero : i32) outs(%i : memref<4xi32>)
      linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, {one}, {one}],
        iterator_types = ["parallel", "reduction"]}}
        ins(%x : memref<4x6xf32>) outs(%v, %i : memref<4xf32>, memref<4xi32>) {{
      ^bb0(%a: f32, %best: f32, %where: i32):
        %k = linalg.index 1 : index
        %here = arith.index_cast %k : index to i32
        %c = arith.cmpf ogt, %a, %best : f32
        %0 = arith.select %c, %a, %best : f32
        %1 = arith.select %c, %here, %where : i32
        linalg.yield %0, %1 : f32, i32
      }}
      return %v, %i : memref<4xf32>, memref<4xi32>
    }}"""
    x = ints(4, 6)
    value, index = run(text, x)
    np.testing.assert_array_equal(value, x.max(1))
    np.testing.assert_array_equal(index, x.argmax(1))


def test_any_body_over_two_reduced_loops(run):
    """A running value that is scaled before each addition: Horner's rule, in order."""
    text = """func.func @main(%x: memref<3x2x4xf32>) -> memref<2xf32> {
      %c = arith.constant 1.0 : f32
      %h = arith.constant 0.5 : f32
      %o = memref.alloc() : memref<2xf32>
      linalg.fill ins(%c : f32) outs(%o : memref<2xf32>)
      linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1)>],
        iterator_types = ["reduction", "parallel", "reduction"]} ins(%x : memref<3x2x4xf32>) outs(%o : memref<2xf32>) {
      ^bb0(%a: f32, %z: f32):
        %0 = arith.mulf %z, %h : f32
        %1 = arith.addf %0, %a : f32
        linalg.yield %1 : f32
      }
      return %o : memref<2xf32>
    }"""
    x = ints(3, 2, 4)
    want = np.ones(2, np.float32)
    for i in range(3):
        for k in range(4):
            want = want * np.float32(0.5) + x[i, :, k]
    np.testing.assert_array_equal(run(text, x)[0], want)


def test_row_sums_are_one_product(engine):
    text = program("40x300xf32", "40xf32", "arith.addf", "0.0", "d0, d1", "d0", 2, "d1")
    source = engine(text).source
    assert "matmul(arg0, ones300, result0)" in source
    assert "copyto" not in source


def test_ranks_by_counting_read_one_array_in_two_ways(run):
    """Each element against every other: the same array stands still and moves with the reduced loop."""
    text = """func.func @main(%x: memref<9xf32>) -> memref<9xindex> {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %o = memref.alloc() : memref<9xindex>
      linalg.fill ins(%zero : index) outs(%o : memref<9xindex>)
      linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>,
        affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
        ins(%x, %x : memref<9xf32>, memref<9xf32>) outs(%o : memref<9xindex>) {
      ^bb0(%a: f32, %b: f32, %z: index):
        %c = arith.cmpf olt, %b, %a : f32
        %n = arith.addi %z, %one : index
        %r = arith.select %c, %n, %z : index
        linalg.yield %r : index
      }
      return %o : memref<9xindex>
    }"""
    x = RNG.permutation(9).astype(np.float32)
    np.testing.assert_array_equal(run(text, x)[0], x)


def test_a_count_is_a_sum(engine):
    """``c ? n + k : n`` counts all points at once, for any step ``k``."""
    text = """func.func @main(%x: memref<6x9xf32>) -> memref<6xi32> {
      %zero = arith.constant 0 : i32
      %limit = arith.constant 0.0 : f32
      %o = memref.alloc() : memref<6xi32>
      linalg.fill ins(%zero : i32) outs(%o : memref<6xi32>)
      linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
        iterator_types = ["parallel", "reduction"]} ins(%x : memref<6x9xf32>) outs(%o : memref<6xi32>) {
      ^bb0(%a: f32, %n: i32):
        %i = linalg.index 1 : index
        %step = arith.index_cast %i : index to i32
        %c = arith.cmpf olt, %a, %limit : f32
        %more = arith.addi %step, %n : i32
        %r = arith.select %c, %more, %n : i32
        linalg.yield %r : i32
      }
      return %o : memref<6xi32>
    }"""
    x = RNG.standard_normal((6, 9)).astype(np.float32)
    made = engine(text)
    assert "for " not in made.source, "no point is a step of its own"
    np.testing.assert_array_equal(made.run([x])[0], np.where(x < 0, np.arange(9), 0).sum(1))


@pytest.mark.parametrize("kind", ["f32", "f16", "i32"])
@pytest.mark.parametrize("factors", [1, 2])
def test_what_is_subtracted_is_a_sum(engine, kind, factors):
    """A loss is often minus a mean: fused, each element is subtracted from the total."""
    letter = "i" if kind == "i32" else "f"
    term = "%a" if factors == 1 else "%p"
    product = "" if factors == 1 else f"%p = arith.mul{letter} %a, %b : {kind}"
    text = f"""func.func @main(%x: memref<6x9x{kind}>, %y: memref<6x9x{kind}>) -> memref<6x{kind}> {{
      %zero = arith.constant {"0" if letter == "i" else "0.0"} : {kind}
      %o = memref.alloc() : memref<6x{kind}>
      linalg.fill ins(%zero : {kind}) outs(%o : memref<6x{kind}>)
      linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>,
        affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}}
        ins(%x, %y : memref<6x9x{kind}>, memref<6x9x{kind}>) outs(%o : memref<6x{kind}>) {{
      ^bb0(%a: {kind}, %b: {kind}, %n: {kind}):
        {product}
        %r = arith.sub{letter} %n, {term} : {kind}
        linalg.yield %r : {kind}
      }}
      return %o : memref<6x{kind}>
    }}"""
    dtype = {"f32": np.float32, "f16": np.float16, "i32": np.int32}[kind]
    x, y = (RNG.integers(-8, 8, (6, 9)).astype(dtype) for _ in range(2))  # sums of small integers are exact
    made = engine(text)
    assert "for " not in made.source
    np.testing.assert_array_equal(made.run([x, y])[0], -(x if factors == 1 else x * y).sum(1))


def test_a_scan_reads_an_argument_in_another_way(run):
    """What stands still is made before the loop, also where the loop is the first to read it."""
    text = """func.func @main(%x: memref<3x9xf32>) -> memref<9x3xi32> {
      %zero = arith.constant 0 : i32
      %o = memref.alloc() : memref<9x3xi32>
      linalg.fill ins(%zero : i32) outs(%o : memref<9x3xi32>)
      linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0)>, affine_map<(d0, d1, d2) -> (d1, d2)>,
        affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %x : memref<3x9xf32>, memref<3x9xf32>) outs(%o : memref<9x3xi32>) {
      ^bb0(%a: f32, %b: f32, %n: i32):
        %i = arith.bitcast %a : f32 to i32
        %j = arith.bitcast %b : f32 to i32
        %c = arith.cmpi slt, %j, %i : i32
        %mixed = arith.xori %n, %j : i32
        %r = arith.select %c, %mixed, %n : i32
        linalg.yield %r : i32
      }
      return %o : memref<9x3xi32>
    }"""
    x = RNG.standard_normal((3, 9)).astype(np.float32)
    bits = x.view(np.int32)
    expected = np.zeros((9, 3), np.int32)
    for k in range(9):
        expected = np.where(bits[:, k] < bits.T, expected ^ bits[:, k], expected)
    np.testing.assert_array_equal(run(text, x)[0], expected)


@pytest.mark.parametrize(("init", "want"), [(3, [3, 2**32 - 1]), (2**31, [2**31, 2**32 - 1])])
def test_an_unsigned_maximum_begins_at_a_constant(init, want, run):
    text = program(
        "2x2xi32", "2xi32", "arith.maxui", str(np.uint32(init).view(np.int32)), "d0, d1", "d0", 2, "d1", "i32"
    )
    x = np.array([[1, 2], [-1, 5]], np.int32)
    assert run(text, x)[0].view(np.uint32).tolist() == want


BITS_OF_FLOATS = """func.func @main(%x: memref<2x3xi32>) -> memref<2xf32> {
  %c = arith.constant INIT : f32
  %o = memref.alloc() : memref<2xf32>
  linalg.fill ins(%c : f32) outs(%o : memref<2xf32>)
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
    iterator_types = ["parallel", "reduction"]} ins(%x : memref<2x3xi32>) outs(%o : memref<2xf32>) {
  ^bb0(%a: i32, %z: f32):
    %0 = arith.bitcast %z : f32 to i32
    %1 = arith.OP %0, %a : i32
    %2 = arith.bitcast %1 : i32 to f32
    linalg.yield %2 : f32
  }
  return %o : memref<2xf32>
}"""


@pytest.mark.parametrize(("op", "ufunc"), [("ori", np.bitwise_or), ("maxsi", np.maximum), ("addi", np.add)])
@pytest.mark.parametrize("init", [0.0, 1.0, -2.5])
def test_the_bits_of_floats_are_combined_as_integers(op, ufunc, init, run):
    x = np.array([[-5, 3, 1 << 29], [1 << 30, 7, 9]], np.int32)
    start = int(np.float32(init).view(np.int32))
    want = ufunc(ufunc.reduce(x, 1, dtype=np.int32), np.int32(start))
    got = run(BITS_OF_FLOATS.replace("INIT", str(init)).replace("OP", op), x)[0]
    assert got.view(np.int32).tolist() == want.tolist()
