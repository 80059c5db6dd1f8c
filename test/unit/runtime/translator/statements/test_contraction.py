"""Contractions: every way in which loops merge, do not merge, or lie in another order."""

import numpy as np
import pytest

RNG = np.random.default_rng(11)


def ints(*shape: int) -> np.ndarray:
    """Small whole numbers as f32: every sum is exact in every order."""
    return RNG.integers(-4, 5, shape).astype(np.float32)


def program(inputs: dict[str, str], out: str, op: str, init: str = "0.0", kind: str = "f32") -> str:
    """A program that fills the result with ``init`` and runs ``op`` on it."""
    arguments = ", ".join(f"%{name}: memref<{shape}>" for name, shape in inputs.items())
    return f"""func.func @main({arguments}) -> memref<{out}> {{
      %c = arith.constant {init} : {kind}
      %o = memref.alloc() : memref<{out}>
      linalg.fill ins(%c : {kind}) outs(%o : memref<{out}>)
      {op}
      return %o : memref<{out}>
    }}"""


def generic(maps: list[str], reduced: str, a: str, b: str, out: str, dims: int, kind: str = "f32") -> str:
    """A multiply-add over loops d0, d1, ...; ``reduced`` names those that are summed."""
    loops = ", ".join(f"d{i}" for i in range(dims))
    affine = ", ".join(f"affine_map<({loops}) -> ({m})>" for m in maps)
    kinds = ", ".join('"reduction"' if f"d{i}" in reduced.split() else '"parallel"' for i in range(dims))
    letter = "f" if kind[0] == "f" else "i"
    return f"""linalg.generic {{indexing_maps = [{affine}], iterator_types = [{kinds}]}}
        ins(%a, %b : memref<{a}>, memref<{b}>) outs(%o : memref<{out}>) {{
      ^bb0(%x: {kind}, %y: {kind}, %z: {kind}):
        %0 = arith.mul{letter} %x, %y : {kind}
        %1 = arith.add{letter} %z, %0 : {kind}
        linalg.yield %1 : {kind}
      }}"""


def matmul(a: str, b: str, out: str) -> str:
    return f"linalg.matmul ins(%a, %b : memref<{a}>, memref<{b}>) outs(%o : memref<{out}>)"


@pytest.mark.parametrize("init", [0.0, 2.0])
def test_matmul_adds_to_what_is_there(init, run):
    a, b = ints(5, 7), ints(7, 3)
    text = program({"a": "5x7xf32", "b": "7x3xf32"}, "5x3xf32", matmul("5x7xf32", "7x3xf32", "5x3xf32"), str(init))
    np.testing.assert_array_equal(run(text, a, b)[0], a @ b + np.float32(init))


def test_matmul_adds_to_an_argument(run):
    text = """func.func @main(%a: memref<4x6xf32>, %b: memref<6x3xf32>, %c: memref<4x3xf32>) -> memref<4x3xf32> {
      %o = memref.alloc() : memref<4x3xf32>
      memref.copy %c, %o : memref<4x3xf32> to memref<4x3xf32>
      linalg.matmul ins(%a, %b : memref<4x6xf32>, memref<6x3xf32>) outs(%o : memref<4x3xf32>)
      return %o : memref<4x3xf32>
    }"""
    a, b, c = ints(4, 6), ints(6, 3), ints(4, 3)
    np.testing.assert_array_equal(run(text, a, b, c)[0], c + a @ b)


@pytest.mark.parametrize(
    ("maps", "reduced", "dims", "equation", "shapes"),
    [
        (["d0, d2", "d1, d2", "d0, d1"], "d2", 3, "mk,nk->mn", ((5, 7), (3, 7))),
        (["d2, d0", "d2, d1", "d0, d1"], "d2", 3, "km,kn->mn", ((7, 5), (7, 3))),
        (["d2, d0", "d1, d2", "d1, d0"], "d2", 3, "km,nk->nm", ((7, 5), (3, 7))),
        (["d0, d1, d3", "d0, d3, d2", "d0, d1, d2"], "d3", 4, "bmk,bkn->bmn", ((2, 5, 7), (2, 7, 3))),
        (["d1, d0, d3", "d0, d3, d2", "d1, d0, d2"], "d3", 4, "mbk,bkn->mbn", ((5, 2, 7), (2, 7, 3))),
        (["d0, d1, d4", "d4, d2, d3", "d0, d1, d2, d3"], "d4", 5, "abk,kcd->abcd", ((2, 3, 4), (4, 5, 2))),
        (["d0, d1, d4", "d4, d2, d3", "d2, d0, d3, d1"], "d4", 5, "abk,kcd->cadb", ((2, 3, 4), (4, 5, 2))),
        (["d0, d3, d1, d4", "d3, d4, d2", "d0, d1, d2"], "d3 d4", 5, "bhsd,hdn->bsn", ((2, 3, 4, 5), (3, 5, 6))),
        (["d0, d2, d1", "d2, d3, d1", "d0, d3"], "d1 d2", 4, "akb,kcb->ac", ((2, 3, 4), (3, 5, 4))),
        (["d0, d1", "d1", "d0"], "d1", 2, "mk,k->m", ((5, 7), (7,))),
        (["d1, d0", "d1", "d0"], "d1", 2, "km,k->m", ((7, 5), (7,))),
        (["d0, d2", "d0, d2, d1", "d0, d1"], "d2", 3, "bk,bkn->bn", ((2, 7), (2, 7, 3))),
        (["d0", "d0", ""], "d0", 1, "k,k->", ((9,), (9,))),
        (["d0, d1", "d0, d1", "d0"], "d1", 2, "bk,bk->b", ((3, 200), (3, 200))),
        (["d1, d0", "d0, d1", "d0"], "d1", 2, "kb,bk->b", ((200, 3), (3, 200))),
        (["d0, d1", "d1, d2", "d0, d2"], "d1", 3, "mk,kn->mn", ((5, 1), (1, 3))),
    ],
)
def test_generic_contraction(maps, reduced, dims, equation, shapes, run):
    a, b = (ints(*shape) for shape in shapes)
    want = np.einsum(equation, a, b)
    types = ["x".join(map(str, (*value.shape, "f32"))) for value in (a, b, want)]
    text = program(dict(zip("ab", types[:2], strict=True)), types[2], generic(maps, reduced, *types, dims))
    np.testing.assert_array_equal(run(text, a, b)[0], want)


