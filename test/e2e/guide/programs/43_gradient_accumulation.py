# Feature: GradientAccumulationOptimizerV2 (SUM, MEAN, RUNNING_MEAN) and GradientAccumulationOptimizer in loops.repeat (guide 21.16).
# Correct run: one update per 4 batches, of the sum, the mean or the running mean of their gradients; between updates weights do not move; a trip
# count that 4 does not divide is refused; prints ok.
import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow import ipu

tf1 = tf.compat.v1
optimizers, methods = ipu.optimizers, ipu.gradient_accumulation.GradientAccumulationReductionMethod
assert optimizers.GradientAccumulationReductionMethod is methods
N, ROUNDS, RATE = 4, 3, 0.05
gradients = np.random.default_rng(13).standard_normal((N * ROUNDS, 3)).astype(np.float32)

config = ipu.config.IPUConfig()
config.auto_select_ipus = 1
config.configure_ipu_system()


def train(wrap, momentum=0.0, steps=N * ROUNDS):
    with tf.Graph().as_default():
        feed = ipu.ipu_infeed_queue.IPUInfeedQueue(tf.data.Dataset.from_tensor_slices(gradients).repeat())
        trace = ipu.ipu_outfeed_queue.IPUOutfeedQueue()

        def body(gradient):
            with tf1.variable_scope("net", use_resource=True):
                weights = tf1.get_variable("weights", initializer=np.ones(3, np.float32))
            before = weights.read_value()
            loss = tf.reduce_sum(weights * gradient)  # its gradient is the element of the feed
            inner = (
                tf1.train.MomentumOptimizer(RATE, momentum) if momentum else tf1.train.GradientDescentOptimizer(RATE)
            )
            with tf.control_dependencies([before]):  # read, then update
                train_op = wrap(inner).minimize(loss)
            return trace.enqueue(before), train_op

        with ipu.scopes.ipu_scope("/device:IPU:0"):
            run = ipu.ipu_compiler.compile(lambda: ipu.loops.repeat(steps, body, [], feed), inputs=[])
        outfed = trace.dequeue()
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            session.run(feed.initializer)
            session.run(run)
            (weights,) = [v for v in tf1.trainable_variables()]
            return session.run(outfed), session.run(weights)


rounds = gradients.reshape(ROUNDS, N, 3)
for method, step in (
    (methods.SUM, rounds.sum(axis=1)),
    (methods.MEAN, rounds.mean(axis=1)),
    (methods.RUNNING_MEAN, rounds.mean(axis=1)),
):
    before, after = train(
        lambda opt, method=method: optimizers.GradientAccumulationOptimizerV2(opt, N, reduction_method=method)
    )
    expected = 1.0 - RATE * np.cumsum(step, axis=0)
    np.testing.assert_allclose(after, expected[-1], rtol=1e-4, atol=1e-5)
    seen = np.repeat(np.concatenate([np.ones((1, 3)), expected[:-1]]), N, axis=0)
    np.testing.assert_allclose(before, seen, rtol=1e-4, atol=1e-5)

velocity, weights = np.zeros(3), np.ones(3)
for total in rounds.sum(axis=1):
    velocity = 0.9 * velocity + total
    weights = weights - RATE * velocity
for wrap in (
    lambda opt: optimizers.GradientAccumulationOptimizerV2(
        opt, N, dtype=tf.float32, offload_weight_update_variables=False
    ),
    lambda opt: optimizers.GradientAccumulationOptimizer(opt, N),
):
    np.testing.assert_allclose(train(wrap, momentum=0.9)[1], weights, rtol=1e-4, atol=1e-5)

for steps, count in ((N + 1, N), (N, 0)):
    try:
        train(lambda opt, count=count: optimizers.GradientAccumulationOptimizerV2(opt, count), steps=steps)
    except Exception as error:
        print(f"refused: {error}")
    else:
        raise SystemExit("the loop must run a multiple of the accumulation count")
print("ok")
