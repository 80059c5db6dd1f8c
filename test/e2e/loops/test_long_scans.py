"""Cumulative ops over more elements than a tile can hold: blocks of them, and both executors agree."""

import numpy as np
import pytest
from support.case import assert_close, some
from support.prefix_windows import window
from support.tensor_text import function, shape_of

import ipu_mlir as ipu

_SMALL = ipu.Target(tiles_per_ipu=64, bytes_per_tile=8192)
"""One vertex scans 256 elements of f32 at most."""


@pytest.mark.parametrize(
    ("short", "at", "from_end", "op", "neutral", "ufunc"),
    [
        ("1200xf32", 0, False, "arith.addf", "0.0", np.add),
        ("1200xf32", 0, True, "arith.addf", "0.0", np.add),
        ("1024xi32", 0, True, "arith.muli", "1", np.multiply),
        ("2x601x3xf32", 1, False, "arith.maximumf", "0xFF800000", np.maximum),
        ("2x601x3xf32", 1, True, "arith.minimumf", "0x7F800000", np.minimum),
    ],
)
def test_blocks_give_what_numpy_gives(
    short: str, at: int, from_end: bool, op: str, neutral: str, ufunc: np.ufunc
) -> None:
    (x,) = inputs = some(short)
    program = ipu.compile(function([short], [short], window(short, at, from_end, op, neutral)), target=_SMALL)
    turned = np.flip(x, at) if from_end else x
    expected = ufunc.accumulate(turned, at, x.dtype)
    expected = np.flip(expected, at) if from_end else expected
    length = shape_of(short)[at] if ufunc is np.add else 0
    fast = program.run(inputs)
    assert_close(fast, [expected], length, "fast executor against NumPy")
    assert_close(program.run_per_tile(inputs), fast, length, "per-tile executor against the fast one")


def test_too_many_for_one_tile_are_really_cut() -> None:
    short = "1200xf32"
    program = ipu.compile(function([short], [short], window(short, 0, False, "arith.addf", "0.0")), target=_SMALL)
    assert program.mlir("l3").count('library_call = "scan_add"') == 2
