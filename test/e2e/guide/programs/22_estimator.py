# Feature: IPUEstimator with IPURunConfig: train, evaluate, predict, checkpoints (guide 21.13.1, 21.13.3).
# Correct run: global_step is 200 after training in loops of 20; accuracy above 0.85; predictions are classes; variables can be read back; prints ok.
import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow import ipu

tf1 = tf.compat.v1
DIGITS = Path(__file__).resolve().parents[4] / "examples" / "digits" / "digits.npz"
with np.load(DIGITS) as data:
    images = (data["images"].reshape(-1, 64) / 16.0).astype(np.float32)
    labels = data["labels"].astype(np.int32)


def input_fn():
    dataset = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(2000, seed=1)
    return dataset.repeat().batch(16, drop_remainder=True)


def model_fn(features, labels, mode, params):
    with tf1.variable_scope("net", use_resource=True):
        weights = tf1.get_variable("weights", [64, 10], initializer=tf1.zeros_initializer())
        bias = tf1.get_variable("bias", [10], initializer=tf1.zeros_initializer())
    logits = tf.matmul(features, weights) + bias
    predictions = tf.argmax(logits, axis=1, output_type=tf.int32)
    spec = ipu.ipu_estimator.IPUEstimatorSpec
    if mode == "infer":
        return spec(mode, predictions=predictions)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    if mode == "eval":

        def metrics(predicted, wanted):  # runs on the CPU
            return {"accuracy": tf1.metrics.accuracy(wanted, predicted)}

        return spec(mode, loss=loss, eval_metrics=(metrics, [predictions, labels]))
    train = tf1.train.GradientDescentOptimizer(params["rate"]).minimize(loss)
    return spec(mode, loss=loss, train_op=train)


options = ipu.config.IPUConfig()
options.auto_select_ipus = 1
with tempfile.TemporaryDirectory() as folder:
    run_config = ipu.ipu_run_config.RunConfig(
        ipu_run_config=ipu.ipu_run_config.IPURunConfig(iterations_per_loop=20, ipu_options=options), model_dir=folder
    )
    estimator = ipu.ipu_estimator.IPUEstimator(model_fn, config=run_config, params={"rate": 0.5})
    assert estimator.train(input_fn, steps=100) is estimator
    estimator.train(input_fn, steps=100)  # adds up
    estimator.train(input_fn, max_steps=200)  # nothing left to do

    results = estimator.evaluate(input_fn, steps=100)
    print(results)
    assert results["global_step"] == 200 and results["accuracy"] > 0.85
    assert np.isfinite(results["loss"])

    predictions = list(estimator.predict(input_fn, num_predictions=64))
    assert len(predictions) == 64 and set(np.ravel(predictions)) <= set(range(10))
    assert "net/weights" in estimator.get_variable_names()
    assert estimator.get_variable_value("net/weights").shape == (64, 10)
    assert estimator.latest_checkpoint().startswith(folder)
    assert estimator.eval_dir().startswith(folder)
print("ok")
