"""``fit``, ``evaluate`` and ``predict`` of models made in the scope: what plain Keras gives, computed on the device."""

import signal
from pathlib import Path

import numpy as np
import pytest

from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")
if keras.backend.backend() != "tensorflow":
    pytest.skip("Keras runs on another backend here", allow_module_level=True)

with np.load(Path(__file__).parents[3] / "examples" / "digits" / "digits.npz") as _data:
    X, Y = _data["images"][:200].reshape(-1, 64).astype(np.float32) / 16, _data["labels"][:200].astype(np.int32)
pytestmark = pytest.mark.usefixtures("strategy")


def classifier(layers=None, optimizer="sgd", **options):
    keras.utils.set_random_seed(3)
    model = keras.Sequential(layers or [keras.Input((64,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(10)])
    options.setdefault("metrics", ["accuracy"])
    model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True), **options)
    return model


def agree(one, other, atol=1e-5):
    for a, b in zip(one.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, atol=atol)


@pytest.mark.parametrize(
    ("optimizer", "steps"),
    [
        pytest.param(lambda: keras.optimizers.SGD(0.1), 50, id="sgd"),
        pytest.param(
            lambda: keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 5, 0.9), momentum=0.9),
            1,
            id="momentum",
            marks=pytest.mark.slow,
        ),
        pytest.param(lambda: keras.optimizers.Adam(0.01, clipnorm=1.0, weight_decay=0.01), 2, id="adam"),
        pytest.param(lambda: keras.optimizers.RMSprop(0.01), 3, id="rmsprop", marks=pytest.mark.slow),
    ],
)
def test_three_epochs_as_on_the_host(strategy, optimizer, steps):
    """Seven batches, the last of which is smaller."""
    with strategy.scope():
        model = classifier(optimizer=optimizer(), steps_per_execution=steps)
    plain = classifier(optimizer=optimizer())
    kwargs = {"batch_size": 32, "epochs": 3, "verbose": 0, "validation_data": (X[:50], Y[:50])}
    found, expected = (each.fit(X, Y, **kwargs).history for each in (model, plain))
    agree(model, plain)
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-4, atol=1e-5)
    rows = (X[:70], Y[:70])
    np.testing.assert_allclose(model.evaluate(*rows, verbose=0), plain.evaluate(*rows, verbose=0), rtol=1e-4)
    np.testing.assert_allclose(model.predict(X[:70], verbose=0), plain.predict(X[:70], verbose=0), atol=1e-4)
    assert model.predict_on_batch(X[:3]).shape == (3, 10)
    assert {each._value._resident.is_held for each in model.variables} == {False}  # none goes to the host each time


def test_weights_of_samples_and_classes_callbacks_and_files(strategy, tmp_path):
    def trained(model, folder):
        halved = keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2)
        stops = keras.callbacks.EarlyStopping("loss", min_delta=10.0, patience=1)
        model.fit(X, Y, class_weight={i: 1.0 + i for i in range(10)}, batch_size=40, verbose=0)
        saves = keras.callbacks.ModelCheckpoint(folder / "{epoch}.weights.h5", save_weights_only=True)
        kwargs = {"callbacks": [halved, stops, saves], "batch_size": 40, "epochs": 5, "verbose": 0}
        return model.fit(X, Y, sample_weight=np.linspace(0, 1, 200), **kwargs).history

    with strategy.scope():
        model = classifier(steps_per_execution=5)
    plain = classifier(steps_per_execution=5)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    found, expected = trained(model, tmp_path / "a"), trained(plain, tmp_path / "b")
    assert len(found["loss"]) == len(expected["loss"]) == 2
    agree(model, plain)
    model.save(tmp_path / "model.keras")
    with strategy.scope():
        loaded = keras.models.load_model(tmp_path / "model.keras")
    agree(loaded, model, atol=0)
    for each in (loaded, plain):
        each.fit(X[:80], Y[:80], batch_size=40, verbose=0)
    agree(loaded, plain)
    model.load_weights(tmp_path / "b" / "1.weights.h5")
    plain.load_weights(tmp_path / "b" / "1.weights.h5")
    np.testing.assert_allclose(model.predict(X[:64], verbose=0), plain.predict(X[:64], verbose=0), atol=1e-4)


