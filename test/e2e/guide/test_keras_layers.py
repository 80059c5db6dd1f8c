"""The guide's layers: they train as those of Keras with the same meaning, are saved, and say what they do not take."""

import numpy as np
import pytest

from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")
if keras.backend.backend() != "tensorflow":
    pytest.skip("Keras runs on another backend here", allow_module_level=True)
TILES = 8
pytestmark = pytest.mark.usefixtures("strategy")


def network(embedding, groups, instance, layer, others):
    tokens = keras.Input((5,), dtype="int32")
    x = instance(groups(embedding(tokens)))
    for each in others:
        x = each(x)
    model = keras.Model(tokens, keras.layers.Dense(1)(layer(x)))
    model.compile(keras.optimizers.SGD(0.002, momentum=0.9), "mse")
    return model


def test_they_train_as_those_of_keras_and_are_saved(strategy, tmp_path):
    own, theirs = ipu.keras.layers, keras.layers
    with strategy.scope():
        keras.utils.set_random_seed(3)
        model = network(
            own.Embedding(7, 8),
            own.GroupNormalization(groups=2, strided_channel_grouping=False),
            own.InstanceNormalization(center=False),
            own.LayerNormalization(axis=[1, 2]),
            [own.AssumeEqualAcrossReplicas(), own.RecomputationCheckpoint(), own.Dropout(0.0)],
        )
    keras.utils.set_random_seed(3)
    norms = (theirs.GroupNormalization(2), theirs.GroupNormalization(-1, center=False))
    plain = network(theirs.Embedding(7, 8), *norms, theirs.LayerNormalization(axis=[1, 2]), [])
    plain.set_weights(model.get_weights())
    x = np.random.default_rng(1).integers(0, 7, (8, 5))
    for each in (model, plain):
        each.fit(x, x[..., None] / 7, epochs=3, batch_size=4, shuffle=False, verbose=0)
    for a, b in zip(model.get_weights(), plain.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(loaded(x), plain(x), atol=1e-4)
    assert [type(each) for each in loaded.layers] == [type(each) for each in model.layers]


def test_channels_along_another_axis_and_in_16_bits():
    x = np.random.default_rng(2).standard_normal((2, 6, 3, 4)).astype(np.float32)
    for kind, options in ((ipu.keras.layers.GroupNorm, {"groups": 3}), (ipu.keras.layers.InstanceNorm, {})):
        first, last = kind(channels_axis=1, **options), kind(**options)
        np.testing.assert_allclose(first(x), np.moveaxis(last(np.moveaxis(x, 1, -1)), -1, 1), atol=1e-6)
    half = ipu.keras.layers.GroupNormalization(dtype=tf.float16)(100 * x + 30000)  # whose squares are too large
    assert half.dtype == tf.float16 and np.all(np.isfinite(half)) and np.std(half) > 0.5


def test_what_they_do_not_take():
    layers = ipu.keras.layers
    x = tf.ones((2, 3, 6))
    for make, message in (
        (lambda: layers.GroupNorm(groups=4)(x), "6 channels is not commensurate with 4 groups"),
        (lambda: layers.GroupNorm(groups=7)(x), "Invalid groups 7 for 6 channels"),
        (lambda: layers.InstanceNorm(channels_axis=3)(x), "channels_axis 3 is not one of"),
        (lambda: layers.InstanceNorm(channels_axis=0)(x), "channels_axis 0 is not one of"),
        (lambda: layers.GroupNorm()(keras.Input((3, None))), "how many channels"),
        (lambda: layers.Dropout(1.0), "rate must be"),
        (lambda: layers.Dropout(0.5, seed=3), "seed must be two integers"),
        (lambda: layers.Embedding(0, 4), "must be positive"),
        (lambda: layers.Embedding(3, 4)(tf.ones((2,), tf.int32)), r"shape \[batch, length\]"),
    ):
        with pytest.raises(ValueError, match=message):
            make()


def test_dropout_without_a_seed_follows_from_that_of_the_device(strategy):
    with strategy.scope():
        dropout = ipu.keras.layers.Dropout(0.5, noise_shape=(None, 1))
        call = tf.function(lambda x: dropout(x, training=True), jit_compile=True)
        found = []
        for seed in (1, 1, 2):
            ipu.utils.reset_ipu_seed(seed)
            found += [strategy.run(call, args=(tf.ones((32, 3)),)).numpy() for _ in range(2)]
    a, b, c, d, e, f = found
    assert np.array_equal(a, c) and np.array_equal(b, d)
    assert not np.array_equal(a, b) and not np.array_equal(a, e) and not np.array_equal(e, f)
    assert all(np.array_equal(each, np.repeat(each[:, :1], 3, axis=1)) for each in found)
