"""Block loops: what may share one, ragged sizes, threads, and the ways in which sharing would be wrong."""

import numpy as np
import pytest
from support.statement_text import program_of

from ipu_mlir.runtime.translator.codegen.blocks import find_groups
from ipu_mlir.runtime.translator.codegen.emit import plan_schedule
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.translate import translate_statements

RNG = np.random.default_rng(9)
BOTH, ROWS, COLUMNS = (f"affine_map<(d0, d1) -> ({m})>" for m in ("d0, d1", "d0", "d1"))


def f32(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def generic(
    maps: list[str], inputs: list[str], types: list[str], out: str, out_type: str, lines: str, reduce: bool = False
) -> str:
    arguments = ", ".join(f"%i{k}: f32" for k in range(len(inputs)))
    second = "reduction" if reduce else "parallel"
    return f"""linalg.generic {{indexing_maps = [{", ".join(maps)}], iterator_types = ["parallel", "{second}"]}}
        ins({", ".join(inputs)} : {", ".join(f"memref<{t}>" for t in types)}) outs({out} : memref<{out_type}>) {{
      ^bb0({arguments}, %z: f32):
        {lines}
        linalg.yield %r : f32
      }}"""


def softmax(rows: int, columns: int) -> str:
    """A product, then a softmax over its rows, all in place."""
    m, v = f"{rows}x{columns}xf32", f"{rows}xf32"
    highest = generic([BOTH, ROWS], ["%o"], [m], "%s", v, "%r = arith.maximumf %z, %i0 : f32", True)
    shifted = generic(
        [BOTH, ROWS, BOTH], ["%o", "%s"], [m, v], "%o", m, "%q = arith.subf %i0, %i1 : f32\n %r = math.exp %q : f32"
    )
    summed = generic([BOTH, ROWS], ["%o"], [m], "%s", v, "%r = arith.addf %z, %i0 : f32", True)
    divided = generic([BOTH, ROWS, BOTH], ["%o", "%s"], [m, v], "%o", m, "%r = arith.divf %i0, %i1 : f32")
    return f"""func.func @main(%x: memref<{rows}x6xf32>, %w: memref<6x{columns}xf32>) -> memref<{m}> {{
      %zero = arith.constant 0.0 : f32
      %low = arith.constant 0xFF800000 : f32
      %o = memref.alloc() : memref<{m}>
      %s = memref.alloc() : memref<{v}>
      linalg.fill ins(%zero : f32) outs(%o : memref<{m}>)
      linalg.matmul ins(%x, %w : memref<{rows}x6xf32>, memref<6x{columns}xf32>) outs(%o : memref<{m}>)
      linalg.fill ins(%low : f32) outs(%s : memref<{v}>)
      {highest}
      {shifted}
      linalg.fill ins(%zero : f32) outs(%s : memref<{v}>)
      {summed}
      {divided}
      return %o : memref<{m}>
    }}"""


@pytest.mark.parametrize("rows", [2, 16, 37, 1031])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_softmax_in_blocks_of_any_size(rows, threads, run, small_blocks):
    options = TranslatorOptions(**{**vars(small_blocks), "threads": threads})
    x, w = f32(rows, 6), f32(6, 11)
    e = np.exp(x @ w - (x @ w).max(1, keepdims=True))
    (got,) = run(softmax(rows, 11), x, w, options=options)
    np.testing.assert_allclose(got, e / e.sum(1, keepdims=True), rtol=2e-6, atol=1e-7)


def test_the_whole_softmax_is_one_block_loop(engine, small_blocks):
    made = engine(softmax(64, 11), options=small_blocks)
    assert made.source.count("memory.run_blocks(") == 1
    assert made.translation.single_blas_thread
    straight = engine(softmax(64, 11))
    assert "run_blocks" not in straight.source, "small programs run without a loop"
    assert not straight.translation.single_blas_thread


def test_a_buffer_that_is_read_whole_is_not_written_in_the_same_loop(run, small_blocks):
    """The product reads all of %h; then %h is overwritten row by row. In one loop, late blocks would read new rows."""
    m = "16x16xf32"
    text = f"""func.func @main(%x: memref<{m}>, %y: memref<{m}>) -> (memref<{m}>, memref<{m}>) {{
      %zero = arith.constant 0.0 : f32
      %h = memref.alloc() : memref<{m}>
      linalg.exp ins(%x : memref<{m}>) outs(%h : memref<{m}>)
      %p = memref.alloc() : memref<{m}>
      linalg.fill ins(%zero : f32) outs(%p : memref<{m}>)
      linalg.matmul ins(%y, %h : memref<{m}>, memref<{m}>) outs(%p : memref<{m}>)
      linalg.square ins(%h : memref<{m}>) outs(%h : memref<{m}>)
      return %p, %h : memref<{m}>, memref<{m}>
    }}"""
    x, y = f32(16, 16), f32(16, 16)
    for _ in range(5):
        product, squared = run(text, x, y, options=small_blocks)
        np.testing.assert_allclose(product, y @ np.exp(x), rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(squared, np.exp(x) * np.exp(x))


def test_a_temporary_that_does_not_move_with_the_block(run, small_blocks):
    """Two rows of numbers that all blocks share, in one slot after the other."""
    m, v = "32x8xf32", "8xf32"
    lines = """%a = math.exp %i1 : f32
        %b = arith.mulf %i0, %a : f32
        %c = math.tanh %i2 : f32
        %d = arith.addf %i0, %c : f32
        %r = arith.divf %b, %d : f32"""
    op = generic([BOTH, COLUMNS, COLUMNS, BOTH], ["%x", "%u", "%v"], [m, v, v], "%o", m, lines)
    text = f"""func.func @main(%x: memref<{m}>, %u: memref<{v}>, %v: memref<{v}>) -> memref<{m}> {{
      %o = memref.alloc() : memref<{m}>
      {op}
      return %o : memref<{m}>
    }}"""
    x, u, v = f32(32, 8), f32(8), f32(8)
    (got,) = run(text, x, u, v, options=small_blocks)
    np.testing.assert_array_equal(got, x * np.exp(u) / (x + np.tanh(v)))


def test_batches_and_flattened_rows_share_a_loop(engine, small_blocks):
    """A batch of 4 and rows 4 * 6: the index of the batch entry is a digit of both addresses."""
    text = """func.func @main(%x: memref<24x5xf32>, %w: memref<5x7xf32>) -> memref<4x6x7xf32> {
      %zero = arith.constant 0.0 : f32
      %p = memref.alloc() : memref<24x7xf32>
      linalg.fill ins(%zero : f32) outs(%p : memref<24x7xf32>)
      linalg.matmul ins(%x, %w : memref<24x5xf32>, memref<5x7xf32>) outs(%p : memref<24x7xf32>)
      %b = memref.expand_shape %p [[0, 1], [2]] output_shape [4, 6, 7] : memref<24x7xf32> into memref<4x6x7xf32>
      %o = memref.alloc() : memref<4x6x7xf32>
      linalg.fill ins(%zero : f32) outs(%o : memref<4x6x7xf32>)
      %s = memref.alloc() : memref<4x6x6xf32>
      linalg.fill ins(%zero : f32) outs(%s : memref<4x6x6xf32>)
      linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>,
        affine_map<(b, m, n, k) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%b, %b : memref<4x6x7xf32>, memref<4x6x7xf32>) outs(%s : memref<4x6x6xf32>) {
      ^bb0(%u: f32, %v: f32, %z: f32):
        %0 = arith.mulf %u, %v : f32
        %1 = arith.addf %z, %0 : f32
        linalg.yield %1 : f32
      }
      linalg.batch_matmul ins(%s, %b : memref<4x6x6xf32>, memref<4x6x7xf32>) outs(%o : memref<4x6x7xf32>)
      return %o : memref<4x6x7xf32>
    }"""
    made = engine(text, options=small_blocks)
    assert made.source.count("memory.run_blocks(") == 1
    assert "lo * 6:hi * 6" in made.source
    x, w = f32(24, 5), f32(5, 7)
    p = (x @ w).reshape(4, 6, 7)
    np.testing.assert_allclose(made.run([x, w])[0], p @ p.swapaxes(1, 2) @ p, rtol=1e-4, atol=1e-4)


def test_a_slice_of_a_packed_buffer_in_scratch(run_plain, small_blocks):
    """Three projections side by side before the batch: the unit is not the outermost digit of the buffer."""
    m = "3x8x4xf32"
    text = f"""func.func @main(%x: memref<{m}>) -> memref<8x4xf32> {{
      %p = memref.alloc() : memref<{m}>
      linalg.exp ins(%x : memref<{m}>) outs(%p : memref<{m}>)
      %a = memref.subview %p[0, 0, 0] [1, 8, 4] [1, 1, 1] : memref<{m}> to memref<8x4xf32, strided<[4, 1]>>
      %b = memref.subview %p[2, 0, 0] [1, 8, 4] [1, 1, 1] : memref<{m}> to memref<8x4xf32, strided<[4, 1], offset: 64>>
      %o = memref.alloc() : memref<8x4xf32>
      linalg.sub ins(%a, %b : memref<8x4xf32, strided<[4, 1]>>, memref<8x4xf32, strided<[4, 1], offset: 64>>)
        outs(%o : memref<8x4xf32>)
      return %o : memref<8x4xf32>
    }}"""
    x = f32(3, 8, 4)
    (got,) = run_plain(text, x, options=small_blocks)
    np.testing.assert_array_equal(got, np.exp(x[0]) - np.exp(x[2]))


def test_a_halo_is_not_local(run_plain, small_blocks):
    """Row i needs rows i and i + 1 of what is computed: no loop over rows for both."""
    text = """func.func @main(%x: memref<9x40xf32>) -> memref<8x40xf32> {
      %p = memref.alloc() : memref<9x40xf32>
      linalg.exp ins(%x : memref<9x40xf32>) outs(%p : memref<9x40xf32>)
      %a = memref.subview %p[0, 0] [8, 40] [1, 1] : memref<9x40xf32> to memref<8x40xf32, strided<[40, 1]>>
      %b = memref.subview %p[1, 0] [8, 40] [1, 1] : memref<9x40xf32> to memref<8x40xf32, strided<[40, 1], offset: 40>>
      %o = memref.alloc() : memref<8x40xf32>
      linalg.sub ins(%a, %b : memref<8x40xf32, strided<[40, 1]>>, memref<8x40xf32, strided<[40, 1], offset: 40>>)
        outs(%o : memref<8x40xf32>)
      return %o : memref<8x40xf32>
    }"""
    x = f32(9, 40)
    e = np.exp(x)
    np.testing.assert_array_equal(run_plain(text, x, options=small_blocks)[0], e[:-1] - e[1:])


def test_large_products_outside_of_groups_are_shared_out_too(engine):
    """A transposed product cannot join the row loop; BLAS has one thread, so it gets a loop of its own."""
    m = "512x512xf32"
    chain = "".join(f"linalg.exp ins(%h : memref<{m}>) outs(%h : memref<{m}>)\n" for _ in range(6))
    text = f"""func.func @main(%x: memref<{m}>) -> memref<{m}> {{
      %zero = arith.constant 0.0 : f32
      %h = memref.alloc() : memref<{m}>
      linalg.tanh ins(%x : memref<{m}>) outs(%h : memref<{m}>)
      {chain}
      %o = memref.alloc() : memref<{m}>
      linalg.fill ins(%zero : f32) outs(%o : memref<{m}>)
      linalg.matmul ins(%h, %h : memref<{m}>, memref<{m}>) outs(%o : memref<{m}>)
      return %o : memref<{m}>
    }}"""
    assert engine(text).source.count("memory.run_blocks(") == 2


@pytest.mark.parametrize(("rows", "units"), [(784, [784]), (448, [])])
def test_no_block_has_pieces_of_rows_only_to_be_joined_by_smaller_work(rows, units):
    """512 units would hold both, with columns of %a; whole rows are worth more, or neither is worth a loop."""
    found = find_groups(
        program_of(f"""
        program @main(%a, %b) -> (%c[512*d0 + d1] : {rows}x512, %d[256*d0 + d1] : 512x256) {{
          argument %a : float32[{rows}x512]
          argument %b : float32[512x256]
          temporary %c : float32[{rows}x512]
          temporary %d : float32[512x256]
          elementwise {rows}x512 {{
            store exp(sqrt(exp(%a[512*d0 + d1]))), %c[512*d0 + d1]
          }}
          elementwise 512x256 {{
            store exp(sqrt(exp(%b[256*d0 + d1]))), %d[256*d0 + d1]
          }}
        }}""").statements,
        {},
        TranslatorOptions(),
    )
    assert [group.units for group in found] == units


PRODUCT = """program @main(%a, %b) -> (%z[{n}*d0 + d1] : {m}x{n}) {{
  argument %a : float32[{m}x{k}]
  argument %b : float32[{k}x{n}]
  temporary %z : float32[{m}x{n}]
  dot {m}x{n}x{k} %a[{k}*d0 + d2], %b[{n}*d2 + d1], %z[{n}*d0 + d1]
}}"""


@pytest.mark.parametrize(
    ("m", "n", "k", "blas_threads", "is_shared", "has_one"),
    [
        (32, 32, 32, 2, False, False),  # OpenBLAS has one thread for so little
        (32, 256, 784, 2, False, True),  # its threads would spin for longer than the product takes
        (32, 256, 784, 64, False, True),
        (512, 512, 512, 2, True, True),  # as many threads of ours, which sleep when they are done
        (32, 16, 200_000, 2, False, True),  # each thread would pack a whole factor
        (512, 512, 512, 64, False, False),  # many threads are worth it
    ],
)
def test_blas_has_threads_only_where_they_are_worth_it(m, n, k, blas_threads, is_shared, has_one, monkeypatch):
    monkeypatch.setattr(plan_schedule, "default_threads", lambda: blas_threads)
    program = program_of(PRODUCT.format(m=m, n=n, k=k))
    made = translate_statements(program, TranslatorOptions(kernels="never", threads=2))
    assert made.single_blas_thread == has_one
    assert ("run_blocks(" in made.source) == is_shared