def test_a_model_is_exported_in_the_scope_after_training(strategy, tmp_path):
    """Writing makes graphs of TensorFlow's own, which ask for values that the device has."""
    with strategy.scope():
        model = classifier([keras.Input((64,)), keras.layers.Dense(16, "relu"), keras.layers.Dropout(0.1)], "adam")
        model.fit(X, Y, batch_size=40, verbose=0)
        model.export(tmp_path, verbose=False)
        expected = model.predict(X, verbose=0)
    loaded = tf.saved_model.load(tmp_path)
    np.testing.assert_allclose(loaded.serve(X), expected, atol=1e-5)


def test_layers_with_state_and_two_outputs(strategy):
    def made():
        keras.utils.set_random_seed(3)
        rows = keras.Input((8, 8, 1))
        hidden = keras.layers.BatchNormalization()(keras.layers.Conv2D(4, 3, activation="relu")(rows))
        pooled = keras.layers.GlobalAveragePooling2D()(keras.layers.MaxPooling2D()(hidden))
        digit, size = (
            keras.layers.Dense(10, "softmax", name="digit")(pooled),
            keras.layers.Dense(1, name="size")(pooled),
        )
        model = keras.Model(rows, {"digit": digit, "size": size})
        model.compile("adam", {"digit": "sparse_categorical_crossentropy", "size": "mse"}, steps_per_execution=2)
        return model

    with strategy.scope():
        model = made()
    plain = made()
    y = {"digit": Y[:64], "size": X[:64].sum(1, keepdims=True) / 20}
    for each in (model, plain):
        each.fit(X[:64].reshape(-1, 8, 8, 1), y, batch_size=16, epochs=2, verbose=0)
    agree(model, plain, atol=1e-4)
    found = model.predict(X[:32].reshape(-1, 8, 8, 1), batch_size=8, verbose=0)
    assert found["digit"].shape == (32, 10) and found["size"].shape == (32, 1)


def test_a_train_step_of_the_users(strategy):
    class Doubled(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(10)

        def call(self, x):
            return self.dense(x)

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(y, self(x), from_logits=True))
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(
                (2 * gradient, variable) for gradient, variable in zip(gradients, self.trainable_variables, strict=True)
            )
            return {"loss": loss}

    def trained():
        keras.utils.set_random_seed(3)
        model = Doubled()
        model.compile(keras.optimizers.SGD(0.1))
        history = model.fit(tf.data.Dataset.from_tensor_slices((X, Y)).batch(50), epochs=2, verbose=0)
        return model, history.history["loss"]

    with strategy.scope():
        model, found = trained()
    plain, expected = trained()
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    agree(model, plain)


