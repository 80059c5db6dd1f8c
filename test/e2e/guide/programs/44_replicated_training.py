# Feature: CrossReplicaOptimizer and CrossReplicaGradientAccumulationOptimizerV2 on two replicas, optimizer state sharded (guide 21.16.2).
# Correct run: replicas read different batches and keep equal weights, those of training on the mean gradient; prints ok.
import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow import ipu

tf1 = tf.compat.v1
optimizers = ipu.optimizers
R, N, ROUNDS, RATE = 2, 2, 3, 0.1
gradients = np.random.default_rng(14).standard_normal((ROUNDS * N * R, 5)).astype(np.float32)

config = ipu.config.IPUConfig()
config.auto_select_ipus = R
config.configure_ipu_system()


def train(wrap, momentum=0.0):
    with tf.Graph().as_default():
        feed = ipu.ipu_infeed_queue.IPUInfeedQueue(tf.data.Dataset.from_tensor_slices(gradients).repeat())
        trace = ipu.ipu_outfeed_queue.IPUOutfeedQueue()

        def body(gradient):
            with tf1.variable_scope("net", use_resource=True):
                weights = tf1.get_variable("weights", initializer=np.zeros(5, np.float32))
            inner = (
                tf1.train.MomentumOptimizer(RATE, momentum) if momentum else tf1.train.GradientDescentOptimizer(RATE)
            )
            train_op = wrap(inner).minimize(tf.reduce_sum(weights * gradient))
            with tf.control_dependencies([train_op]):
                return trace.enqueue(weights.read_value())

        with ipu.scopes.ipu_scope("/device:IPU:0"):
            run = ipu.ipu_compiler.compile(lambda: ipu.loops.repeat(ROUNDS * N, body, [], feed), inputs=[])
        outfed = trace.dequeue()
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            session.run(feed.initializer)
            session.run(run)
            return session.run(outfed)


each = gradients.reshape(ROUNDS * N, R, 5)  # round robin over the replicas
trace = train(optimizers.CrossReplicaOptimizer)
assert trace.shape == (ROUNDS * N, R, 5)
expected = -RATE * np.cumsum(each.mean(axis=1), axis=0)
for replica in range(R):
    np.testing.assert_allclose(trace[:, replica], expected, rtol=1e-4, atol=1e-5)


def sharded(opt):
    return optimizers.CrossReplicaGradientAccumulationOptimizerV2(
        opt, N, offload_weight_update_variables=True, replicated_optimizer_state_sharding=True
    )


velocity, weights, expected = np.zeros(5), np.zeros(5), []
for total in each.mean(axis=1).reshape(ROUNDS, N, 5).sum(axis=1):
    velocity = 0.9 * velocity + total
    weights = weights - RATE * velocity
    expected.append(weights)
for wrap in (sharded, lambda opt: optimizers.CrossReplicaGradientAccumulationOptimizer(opt, N)):
    trace = train(wrap, momentum=0.9)
    np.testing.assert_allclose(trace[N - 1 :: N, 0], expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(trace[:, 0], trace[:, 1])
print("ok")
