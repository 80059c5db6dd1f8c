"""Blocks whose kernels read scratch memory across its rows: rows of one block are closer together than those of all."""

import numpy as np
import pytest
from blocks_of_any_size import in_blocks

from ipu_mlir.runtime.engine.engine import Engine

CHANNELS, ROWS, COLUMNS = 19, 23, 5
PLANE, WIDE = ROWS * COLUMNS, COLUMNS * CHANNELS
HEAD = f"""  argument %x : float32[{CHANNELS}x{ROWS}x{COLUMNS}]
  argument %w : float32[{ROWS}x{COLUMNS}]
  temporary %t : float32[{ROWS}x{COLUMNS}]
  temporary %y : float32[{CHANNELS}x{ROWS}x{COLUMNS}]
  elementwise {ROWS}x{COLUMNS} {{
    store exp(%w[{COLUMNS}*d0 + d1]), %t[{COLUMNS}*d0 + d1]
  }}
  elementwise {CHANNELS}x{ROWS}x{COLUMNS} {{
    store multiply(%x[{PLANE}*d0 + {COLUMNS}*d1 + d2], %t[{COLUMNS}*d1 + d2]), %y[{PLANE}*d0 + {COLUMNS}*d1 + d2]
  }}"""
TURNED = f"""program @main(%x, %w) -> (%z[{WIDE}*d0 + {CHANNELS}*d1 + d2] : {ROWS}x{COLUMNS}x{CHANNELS}) {{
  temporary %z : float32[{ROWS}x{COLUMNS}x{CHANNELS}]
{HEAD}
  elementwise {ROWS}x{COLUMNS}x{CHANNELS} {{
    store negative(%y[{COLUMNS}*d0 + d1 + {PLANE}*d2]), %z[{WIDE}*d0 + {CHANNELS}*d1 + d2]
  }}
}}"""
REDUCED = f"""program @main(%x, %w) -> (%z[{COLUMNS}*d0 + d1] : {ROWS}x{COLUMNS}) {{
  temporary %z : float32[{ROWS}x{COLUMNS}]
{HEAD}
  reduce maximum {ROWS}x{COLUMNS}x{CHANNELS} over d2 %y[{COLUMNS}*d0 + d1 + {PLANE}*d2], %z[{COLUMNS}*d0 + d1]
}}"""


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("rows_per_block", [1, 2, 4])
@pytest.mark.parametrize("text", [TURNED, REDUCED], ids=["turned", "reduced"])
def test_a_vector_across_the_rows_of_a_block_has_their_elements(text: str, rows_per_block: int, threads: int) -> None:
    rng = np.random.default_rng(0)
    x, w = (rng.normal(0, 1, shape).astype(np.float32) for shape in ((CHANNELS, ROWS, COLUMNS), (ROWS, COLUMNS)))
    translation = in_blocks(text, threads, rows_per_block * COLUMNS * CHANNELS)
    assert f"memory.run_blocks(blocks, {ROWS}, " in translation.source and "scratch.temporary(" in translation.source
    (got,) = Engine.of(translation, threads).run([x, w])
    y = x * np.exp(w)
    want = -y.transpose(1, 2, 0) if text is TURNED else y.max(0)
    np.testing.assert_allclose(got, want, rtol=2e-6)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "int8", "bool"])
@pytest.mark.parametrize(("rows", "columns"), [(16, 17), (33, 100), (70, 48)])
@pytest.mark.parametrize("step", [(1, 1), (-1, 1), (1, -1), (-1, -1)])
def test_a_transpose_that_is_turned_or_not_has_its_elements(
    step: tuple[int, int], rows: int, columns: int, dtype: str, threads: int
) -> None:
    (down, along), size = step, rows * columns
    begin = (columns - 1 if along < 0 else 0) + (size - columns if down < 0 else 0)
    call = "logical_not" if dtype == "bool" else "negative"
    text = f"""program @main(%x) -> (%z[{rows}*d0 + d1] : {columns}x{rows}) {{
  argument %x : {dtype}[{rows}x{columns}]
  temporary %z : {dtype}[{columns}x{rows}]
  elementwise {columns}x{rows} {{
    store {call}(%x[{along}*d0 + {down * columns}*d1 + {begin}]), %z[{rows}*d0 + d1]
  }}
}}"""
    x = np.random.default_rng(0).integers(0, 2 if dtype == "bool" else 100, (rows, columns)).astype(dtype)
    (got,) = Engine.of(in_blocks(text, threads, 20 * rows), threads).run([x])
    want = x[::down, ::along].T
    np.testing.assert_array_equal(got, ~want if dtype == "bool" else -want)


@pytest.mark.parametrize("step", [-1, -2, -3])
@pytest.mark.parametrize("length", [5, 16, 45])
def test_elements_that_are_read_backwards_are_in_this_order(length: int, step: int) -> None:
    text = f"""program @main(%x) -> (%z[d0] : {length}) {{
  argument %x : float32[{-step * length}]
  temporary %z : float32[{length}]
  elementwise {length} {{
    store negative(%x[{step}*d0 + {-step * length - 1}]), %z[d0]
  }}
}}"""
    x = np.arange(-step * length, dtype=np.float32)
    (got,) = Engine.of(in_blocks(text, 1, length), 1).run([x])
    np.testing.assert_array_equal(got, -x[::step])