def test_a_train_step_of_a_model_that_cannot_be_called(strategy):
    """Two models and two optimizers, as those that are trained against each other."""

    class Pair(keras.Model):
        def __init__(self):
            super().__init__()
            self.parts = [keras.Sequential([keras.Input((64,)), keras.layers.Dense(2)]) for _ in range(2)]
            self.rules = [keras.optimizers.SGD(0.1), keras.optimizers.Adam(0.01)]

        def train_step(self, data):
            for part, rule in zip(self.parts, self.rules, strict=True):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(part(data) ** 2)
                variables = part.trainable_variables
                rule.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            return {"loss": loss}

    def trained():
        keras.utils.set_random_seed(3)
        model = Pair()
        model.compile()
        return model, model.fit(tf.data.Dataset.from_tensor_slices(X).batch(50), epochs=2, verbose=0).history["loss"]

    with strategy.scope():
        model, found = trained()
    plain, expected = trained()
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    agree(model, plain)

    class Unbuilt(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(2)

    with strategy.scope():
        unbuilt = Unbuilt()
        unbuilt.compile()
        with pytest.raises(RuntimeError, match="automatically build"):
            unbuilt.fit(X, verbose=0)


def test_functional_models_of_the_guide_leave_subclasses_as_they_are(strategy):
    def outputs():
        rows = keras.Input((64,))
        return rows, keras.layers.Dense(2)(rows)

    class Own(ipu.keras.Model):
        def __init__(self):
            super().__init__(gradient_accumulation_count=2)

    class Made(ipu.keras.Model):
        def __init__(self):
            super().__init__(*outputs(), name="made", gradient_accumulation_count=3)

    with strategy.scope():
        functional, made, own = ipu.keras.Model(*outputs()), Made(), Own()
    assert all(isinstance(each, ipu.keras.Model) for each in (functional, made, own))
    assert [type(each).__name__ for each in (functional, made, own)] == ["Model", "Made", "Own"]
    assert (made.name, made.gradient_accumulation_count, own.gradient_accumulation_count) == ("made", 3, 2)
    assert made.output_shape == functional.output_shape == (None, 2) and own.layers == []


def test_gradients_of_several_batches_accumulate(strategy):
    def layers():
        return [keras.Input((64,)), keras.layers.Dense(16, "tanh"), keras.layers.Dense(10)]

    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    with strategy.scope():
        keras.utils.set_random_seed(3)
        model = ipu.keras.Sequential(layers(), gradient_accumulation_count=4, gradient_accumulation_dtype="float32")
        model.compile(keras.optimizers.SGD(0.025), loss, steps_per_execution=2)
        rows = tf.data.Dataset.from_tensor_slices((X[:160], Y[:160]))
        begin = model.get_weights()
        model.fit(rows.batch(8), epochs=2, verbose=0)
        with pytest.raises(ValueError, match="cannot be called directly"):
            model(X[:4])
        with pytest.raises(ValueError, match="is given 4 batches, the last one smaller, and takes 4 batches at once"):
            model.fit(rows.take(30).batch(8), verbose=0)
        with pytest.raises(ValueError, match="a number from 1, got 0"):
            ipu.keras.Sequential(layers(), gradient_accumulation_count=0)
    plain = classifier(layers(), keras.optimizers.SGD(0.1))
    plain.set_weights(begin)
    plain.fit(rows.batch(32), epochs=2, verbose=0)
    agree(model, plain)
    with pytest.raises(RuntimeError, match="needs an IPUStrategy"):
        ipu.keras.Sequential(layers())


def test_replaced_layers_train_as_those_of_the_device(strategy):
    found, start = [], None
    for dropout, replaces in ((keras.layers.Dropout(0.5), True), (ipu.keras.layers.Dropout(0.5), False)):
        with strategy.scope():
            stack = [keras.Input(X.shape[1:]), keras.layers.Dense(16, "relu"), dropout, keras.layers.Dense(10)]
            model = ipu.keras.Sequential(stack, layer_replacement=replaces)
            loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
            model.compile(keras.optimizers.SGD(0.1), loss)
            start = start or model.get_weights()
            model.set_weights(start)
            ipu.utils.reset_ipu_seed(5)
            model.fit(X[:64], Y[:64], batch_size=8, epochs=1, shuffle=False, verbose=0)
            found.append(model.get_weights())
    for one, other, first in zip(*found, start, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
        assert np.abs(one - first).max() > 1e-4


def test_what_goes_wrong_on_the_host_leaves_whole_steps(strategy):
    with strategy.scope():
        model = classifier()
    model.fit(X[:64], Y[:64], verbose=0)
    weights = model.get_weights()
    rows = tf.data.Dataset.from_tensor_slices((X, Y)).batch(16)

    def ends_badly():
        yield X[:16], Y[:16]
        yield X[16:32], Y[16:32]
        raise RuntimeError("the disk is gone")

    class Stops(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            raise KeyError("mine")

    class Interrupts(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            signal.raise_signal(signal.SIGINT)

    for error, source, callbacks in (
        (tf.errors.OpError, ends_badly(), []),
        (KeyError, rows, [Stops()]),
        (KeyboardInterrupt, rows, [Interrupts()]),
    ):
        model.set_weights(weights)
        with pytest.raises(error):
            model.fit(source, callbacks=callbacks, verbose=0)
        plain = classifier()
        plain.set_weights(weights)
        plain.fit(rows.take(2 if not callbacks else 1), verbose=0)
        agree(model, plain)


def test_what_does_not_run_on_the_device_is_said(strategy):
    with strategy.scope():
        model = classifier(run_eagerly=True)
        with pytest.raises(ValueError, match="run_eagerly=True"):
            model.fit(X, Y, verbose=0)
        text = keras.Sequential([keras.Input((1,), dtype="string"), keras.layers.StringLookup(vocabulary=["a"])])
        with pytest.raises(CompileError, match="a batch has a tensor of strings"):
            text.predict(tf.constant([["a"], ["b"]]), verbose=0)
    host = ipu.ipu_strategy.IPUStrategy(enable_keras_extensions=False)
    with host.scope():
        assert type(classifier().train_function).__name__ == "NoneType"
        model = classifier()
    model.make_train_function()
    assert "ipu_mlir" not in type(model.train_function).__module__


@pytest.mark.parametrize("steps", [1, 3])
def test_replicas_train_as_one_larger_batch(steps):
    config = ipu.config.IPUConfig()
    config.ipu_model.tiles_per_ipu = 4
    config.auto_select_ipus = 4
    config.configure_ipu_system()
    rows = tf.data.Dataset.from_tensor_slices((X[:192], Y[:192]))
    replicated = ipu.ipu_strategy.IPUStrategy()
    assert replicated.num_replicas_in_sync == 4
    with replicated.scope():
        model = classifier(optimizer=keras.optimizers.Adam(0.01), steps_per_execution=steps)
    plain = classifier(optimizer=keras.optimizers.Adam(0.01))
    model.fit(rows.batch(8), epochs=2, verbose=0)
    plain.fit(rows.batch(32), epochs=2, verbose=0)
    agree(model, plain)
    np.testing.assert_allclose(model.predict(X[:32], verbose=0), plain.predict(X[:32], verbose=0), atol=1e-4)


def test_norms_and_scaled_losses_are_of_all_replicas():
    config = ipu.config.IPUConfig()
    config.ipu_model.tiles_per_ipu = 4
    config.auto_select_ipus = config.norms.experimental.distributed_batch_norm_replica_group_size = 2
    config.configure_ipu_system()

    def normalised():
        keras.utils.set_random_seed(3)  # layers draw seeds when they are made
        layers = [keras.Input((64,)), keras.layers.Dense(8), keras.layers.BatchNormalization(), keras.layers.Dense(10)]
        scaled = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1), initial_scale=256.0)
        return classifier(layers, scaled, metrics=[])

    with ipu.ipu_strategy.IPUStrategy().scope():
        model = normalised()
    plain = normalised()
    rows = tf.data.Dataset.from_tensor_slices((X[:64], Y[:64]))
    model.fit(rows.batch(8), verbose=0)
    plain.fit(rows.batch(16), verbose=0)
    agree(model, plain, 1e-4)


def test_building_a_model_takes_no_batch_of_a_shuffled_dataset(strategy):
    x = np.arange(8, dtype=np.float32)[:, None]
    data = tf.data.Dataset.from_tensor_slices((x, x)).shuffle(8, seed=3).batch(2)
    again = tf.data.Dataset.from_tensor_slices((x, x)).shuffle(8, seed=3).batch(2)
    expected = np.float32(1)
    for rows, _ in again:
        expected -= np.float32(0.01) * 2 * np.mean(rows.numpy() ** 2) * (expected - 1 / 2)
    with strategy.scope():
        model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")])
        model.compile(keras.optimizers.SGD(0.01), lambda y, found: (found - y / 2) ** 2)
        model.fit(data, epochs=1, verbose=0)
    np.testing.assert_allclose(model.get_weights()[0], [[expected]], rtol=1e-5)
