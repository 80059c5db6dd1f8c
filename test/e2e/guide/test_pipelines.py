"""Pipelines of stages that TensorFlow traces, against the same networks in plain TensorFlow."""

import numpy as np
import pytest

from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")
from ipu_mlir.tensorflow.pipelines.run import Training, run_pipeline  # noqa: E402 - it needs TensorFlow
from ipu_mlir.tensorflow.pipelines.settings import Settings  # noqa: E402

RNG = np.random.default_rng(24)


@pytest.fixture(autouse=True)
def _reset():
    yield
    ipu.config.reset_ipu_configuration()


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def configure(ipus, **options):
    config = ipu.config.IPUConfig()
    config.auto_select_ipus = ipus
    config.ipu_model.tiles_per_ipu = 8
    for name, value in options.items():
        setattr(config, name, value)
    config.configure_ipu_system()
    return ipu.ipu_strategy.IPUStrategy()


def test_gradients_are_those_of_tensorflow():
    """By stopped gradients, custom ones, and zeros of relu."""
    strategy = configure(2)
    start, x, y = [normal(6, 8), normal(8, 1)], normal(4, 3, 6), normal(4, 3, 1)
    x[0] = 0  # so that relu is exactly at its edge

    @tf.custom_gradient
    def doubled_backwards(value):
        return tf.identity(value), lambda slope: 2 * slope

    def first(w, x):
        return tf.nn.relu(x @ w), tf.stop_gradient(tf.tanh(x @ w))

    def last(w, hidden, stopped, y):
        return tf.reduce_mean(doubled_backwards((hidden + stopped) @ w - y) ** 2)

    with strategy.scope():
        weights = [tf.Variable(each) for each in start]

        @tf.function(jit_compile=True)
        def step(x, y):
            stages = [lambda x: first(weights[0], x), lambda *given: last(weights[1], *given)]
            update = Training(weights, lambda pairs: [own.assign_sub(0.1 * slope) for slope, own in pairs])
            return run_pipeline(stages, Settings(4, [0, 1]), data=[x, y], training=update)

        (losses,) = strategy.run(step, args=(x, y))
        found = [each.numpy() for each in weights]
    own = [tf.constant(each) for each in start]
    sums = [np.zeros_like(each) for each in start]
    for number, (one, other) in enumerate(zip(x, y, strict=True)):
        with tf.GradientTape() as tape:
            tape.watch(own)
            loss = last(own[1], *first(own[0], one), other)
        np.testing.assert_allclose(losses[number], loss, rtol=1e-6)
        sums = [total + slope for total, slope in zip(sums, tape.gradient(loss, own), strict=True)]
    for after, before, total in zip(found, start, sums, strict=True):
        np.testing.assert_allclose(after, before - 0.1 * total, rtol=1e-6, atol=1e-6)
