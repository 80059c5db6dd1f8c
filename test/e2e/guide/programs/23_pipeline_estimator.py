# Feature: IPUPipelineEstimator, a model function of two stages (guide 21.13.2).
# Steps count mini-batches, a multiple of the accumulation count. Correct run: training reaches the asked number of steps, evaluation gives
# loss and accuracy above 0.8; prints ok.
import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow import ipu

tf1 = tf.compat.v1
DIGITS = Path(__file__).resolve().parents[4] / "examples" / "digits" / "digits.npz"
COUNT = 8
with np.load(DIGITS) as data:
    images = (data["images"].reshape(-1, 64) / 16.0).astype(np.float32)
    labels = data["labels"].astype(np.int32)


def input_fn():
    dataset = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(2000, seed=2)
    return dataset.repeat().batch(8, drop_remainder=True)


def weights(name, shape):
    with tf1.variable_scope("net", use_resource=True, reuse=tf1.AUTO_REUSE):
        return tf1.get_variable(name, shape, initializer=tf1.random_normal_initializer(stddev=0.2, seed=3))


def model_fn(mode, params):
    def stage1(features, labels):
        return tf.nn.relu(tf.matmul(features, weights("first", [64, 32]))), labels

    def stage2(hidden, labels):
        logits = tf.matmul(hidden, weights("second", [32, 10]))
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        if mode == "train":
            return loss
        return loss, tf.argmax(logits, axis=1, output_type=tf.int32), labels

    def optimizer_function(loss):
        return ipu.pipelining_ops.OptimizerFunctionOutput(tf1.train.GradientDescentOptimizer(params["rate"]), loss)

    def eval_metrics_fn(loss, predictions, labels):  # runs on the CPU
        return {"loss": tf1.metrics.mean(loss), "accuracy": tf1.metrics.accuracy(labels, predictions)}

    return ipu.ipu_pipeline_estimator.IPUPipelineEstimatorSpec(
        mode,
        computational_stages=[stage1, stage2],
        gradient_accumulation_count=COUNT,
        eval_metrics_fn=eval_metrics_fn,
        optimizer_function=optimizer_function,
        device_mapping=[0, 1],
        reduction_method=ipu.gradient_accumulation.GradientAccumulationReductionMethod.MEAN,
    )


options = ipu.config.IPUConfig()
options.auto_select_ipus = 2
with tempfile.TemporaryDirectory() as folder:
    loop = ipu.ipu_run_config.IPURunConfig(iterations_per_loop=80, ipu_options=options, num_shards=2)
    run_config = ipu.ipu_run_config.RunConfig(ipu_run_config=loop, model_dir=folder)
    estimator = ipu.ipu_pipeline_estimator.IPUPipelineEstimator(model_fn, config=run_config, params={"rate": 0.5})
    estimator.train(input_fn, steps=960)
    results = estimator.evaluate(input_fn, steps=80)
    print(results)
    assert results["global_step"] == 960
    assert np.isfinite(results["loss"]) and results["accuracy"] > 0.8
print("ok")
