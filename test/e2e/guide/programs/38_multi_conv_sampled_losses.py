# Feature: nn_ops.multi_conv, nce_loss, sampled_softmax_loss (guide 21.15.8).
# Correct run: convolutions inside the decorator equal those outside, gradients too; both losses equal TensorFlow's for the same sampled classes;
# without given samples they are finite and positive; prints ok.
import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow import ipu

config = ipu.config.IPUConfig()
config.auto_select_ipus = 1
config.configure_ipu_system()
random = np.random.default_rng(10)


def normal(*shape):
    return tf.constant(0.3 * random.standard_normal(shape), tf.float32)


def convolutions(x, y, kernel_x, kernel_y):
    x = tf.nn.conv2d(x, kernel_x, strides=1, padding="SAME") + 1.0
    y = tf.nn.depthwise_conv2d(y, kernel_y, strides=[1, 1, 1, 1], padding="VALID")
    return x, y


parallel = ipu.nn_ops.multi_conv(options={"availableMemoryProportion": "0.4"})(convolutions)
decorated = ipu.nn_ops.multi_conv(convolutions)
arguments = (normal(2, 6, 6, 3), normal(2, 7, 7, 4), normal(3, 3, 3, 5), normal(2, 2, 4, 2))


def with_gradients(function):
    @tf.function(jit_compile=True)
    def run(*inputs):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            x, y = function(*inputs)
            loss = tf.reduce_sum(x * x) + tf.reduce_sum(y * y)
        return [x, y, *tape.gradient(loss, inputs)]

    return run


weights, biases, inputs = normal(50, 8), normal(50), normal(6, 8)
labels = tf.constant([[1], [2], [3], [4], [5], [6]], tf.int64)
sampled = (tf.constant([10, 20, 30, 40], tf.int64), tf.fill([6, 1], 0.2), tf.fill([4], 0.1))  # none is a label


@tf.function(jit_compile=True)
def losses():
    ops = ipu.nn_ops
    return (
        ops.nce_loss(weights, biases, labels, inputs, 4, 50, sampled_values=sampled),
        ops.sampled_softmax_loss(weights, biases, labels, inputs, 4, 50, sampled_values=sampled),
        ops.nce_loss(weights, biases, labels, inputs, 8, 50),
        ops.sampled_softmax_loss(weights, biases, labels, inputs, 8, 50, seed=1),
    )


# Plain TensorFlow, on the CPU.
expected = with_gradients(convolutions)(*arguments)
plain_nce = tf.nn.nce_loss(weights, biases, labels, inputs, 4, 50, sampled_values=sampled)
plain_softmax = tf.nn.sampled_softmax_loss(weights, biases, labels, inputs, 4, 50, sampled_values=sampled)

strategy = ipu.ipu_strategy.IPUStrategy()
with strategy.scope():
    for function in (parallel, decorated):
        for ours, theirs in zip(strategy.run(with_gradients(function), args=arguments), expected):
            np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4)

    nce, softmax, free_nce, free_softmax = strategy.run(losses)
    np.testing.assert_allclose(nce, plain_nce, rtol=1e-4)
    np.testing.assert_allclose(softmax, plain_softmax, rtol=1e-4)
    for free in (free_nce, free_softmax):
        assert free.shape == (6,) and np.all(np.isfinite(free)) and np.all(free.numpy() > 0)
print("ok")
