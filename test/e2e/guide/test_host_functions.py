"""Functions of the host that run programs: where the operation is among others, and what it refuses."""

import logging

import numpy as np
import pytest

import ipu_mlir
from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")
if keras.backend.backend() != "tensorflow":
    pytest.skip("Keras runs on another backend here", allow_module_level=True)


@pytest.fixture
def compiled_programs(caplog):
    caplog.set_level(logging.INFO, "ipu_mlir.tensorflow")
    return lambda: sum(each.message.startswith("compiled ") for each in caplog.records)


def compiled(function):
    return tf.function(function, jit_compile=True)


def floats(count):
    return tf.data.Dataset.range(count).map(lambda each: tf.cast(each, tf.float32))


@pytest.mark.parametrize("in_scope", [True, False])
def test_a_function_of_the_host_runs_programs_on_the_device(strategy, compiled_programs, in_scope):
    with strategy.scope():
        v = tf.Variable(1.0)
    step = compiled(lambda x, by: {"sum": v.assign_add(x), "none": None, "pair": (x * by, tf.constant(7))})

    @tf.function
    def distributed(x):
        return strategy.run(step, args=(x,), kwargs={"by": 3.0})

    def check():
        found = distributed(tf.constant(2.0))
        assert float(found["sum"]) == float(v) and found["none"] is None
        assert [float(each) for each in found["pair"]] == [6.0, 7.0]

    if in_scope:
        with strategy.scope():
            check()
    else:
        check()
    check()
    assert float(v) == 5 and compiled_programs() == 1


def test_what_the_function_around_does_with_variables_keeps_its_place(strategy):
    with strategy.scope():
        v = tf.Variable(1.0)
    add = compiled(lambda x: v.assign_add(x))

    @tf.function
    def mixed(x):
        first = strategy.run(add, args=(x,))
        between = v + 0.0
        v.assign(100.0)
        second = strategy.run(add, args=(x,))
        return first, between, second, v + 0.0

    for _ in range(2):
        v.assign(1.0)
        assert [float(each) for each in mixed(tf.constant(2.0))] == [3, 3, 102, 102]


def test_loops_of_the_host_run_a_program_in_each_round(strategy, compiled_programs):
    with strategy.scope():
        v = tf.Variable(0.0)
    add = compiled(lambda x: v.assign_add(x))

    @tf.function
    def total(n):
        found = 0.0
        for each in tf.range(n):
            found += strategy.run(add, args=(tf.cast(each, tf.float32),))
        return found

    assert float(total(tf.constant(5))) == 0 + 1 + 3 + 6 + 10
    assert compiled_programs() == 1


def test_shapes_that_the_host_does_not_know_are_those_of_the_run(strategy, compiled_programs):
    mean = compiled(lambda x: tf.reduce_sum(x, 0) / tf.cast(tf.shape(x)[0], tf.float32))

    @tf.function
    def means(data):
        found = tf.zeros([])
        for each in data:
            found += strategy.run(mean, args=(each,))
        return found

    assert float(means(floats(7).batch(2))) == 0.5 + 2.5 + 4.5 + 6
    assert compiled_programs() == 2


def test_queues_keep_the_order_of_the_function(strategy):
    with strategy.scope():
        elements = iter(floats(5))
    queue = ipu.ipu_outfeed_queue.IPUOutfeedQueue()

    @compiled
    def double(x):
        queue.enqueue(2.0 * x)

    @compiled
    def take():
        queue.enqueue(next(elements) + 100.0)

    @tf.function
    def both():
        strategy.run(double, args=(next(elements),))
        strategy.run(take)
        return queue.dequeue()

    np.testing.assert_array_equal(both(), [0, 101])
    np.testing.assert_array_equal(both(), [4, 103])
    with pytest.raises(tf.errors.OutOfRangeError, match="the dataset has ended"):
        both()

    @tf.function
    def forever():
        for each in elements:
            strategy.run(double, args=(each,))

    with pytest.raises(ValueError, match=r"a function takes elements by next\(iterator\)"):
        forever()


