# Feature: inference pipeline of two stages in graph mode, stages placed by device_mapping (guide 21.15.7, first example).
# Correct run: 16 x 2 rows of probabilities and classes, equal to the network computed by NumPy, in feed order; prints ok.
import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow import ipu

tf1 = tf.compat.v1
COUNT, REPEAT, BATCH = 16, 2, 8

config = ipu.config.IPUConfig()
config.auto_select_ipus = 4
config.configure_ipu_system()
pictures = np.random.default_rng(1).standard_normal((COUNT * REPEAT * BATCH, 20)).astype(np.float32)


def dense(x, name, width, activation):
    with tf1.variable_scope(name, use_resource=True):
        kernel = tf1.get_variable(
            "kernel", [x.shape[-1], width], initializer=tf1.glorot_uniform_initializer(seed=width)
        )
        bias = tf1.get_variable("bias", [width], initializer=tf1.constant_initializer(0.1))
    return activation(tf.matmul(x, kernel) + bias)


with tf.Graph().as_default():
    dataset = tf.data.Dataset.from_tensor_slices(pictures).batch(BATCH, drop_remainder=True)
    infeed = ipu.ipu_infeed_queue.IPUInfeedQueue(dataset)
    outfeed = ipu.ipu_outfeed_queue.IPUOutfeedQueue()

    def stage1(image):
        return dense(dense(image, "first", 32, tf.nn.relu), "second", 16, tf.nn.relu)

    def stage2(partial):
        logits = dense(partial, "third", 10, tf.identity)
        return tf.nn.softmax(logits), tf.argmax(logits, axis=1, output_type=tf.int32)

    def model():
        with tf1.variable_scope("vs", use_resource=True):
            return ipu.pipelining_ops.pipeline(
                computational_stages=[stage1, stage2],
                gradient_accumulation_count=COUNT,
                repeat_count=REPEAT,
                inputs=[],
                infeed_queue=infeed,
                outfeed_queue=outfeed,
                device_mapping=[3, 1],
                name="Pipeline",
            )

    with tf.device("/device:IPU:0"):
        compiled = ipu.ipu_compiler.compile(model, inputs=[])
    outfed = outfeed.dequeue()
    variables = {v.name: v for v in tf1.global_variables()}

    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        session.run(infeed.initializer)
        session.run(compiled)
        probabilities, classes = session.run(outfed)
        values = {name: session.run(v) for name, v in variables.items()}

hidden = pictures
for layer in ("first", "second", "third"):
    hidden = hidden @ values[f"vs/{layer}/kernel:0"] + values[f"vs/{layer}/bias:0"]
    hidden = np.maximum(hidden, 0) if layer != "third" else hidden
expected = np.exp(hidden) / np.exp(hidden).sum(axis=1, keepdims=True)

assert probabilities.shape == (COUNT * REPEAT, BATCH, 10) and classes.shape == (COUNT * REPEAT, BATCH)
np.testing.assert_allclose(probabilities.reshape(-1, 10), expected, rtol=1e-4, atol=1e-5)
np.testing.assert_array_equal(classes.ravel(), expected.argmax(axis=1))
print("ok")
