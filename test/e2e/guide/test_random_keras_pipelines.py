"""Random models in random stages train, evaluate and predict as they do as a whole."""

import numpy as np
import pytest

from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")
if keras.backend.backend() != "tensorflow":
    pytest.skip("Keras runs on another backend here", allow_module_level=True)
layers = keras.layers
BATCH, WIDTH = 4, 6


def drawn_layer(rng):
    """A layer of rows of one width."""
    name = rng.choice(
        ["dense", "regularized", "batch", "group", "dropout", "active", "conv", "nested", "custom", "frozen"]
    )
    if name == "regularized":
        return layers.Dense(WIDTH, "tanh", kernel_regularizer="l2", activity_regularizer="l1")
    if name == "batch":
        return layers.BatchNormalization(momentum=0.5)
    if name == "group":
        return layers.LayerNormalization()
    if name == "dropout":
        return layers.Dropout(0.0)
    if name == "active":
        return layers.PReLU()
    if name == "conv":
        return keras.Sequential([layers.Reshape((WIDTH, 1)), layers.Conv1D(1, 3, padding="same"), layers.Flatten()])
    if name == "nested":
        return keras.Sequential([layers.Dense(5, "sigmoid"), layers.BatchNormalization(), layers.Dense(WIDTH)])
    if name == "custom":
        return Scaled()
    return layers.Dense(WIDTH, "softsign", trainable=name != "frozen")


class Scaled(keras.Layer):
    """Has a loss and a state of its own."""

    def build(self, _):
        self.scale = self.add_weight(shape=(WIDTH,), initializer="ones")
        self.seen = self.add_weight(shape=(), initializer="zeros", trainable=False)

    def call(self, x, training=False):
        self.add_loss(0.01 * keras.ops.sum(x * x))
        if training:
            self.seen.assign_add(1.0)
        return x * self.scale


def drawn(seed, stages):
    """A model, and the same one again for the same seed: each call of a layer in one of ``stages`` stages.

    Any tensor of an earlier call, and an input, may be read by any later one; layers may be called twice.
    """
    rng = np.random.default_rng(seed)
    keras.utils.set_random_seed(seed)
    inputs = [keras.Input((WIDTH,)) for _ in range(rng.integers(1, 3))]
    tensors, made, ends = list(inputs), [], []
    for stage in range(3):
        with ipu.keras.PipelineStage(stage) if stages else tf.init_scope():
            for _ in range(rng.integers(1, 4)):
                again = made and rng.random() < 0.2
                layer = made[rng.integers(len(made))] if again else drawn_layer(rng)
                made.append(layer)
                taken = tensors[rng.integers(len(tensors))] if rng.random() < 0.4 else tensors[-1]
                x = layer(taken)
                tensors.append(layers.Add()([x, tensors[rng.integers(len(tensors))]]) if rng.random() < 0.4 else x)
            ends.append(tensors[-1])
    with ipu.keras.PipelineStage(2) if stages else tf.init_scope():
        outputs = [layers.Dense(2)(layers.Concatenate()([*ends, *inputs]))]
        if rng.random() < 0.4:
            outputs.append(layers.Dense(1)(tensors[rng.integers(len(tensors))]))
    return keras.Model(inputs, outputs if len(outputs) > 1 else outputs[0])


def history_of(seed, stages):
    keras.utils.clear_session()
    rng = np.random.default_rng(seed)
    count, schedule = 6, ["Grouped", "Interleaved", "Sequential"][rng.integers(3)]
    method, replicas = ["sum", "mean", "running_mean"][rng.integers(3)], int(rng.integers(1, 3))
    config = ipu.config.IPUConfig()
    config.auto_select_ipus = 3 * replicas if stages else replicas
    config.ipu_model.tiles_per_ipu = 2
    config.allow_recompute = bool(rng.integers(2))
    config.configure_ipu_system()
    with ipu.ipu_strategy.IPUStrategy().scope():
        model = drawn(seed, stages)
        optimizer = (
            keras.optimizers.Adam(0.01, epsilon=1e-2)
            if rng.integers(2)
            else keras.optimizers.SGD(0.02, 0.9, clipnorm=1.0)
        )
        many = len(model.outputs) > 1
        model.compile(optimizer, "mse", metrics=[["mae"]] * 2 if many else ["mae"], steps_per_execution=2 * count)
        if stages:
            model.set_pipelining_options(
                count,
                gradient_accumulation_reduction_method=method,
                pipeline_schedule=ipu.pipelining_ops.PipelineSchedule[schedule],
                offload_weight_update_variables=bool(rng.integers(2)) or None,
            )
        else:
            model.set_gradient_accumulation_options(count, method)
    rows = BATCH * 2 * count * replicas
    data = np.random.default_rng(seed + 1)
    x = [data.standard_normal((rows, WIDTH), np.float32) for _ in model.inputs]
    y = [data.standard_normal((rows, each.shape[-1]), np.float32) for each in model.outputs]
    x, y = x if len(x) > 1 else x[0], y if many else y[0]
    found = model.fit(x, y, batch_size=BATCH, epochs=1, shuffle=False, verbose=0).history
    predicted = model.predict(x, batch_size=BATCH, verbose=0)
    evaluated = model.evaluate(x, y, batch_size=BATCH, verbose=0)
    weights = {
        variable.path.rsplit("/", 1)[-1] + str(n): variable.numpy() for n, variable in enumerate(model.variables)
    }
    return weights, found, evaluated, predicted


SEEDS = [3, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 28))]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_model(seed):
    one, other = history_of(seed, True), history_of(seed, False)
    for a, b in zip(tf.nest.flatten(one), tf.nest.flatten(other), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=2e-5)