def test_layers_are_built_when_the_function_is_first_traced(strategy):
    with strategy.scope():
        layer = keras.layers.Dense(3)
        apply = compiled(lambda x: layer(x))
        found = tf.function(lambda x: strategy.run(apply, args=(x,)))(tf.ones((2, 4)))
    np.testing.assert_allclose(found, tf.ones((2, 4)) @ layer.kernel, rtol=1e-6)


def test_a_compiled_function_that_is_called_in_the_scope_runs_there(strategy, compiled_programs):
    with strategy.scope():
        v = tf.Variable(1.0)
        add = compiled(lambda x: v.assign_add(x))
        assert float(add(tf.constant(2.0))) == 3
        assert compiled_programs() == 1
        assert float(tf.function(lambda x: add(x) * 2.0)(tf.constant(1.0))) == 8
        whole = compiled(lambda x: strategy.run(add, args=(x,)) + add(x))
        assert float(whole(tf.constant(1.0))) == 5 + 6
    assert compiled_programs() == 2
    assert float(add(tf.constant(1.0))) == 7  # out of the scope it is the host's
    assert compiled_programs() == 2


def test_functions_in_a_device_block_run_there(strategy, compiled_programs):
    v = tf.Variable(2.0)
    with tf.device("/device:IPU:0"):
        assert float(tf.function(lambda x, *, by: v * x * by)(tf.constant(3.0), by=tf.constant(2.0))) == 12
        assert compiled_programs() == 1
        with tf.device("/cpu:0"):
            assert float(tf.function(lambda x: v * x)(tf.constant(3.0))) == 6
    assert compiled_programs() == 1


def test_a_function_that_stays_on_the_host_is_said_once(strategy, caplog):
    plain = tf.function(lambda x: x * 2)
    runs = tf.function(lambda x: strategy.run(compiled(lambda x: x * 2), args=(x,)))
    with strategy.scope():
        for each in (plain, plain, runs):
            assert float(each(tf.constant(1.0))) == 2
    said = [each.message for each in caplog.records if "runs on the host" in each.message]
    assert len(said) == 1 and "it has no jit_compile=True" in said[0]


def test_gradients_do_not_go_through_a_program(strategy):
    with strategy.scope():
        v = tf.Variable(2.0)
    square = compiled(lambda x: v * x * x)

    def gradient(source):
        with tf.GradientTape() as tape:
            x = tf.constant(3.0)
            tape.watch(x)
            result = strategy.run(square, args=(x,))
        return tape.gradient(result, {"v": v, "x": x}[source])

    for source in ("v", "x"):
        for run in (gradient, tf.function(gradient, autograph=False)):
            with pytest.raises(ValueError, match=r"no gradient goes through .*; open the tape in the function"):
                run(source)


def test_what_a_function_of_the_host_cannot_pass_is_said(strategy):
    identity = compiled(lambda x: x)

    @tf.function
    def free(x):
        return strategy.run(compiled(lambda: x * 2))

    for function, argument, error, message in (
        (tf.function(lambda x: strategy.run(lambda x: x, args=(x,))), 1.0, ValueError, r"takes a function with @tf"),
        (tf.function(lambda x: strategy.run(identity, args=(x,))), "text", TypeError, "of type string, which no dev"),
        (compiled(lambda x: strategy.run(identity, args=(x,))), 1.0, ValueError, "has jit_compile=True and runs"),
        (free, 1.0, ValueError, "a tensor of the function around it.*; pass it in args"),
    ):
        with pytest.raises(error, match=message):
            function(tf.constant(argument))


def test_errors_of_a_program_keep_their_class(strategy):
    bad = compiled(lambda x: tf.reshape(tf.strings.length(tf.strings.as_string(x)), [1]))
    run = tf.function(lambda x: strategy.run(bad, args=(x,)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="programs have no op") as found:
        run(tf.ones(1))
    assert isinstance(found.value, ipu_mlir.CompileError)


def test_a_strategy_in_a_graph_runs_programs_in_its_sessions(strategy):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), strategy.scope():
        x = v1.placeholder(tf.float32, [])
        v = v1.get_variable("v", initializer=1.0)
        found = strategy.run(compiled(lambda x: {"sum": v.assign_add(x)}), args=(x,))
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            assert [session.run(found, {x: 3.0})["sum"] for _ in range(2)] == [4, 7]
            assert session.run(v) == 7
