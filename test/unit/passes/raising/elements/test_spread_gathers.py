"""Gathers from tables that are cut into blocks of rows."""

import numpy as np
import pytest

import ipu_mlir as ipu


@pytest.mark.parametrize("rows", [800, 797, 2003])
@pytest.mark.parametrize("columns", [(), (2,)])
@pytest.mark.parametrize("count", [5, 3000])
def test_blocks_have_the_rows_that_are_asked_for(rows: int, columns: tuple[int, ...], count: int) -> None:
    """Also the last block, which is not full where the number of rows is prime."""
    rng = np.random.default_rng(3)
    table = rng.standard_normal((rows, *columns)).astype("f4")
    places = rng.integers(0, rows, count).astype("i4")
    places[:3] = rows - 1, 0, rows - 2
    target = ipu.Target(tiles_per_ipu=8, bytes_per_tile=20_000, emulated=True)
    specs = [ipu.TensorSpec(each.shape, each.dtype) for each in (table, places)]
    exe = ipu.compile(lambda table, places: table[places] + np.float32(1), args=specs, target=target)
    for found in (exe(table, places), exe.run_per_tile([table, places])[0]):
        np.testing.assert_array_equal(found, table[places] + 1)


@pytest.mark.parametrize("rows", [1 << 20, 1_000_003])
def test_a_million_rows_are_gathered_from_a_million(rows: int) -> None:
    specs = [ipu.TensorSpec((rows,)), ipu.TensorSpec((1 << 20,), "i4")]
    cycles = ipu.compile(lambda table, places: table[places], args=specs).profile().execution.cycles
    assert cycles.total - cycles.host < 800_000