def test_integer_products_wrap_around(run):
    a, b = (RNG.integers(-100, 100, shape).astype(np.int8) for shape in ((4, 9), (9, 3)))
    op = generic(["d0, d2", "d2, d1", "d0, d1"], "d2", "4x9xi8", "9x3xi8", "4x3xi8", 3, "i8")
    text = program({"a": "4x9xi8", "b": "9x3xi8"}, "4x3xi8", op, "0", "i8")
    want = (a.astype(np.int64) @ b.astype(np.int64)).astype(np.int8)
    np.testing.assert_array_equal(run(text, a, b)[0], want)


def test_factors_may_be_computed(run):
    """A prologue on each factor, as element-wise fusion leaves it."""
    both, k = "d0, d2", "d2, d1"
    text = f"""func.func @main(%a: memref<5x7xf32>, %s: memref<5xf32>, %b: memref<7x3xi8>) -> memref<5x3xf32> {{
      %c = arith.constant 0.0 : f32
      %o = memref.alloc() : memref<5x3xf32>
      linalg.fill ins(%c : f32) outs(%o : memref<5x3xf32>)
      linalg.generic {{indexing_maps = [affine_map<(d0, d1, d2) -> ({both})>, affine_map<(d0, d1, d2) -> (d0)>,
        affine_map<(d0, d1, d2) -> ({k})>, affine_map<(d0, d1, d2) -> (d0, d1)>],
          iterator_types = ["parallel", "parallel", "reduction"]}}
        ins(%a, %s, %b : memref<5x7xf32>, memref<5xf32>, memref<7x3xi8>) outs(%o : memref<5x3xf32>) {{
      ^bb0(%x: f32, %y: f32, %i: i8, %z: f32):
        %0 = arith.subf %x, %y : f32
        %1 = arith.sitofp %i : i8 to f32
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %z, %2 : f32
        linalg.yield %3 : f32
      }}
      return %o : memref<5x3xf32>
    }}"""
    a, s, b = ints(5, 7), ints(5), RNG.integers(-4, 5, (7, 3)).astype(np.int8)
    np.testing.assert_array_equal(run(text, a, s, b)[0], (a - s[:, None]) @ b)


def test_slices_of_larger_buffers(run_plain):
    """Operands and result that are windows of larger matrices, one with a column stride."""
    text = """func.func @main(%p: memref<8x10xf32>, %q: memref<6x8xf32>) -> memref<6x8xf32> {
      %c = arith.constant 1.0 : f32
      %o = memref.alloc() : memref<6x8xf32>
      linalg.fill ins(%c : f32) outs(%o : memref<6x8xf32>)
      %a = memref.subview %p[1, 2] [4, 5] [1, 1] : memref<8x10xf32> to memref<4x5xf32, strided<[10, 1], offset: 12>>
      %b = memref.subview %q[0, 1] [5, 3] [1, 2] : memref<6x8xf32> to memref<5x3xf32, strided<[8, 2], offset: 1>>
      %s = memref.subview %o[2, 3] [4, 3] [1, 1] : memref<6x8xf32> to memref<4x3xf32, strided<[8, 1], offset: 19>>
      linalg.matmul ins(%a, %b : memref<4x5xf32, strided<[10, 1], offset: 12>>,
        memref<5x3xf32, strided<[8, 2], offset: 1>>)
        outs(%s : memref<4x3xf32, strided<[8, 1], offset: 19>>)
      return %o : memref<6x8xf32>
    }"""
    p, q = ints(8, 10), ints(6, 8)
    want = np.ones((6, 8), np.float32)
    want[2:6, 3:6] += p[1:5, 2:7] @ q[0:5, 1:7:2]
    np.testing.assert_array_equal(run_plain(text, p, q)[0], want)


