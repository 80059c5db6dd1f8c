# Feature: training pipeline in graph mode, learning rate as an input (guide 21.15.7, second example).
# Correct run: losses and weights equal sequential training in NumPy: gradients of 8 batches summed, then one update; prints ok.
import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow import ipu

tf1 = tf.compat.v1
COUNT, REPEAT, BATCH, RATE = 8, 3, 4, 0.05
random = np.random.default_rng(2)
images = random.standard_normal((COUNT * REPEAT * BATCH, 12)).astype(np.float32)
labels = random.integers(0, 5, COUNT * REPEAT * BATCH).astype(np.int32)
first, second = (0.4 * random.standard_normal(shape).astype(np.float32) for shape in ((12, 16), (16, 5)))

config = ipu.config.IPUConfig()
config.auto_select_ipus = 2
config.configure_ipu_system()

with tf.Graph().as_default():
    dataset = tf.data.Dataset.from_tensor_slices((images, labels)).batch(BATCH, drop_remainder=True)
    infeed = ipu.ipu_infeed_queue.IPUInfeedQueue(dataset)
    outfeed = ipu.ipu_outfeed_queue.IPUOutfeedQueue()

    def stage1(lr, x, y):
        weights = tf1.get_variable("first", initializer=first)
        return lr, tf.nn.relu(tf.matmul(x, weights)), y

    def stage2(lr, partial, y):
        weights = tf1.get_variable("second", initializer=second)
        cross_entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=tf.matmul(partial, weights))
        return lr, tf.reduce_mean(cross_entropy)

    def optimizer_function(lr, loss):
        return ipu.pipelining_ops.OptimizerFunctionOutput(tf1.train.GradientDescentOptimizer(lr), loss)

    def model(lr):
        with tf1.variable_scope("vs", use_resource=True):
            return ipu.pipelining_ops.pipeline(
                computational_stages=[stage1, stage2],
                gradient_accumulation_count=COUNT,
                repeat_count=REPEAT,
                inputs=[lr],
                infeed_queue=infeed,
                outfeed_queue=outfeed,
                optimizer_function=optimizer_function,
                name="Pipeline",
            )

    with tf.device("cpu"):
        rate = tf1.placeholder(tf.float32, [])
    with tf.device("/device:IPU:0"):
        compiled = ipu.ipu_compiler.compile(model, inputs=[rate])
    outfed = outfeed.dequeue()
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        session.run(infeed.initializer)
        session.run(compiled, {rate: RATE})
        rates, losses = session.run(outfed)
        trained = {v.name: session.run(v) for v in tf1.global_variables()}

expected = []
for start in range(0, len(images), COUNT * BATCH):
    sums = [np.zeros_like(first), np.zeros_like(second)]
    for i in range(start, start + COUNT * BATCH, BATCH):
        x, y = images[i : i + BATCH], labels[i : i + BATCH]
        hidden = np.maximum(x @ first, 0)
        p = np.exp(hidden @ second)
        p /= p.sum(axis=1, keepdims=True)
        expected.append(-np.log(p[np.arange(BATCH), y]).mean())
        p[np.arange(BATCH), y] -= 1
        sums[1] += hidden.T @ p / BATCH
        sums[0] += x.T @ ((p @ second.T) * (hidden > 0)) / BATCH
    first, second = first - RATE * sums[0], second - RATE * sums[1]

np.testing.assert_allclose(np.ravel(rates), RATE)
np.testing.assert_allclose(np.ravel(losses), expected, rtol=1e-3, atol=1e-4)
np.testing.assert_allclose(trained["vs/first:0"], first, rtol=1e-3, atol=1e-4)
np.testing.assert_allclose(trained["vs/second:0"], second, rtol=1e-3, atol=1e-4)
print("ok")
