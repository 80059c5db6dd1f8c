"""Tables on the host that programs look up and train, on one replica and on several."""

import numpy as np
import pytest

from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")
tf1 = tf.compat.v1
ops = ipu.embedding_ops
TABLE = np.random.default_rng(3).integers(-8, 8, (10, 6)).astype(np.float32)
BATCHES = np.int32([[0, 3, 3], [9, 1, 0], [4, 4, 4], [2, 9, 3]])


def configure(ipus=1, beside_the_chips=False):
    config = ipu.config.IPUConfig()
    config.auto_select_ipus = ipus
    config.ipu_model.tiles_per_ipu = 4
    config.experimental.enable_remote_buffer_embedding = beside_the_chips
    config.configure_ipu_system()


def train(spec, replicas, strategy="TOKEN", wrap=lambda opt: opt):
    """What lookups give, and the table afterwards."""
    with tf.Graph().as_default(), ipu.scopes.ipu_scope("/device:IPU:0"):
        embedding = ops.create_host_embedding("words", TABLE.shape, tf.float32, strategy, spec, TABLE)
        feed = ipu.ipu_infeed_queue.IPUInfeedQueue(tf.data.Dataset.from_tensor_slices(BATCHES))
        seen = ipu.ipu_outfeed_queue.IPUOutfeedQueue()

        def body(ids):
            rows = embedding.lookup(ids)
            train_op = wrap(tf1.train.MomentumOptimizer(0.1, 0.9)).minimize(tf.reduce_sum(rows * 2.0))
            return seen.enqueue(rows), train_op

        run = ipu.ipu_compiler.compile(lambda: ipu.loops.repeat(len(BATCHES) // replicas, body, [], feed))
        outfed = seen.dequeue()
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            session.run(feed.initializer)
            with embedding.register(session):
                session.run(run)
                np.testing.assert_array_equal(session.run(embedding.get_embedding_tensor()), TABLE)
            return session.run(outfed).reshape(*BATCHES.shape, -1), session.run(embedding.get_embedding_tensor())


def by_hand(rate, replicas, every=1):
    table, seen, waiting = TABLE.copy(), [], []
    for step in BATCHES.reshape(-1, replicas, BATCHES.shape[1]):
        seen += [table[ids] for ids in step]
        waiting.append(step)
        if len(waiting) == every:
            for ids in waiting:
                np.subtract.at(table, ids, 2 * rate)
            waiting = []
    return np.stack(seen), table


@pytest.mark.parametrize(
    ("replicas", "strategy", "beside_the_chips"),
    [
        (1, "TOKEN", False),
        pytest.param(1, "TOKEN", True, marks=pytest.mark.slow),
        (2, "ENCODING", False),
        (2, "TOKEN", True),
        (2, "ENCODING", True),
    ],
)
def test_all_replicas_train_one_table(replicas, strategy, beside_the_chips):
    configure(replicas, beside_the_chips)
    seen, table = train(ops.HostEmbeddingOptimizerSpec(0.5), replicas, strategy)
    wanted = by_hand(0.5, replicas)
    np.testing.assert_array_equal(seen, wanted[0])
    np.testing.assert_array_equal(table, wanted[1])


def test_updates_are_accumulated():
    configure()
    spec = ops.HostEmbeddingSGDGAOptimizerSpec(0.5, accumulation_factor=2)
    assert spec.get_accumulation_factor() == 2 and spec.get_learning_rate() == 0.5
    seen, table = train(spec, 1, wrap=ipu.optimizers.CrossReplicaOptimizer)
    wanted = by_hand(0.5, 1, every=2)
    np.testing.assert_array_equal(seen, wanted[0])
    np.testing.assert_array_equal(table, wanted[1])


@pytest.mark.parametrize(
    "schedule",
    [
        ipu.pipelining_ops.PipelineSchedule.Grouped,
        pytest.param(ipu.pipelining_ops.PipelineSchedule.Interleaved, marks=pytest.mark.slow),
        pytest.param(ipu.pipelining_ops.PipelineSchedule.Sequential, marks=pytest.mark.slow),
    ],
)
def test_a_stage_of_a_pipeline_looks_up_and_trains_a_table(schedule):
    """Whose gradients are gathered over the mini-batches of an update."""
    configure(2)
    pipelining, count = ipu.pipelining_ops, 4
    ids = np.concatenate([BATCHES, BATCHES[::-1]])
    with tf.Graph().as_default(), ipu.scopes.ipu_scope("/device:IPU:0"):
        spec = ops.HostEmbeddingSGDGAOptimizerSpec(0.25, count)
        embedding = ops.create_host_embedding("words", TABLE.shape, tf.float32, "TOKEN", spec, TABLE)
        feed = ipu.ipu_infeed_queue.IPUInfeedQueue(tf.data.Dataset.from_tensor_slices(ids))
        seen = ipu.ipu_outfeed_queue.IPUOutfeedQueue()

        def descent(loss, _):
            return pipelining.OptimizerFunctionOutput(tf1.train.GradientDescentOptimizer(0.1), loss)

        def last(rows):
            return tf.reduce_sum(rows * 2.0), rows

        def model():
            return pipelining.pipeline(
                [embedding.lookup, last],
                count,
                repeat_count=2,
                infeed_queue=feed,
                outfeed_queue=seen,
                optimizer_function=descent,
                pipeline_schedule=schedule,
            )

        run, outfed = ipu.ipu_compiler.compile(model), seen.dequeue()
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            session.run(feed.initializer)
            with embedding.register(session):
                session.run(run)
            _, rows = session.run(outfed)
            table = session.run(embedding.get_embedding_tensor())
    wanted = TABLE.copy()
    np.testing.assert_array_equal(rows[:count], wanted[ids[:count]])
    np.subtract.at(wanted, ids[:count], 0.5)
    np.testing.assert_array_equal(rows[count:], wanted[ids[count:]])
    np.subtract.at(wanted, ids[count:], 0.5)
    np.testing.assert_array_equal(table, wanted)


def test_without_a_rate_rows_stay():
    configure()
    with pytest.raises(ValueError, match=r"No (gradients|variables)"):
        train(ops.HostEmbeddingOptimizerSpec(0.0), 1)


def test_eager_programs_and_hooks_of_specs():
    configure()

    class Doubled(ops.HostEmbeddingOptimizerSpec):
        called = ()

        def create_slot_variables(self, embedding_tensor, name):
            return [tf.Variable(2.0)]

        def create_register_instruction(self, embedding_tensor, slot_vars, name):
            self.called += ("register", name)

        def create_lookup_instruction(self, embedding_tensor, indices, slot_vars, partition_strategy, name):
            return 2.0 * super().create_lookup_instruction(
                embedding_tensor, indices, slot_vars, partition_strategy, name
            )

    spec = Doubled(0.25)
    strategy = ipu.ipu_strategy.IPUStrategy()
    with strategy.scope():
        embedding = ops.create_host_embedding("words", [4, 2], tf.float16, "ENCODING", spec, tf1.ones_initializer())

        @tf.function(jit_compile=True)
        def step(ids):
            with tf.GradientTape() as tape:
                rows = embedding.lookup(ids)
                loss = tf.reduce_sum(rows)
            tape.gradient(loss, tape.watched_variables())
            return rows

        with pytest.raises(RuntimeError, match="looks up the table 'words', which is not registered"):
            strategy.run(step, args=(tf.constant([0, 7]),))
        with embedding.register(None):
            rows = strategy.run(step, args=(tf.constant([[0, 7]]),))
            assert rows.shape == (1, 2, 2) and rows.dtype == tf.float16 and (rows.numpy() == 2).all()
            with pytest.raises(RuntimeError, match="is registered already"), embedding.register(None):
                pass
    np.testing.assert_array_equal(embedding.get_embedding_tensor()[:, 0], [0.5, 1, 1, 0.5])
    assert spec.called[0] == "register"


def test_numbers_that_are_no_rows():
    configure()
    with tf.Graph().as_default(), ipu.scopes.ipu_scope("/device:IPU:0"):
        embedding = ops.HostEmbedding("words", tf.constant(TABLE), "TOKEN")
        found = ipu.ipu_compiler.compile(lambda: embedding.lookup(tf.constant([3, 10]), clip_indices=False))
        with (
            tf1.Session() as session,
            embedding.register(session),
            pytest.raises(tf.errors.OpError, match=r"table 'words_.* has rows 0 to 9, and the program asks for row 10"),
        ):
            session.run(found)


REFUSED = {
    "rate": (lambda: ops.HostEmbeddingOptimizerSpec("fast"), TypeError, "learning_rate is a number .*, got 'fast'"),
    "part": (lambda: ops.HostEmbeddingSGDGAOptimizerSpec(0.1, 1.5), ValueError, "is a number from 1, got 1.5"),
    "strategy": (lambda: ops.create_host_embedding("a", [4, 2], tf.float32, "ROWS"), ValueError, "Unknown partition"),
    "shape": (
        lambda: ops.create_host_embedding("a", [4], tf.float32),
        ValueError,
        r"has the shape \[tokens, encoding\]",
    ),
    "spec": (
        lambda: ops.create_host_embedding("a", [4, 2], tf.float32, optimizer_spec=0.1),
        TypeError,
        "optimizer_spec",
    ),
    "tensor": (
        lambda: ops.HostEmbedding("a", tf.constant(TABLE), "TOKEN", ops.HostEmbeddingOptimizerSpec(0.1)),
        ValueError,
        "changes a variable",
    ),
    "called": (lambda: ops.create_host_embedding("a", [4, 2], tf.float32)(0), NotImplementedError, "call its lookup"),
    "outside": (lambda: ops.create_host_embedding("a", [4, 2], tf.float32).lookup([0]), RuntimeError, "in programs"),
    "floats": (lambda: ops.create_host_embedding("a", [4, 2], tf.float32).lookup([0.0]), TypeError, "are integers"),
    "factor": (lambda: ops.HostEmbeddingSGDGAOptimizerSpec(0.1, 0), ValueError, "a number from 1, got 0"),
    "serial": (
        lambda: ops.embedding_lookup(TABLE, [0], serialization_factor=7),
        ValueError,
        r"The serialization_factor \(7\) must divide the size of the 0th dimension of params \(10\)",
    ),
    "no parts": (lambda: ops.embedding_lookup(TABLE, [0], serialization_factor=0), ValueError, "at least 1, but was 0"),
    "number": (lambda: ops.embedding_lookup(1.0, [0]), ValueError, "params has rows along its first dimension"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    make, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("shape", [(20,), (20, 7, 2)])
def test_embedding_lookup_of_rows_of_any_shape(shape):
    table = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    program = tf.function(lambda rows, ids: ops.embedding_lookup(rows, ids, serialization_factor=4), jit_compile=True)
    found = ipu.ipu_strategy.IPUStrategy().run(program, args=(table, np.int32([[3, 19], [0, 3]])))
    np.testing.assert_array_equal(found, table[[[3, 19], [0, 3]]])


def test_embedding_lookup_has_a_gradient():
    configure()
    strategy = ipu.ipu_strategy.IPUStrategy()
    with strategy.scope():
        params = tf.Variable(TABLE)

        @tf.function(jit_compile=True)
        def step(ids):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(ops.embedding_lookup(params, ids, serialization_factor=5))
            return tf.convert_to_tensor(tape.gradient(loss, params))

        found = strategy.run(step, args=(tf.constant([1, 1, 4]),))
    np.testing.assert_array_equal(found[:, 0], [0, 2, 0, 0, 1, 0, 0, 0, 0, 0])
