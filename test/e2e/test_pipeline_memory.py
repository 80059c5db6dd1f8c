"""A network that is too large for its IPUs, until it computes again what it does not store."""

import numpy as np
import pytest
from support.trained_networks import COUNT, Network, Training

import ipu_mlir as ipu
from ipu_mlir import layers


def network(rows: int) -> Network:
    """Two stages with more to store than parameters."""
    rng = np.random.default_rng(3)
    inner = [layers.Dense(16, 64, ipu.nn.gelu), layers.Dense(64, 64, ipu.nn.gelu), layers.Dense(64, 16)]
    stages = (layers.Sequential(inner), layers.Sequential([*inner, layers.Dense(16, 4)]))
    x = rng.standard_normal((1, COUNT * rows, 16))
    return Network(stages, (x, np.argmax(x[..., :4], axis=-1).astype(np.int32)), 0.1, np.float32)


@pytest.mark.slow
def test_a_network_fits_with_recomputation_alone():
    large = network(384)
    with pytest.raises(ipu.OutOfMemoryError):
        Training(large, large.pipeline("grouped", "none"), tiles=4)
    losses = Training(large, large.pipeline("interleaved", "inputs"), tiles=4).run(60)
    assert losses[-1] < 0.5 * losses[0]
