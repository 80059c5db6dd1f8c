"""Models of Keras in pipeline stages: the weights, metrics and predictions of the same models as a whole."""

from pathlib import Path

import numpy as np
import pytest

from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")
if keras.backend.backend() != "tensorflow":
    pytest.skip("Keras runs on another backend here", allow_module_level=True)
layers = keras.layers
Stage = ipu.keras.PipelineStage
Schedules = ipu.pipelining_ops.PipelineSchedule

with np.load(Path(__file__).parents[3] / "examples" / "digits" / "digits.npz") as _data:
    IMAGES, LABELS = _data["images"].reshape(-1, 64).astype(np.float32) / 16, _data["labels"].astype(np.int32)


def strategy_of(ipus, allow_recompute=False):
    config = ipu.config.IPUConfig()
    config.auto_select_ipus = ipus
    config.allow_recompute = allow_recompute
    config.ipu_model.tiles_per_ipu = 4
    config.configure_ipu_system()
    return ipu.ipu_strategy.IPUStrategy()


def digits(*, name=None):
    keras.utils.set_random_seed(1)
    own = [layers.Dense(24, "relu"), layers.Dense(16, "relu"), layers.Dense(12, "tanh"), layers.Dense(10)]
    return keras.Sequential([keras.Input((64,)), *own], name=name)


def compiled(model, steps=1, optimizer=None):
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer or keras.optimizers.SGD(0.2, 0.9), loss, metrics=["accuracy"], steps_per_execution=steps)
    return model


def agree(one, other, atol=1e-6):
    for a, b in zip(one.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, atol=atol)


TWO, FOUR = [0, 0, 1, 1], [0, 1, 2, 3]
PARITY = [
    pytest.param(TWO, "Grouped", 1, {}, id="grouped"),
    pytest.param(TWO, "Interleaved", 2, {}, id="interleaved-2-replicas"),
    *(
        pytest.param(stages, schedule, replicas, options, marks=pytest.mark.slow)
        for stages in (TWO, FOUR)
        for schedule in ("Grouped", "Interleaved", "Sequential")
        for replicas in (1, 2)
        for options in (
            {},
            {"recomputation_mode": ipu.pipelining_ops.RecomputationMode.Auto, "offload_weight_update_variables": True},
        )
    ),
]


