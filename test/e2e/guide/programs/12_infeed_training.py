# Feature: training loop over an infeed of dicts with loops.repeat and a v1 optimizer in graph mode (guide 21.4).
# Correct run: the queue gives two arguments by name; each run goes on where the last ended; loss falls below half; prints ok.
from pathlib import Path

import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow import ipu

tf1 = tf.compat.v1
DIGITS = Path(__file__).resolve().parents[4] / "examples" / "digits" / "digits.npz"

config = ipu.config.IPUConfig()
config.auto_select_ipus = 1
config.configure_ipu_system()

with np.load(DIGITS) as data:
    images = (data["images"][..., None] / 16.0).astype(np.float32)
    targets = data["labels"].astype(np.int32)


def network(x):
    with tf1.variable_scope("net", use_resource=True, reuse=tf1.AUTO_REUSE):
        kernel = tf1.get_variable("kernel", [3, 3, 1, 8], initializer=tf1.random_normal_initializer(stddev=0.3, seed=1))
        weights = tf1.get_variable("weights", [288, 10], initializer=tf1.random_normal_initializer(stddev=0.05, seed=2))
        bias = tf1.get_variable("bias", [10], initializer=tf1.zeros_initializer())
    hidden = tf.nn.relu(tf.nn.conv2d(x, kernel, strides=1, padding="VALID"))
    return tf.matmul(tf.reshape(hidden, [-1, 288]), weights) + bias


with tf.Graph().as_default():
    dataset = (
        tf.data.Dataset.from_tensor_slices((images, targets))
        .shuffle(2000, seed=4)
        .batch(32, drop_remainder=True)
        .repeat()
    )
    dataset = dataset.map(lambda x, y: {"features": x, "labels": y})
    infeed = ipu.ipu_infeed_queue.IPUInfeedQueue(dataset)

    def body(loss, features, labels):
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=network(features))
        loss = tf.reduce_mean(losses)
        train = tf1.train.GradientDescentOptimizer(0.1).minimize(loss)
        with tf.control_dependencies([train]):
            return tf.identity(loss)

    def net():
        return ipu.loops.repeat(20, body, [tf.constant(0.0)], infeed)

    with ipu.scopes.ipu_scope("/device:IPU:0"):
        result = ipu.ipu_compiler.compile(net, inputs=[])
    assert infeed.dequeued and infeed.number_of_tuple_elements == 2
    ipu.utils.move_variable_initialization_to_cpu()

    with tf1.Session() as session:
        session.run(infeed.initializer)
        session.run(tf1.global_variables_initializer())
        losses = [float(session.run(result)[0]) for _ in range(15)]
        session.run(infeed.deleter)

print(losses)
assert losses[-1] < 0.5 * losses[0]
print("ok")
