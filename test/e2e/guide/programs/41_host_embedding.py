# Feature: embedding in host memory, trained by SGD from the device; embedding_lookup on the device (guide 21.15.12).
# Correct run: lookups give rows of the table; each occurrence of a token moves its row by rate x gradient; out-of-range indices are clipped; an
# embedding without optimizer stays as it is; prints ok.
import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow import ipu

tf1 = tf.compat.v1
embedding_ops = ipu.embedding_ops
TOKENS, WIDTH, RATE, STEPS = 12, 4, 0.1, 3
table = np.random.default_rng(11).standard_normal((TOKENS, WIDTH)).astype(np.float32)
tokens = np.array([0, 3, 3, 7, 11, 3], np.int32)

config = ipu.config.IPUConfig()
config.auto_select_ipus = 1
config.configure_ipu_system()


def train(spec):
    with tf.Graph().as_default():
        embedding = embedding_ops.create_host_embedding(
            "chars",
            shape=[TOKENS, WIDTH],
            dtype=tf.float32,
            partition_strategy="TOKEN",
            optimizer_spec=spec,
            initializer=tf1.constant_initializer(table),
        )
        feed = ipu.ipu_infeed_queue.IPUInfeedQueue(tf.data.Dataset.from_tensors(tokens).repeat())
        rows = ipu.ipu_outfeed_queue.IPUOutfeedQueue()

        def body(loss, ids):
            partial = embedding.lookup(ids)
            with tf1.variable_scope("net", use_resource=True):
                scale = tf1.get_variable("scale", initializer=1.0)
            loss = tf.reduce_sum(partial) * scale
            send = rows.enqueue(partial)
            if spec is None:
                return loss, send
            train_op = tf1.train.GradientDescentOptimizer(0.0).minimize(loss)
            return loss, send, train_op

        def net():
            return ipu.loops.repeat(STEPS, body, [tf.constant(0.0)], feed)

        with ipu.scopes.ipu_scope("/device:IPU:0"):
            run = ipu.ipu_compiler.compile(net, inputs=[])
            clipped = ipu.ipu_compiler.compile(lambda: embedding.lookup(tf.constant([-5, 100])), inputs=[])
        outfed = rows.dequeue()
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            session.run(feed.initializer)
            with embedding.register(session):
                session.run(run)
                looked_up = session.run(outfed)
                ends = session.run(clipped)[0]
            return looked_up, ends, session.run(embedding.get_embedding_tensor())


spec = embedding_ops.HostEmbeddingOptimizerSpec(RATE)
assert spec.get_learning_rate() == RATE
looked_up, ends, after = train(spec)
moved = table.copy()
for step in range(STEPS):
    np.testing.assert_allclose(looked_up[step], moved[tokens], rtol=1e-5, atol=1e-6)
    np.subtract.at(moved, tokens, RATE)  # the gradient of a sum is one, per occurrence
np.testing.assert_allclose(after, moved, rtol=1e-5, atol=1e-6)
np.testing.assert_allclose(ends, moved[[0, TOKENS - 1]], rtol=1e-5, atol=1e-6)

looked_up, _, after = train(None)
np.testing.assert_allclose(looked_up, np.broadcast_to(table[tokens], (STEPS, len(tokens), WIDTH)))
np.testing.assert_allclose(after, table)

strategy = ipu.ipu_strategy.IPUStrategy()
with strategy.scope():
    for factor in (1, 3):
        lookup = tf.function(
            lambda p, i, f=factor: embedding_ops.embedding_lookup(p, i, serialization_factor=f), jit_compile=True
        )
        found = strategy.run(lookup, args=(tf.constant(table), tf.constant(tokens.reshape(2, 3))))
        np.testing.assert_allclose(found, table[tokens.reshape(2, 3)])
print("ok")
