"""Optimizers that gather gradients over batches and replicas, against formulas in NumPy."""

import importlib

import numpy as np
import pytest

from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")
tf1 = tf.compat.v1
graph_mode = importlib.import_module("ipu_mlir.tensorflow.graph_mode")
optimizers = ipu.optimizers
SUM, MEAN, RUNNING = ipu.gradient_accumulation.GradientAccumulationReductionMethod
RATE, START = 0.25, np.linspace(0, 1, 40, dtype=np.float32).reshape(5, 8)
GRADIENTS = np.random.default_rng(5).standard_normal((12, 5, 8)).astype(np.float32)


def configure(ipus=1, merging=ipu.config.MergeRemoteBuffersBehaviour.IF_BENEFICIAL):
    config = ipu.config.IPUConfig()
    config.auto_select_ipus = ipus
    config.optimizations.merge_remote_buffers = merging
    config.ipu_model.tiles_per_ipu = 4
    config.configure_ipu_system()


def train(wrap, inner, ipus=1, dtype=np.float32, loop=None, runs=1, **settings):
    """Weights, slots and the global step after all batches."""
    configure(ipus, **settings)
    steps = len(GRADIENTS) // ipus // runs
    with tf.Graph().as_default(), ipu.scopes.ipu_scope("/device:IPU:0"):
        weights = tf1.get_variable("weights", initializer=START.astype(dtype))
        step = tf1.train.get_or_create_global_step()
        feed = ipu.ipu_infeed_queue.IPUInfeedQueue(tf.data.Dataset.from_tensor_slices(GRADIENTS).repeat())
        opt = wrap(inner)

        def body(gradient):
            loss = tf.reduce_sum(weights * tf.cast(gradient, weights.dtype))
            return opt.minimize(loss, global_step=step)

        loop = loop or (lambda body, feed: ipu.loops.repeat(steps, body, [], feed))
        run = ipu.ipu_compiler.compile(lambda: loop(body, feed), inputs=[])
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            session.run(feed.initializer)
            for _ in range(runs):
                session.run(run)
            slots = [session.run(opt.get_slot(weights, name)) for name in opt.get_slot_names()]
            return session.run(weights), slots, session.run(step)


def windows(count, method, ipus=1):
    """What each update is made of."""
    of_steps = GRADIENTS.reshape(-1, ipus, *START.shape).mean(axis=1)
    sums = of_steps.reshape(-1, count, *START.shape).sum(axis=1)
    return sums if method is SUM else sums / count


def descended(updates, momentum):
    weights, velocity = START.astype(np.float64), 0.0
    for update in updates:
        velocity = momentum * velocity + update
        weights = weights - RATE * velocity
    return weights, velocity


