# Feature: IPUMultiWorkerStrategy around a two-stage training pipeline, gradients summed over workers (guide 21.9, its example).
# Correct run (one worker): the global loss falls below half in 20 executions; prints ok.
import json
import os
import socket

import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow import ipu

tf1 = tf.compat.v1
pipelining = ipu.pipelining_ops
with socket.socket() as free:
    free.bind(("localhost", 0))
    address = f"localhost:{free.getsockname()[1]}"
os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": [address]}, "task": {"type": "worker", "index": 0}})
COUNT, BATCH = 8, 16

random = np.random.default_rng(3)
points = random.standard_normal((512, 8)).astype(np.float32)
classes = (points @ random.standard_normal((8, 3))).argmax(axis=1).astype(np.int32)

resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
strategy = ipu.ipu_multi_worker_strategy.IPUMultiWorkerStrategy(resolver)
session_config = strategy.update_config_proto(tf1.ConfigProto())
server = tf.distribute.Server(
    resolver.cluster_spec(), job_name=resolver.task_type, task_index=resolver.task_id, config=session_config
)

config = ipu.config.IPUConfig()
config.auto_select_ipus = 2
config.configure_ipu_system()

with tf.Graph().as_default(), strategy.scope():
    dataset = tf.data.Dataset.from_tensor_slices((points, classes)).repeat().batch(BATCH, drop_remainder=True)
    infeed = ipu.ipu_infeed_queue.IPUInfeedQueue(dataset)
    outfeed = ipu.ipu_outfeed_queue.IPUOutfeedQueue()

    def weights(name, shape):
        with tf1.variable_scope("net", use_resource=True, reuse=tf1.AUTO_REUSE):
            return tf1.get_variable(name, shape, initializer=tf1.random_normal_initializer(stddev=0.3, seed=1))

    def stage1(lr, x, y):
        return lr, tf.nn.relu(tf.matmul(x, weights("first", [8, 16]))), y

    def stage2(lr, hidden, y):
        logits = tf.matmul(hidden, weights("second", [16, 3]))
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
        return lr, tf.nn.compute_average_loss(losses, global_batch_size=BATCH * strategy.num_replicas_in_sync)

    def optimizer_function(lr, loss):
        return pipelining.OptimizerFunctionOutput(tf1.train.GradientDescentOptimizer(lr), loss)

    def model(lr):
        return pipelining.pipeline(
            [stage1, stage2],
            gradient_accumulation_count=COUNT,
            inputs=[lr],
            infeed_queue=infeed,
            outfeed_queue=outfeed,
            optimizer_function=optimizer_function,
        )

    def compiled(lr):
        with ipu.scopes.ipu_scope("/device:IPU:0"):
            return ipu.ipu_compiler.compile(model, inputs=[lr])

    with tf.device("cpu"):
        rate = tf1.placeholder(tf.float32, [])
    train = strategy.experimental_run_v2(compiled, args=[rate])
    _, worker_losses = outfeed.dequeue()
    global_loss = strategy.reduce(tf.distribute.ReduceOp.SUM, tf.reduce_mean(worker_losses))

    with tf1.Session(target=server.target, config=session_config) as session:
        session.run(infeed.initializer)
        session.run(tf1.global_variables_initializer())
        losses = []
        for _ in range(20):
            session.run(train, {rate: 0.05})
            losses.append(float(session.run(global_loss)))

print(losses)
assert losses[-1] < 0.5 * losses[0]
print("ok")
