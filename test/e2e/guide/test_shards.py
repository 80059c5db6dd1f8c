"""``ipu_shard``: operations, their gradients and variables on the IPU that a scope names."""

import numpy as np
import pytest

import ipu_mlir
from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")
if keras.backend.backend() != "tensorflow":
    pytest.skip("Keras runs on another backend here", allow_module_level=True)
IPUS = 2
TILES = 4


def layers(x, w1, w2):
    with ipu.scopes.ipu_shard(0):
        hidden = tf.nn.relu(x @ w1)
    with ipu.scopes.ipu_shard(1):
        return tf.reduce_sum((hidden @ w2) ** 2)


def train(x, w1, w2):
    loss = tf.constant(0.0)
    for _ in tf.range(2):
        with tf.GradientTape() as tape:
            loss = layers(x, w1, w2)
        for variable, gradient in zip((w1, w2), tape.gradient(loss, (w1, w2)), strict=True):
            variable.assign_sub(0.001 * gradient)
    return loss


def test_a_network_trains_on_two_ipus_as_on_the_host(strategy):
    rng = np.random.default_rng(0)
    x, *start = (rng.standard_normal(shape).astype(np.float32) for shape in ((8, 6), (6, 12), (12, 3)))
    own = [tf.Variable(each) for each in start]
    wanted = tf.function(lambda x: train(x, *own))(x)
    with strategy.scope():
        weights = [tf.Variable(each, name=f"w{place}") for place, each in enumerate(start, start=1)]
        step = tf.function(lambda x: train(x, *weights), jit_compile=True)
        np.testing.assert_allclose(strategy.run(step, args=(x,)), wanted, rtol=1e-5)
    for variable, other in zip(weights, own, strict=True):
        np.testing.assert_allclose(variable.numpy(), other.numpy(), rtol=1e-5, atol=1e-6)
    (program,) = strategy._programs._programs.values()
    rows = str(program.executable.placements()).splitlines()
    lies = {row.split()[1]: row.split()[-3:] for row in rows if row.startswith(("variable", "argument"))}
    assert lies["w1"] == ["0", "..", "3"] and lies["w2"] == ["4", "..", "7"]
    assert "ipu.links" in program.executable.mlir("l3")


def test_the_log_names_ipus_that_are_idle(caplog):
    config = ipu.config.IPUConfig()
    config.auto_select_ipus, config.ipu_model.tiles_per_ipu = 3, TILES
    config.configure_ipu_system()
    own = ipu.ipu_strategy.IPUStrategy()

    def second(x):
        with ipu.scopes.ipu_shard(1):
            return x + 1

    with own.scope():
        np.testing.assert_array_equal(own.run(tf.function(second, jit_compile=True), args=(tf.ones(4),)), [2] * 4)
    assert "uses 2 of the 3 IPUs of the device, and the others are idle: its largest shard is 1" in caplog.text


def test_a_shard_that_the_device_does_not_have_is_an_error(strategy):
    def far(x):
        with ipu.scopes.ipu_shard(2):
            return x + 1

    with strategy.scope(), pytest.raises(ipu_mlir.CompileError, match="for 3 IPUs, and the device has 2"):
        strategy.run(tf.function(far, jit_compile=True), args=(tf.ones(4),))