@pytest.mark.parametrize(("stages", "schedule", "replicas", "options"), PARITY)
def test_the_weights_of_one_large_batch(stages, schedule, replicas, options):
    rows = {"x": IMAGES[:256], "y": LABELS[:256], "shuffle": False, "verbose": 0}
    with strategy_of((1 + max(stages)) * replicas).scope():
        model = compiled(digits(), 8)
        model.set_pipeline_stage_assignment(stages)
        model.set_pipelining_options(
            8, gradient_accumulation_reduction_method="mean", pipeline_schedule=Schedules[schedule], **options
        )
    found = model.fit(batch_size=8 // replicas, epochs=2, **rows).history
    plain = compiled(digits())
    plain.fit(batch_size=64, epochs=2, **rows)
    agree(model, plain)
    assert found["loss"][-1] < found["loss"][0]
    wanted = plain.evaluate(rows["x"], rows["y"], batch_size=8, verbose=0)
    if replicas == 1:
        np.testing.assert_allclose(model.evaluate(rows["x"], rows["y"], batch_size=8, verbose=0), wanted, rtol=1e-5)
    predicted = model.predict(IMAGES[:83], batch_size=8, verbose=0)
    np.testing.assert_allclose(predicted, plain.predict(IMAGES[:83], verbose=0), atol=1e-5)


def branched(stage):
    """Two inputs, a skip over a stage, a layer in two stages, a mask, moving averages and losses of layers."""
    keras.utils.set_random_seed(2)
    numbers, words = keras.Input((6,), name="numbers"), keras.Input((5,), dtype="int32", name="words")
    with stage(0):
        shared = layers.Dense(6, "tanh", kernel_regularizer="l2")
        hidden = layers.BatchNormalization()(shared(numbers))
        rows = layers.Embedding(7, 6, mask_zero=True)(words)
    with stage(1):
        mean = layers.GlobalAveragePooling1D()(rows)
        mixed = layers.Dense(6, activity_regularizer=keras.regularizers.L2(0.1))(hidden) * 2.0
    with stage(2):
        both = layers.Concatenate()([mixed, mean, hidden, numbers])
        first, second = layers.Dense(3, name="first")(both), layers.Dense(1, name="second")(mean)
    return [numbers, words], [first, second]


class _NoStage:
    def __init__(self, _):
        pass

    def __enter__(self):
        pass

    def __exit__(self, *_):
        pass


def test_a_branched_model_as_one_that_accumulates_as_a_whole():
    rng = np.random.default_rng(0)
    x = [rng.standard_normal((48, 6), np.float32), rng.integers(0, 7, (48, 5)).astype(np.int32)]
    y = [rng.integers(0, 3, 48), rng.standard_normal((48, 1), np.float32)]
    weight = [np.linspace(0.5, 1.5, 48).astype(np.float32)] * 2
    losses = [keras.losses.SparseCategoricalCrossentropy(from_logits=True), "mse"]
    found = {}
    for stage in (Stage, _NoStage):
        with strategy_of(3 if stage is Stage else 1).scope():
            model = keras.Model(*branched(stage))
            model.compile("adam", losses, metrics=[["accuracy"], ["mae"]], steps_per_execution=12)
            model.set_gradient_accumulation_options(6)
            model.set_pipelining_options(6)
        history = model.fit(x, y, sample_weight=weight, batch_size=4, epochs=2, shuffle=False, verbose=0).history
        found[stage] = model, history, model.evaluate(x, y, batch_size=4, verbose=0), model.predict(x, verbose=0)
    one, other = found.values()
    agree(one[0], other[0], 2e-6)
    for name, values in other[1].items():
        np.testing.assert_allclose(one[1][name], values, rtol=1e-4)
    np.testing.assert_allclose(one[2], other[2], rtol=1e-4)
    for a, b in zip(one[3], other[3], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


def counted(taken, epochs=100):
    """Batches of 4, and how many have been taken."""

    def rows():
        for number in range(epochs * 256):
            taken.append(number)
            yield IMAGES[number % 256], LABELS[number % 256]

    signature = (tf.TensorSpec((64,), tf.float32), tf.TensorSpec((), tf.int32))
    return tf.data.Dataset.from_generator(rows, output_signature=signature).batch(4, drop_remainder=True)


def test_a_model_of_inputs_and_outputs_has_no_other_arguments():
    with strategy_of(2).scope():
        inputs = keras.Input((4,))
        for kind in (ipu.keras.Model, ipu.keras.PipelineModel):
            with pytest.raises(TypeError, match=f"{kind.__name__} has no argument 'gradient_acumulation_dtype'"):
                kind(inputs, inputs, gradient_accumulation_count=4, gradient_acumulation_dtype=tf.float32)


def test_a_step_of_the_first_edition_is_a_whole_run_of_the_pipeline(tmp_path):
    epochs, taken = [], {"fit": [], "evaluate": [], "predict": []}
    with strategy_of(2).scope():
        keras.utils.set_random_seed(1)
        own = [[layers.Dense(16, "relu"), layers.Dropout(0.1, seed=3)], [layers.Dense(10)]]
        model = compiled(
            ipu.keras.PipelineSequential(own, 8, device_mapping=[1, 0], gradient_accumulation_dtype=tf.float32),
            optimizer=keras.optimizers.Adam(0.01),
        )
        assert model.gradient_accumulation_count == 8 and model.gradient_accumulation_dtype == tf.float32
        callbacks = [
            keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: epochs.append(sorted(logs))),
            keras.callbacks.ModelCheckpoint(tmp_path / "{epoch}.weights.h5", save_weights_only=True),
        ]
        history = model.fit(
            counted(taken["fit"]),
            epochs=3,
            steps_per_epoch=8,
            class_weight=dict.fromkeys(range(10), 1.0),
            callbacks=callbacks,
            validation_data=(IMAGES[256:288], LABELS[256:288]),
            validation_batch_size=4,
            verbose=0,
        ).history
        loss, accuracy = model.evaluate(counted(taken["evaluate"]), steps=8, verbose=0)
        predicted = model.predict(counted(taken["predict"]).map(lambda x, y: x), steps=2, verbose=0)
    assert [len(each) >= 4 * 8 * steps for each, steps in zip(taken.values(), (24, 8, 2), strict=True)] == [True] * 3
    assert len(taken["fit"]) < 4 * 8 * 24 + 300 and predicted.shape == (64, 10)
    assert epochs == [["accuracy", "loss", "val_accuracy", "val_loss"]] * 3
    assert history["loss"][-1] < history["loss"][0] and accuracy > 0.5
    with tf.distribute.get_strategy().scope():
        plain = compiled(keras.Sequential([keras.Input((64,)), layers.Dense(16, "relu"), layers.Dense(10)]))
    plain.set_weights(model.get_weights()[:4] if len(model.get_weights()) == 4 else model.get_weights()[-4:])
    np.testing.assert_allclose(loss, plain.evaluate(IMAGES[:256], LABELS[:256], verbose=0)[0], rtol=1e-4)
    np.testing.assert_allclose(predicted, plain.predict(IMAGES[:64], verbose=0), atol=1e-4)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["1.weights.h5", "2.weights.h5", "3.weights.h5"]


ops = ipu.pipelining_ops
OPTIONS = {
    "recomputed": (2, {"recomputation_mode": ops.RecomputationMode.RecomputeAndBackpropagateInterleaved}),
    "sequential": (2, {"pipeline_schedule": Schedules.Sequential}),
    "serialized": (
        1,
        {"batch_serialization_iterations": 4, "gradient_accumulation_count": 2, "offload_activations": True},
    ),
    "in remote memory": (
        4,
        {
            "offload_weight_update_variables": True,
            "replicated_optimizer_state_sharding": True,
            "replicated_weight_sharding": True,
            "offload_weights": True,
            "offload_gradient_accumulation_buffers": True,
        },
    ),
    "of libraries": (
        2,
        {
            "forward_propagation_stages_poplar_options": [ops.PipelineStageOptions(matmul_options={"a": "b"})] * 2,
            "weight_update_poplar_options": ops.PipelineStageOptions(),
        },
    ),
    "one IPU": (1, {"device_mapping": [0, 0]}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIONS)
def test_options_change_no_weights(name):
    ipus, options = OPTIONS[name]
    weights = []
    for number, own in ((ipus, options), (2, {})):
        with strategy_of(number, allow_recompute=True).scope():
            keras.utils.set_random_seed(1)
            pixels = keras.Input((64,))
            with Stage(0):
                hidden = layers.Dense(24, "relu")(pixels)
            with Stage(1):
                outputs = layers.Dense(10)(hidden)
            model = compiled(
                ipu.keras.PipelineModel(pixels, outputs, **{"gradient_accumulation_count": 8, **own}),
                2,
                keras.optimizers.SGD(0.02, 0.9),
            )
        batch = 4 if number == 4 else 8
        model.fit(IMAGES[:256], LABELS[:256], batch_size=batch, epochs=2, shuffle=False, verbose=0)
        weights.append(model)
    agree(*weights)


@pytest.mark.slow
@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize("schedule", ["Grouped", "Interleaved", "Sequential"])
@pytest.mark.parametrize("stages", [2, 4])
def test_digits_are_learned(stages, schedule, replicas):
    x, y = IMAGES[:1536], LABELS[:1536]
    with strategy_of(stages * replicas).scope():
        keras.utils.set_random_seed(4)
        own = [layers.Dense(48, "relu"), layers.Dense(32, "relu"), layers.Dense(24, "relu"), layers.Dense(10)]
        cut = [own[:2], own[2:]] if stages == 2 else [[each] for each in own]
        model = ipu.keras.PipelineSequential(
            cut, 8, pipeline_schedule=Schedules[schedule], offload_weight_update_variables=True
        )
        compiled(model, optimizer=keras.optimizers.SGD(0.01, 0.9))
    rows = {"x": x, "y": y, "shuffle": False, "verbose": 0}
    model.fit(batch_size=8 // replicas, epochs=2, **rows)
    keras.utils.set_random_seed(4)
    plain = [layers.Dense(48, "relu"), layers.Dense(32, "relu"), layers.Dense(24, "relu"), layers.Dense(10)]
    plain = compiled(keras.Sequential(plain), optimizer=keras.optimizers.SGD(0.01 * 8, 0.9))
    plain.fit(batch_size=64, epochs=2, **rows)
    agree(model, plain)
    model.fit(batch_size=8 // replicas, epochs=20, **rows)
    assert np.mean(model.predict(x, batch_size=8, verbose=0).argmax(axis=1) == y) >= 0.95
    predicted = model.predict(IMAGES[1536:], batch_size=8, verbose=0)
    assert np.mean(predicted.argmax(axis=1) == LABELS[1536:]) >= 0.85
