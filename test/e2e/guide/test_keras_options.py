"""Accumulation and replicas of models of Keras that are no pipelines, against plain Keras."""

import importlib

import numpy as np
import pytest

from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")
if keras.backend.backend() != "tensorflow":
    pytest.skip("Keras runs on another backend here", allow_module_level=True)
program = importlib.import_module("ipu_mlir.tensorflow.program")
RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((96, 16)).astype(np.float32), RNG.standard_normal((96, 8)).astype(np.float32)


def strategy_of(ipus):
    config = ipu.config.IPUConfig()
    config.auto_select_ipus = ipus
    config.ipu_model.tiles_per_ipu = 4
    config.configure_ipu_system()
    return ipu.ipu_strategy.IPUStrategy()


def linear(steps=1, rate=0.1):
    keras.utils.set_random_seed(3)
    model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(8)])
    model.compile(keras.optimizers.SGD(rate, 0.9), "mse", metrics=["mae"], steps_per_execution=steps)
    return model


@pytest.mark.parametrize(
    ("method", "replicas", "options"),
    [
        ("sum", 1, {"dtype": tf.float32}),
        ("mean", 2, {"offload_weight_update_variables": True, "replicated_optimizer_state_sharding": True}),
        ("RUNNING_MEAN", 2, {"dtype": lambda variable: variable.dtype}),
    ],
)
def test_updates_of_several_steps_are_those_of_one_large_batch(method, replicas, options, monkeypatch):
    engines = []

    class Kept(program.Program):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            engines.append(self.executable.engine)

    monkeypatch.setattr(program, "Program", Kept)
    count = 4
    with strategy_of(replicas).scope():
        model = linear(2 * count)
        model.set_gradient_accumulation_options(
            count, gradient_accumulation_reduction_method=method, use_v2_gradient_accumulation_optimizer=True, **options
        )
    kwargs = {"epochs": 2, "shuffle": False, "verbose": 0}
    model.fit(X, Y, batch_size=12 // replicas, **kwargs)
    plain = linear(rate=0.1 * (count if method == "sum" else 1))
    plain.fit(X, Y, batch_size=12 * count, **kwargs)
    for one, other in zip(model.get_weights(), plain.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    is_cut = "replicated_optimizer_state_sharding" in options
    assert [each.shape[0] for engine in engines for each in engine.remote] == ([2] if is_cut else [])


@pytest.mark.parametrize("steps", [-1, 0, 2.5, "auto"])
def test_steps_of_an_execution_are_one_or_more(steps):
    with strategy_of(1).scope():
        model = linear()
        model.compile("sgd", "mse", steps_per_execution=steps)
        with pytest.raises(ValueError, match=rf"steps_per_execution={steps!r}; it is how many steps .*, from 1 on"):
            model.fit(X, Y, batch_size=12, verbose=0)


def test_steps_of_an_execution_are_whole_updates():
    with strategy_of(1).scope():
        model = linear(6)
        model.set_gradient_accumulation_options(4)
        text = r"The model has been configured .* value \(set to 6\) is not divisible by `gradient_accum.*` \(4\)"
        with pytest.raises(RuntimeError, match=text):
            model.fit(X, Y, batch_size=12, verbose=0)
        model.set_gradient_accumulation_options(3, "running_mean")
        assert len(model.fit(X[:72], Y[:72], batch_size=12, verbose=0).history["loss"]) == 1
        text = r"train_step of model '.*' is given 2 batches, and takes 3 batches at once; give it more data"
        with pytest.raises(ValueError, match=text):
            model.fit(X[:24], Y[:24], batch_size=12, verbose=0)
        with pytest.raises(ValueError, match="is given 1 batch,"):
            model.train_on_batch(X[:12], Y[:12])


@pytest.mark.parametrize("method", ["LIST", "SUM", "mean", "NONE"])
def test_metrics_of_replicas(method):
    with strategy_of(2).scope():
        model = linear(8)
        model.set_replication_options(method)
    found = model.evaluate(X, Y, batch_size=6, return_dict=True, verbose=0)["mae"]
    plain = linear()
    parts = [np.arange(96).reshape(-1, 2, 6)[:, replica].reshape(-1) for replica in range(2)]
    own = [plain.evaluate(X[rows], Y[rows], verbose=0, return_dict=True)["mae"] for rows in parts]
    wanted = {"LIST": own, "SUM": sum(own), "mean": sum(own) / 2, "NONE": own[0]}[method]
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_options_without_effect_are_checked(caplog):
    with strategy_of(1).scope():
        model = linear()
        model.set_infeed_queue_options(prefetch_depth=2)
        model.set_outfeed_queue_options(buffer_depth=2)
        model.set_asynchronous_callbacks(True)
        assert "set_asynchronous_callbacks has no effect" in caplog.text
        with pytest.raises(TypeError, match="unexpected keyword argument 'depth'; it takes prefetch_depth"):
            model.set_outfeed_queue_options(depth=2)
