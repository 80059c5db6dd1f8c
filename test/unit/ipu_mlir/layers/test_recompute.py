"""What the gradient of a recurrent layer computes again decides what its loop stores."""

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir import layers


def gradient(kind, recompute, batch, size, tiles):
    """The gradients of all parameters, the cycles, and the most bytes that a tile holds at a time."""
    layer = kind(size, size, recompute=recompute)
    x = np.random.default_rng(0).standard_normal((batch, 40, size)).astype(np.float32)

    def loss(parameters, x):
        return (layer(parameters, x) ** 2).sum()

    args = [layer.init(0), x]
    executable = ipu.compile(lambda p, x: ipu.grad(loss)(p, x), args=args, target=ipu.Target(tiles_per_ipu=tiles))
    profile = executable.profile()
    return executable(*args), profile.total_cycles, profile.tile_bytes().max()


def check(kind, *sizes):
    """How many times the cycles and the bytes all of a step takes, and not its element-wise ops alone."""
    stored, cycles, held = gradient(kind, "elementwise", *sizes)
    again, more_cycles, less = gradient(kind, "inputs", *sizes)
    for name, wanted in stored.items():
        np.testing.assert_allclose(again[name], wanted, rtol=1e-4, atol=1e-4)
    return more_cycles / cycles, less / held


def test_products_need_not_be_stored():
    assert check(layers.LSTM, 4, 8, 2)[1] < 0.85


@pytest.mark.slow
@pytest.mark.parametrize("kind", [layers.LSTM, layers.GRU])
def test_products_computed_again_take_cycles_and_no_memory(kind):
    cycles, held = check(kind, 16, 32, 16)
    assert 1.01 < cycles < 1.1
    assert held < 0.9


def test_other_words_are_refused():
    with pytest.raises(ValueError, match='scan: recompute=\'all\'; it is "elementwise" or "inputs"'):
        ipu.scan(lambda carry, x: (carry, x), np.float32(0), np.zeros(3, np.float32), recompute="all")
