"""Reductions block by block, each step going on from what the last one left."""

import numpy as np
import pytest

RNG = np.random.default_rng(23)

MAPS = """indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
        affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]"""


def ints(*shape: int) -> np.ndarray:
    return RNG.integers(-9, 10, shape).astype(np.float32)


def step(number: int, start: int, size: int, extra: str = "") -> str:
    """``o += a[:, start : start + size] @ b[start : start + size]``, of copies, as exchanges leave them."""
    a, b = f"memref<5x{size}xf32, strided<[7, 1], offset: {start}>>", f"memref<{size}x4xf32, strided<[4, 1], offset: "
    b += f"{4 * start}>>"
    return f"""%va{number} = memref.subview %a[0, {start}] [5, {size}] [1, 1] : memref<5x7xf32> to {a}
      %vb{number} = memref.subview %b[{start}, 0] [{size}, 4] [1, 1] : memref<7x4xf32> to {b}
      %a{number} = memref.alloc() : memref<5x{size}xf32>
      memref.copy %va{number}, %a{number} : {a} to memref<5x{size}xf32>
      %b{number} = memref.alloc() : memref<{size}x4xf32>
      memref.copy %vb{number}, %b{number} : {b} to memref<{size}x4xf32>
      linalg.generic {{{MAPS}}} ins(%a{number}, %b{number} : memref<5x{size}xf32>, memref<{size}x4xf32>)
        outs(%o : memref<5x4xf32>) {{
      ^bb0(%x: f32, %y: f32, %z: f32):
        %0 = arith.mulf %x, %y : f32
        {extra or "%1 = arith.addf %z, %0 : f32"}
        linalg.yield %1 : f32
      }}"""


def program(*steps: str, between: str = "") -> str:
    return f"""func.func @main(%a: memref<5x7xf32>, %b: memref<7x4xf32>) -> memref<5x4xf32> {{
      %c = arith.constant 0.0 : f32
      %o = memref.alloc() : memref<5x4xf32>
      linalg.fill ins(%c : f32) outs(%o : memref<5x4xf32>)
      {between.join(steps)}
      return %o : memref<5x4xf32>
    }}"""


@pytest.mark.parametrize("sizes", [(3, 4), (4, 3), (3, 3, 1), (1, 6)])
def test_steps_of_a_product_are_one_product(sizes, run_plain, engine):
    starts = np.cumsum((0, *sizes))
    text = program(*(step(i, start, size) for i, (start, size) in enumerate(zip(starts, sizes, strict=False))))
    a, b = ints(5, 7), ints(7, 4)
    np.testing.assert_array_equal(run_plain(text, a, b)[0], a @ b)
    assert len(engine(text).source.split("def main")[1].strip().splitlines()) == 5


def test_steps_that_leave_a_gap_or_overlap_stay(run_plain):
    a, b = ints(5, 7), ints(7, 4)
    gap = run_plain(program(step(0, 0, 3), step(1, 4, 3)), a, b)[0]
    np.testing.assert_array_equal(gap, a[:, :3] @ b[:3] + a[:, 4:] @ b[4:])
    overlap = run_plain(program(step(0, 0, 4), step(1, 3, 4)), a, b)[0]
    np.testing.assert_array_equal(overlap, a[:, :4] @ b[:4] + a[:, 3:] @ b[3:])


def test_steps_with_different_bodies_stay(run_plain):
    a, b = ints(5, 7), ints(7, 4)
    text = program(step(0, 0, 3), step(1, 3, 4, "%1 = arith.subf %z, %0 : f32"))
    np.testing.assert_array_equal(run_plain(text, a, b)[0], a[:, :3] @ b[:3] - a[:, 3:] @ b[3:])


def test_what_a_step_leaves_is_read_by_something_else(run_plain):
    """A copy between the steps holds the first part of the sum."""
    text = program(step(0, 0, 3), step(1, 3, 4), between="%p = memref.alloc() : memref<5x4xf32>\n memref.copy %o, %p : "
                   "memref<5x4xf32> to memref<5x4xf32>\n")  # fmt: skip
    text = text.replace("-> memref<5x4xf32> {", "-> (memref<5x4xf32>, memref<5x4xf32>) {")
    text = text.replace("return %o : memref<5x4xf32>", "return %o, %p : memref<5x4xf32>, memref<5x4xf32>")
    a, b = ints(5, 7), ints(7, 4)
    whole, part = run_plain(text, a, b)
    np.testing.assert_array_equal(whole, a @ b)
    np.testing.assert_array_equal(part, a[:, :3] @ b[:3])
