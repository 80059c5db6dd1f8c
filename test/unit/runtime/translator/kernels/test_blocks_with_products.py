"""Blocks with products of matrices in them: what is between the products is kernels, on scratch memory of one block."""

import numpy as np
import pytest
from blocks_of_any_size import in_blocks

from ipu_mlir.runtime.engine.engine import Engine

ROWS = 37
HEADS = f"""program @main(%x, %w, %v) -> (%z[8*d0 + d1] : {ROWS}x8) {{
  argument %x : float32[{ROWS}x12]
  argument %w : float32[12x24]
  argument %v : float32[8x8]
  temporary %p : float32[{ROWS}x24]
  temporary %h : float32[3x{ROWS}x8]
  temporary %s : float32[{ROWS}]
  temporary %y : float32[{ROWS}x8]
  temporary %q : float32[{ROWS}x8]
  temporary %z : float32[{ROWS}x8]
  dot {ROWS}x24x12 %x[12*d0 + d2], %w[24*d2 + d1], %p[24*d0 + d1]
  elementwise 3x{ROWS}x8 {{
    store exp(%p[8*d0 + 24*d1 + d2]), %h[{8 * ROWS}*d0 + 8*d1 + d2]
  }}
  reduce add {ROWS}x8 over d1 %h[{8 * ROWS} + 8*d0 + d1], %s[d0]
  elementwise {ROWS}x8 {{
    store add(multiply(%h[8*d0 + d1], %s[d0]), %h[{16 * ROWS} + 8*d0 + d1]), %y[8*d0 + d1]
  }}
  dot {ROWS}x8x8 %y[8*d0 + d2], %v[8*d2 + d1], %q[8*d0 + d1]
  elementwise {ROWS}x8 {{
    store multiply(add(%q[8*d0 + d1], %h[8*d0 + d1]), float32(0.5)), %z[8*d0 + d1]
  }}
}}"""


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("block_elements", [24, 100, 4096])
def test_scratch_memory_of_a_block_is_what_products_and_kernels_share(block_elements: int, threads: int) -> None:
    rng = np.random.default_rng(0)
    x, w, v = (rng.normal(0, 0.3, shape).astype(np.float32) for shape in ((ROWS, 12), (12, 24), (8, 8)))
    found = in_blocks(HEADS, threads, block_elements)
    assert found.source.count("memory.run_blocks(") == 1
    assert [found.source.count(f" {name}(") for name in ("dot", "exp", "add", "multiply")] == [0, 0, 0, 0]
    assert found.source.count(" product0.run(") == found.source.count(".run(lo, hi, ") == 2
    (got,) = Engine.of(found, threads).run([x, w, v])
    h = np.exp((x @ w).reshape(ROWS, 3, 8))
    want = ((h[:, 0] * h[:, 1].sum(1, keepdims=True) + h[:, 2]) @ v + h[:, 0]) * 0.5
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-5)