def test_convolutions_are_contractions_of_windows(run):
    nhwc = """linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
        ins(%a, %b : memref<2x7x9x3xf32>, memref<3x3x3x4xf32>) outs(%o : memref<2x3x4x4xf32>)"""
    nchw = """linalg.conv_2d_nchw_fchw {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
        ins(%a, %b : memref<2x3x7x9xf32>, memref<4x3x3x2xf32>) outs(%o : memref<2x4x3x7xf32>)"""
    x, w = ints(2, 7, 9, 3), ints(3, 3, 3, 4)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2))[:, ::2, ::2]
    (got,) = run(program({"a": "2x7x9x3xf32", "b": "3x3x3x4xf32"}, "2x3x4x4xf32", nhwc), x, w)
    np.testing.assert_array_equal(got, np.einsum("nhwcij,ijcf->nhwf", windows, w))
    x, w = ints(2, 3, 7, 9), ints(4, 3, 3, 2)
    windows = np.lib.stride_tricks.sliding_window_view(x, (5, 3), axis=(2, 3))[..., ::2, ::2]
    (got,) = run(program({"a": "2x3x7x9xf32", "b": "4x3x3x2xf32"}, "2x4x3x7xf32", nchw), x, w)
    np.testing.assert_array_equal(got, np.einsum("nchwij,fcij->nfhw", windows, w))


def test_a_split_sum_with_a_ragged_last_block(run):
    """Partial sums by ``k floordiv B``, as a partition over tiles leaves them; 7 = 3 + 3 + 1."""
    maps = "affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, "
    maps += "affine_map<(d0, d1, d2) -> (d2 floordiv 3, d0, d1)>"
    text = f"""func.func @main(%a: memref<5x7xf32>, %b: memref<7x4xf32>) -> memref<3x5x4xf32> {{
      %c = arith.constant 0.0 : f32
      %o = memref.alloc() : memref<3x5x4xf32>
      linalg.fill ins(%c : f32) outs(%o : memref<3x5x4xf32>)
      linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "reduction"]}}
        ins(%a, %b : memref<5x7xf32>, memref<7x4xf32>) outs(%o : memref<3x5x4xf32>) {{
      ^bb0(%x: f32, %y: f32, %z: f32):
        %0 = arith.mulf %x, %y : f32
        %1 = arith.addf %z, %0 : f32
        linalg.yield %1 : f32
      }}
      return %o : memref<3x5x4xf32>
    }}"""
    a, b = ints(5, 7), ints(7, 4)
    want = np.stack([a[:, lo:hi] @ b[lo:hi] for lo, hi in ((0, 3), (3, 6), (6, 7))])
    np.testing.assert_array_equal(run(text, a, b)[0], want)


def test_one_call_per_product(engine):
    """Merged loops: a projection to heads is one matrix product, not one per head."""
    op = generic(["d0, d1, d4", "d4, d2, d3", "d0, d1, d2, d3"], "d4", "2x3x4xf32", "4x5x2xf32", "2x3x5x2xf32", 5)
    source = engine(program({"a": "2x3x4xf32", "b": "4x5x2xf32"}, "2x3x5x2xf32", op)).source
    assert source.count(" dot(") == 1
    assert "(6, 4)" in source and "(4, 10)" in source
    assert "copyto(" not in source


def test_a_stack_of_products_is_no_dot(engine):
    """``numpy.dot`` of two stacks is every pair of matrices."""
    op = "linalg.batch_matmul ins(%a, %b : memref<3x4x5xf32>, memref<3x5x6xf32>) outs(%o : memref<3x4x6xf32>)"
    source = engine(program({"a": "3x4x5xf32", "b": "3x5x6xf32"}, "3x4x6xf32", op)).source
    assert source.count(" matmul(") == 1 and " dot(" not in source


def test_a_product_into_a_part_of_a_matrix_is_no_dot(engine):
    """``numpy.dot`` writes contiguous results only."""
    text = """func.func @main(%a: memref<4x6xf32>, %b: memref<6x3xf32>) -> memref<4x5xf32> {
      %c = arith.constant 1.0 : f32
      %zero = arith.constant 0.0 : f32
      %o = memref.alloc() : memref<4x5xf32>
      linalg.fill ins(%c : f32) outs(%o : memref<4x5xf32>)
      %part = memref.subview %o[0, 1] [4, 3] [1, 1] : memref<4x5xf32> to memref<4x3xf32, strided<[5, 1], offset: 1>>
      linalg.fill ins(%zero : f32) outs(%part : memref<4x3xf32, strided<[5, 1], offset: 1>>)
      linalg.matmul ins(%a, %b : memref<4x6xf32>, memref<6x3xf32>)
          outs(%part : memref<4x3xf32, strided<[5, 1], offset: 1>>)
      return %o : memref<4x5xf32>
    }"""
    a, b = ints(4, 6), ints(6, 3)
    want = np.ones((4, 5), np.float32)
    want[:, 1:4] = a @ b
    np.testing.assert_array_equal(engine(text).run([a, b])[0], want)
