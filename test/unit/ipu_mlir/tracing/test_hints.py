"""``ipu.place``: the hint is in the IR, and the compiler honours it."""

import numpy as np

import ipu_mlir as ipu
from ipu_mlir.dialects.mapping.build import blocks

SMALL = ipu.Target(tiles_per_ipu=8)
X = np.arange(48, dtype=np.float32).reshape(8, 6)


def placed(**hint):
    """Where an argument lies that the program places so."""

    def program(x):
        return ipu.place(x, **hint) + 1

    exe = ipu.compile(ipu.function(program), args=[X], target=SMALL)
    np.testing.assert_array_equal(exe(X), X + 1)
    np.testing.assert_array_equal(exe.run_per_tile([X])[0], X + 1)
    return next(each for each in exe.placements() if each.kind == "argument")


def test_on_one_tile():
    x = placed(tile=5)
    assert (x.num_tiles, x.first_tile, x.max_tile_bytes) == (1, 5, 192)


def test_by_rows_over_tiles():
    x = placed(tiles=range(2, 6))
    assert (x.num_tiles, x.first_tile, x.last_tile) == (4, 2, 5)
    assert (x.min_tile_bytes, x.max_tile_bytes) == (48, 48)


def test_by_any_mapping():
    mapping = blocks((8, 6), (4, 2))
    assert placed(mapping=mapping).mapping.normalized() == mapping.normalized()


def test_the_hint_is_an_op_of_the_traced_module():
    module = ipu.function(lambda x: ipu.place(x, tile=3)).trace(X)
    assert '"ipu.place"(%arg0) {mapping = #ipu.mapping<48' in str(module)