@pytest.mark.parametrize("method", [SUM, "MEAN", RUNNING], ids=str)
def test_an_update_is_made_of_several_batches(method):
    weights, (velocity,), step = train(
        lambda opt: optimizers.GradientAccumulationOptimizerV2(opt, 3, reduction_method=method),
        tf1.train.MomentumOptimizer(RATE, 0.5),
        runs=2,
    )
    wanted = descended(windows(3, method), 0.5)
    np.testing.assert_allclose(weights, wanted[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(velocity, wanted[1], rtol=1e-4, atol=1e-5)
    assert step == 4


def adam_by_hand(updates):
    first = second = 0.0
    weights = START.astype(np.float64)
    for t, update in enumerate(updates, 1):
        first, second = 0.9 * first + 0.1 * update, 0.999 * second + 0.001 * update**2
        weights = weights - 0.1 * (first / (1 - 0.9**t)) / (np.sqrt(second / (1 - 0.999**t)) + 1e-8)
    return weights


def test_any_optimizer_and_wrapper_gets_what_has_gathered():
    seen = []

    def doubled(gradient, variable):
        return 2 * gradient

    class Seeing(optimizers.IpuOptimizer):
        def apply_gradients(self, grads_and_vars, global_step=None, name=None):
            seen.extend(each.dtype for each, _ in grads_and_vars)
            return super().apply_gradients(grads_and_vars, global_step, name)

    def wrap(opt):
        gathering = optimizers.GradientAccumulationOptimizerV2(Seeing(opt), 2, dtype=lambda variable: tf.float32)
        return optimizers.MapGradientOptimizer(gathering, doubled)

    weights, _, step = train(wrap, tf1.train.GradientDescentOptimizer(RATE), dtype=np.float16)
    wanted = descended(2 * windows(2, SUM), 0.0)[0]
    np.testing.assert_allclose(weights, wanted, rtol=1e-2, atol=2e-2)
    assert weights.dtype == np.float16 and seen == [tf.float32] and step == 6
    adam, moments, _ = train(
        lambda opt: optimizers.GradientAccumulationOptimizerV2(opt, 2, reduction_method="mean"),
        tf1.train.AdamOptimizer(0.1),
    )
    np.testing.assert_allclose(adam, adam_by_hand(windows(2, MEAN)), rtol=1e-3, atol=1e-4)
    assert len(moments) == 2


@pytest.mark.parametrize("kind", ["V2", "V1", "CrossReplicaOptimizer inside"])
def test_on_two_replicas(kind):
    wrap = {
        "V2": lambda opt: optimizers.CrossReplicaGradientAccumulationOptimizerV2(opt, 3, reduction_method=MEAN),
        "V1": lambda opt: optimizers.CrossReplicaGradientAccumulationOptimizer(opt, 3),
        "CrossReplicaOptimizer inside": lambda opt: optimizers.GradientAccumulationOptimizerV2(
            optimizers.CrossReplicaOptimizer(opt), 3
        ),
    }[kind]
    weights, _, _ = train(wrap, tf1.train.MomentumOptimizer(RATE, 0.5), ipus=2)
    wanted = descended(windows(3, MEAN if kind == "V2" else SUM, 2), 0.5)[0]
    np.testing.assert_allclose(weights, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("offload", "cut", "ipus", "parts"),
    [(True, False, 1, []), (True, False, 2, []), (True, True, 2, [2]), (None, True, 2, [2]), (False, True, 2, None)],
)
def test_state_of_an_optimizer_in_remote_memory(offload, cut, ipus, parts, monkeypatch):
    programs = []

    class Kept(graph_mode.Program):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            programs.append(self.executable.engine)

    monkeypatch.setattr(graph_mode, "Program", Kept)
    weights, (velocity,), _ = train(
        lambda opt: optimizers.CrossReplicaGradientAccumulationOptimizerV2(
            opt, 2, offload_weight_update_variables=offload, replicated_optimizer_state_sharding=cut
        ),
        tf1.train.MomentumOptimizer(RATE, 0.5),
        ipus,
        runs=3,
    )
    wanted = descended(windows(2, SUM, ipus), 0.5)
    np.testing.assert_allclose(weights, wanted[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(velocity, wanted[1], rtol=1e-4, atol=1e-5)
    (engine,) = [each for each in programs if each.variables]
    assert [each.shape[:1] for each in engine.remote] == ([] if parts is None else [tuple(parts) or (1,)])


@pytest.mark.parametrize("ipus", [1, 2])
@pytest.mark.parametrize(("merging", "buffers"), [("NO_MERGING", []), ("IF_BENEFICIAL", []), ("MERGE", [2])])
def test_state_of_one_form_in_one_buffer(merging, buffers, ipus, monkeypatch):
    programs = []

    class Kept(graph_mode.Program):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            programs.append(self.executable.engine)

    monkeypatch.setattr(graph_mode, "Program", Kept)
    weights, moments, _ = train(
        lambda opt: optimizers.CrossReplicaGradientAccumulationOptimizerV2(
            opt,
            2,
            offload_weight_update_variables=True,
            replicated_optimizer_state_sharding=True,
            reduction_method="mean",
        ),
        tf1.train.AdamOptimizer(0.1),
        ipus,
        runs=3,
        merging=ipu.config.MergeRemoteBuffersBehaviour[merging],
    )
    np.testing.assert_allclose(weights, adam_by_hand(windows(2, MEAN, ipus)), rtol=1e-3, atol=1e-4)
    assert not np.allclose(moments[0], moments[1])
    (engine,) = [each for each in programs if each.variables]
    assert [len(each.variables) for each in engine.remote if each.variables] == buffers


def forever(body, feed):
    return ipu.loops.while_loop(lambda n: n < 6, lambda n, x: (n + 1, body(x)), [0], feed)


def test_a_loop_whose_rounds_nobody_knows():
    weights, _, step = train(
        lambda opt: optimizers.GradientAccumulationOptimizer(opt, 3),
        tf1.train.GradientDescentOptimizer(RATE),
        loop=forever,
    )
    wanted = START - RATE * GRADIENTS[:6].sum(axis=0)
    np.testing.assert_allclose(weights, wanted, rtol=1e-4, atol=1e-5)
    assert step == 2


def test_in_programs_of_eager_mode():
    configure(2)
    strategy = ipu.ipu_strategy.IPUStrategy()
    with strategy.scope():
        weights = tf.Variable(START)
        opt = optimizers.GradientAccumulationOptimizerV2(
            optimizers.CrossReplicaOptimizer(tf1.train.AdamOptimizer(0.1)), 3, reduction_method=MEAN
        )
        feed = iter(tf.data.Dataset.from_tensor_slices(GRADIENTS).repeat())

        @tf.function(jit_compile=True)
        def train_some(feed):
            for _ in tf.range(6):
                gradient = next(feed)
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum(weights * gradient)
                opt.apply_gradients([(tape.gradient(loss, weights), weights)])

        for _ in range(2):
            strategy.run(train_some, args=(feed,))
    wanted = adam_by_hand([*windows(3, MEAN, 2)] * 2)
    np.testing.assert_allclose(weights, wanted, rtol=1e-3, atol=1e-4)


def test_rounds_of_python_loops_are_checked_where_they_are_known():
    configure()
    strategy = ipu.ipu_strategy.IPUStrategy()
    with strategy.scope():
        weights = tf.Variable(START)
        opt = V2(SGD(1.0), 4)

        @tf.function(jit_compile=True)
        def all_rounds():
            for _ in tf.range(5):
                opt.apply_gradients([(tf.ones_like(weights), weights)])

        @tf.function(jit_compile=True)
        def until_the_fourth():
            for number in tf.range(6):
                opt.apply_gradients([(tf.ones_like(weights), weights)])
                if number == 3:
                    break

        with pytest.raises(tf.errors.FailedPreconditionError, match="4 number of mini batches inside a loop with 5"):
            strategy.run(all_rounds)
        strategy.run(until_the_fourth)
        np.testing.assert_allclose(weights, START - 4)


def test_gradients_of_rows_and_two_updates_in_a_step():
    configure(2)
    batches = np.int32([[0, 1], [2, 2], [3, 0], [1, 1]])
    with tf.Graph().as_default(), ipu.scopes.ipu_scope("/device:IPU:0"):
        table = tf1.get_variable("table", [40, 2], initializer=tf1.zeros_initializer())
        scale = tf1.get_variable("scale", initializer=0.0)
        feed = ipu.ipu_infeed_queue.IPUInfeedQueue(tf.data.Dataset.from_tensor_slices(batches))
        opt = optimizers.CrossReplicaGradientAccumulationOptimizerV2(SGD(1.0), 2)

        def body(ids):
            rows = tf.nn.embedding_lookup(table, ids)
            first = opt.minimize(tf.reduce_sum(rows), var_list=[table])
            return first, opt.minimize(scale * 3.0, var_list=[scale])

        run = ipu.ipu_compiler.compile(lambda: ipu.loops.repeat(2, body, [], feed))
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            session.run(feed.initializer)
            session.run(run)
            rows, number = session.run([table, scale])
    wanted = np.zeros(40)
    np.subtract.at(wanted, batches, 0.5)
    np.testing.assert_allclose(rows, np.stack([wanted, wanted], axis=1))
    assert number == -6


SGD = tf1.train.GradientDescentOptimizer
V2 = optimizers.GradientAccumulationOptimizerV2
REFUSED = {
    "rounds": (
        lambda: train(lambda opt: V2(opt, 5), SGD(RATE)),
        r"with 5 number of mini batches inside a loop with 12 it.* a multiple of the mini batches: 10 or 15$",
    ),
    "type": (
        lambda: train(lambda opt: V2(opt, 2, dtype=np.int32), SGD(RATE)),
        "gradients by weights:0 are added up in floats, got int32",
    ),
    "no loop": (
        lambda: train(lambda opt: V2(opt, 2), SGD(RATE), loop=lambda body, feed: body(START)),
        "outside of a loop",
    ),
    "number": (lambda: V2(SGD(RATE), 0), "num_mini_batches must be a positive whole number, got 0"),
    "part": (lambda: V2(SGD(RATE), 2.5), "num_mini_batches must be a positive whole number, got 2.5"),
    "method": (
        lambda: V2(SGD(RATE), 2, reduction_method="MEDIAN"),
        "Cannot parse 'MEDIAN' as one of GradientAccumulationReductionMethod: SUM, MEAN, RUNNING_MEAN",
    ),
    "method by number": (lambda: V2(SGD(RATE), 2, reduction_method=7), "Cannot parse 7 as one of"),
    "kind": (lambda: optimizers.GradientAccumulationOptimizer(tf1.train.AdamOptimizer(), 2), "got AdamOptimizer; use"),
    "nothing": (
        lambda: train(lambda opt: V2(opt, 2), SGD(RATE), loop=lambda body, feed: no_gradients()),
        "no gradients are given for any variable",
    ),
    "pairs": (
        lambda: optimizers.CrossReplicaOptimizer(SGD(RATE)).apply_gradients([(1.0,)]),
        "pairs of a gradient and a",
    ),
}


def no_gradients():
    return ipu.loops.repeat(2, lambda: V2(SGD(RATE), 2).apply_gradients([(None, tf1.trainable_variables()[0])]))


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    call, message = REFUSED[name]
    with pytest.raises((ValueError, TypeError, tf.errors.FailedPreconditionError), match=message):
        call()


WRAPPERS = {
    "IpuOptimizer": (lambda opt: optimizers.IpuOptimizer(opt), 1, False),
    "ShardedOptimizer": (lambda opt: optimizers.ShardedOptimizer(opt), 1, False),
    "MapGradientOptimizer": (lambda opt: optimizers.MapGradientOptimizer(opt, lambda each, _: 2 * each), 2, False),
    "CrossReplicaOptimizer": (lambda opt: optimizers.CrossReplicaOptimizer(opt), 1, True),
    "both": (
        lambda opt: optimizers.MapGradientOptimizer(optimizers.CrossReplicaOptimizer(opt), lambda each, _: -each),
        -1,
        True,
    ),
}


@pytest.mark.parametrize("ipus", [1, 2])
@pytest.mark.parametrize("name", WRAPPERS)
def test_wrappers_beside_the_arithmetic_of_plain_tensorflow(name, ipus):
    wrap, factor, is_reduced = WRAPPERS[name]
    weights, (velocity,), step = train(wrap, tf1.train.MomentumOptimizer(RATE, 0.5), ipus)
    own = GRADIENTS.reshape(-1, ipus, *START.shape)
    gradients = factor * (own.mean(axis=1) if is_reduced else own[:, 0])
    plain, optimizer = tf.Variable(START), tf1.train.MomentumOptimizer(RATE, 0.5)
    for each in gradients:
        optimizer.apply_gradients([(tf.constant(each), plain)])
    np.testing.assert_allclose(weights, plain, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(weights, descended(gradients, 0.5)[0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(velocity, descended(gradients, 0.5)[1], rtol=1e-5, atol=1e-5)
    assert step == len(gradients)
