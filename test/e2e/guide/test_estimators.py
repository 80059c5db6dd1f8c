"""Estimators: what they count, keep, hand on and refuse."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")
from ipu_mlir.tensorflow import ipu  # noqa: E402

tf1 = tf.compat.v1
ROWS = np.random.default_rng(0).standard_normal((12, 3)).astype(np.float32)
WANTED = ROWS @ np.array([[1.0], [-2.0], [0.5]], np.float32)
Spec = ipu.ipu_estimator.IPUEstimatorSpec
PipelineSpec = ipu.ipu_pipeline_estimator.IPUPipelineEstimatorSpec


@pytest.fixture(autouse=True)
def _unconfigured():
    yield
    ipu.config.reset_ipu_configuration()


def run_config(folder, loop=2, replicas=1, shards=1, **more):
    run = ipu.ipu_run_config.IPURunConfig(loop, num_replicas=replicas, num_shards=shards)
    return ipu.ipu_run_config.RunConfig(run, model_dir=str(folder), **more)


def rows(repeats=1):
    return lambda: tf.data.Dataset.from_tensor_slices((ROWS, WANTED)).repeat(repeats).batch(4, drop_remainder=True)


def linear(features, labels, mode, params):
    w = tf1.get_variable("w", [3, 1], initializer=tf1.zeros_initializer(), use_resource=True)
    found = tf.matmul(features, w)
    if mode == "infer":
        return Spec(mode, predictions={"twice": 2 * found, "once": found})
    errors = found - labels
    loss = tf.reduce_mean(errors**2)
    if mode == "eval":
        if params.get("on_device"):
            return Spec(mode, loss=loss, eval_metric_ops={"error": tf1.metrics.mean(tf.abs(errors))})
        return Spec(mode, loss=loss, eval_metrics=(lambda errors: {"error": tf1.metrics.mean(abs(errors))}, [errors]))
    train = tf1.train.GradientDescentOptimizer(0.1).minimize(loss)
    told = params.get("told", [])

    def tell(loss):
        return tf.py_function(lambda value: told.append(float(value)), [loss], [])

    hooks = params.get("hooks")
    return Spec(mode, loss=loss, train_op=train, host_call=(tell, [loss]), training_hooks=hooks)


def descended(steps):
    """The weights after ``steps`` of the same training in NumPy, and the losses."""
    w, losses = np.zeros((3, 1)), []
    for step in range(steps):
        x, y = (each[step % 3 * 4 :][:4] for each in (ROWS, WANTED))
        losses.append(np.mean((x @ w - y) ** 2))
        w = w - 0.1 * 2 / 4 * x.T @ (x @ w - y)
    return w, losses


class Saved(tf1.train.CheckpointSaverListener):
    def __init__(self):
        self.steps = []

    def after_save(self, session, global_step_value):
        self.steps.append(int(global_step_value))


class Counted(tf1.train.SessionRunHook):
    def __init__(self):
        self.runs = 0

    def after_run(self, run_context, run_values):
        self.runs += 1


def test_steps_add_up_in_loops_that_need_not_be_full(tmp_path):
    told, counted, saved = [], Counted(), Saved()
    params = {"told": told, "hooks": [counted]}
    estimator = ipu.ipu_estimator.IPUEstimator(linear, config=run_config(tmp_path), params=params)
    with pytest.raises(ValueError, match="no checkpoint"):
        estimator.get_variable_names()
    assert estimator.latest_checkpoint() is None
    assert estimator.train(rows(2), steps=5, saving_listeners=[saved]) is estimator
    assert counted.runs == 3 and saved.steps == [0, 5]
    wanted, losses = descended(5)
    np.testing.assert_allclose(estimator.get_variable_value("w"), wanted, rtol=1e-5)
    np.testing.assert_allclose(told, losses, rtol=1e-5)
    estimator.train(rows(), max_steps=5)
    assert counted.runs == 3
    estimator.train(rows())  # until it ends
    assert estimator.get_variable_value("global_step") == 8
    assert sorted(estimator.get_variable_names()) == ["global_step", "w"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    estimator = ipu.ipu_estimator.IPUEstimator(linear, config=run_config(folder, loop=6))
    return estimator.train(rows(2), steps=6), descended(6)[0]


@pytest.mark.parametrize("on_device", [False, True])
def test_metrics_of_all_of_a_dataset(trained, on_device):
    estimator, w = trained
    again = ipu.ipu_estimator.IPUEstimator(
        linear, config=run_config(estimator.model_dir), params={"on_device": on_device}
    )
    found = again.evaluate(rows(), name="again")
    errors = ROWS @ w - WANTED
    wanted = {"loss": np.mean(errors**2), "error": np.mean(np.abs(errors)), "global_step": 6}
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-4)
    folder = Path(again.eval_dir("again"))
    assert folder.name == "eval_again" and any("tfevents" in each.name for each in folder.iterdir())


def test_predictions_one_by_one_and_in_batches(trained):
    estimator, w = trained
    found = list(estimator.predict(rows(), num_predictions=7))
    assert len(found) == 7 and found[0].keys() == {"once", "twice"}
    np.testing.assert_allclose([each["twice"] for each in found], 2 * (ROWS @ w)[:7], rtol=1e-4, atol=1e-6)
    batches = list(estimator.predict(rows(), "once", yield_single_examples=False))
    np.testing.assert_allclose([each["once"] for each in batches], (ROWS @ w).reshape(3, 4, 1), rtol=1e-4, atol=1e-6)
    with pytest.raises(ValueError, match="names thrice; the predictions are twice, once"):
        next(estimator.predict(rows(), ["thrice"]))


def receiver(is_labelled=False):
    def receive():
        x, y = tf1.placeholder(tf.float32, [None, 3]), tf1.placeholder(tf.float32, [None, 1])
        if is_labelled:
            return SimpleNamespace(features=x, labels=y, receiver_tensors={"x": x, "y": y})
        return SimpleNamespace(features=x, receiver_tensors=x)

    return receive


def test_models_on_disk(trained, tmp_path):
    estimator, w = trained
    extra = tmp_path / "words.txt"
    extra.write_text("words")
    receivers = {"infer": receiver(), "eval": receiver(is_labelled=True)}
    path = estimator.experimental_export_all_saved_models(tmp_path, receivers, {"words": str(extra)}).decode()
    assert path != estimator.export_saved_model(tmp_path, receiver()).decode()
    assert (tmp_path / path / "assets.extra" / "words").read_text() == "words"
    once = tf.saved_model.load(path, tags=["serve"]).signatures["serving_default"](input=tf.constant(ROWS))["once"]
    np.testing.assert_allclose(once, ROWS @ w, rtol=1e-4, atol=1e-6)
    given = {"x": tf.constant(ROWS), "y": tf.constant(WANTED)}
    loss = tf.saved_model.load(path, tags=["eval"]).signatures["eval"](**given)["loss"]
    np.testing.assert_allclose(loss, np.mean((ROWS @ w - WANTED) ** 2), rtol=1e-4)
    for receivers, wrong in (({"infer": None}, "no receiver function"), ({"ask": receiver()}, "'ask' is no mode")):
        with pytest.raises(ValueError, match=wrong):
            estimator.experimental_export_all_saved_models(tmp_path, receivers)


def test_replicas_take_their_parts_of_a_batch(tmp_path):
    def input_fn(mode, params):
        assert mode == "train" and params["batch_size"] == 2
        return tf.data.Dataset.from_tensor_slices((ROWS, WANTED)).batch(params["batch_size"], drop_remainder=True)

    def model_fn(features, labels):
        w = tf1.get_variable("w", [3, 1], initializer=tf1.zeros_initializer(), use_resource=True)
        loss = tf.reduce_mean((tf.matmul(features, w) - labels) ** 2)
        optimizer = ipu.optimizers.CrossReplicaOptimizer(tf1.train.GradientDescentOptimizer(0.1))
        return Spec("train", loss=loss, train_op=optimizer.minimize(loss))

    config = run_config(tmp_path, replicas=2)
    estimator = ipu.ipu_estimator.IPUEstimator(model_fn, config=config, train_batch_size=4).train(input_fn, steps=3)
    np.testing.assert_allclose(estimator.get_variable_value("w"), descended(3)[0], rtol=1e-5)
    with pytest.raises(ValueError, match="a batch of 3 is no multiple of 2 replicas"):
        ipu.ipu_estimator.IPUEstimator(model_fn, config=config, train_batch_size=3)
    with pytest.raises(ValueError, match="params has a batch_size"):
        ipu.ipu_estimator.IPUEstimator(model_fn, config=config, params={"batch_size": 1}, eval_batch_size=2)


def staged(mode, params):
    def weights(name, shape):
        with tf1.variable_scope("net", use_resource=True, reuse=tf1.AUTO_REUSE):
            return tf1.get_variable(name, shape, initializer=tf1.ones_initializer())

    def first(features, labels):
        return tf.matmul(features, weights("a", [3, 2])), labels

    def last(hidden, labels):
        found = tf.matmul(hidden, weights("b", [2, 1]))
        return found if mode == "infer" else tf.reduce_mean((found - labels) ** 2)

    return PipelineSpec(
        mode,
        [first, last],
        gradient_accumulation_count=4,
        eval_metrics_fn=lambda loss: {"loss": tf1.metrics.mean(loss)},
        optimizer_function=lambda loss: ipu.pipelining_ops.OptimizerFunctionOutput(
            tf1.train.GradientDescentOptimizer(0.01), loss
        ),
        loss_accumulator_dtype=params.get("dtype"),
    )


@pytest.mark.parametrize(
    ("params", "updates"), [({"dtype": tf.float32}, 1), pytest.param({}, 3, marks=pytest.mark.slow)]
)
def test_pipelines_take_whole_updates(tmp_path, params, updates):
    config = run_config(tmp_path, loop=8, shards=2)
    estimator = ipu.ipu_pipeline_estimator.IPUPipelineEstimator(staged, config=config, params=params)
    with pytest.raises(ValueError, match="steps is 6, and no multiple of gradient_accumulation_count, which is 4"):
        estimator.train(rows(), steps=6)
    estimator.train(rows(None), steps=4 * updates)
    a, b = np.ones((3, 2)), np.ones((2, 1))
    for update in range(updates):
        slopes = [0, 0]
        for step in range(4):
            x, y = (each[(4 * update + step) % 3 * 4 :][:4] for each in (ROWS, WANTED))
            error = 2 / 4 * (x @ a @ b - y)
            slopes = [slopes[0] + x.T @ error @ b.T, slopes[1] + (x @ a).T @ error]
        a, b = a - 0.01 * slopes[0], b - 0.01 * slopes[1]
    np.testing.assert_allclose(estimator.get_variable_value("net/a"), a, rtol=1e-4)
    np.testing.assert_allclose(estimator.get_variable_value("net/b"), b, rtol=1e-4)
    if params:
        return
    found = estimator.evaluate(rows(4), steps=12)
    np.testing.assert_allclose(found["loss"], np.mean((ROWS @ a @ b - WANTED) ** 2), rtol=1e-4)
    assert found["global_step"] == 12
    predicted = list(estimator.predict(rows(4), num_predictions=16))
    np.testing.assert_allclose(predicted[:12], ROWS @ a @ b, rtol=1e-4, atol=1e-6)
    path = estimator.export_saved_model(tmp_path, receiver(is_labelled=True)).decode()
    given = {"x": tf.constant(ROWS), "y": tf.constant(WANTED)}
    served = tf.saved_model.load(path).signatures["serving_default"](**given)["output"]
    np.testing.assert_allclose(served, ROWS @ a @ b, rtol=1e-4, atol=1e-6)


def test_the_cluster_is_that_of_the_environment(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", "{}")
    alone = ipu.ipu_run_config.RunConfig()
    assert (alone.is_chief, alone.num_worker_replicas, alone.num_ps_replicas, alone.master) == (True, 1, 0, "")
    assert alone.save_checkpoints_secs == 600 and alone.keep_checkpoint_max == 5
    cluster = {"worker": ["a:1", "b:1"], "ps": ["c:1"], "chief": ["d:1"]}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": "worker", "index": 1}}))
    one = ipu.ipu_run_config.RunConfig(save_checkpoints_steps=7)
    assert (one.task_type, one.task_id, one.is_chief, one.num_worker_replicas) == ("worker", 1, False, 3)
    assert one.cluster_spec.as_dict() == cluster and one.num_ps_replicas == 1 and one.master == "grpc://b:1"
    assert one.evaluator_master == "" and one.save_checkpoints_secs is None


RUN, CONFIG = ipu.ipu_run_config.IPURunConfig, ipu.ipu_run_config.RunConfig
ESTIMATOR = ipu.ipu_estimator.IPUEstimator


@pytest.mark.parametrize(
    ("make", "error", "wrong"),
    [
        (lambda: RUN(iterations_per_loop=0), ValueError, "iterations_per_loop must be a number from 1, got 0"),
        (lambda: RUN(ipu_options={}), ValueError, "ipu_options must be an IPUConfig"),
        (lambda: CONFIG(save_checkpoints_steps=1, save_checkpoints_secs=1), ValueError, "not both"),
        (lambda: CONFIG(steps=1), TypeError, "no option 'steps'"),
        (lambda: CONFIG().steps, AttributeError, "no option 'steps'"),
        (lambda: Spec("test"), ValueError, "mode is 'test'"),
        (lambda: Spec("train", loss=1), ValueError, "needs train_op"),
        (lambda: Spec("infer"), ValueError, "needs predictions"),
        (lambda: Spec("eval", loss=1, eval_metrics=abs), ValueError, "eval_metrics must be a tuple"),
        (lambda: Spec("eval", loss=1, eval_metrics=(abs, 1), eval_metric_ops={}), ValueError, "or eval_metric_ops"),
        (lambda: PipelineSpec("train", [], 4), ValueError, "needs optimizer_function"),
        (lambda: PipelineSpec("eval", [], 4), ValueError, "needs eval_metrics_fn"),
        (lambda: PipelineSpec("infer", []), ValueError, "gradient_accumulation_count must be above 0"),
        (lambda: PipelineSpec("infer", [], 4, inputs=[1]), ValueError, "inputs is what the estimator itself"),
        (lambda: ESTIMATOR(linear, config=RUN()), TypeError, "must be an ipu_run_config.RunConfig"),
        (lambda: ESTIMATOR(linear, "one", CONFIG(model_dir="two")), ValueError, "give one"),
        (lambda: ESTIMATOR(linear).train(rows(), steps=1, max_steps=1), ValueError, "not both"),
        (lambda: ESTIMATOR(linear).train(rows(), steps=0), ValueError, "steps must be above 0"),
        (lambda: ESTIMATOR(linear).train(lambda: ROWS, steps=1), TypeError, "must give a tf.data.Dataset"),
        (lambda: ESTIMATOR(linear).train(lambda x: ROWS, steps=1), ValueError, "takes 'x', and an estimator gives"),
        (lambda: ESTIMATOR(lambda mode: None).train(rows(), steps=1), ValueError, "has no argument 'features'"),
        (lambda: ESTIMATOR(lambda features: None).train(rows(), steps=1), TypeError, "must give an IPUEstimatorSpec"),
        (lambda: ESTIMATOR(linear).evaluate(rows(None)), ValueError, "does not end"),
        (lambda: ESTIMATOR(linear).export_saved_model("x", receiver()), ValueError, "no checkpoint to export"),
    ],
)
def test_what_is_refused(make, error, wrong):
    with pytest.raises(error, match=wrong):
        make()


def test_the_device_has_the_ipus_that_are_named(tmp_path):
    options = ipu.config.IPUConfig()
    options.auto_select_ipus = 2
    config = CONFIG(RUN(ipu_options=options, num_replicas=4), model_dir=str(tmp_path))
    with pytest.raises(ValueError, match="has 2 IPUs, and IPURunConfig names 4 replicas of 1 IPUs"):
        ESTIMATOR(linear, config=config).train(rows(), steps=1)


@pytest.mark.slow
def test_variables_may_begin_with_those_of_a_checkpoint(trained, tmp_path):
    estimator, _ = trained
    warm = ESTIMATOR(linear, config=run_config(tmp_path), warm_start_from=estimator.model_dir).train(rows(), steps=2)
    first = warm.get_variable_value("w")
    assert warm.get_variable_value("global_step") == 2
    cold = ESTIMATOR(linear, config=run_config(tmp_path / "cold")).train(rows(), steps=2).get_variable_value("w")
    assert np.abs(first - cold).max() > 1e-3
    with tf.Graph().as_default():
        spec = warm.model_fn(tf.constant(ROWS), None, "infer")
        assert spec.mode == "infer" and spec.predictions["once"].shape == [12, 1]
