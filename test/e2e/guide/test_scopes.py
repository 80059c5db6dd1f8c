"""Scopes that change how operations are computed."""

import numpy as np
import pytest

from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")
TILES = 1


def test_partials_type_reaches_products_and_their_gradients(strategy):
    @tf.function(jit_compile=True)
    def step(x, w, v):
        with tf.GradientTape() as tape:
            tape.watch(x)
            with ipu.scopes.partials_type(tf.float16):
                narrow = x @ w
                with ipu.scopes.partials_type(tf.float32):
                    wide = x @ v
        return narrow, wide, tape.gradient(narrow, x)

    x, w, v = (np.ones(shape, np.float16) for shape in ((4, 64), (64, 3), (64, 5)))
    with strategy.scope():
        for found, value in zip(strategy.run(step, args=(x, w, v)), (64, 64, 3), strict=True):
            np.testing.assert_array_equal(found, np.full(found.shape, value))
    (program,) = strategy._programs._programs.values()
    text = program.executable.mlir("l1")
    assert "tensor<4x5xf32>" in text and "tensor<4x3xf32>" not in text and "tensor<4x64xf32>" not in text
