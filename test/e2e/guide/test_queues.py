"""Queues of the guide, iterators of datasets, and loops on the device."""

import numpy as np
import pytest

from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")
if keras.backend.backend() != "tensorflow":
    pytest.skip("Keras runs on another backend here", allow_module_level=True)

Infeed, Outfeed = ipu.ipu_infeed_queue.IPUInfeedQueue, ipu.ipu_outfeed_queue.IPUOutfeedQueue
LAST = ipu.ipu_outfeed_queue.IPUOutfeedMode.LAST
repeat, while_loop = ipu.loops.repeat, ipu.loops.while_loop


@pytest.fixture
def strategy():
    config = ipu.config.IPUConfig()
    config.ipu_model.tiles_per_ipu = 4
    config.configure_ipu_system()
    made = ipu.ipu_strategy.IPUStrategy()
    with made.scope():
        yield made
    ipu.config.reset_ipu_configuration()


def compiled(function):
    return tf.function(function, jit_compile=True)


def numbers(count):
    return tf.data.Dataset.range(count).map(lambda x: tf.cast(x, tf.float32))


def test_an_iterator_is_where_programs_and_python_left_it(strategy):
    iterator = iter(numbers(20))
    assert iterator.element_spec.dtype == tf.float32

    @compiled
    def two(source):
        return next(source) * 10.0 + next(source)

    assert float(next(iterator)) == 0
    assert float(strategy.run(two, args=(iterator,))) == 12
    assert float(strategy.run(compiled(lambda: next(iterator) * 1.0))) == 3
    assert [float(x) for x, _ in zip(iterator, range(2), strict=False)] == [4, 5]


def test_an_iterator_of_the_host_is_a_queue_as_well():
    plain = ipu.ipu_strategy.IPUStrategy(enable_dataset_iterators=False)
    with plain.scope():
        iterator = iter(numbers(3))
        assert isinstance(iterator, tf.data.Iterator)
        step = compiled(lambda source: next(source) + 1.0)
        assert [float(plain.run(step, args=(iterator,))) for _ in range(3)] == [1, 2, 3]
        assert list(iterator) == []


def test_what_a_dataset_raises_reaches_who_runs_the_program(strategy):
    iterator = iter(numbers(2))
    step = compiled(lambda source: next(source) + 1.0)
    assert [float(strategy.run(step, args=(iterator,))) for _ in range(2)] == [1, 2]
    for _ in range(2):
        with pytest.raises(tf.errors.OutOfRangeError, match="the dataset has ended"):
            strategy.run(step, args=(iterator,))
    with pytest.raises(StopIteration):
        next(iterator)

    def broken(x):
        return tf.debugging.check_numerics(tf.where(x == 1.0, np.nan, x), "the file is broken")

    iterator = iter(numbers(3).map(broken))
    assert float(strategy.run(step, args=(iterator,))) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="the file is broken"):
        strategy.run(step, args=(iterator,))
    assert float(strategy.run(step, args=(iterator,))) == 3


def test_a_program_does_not_ask_where_a_dataset_ends(strategy):
    def total(source):
        found = 0.0
        for each in source:
            found += each
        return found

    with pytest.raises(ValueError, match=r"a function takes elements by next\(iterator\)"):
        strategy.run(compiled(total), args=(iter(numbers(3)),))


def test_elements_of_unknown_size_are_refused(strategy):
    rows = numbers(5).batch(2)
    with pytest.raises(ValueError, match=r"Output shape \(None,\) is not fully defined.*drop_remainder=True"):
        Infeed(rows)
    with pytest.raises(ValueError, match=r"Output shape \(None,\) is not fully defined"):
        strategy.run(compiled(lambda source: next(source)), args=(iter(rows),))


def test_elements_are_arguments_of_the_body(strategy):
    def mapped(function):
        queue = Infeed(numbers(50).map(function))
        _ = queue.initializer
        return queue

    pairs, named = mapped(lambda x: (x, {"b": 2 * x})), mapped(lambda x: {"a": x, "b": -x})
    assert (pairs.number_of_tuple_elements, named.number_of_tuple_elements) == (2, 2)
    assert not pairs.dequeued

    @compiled
    def f():
        one = repeat(3, lambda total, x, y: total + x + y["b"], [0.0], pairs)
        other = repeat(3, lambda total, b, a: total + 2 * a + b, [0.0], named)
        return one, other

    alone = mapped(lambda x: ({"b": x},))
    total = strategy.run(compiled(lambda: repeat(3, lambda total, b: total + b, [0.0], alone)))
    assert float(total) == 3, "a tuple of one dict is the dict"
    assert [float(x) for x in strategy.run(f)] == [9, 3]
    assert pairs.dequeued
    assert [float(x) for x in strategy.run(f)] == [36, 12], "the next elements"
    _ = pairs.deleter, pairs.initializer
    assert [float(x) for x in strategy.run(f)] == [9, 21], "from the first again"


def test_slices_leave_the_device(strategy, capfd):
    seen, x = Outfeed(), np.arange(24, dtype=np.float32).reshape(4, 6)
    cuts = [
        lambda x: x[1],
        lambda x: x[:, :4],
        lambda x: x[::2],
        lambda x: tf.split(x, 2, axis=1)[1],
        lambda x: tf.transpose(x)[1:3],
        lambda x: x[::-1],
        lambda x: x[2, 3],
    ]

    @compiled
    def f(x):
        seen.enqueue([cut(x) for cut in cuts])
        shown = ipu.internal_ops.print_tensor(x[3], name="shown")
        with tf.control_dependencies([shown]), ipu.scopes.outside_compilation_scope():
            return tf.ensure_shape(tf.numpy_function(lambda row: row[::-1] * 2, [x[1, 2:]], tf.float32), [4])

    assert strategy.run(f, args=(tf.constant(x),)).numpy().tolist() == [22, 20, 18, 16]
    for found, cut in zip(seen.dequeue(), cuts, strict=True):
        np.testing.assert_array_equal(found[0], cut(x))
    assert "shown: [18. 19. 20. 21. 22. 23.]" in capfd.readouterr().err


def test_loops_as_values_ask_for(strategy):
    seen = Outfeed()

    @compiled
    def several(n):
        a, b = repeat(n, lambda a, b: (b, a + b), [0, 1])
        nothing = repeat(2, lambda: seen.enqueue(a))
        assert isinstance(nothing, tf.Operation)
        return a, b, while_loop(lambda a: a < 100, lambda a: [a * 2, tf.no_op()], a, maximum_iterations=3)

    assert [int(x) for x in strategy.run(several, args=(tf.constant(10),))] == [55, 89, 110]
    assert [int(x) for x in strategy.run(several, args=(tf.constant(0),))] == [0, 1, 0]
    assert [int(x) for x in strategy.run(several, args=(tf.constant(1, tf.int64),))] == [1, 1, 8]
    assert [int(x) for x in seen] == [55, 55, 0, 0, 1, 1]


@pytest.mark.parametrize(
    "loop",
    [
        lambda x, n: repeat(3, lambda a: a * a, [x]),
        lambda x, n: repeat(tf.constant(3), lambda a: a * a, [x]),
        lambda x, n: repeat(n, lambda a: a * a, [x]),
        lambda x, n: while_loop(lambda a: tf.reduce_sum(a) < 20.0, lambda a: a * a, [x], maximum_iterations=5),
        lambda x, n: while_loop(lambda a: tf.reduce_sum(a) < 20.0, lambda a: a * a, [x], maximum_iterations=n + 2),
    ],
)
def test_gradients_go_through_loops(strategy, loop):
    @compiled
    def gradient(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            result = loop(x, n)
        return tape.gradient(result, x)

    x = tf.constant([1.0, 2.0])
    np.testing.assert_allclose(strategy.run(gradient, args=(x, tf.constant(3))), 8 * x**7)


def test_a_gradient_through_a_loop_of_unknown_length_names_the_way_out(strategy):
    @compiled
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            result = while_loop(lambda a: tf.reduce_sum(a) < 20.0, lambda a: a * a, [x])
        return tape.gradient(result, x)

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"through a loop.*; give the loop maximum_it"):
        strategy.run(gradient, args=(tf.ones(2),))


@pytest.mark.parametrize(
    ("loop", "error", "message"),
    [
        (
            lambda: repeat(2, lambda: 1, [1.0]),
            TypeError,
            "loop body function cannot be called with the specified inputs",
        ),
        (lambda: repeat(2, lambda x: (x, x), [1.0]), TypeError, "gives 2 tensors, and takes 1"),
        (lambda: repeat(2.5, lambda x: x, [1.0]), TypeError, "which is one integer, got 2.5"),
        (lambda: repeat(None, lambda x: x, [1.0]), TypeError, "which is one integer, got None"),
        (lambda: repeat([2], lambda x: x, [1.0]), TypeError, r"which is one integer, got \[2\]"),
        (
            lambda: while_loop(lambda x: x, lambda x: x, [1.0]),
            TypeError,
            r"condition gives float32\[\], expected one bool",
        ),
        (lambda: repeat(2, lambda x: tf.cast(x, tf.int32), [1.0]), TypeError, "value 0 is float32, and becomes int32"),
        (lambda: repeat(2, lambda x: [tf.no_op(), x], [1.0]), ValueError, "zero or more Tensor values followed by"),
        (
            lambda: while_loop(lambda x, y: x < 1, lambda x: x, [1.0]),
            TypeError,
            "infeed is not passed to the loop condition",
        ),
    ],
)
def test_loops_that_do_not_fit_are_refused(strategy, loop, error, message):
    with pytest.raises(error, match=message):
        strategy.run(tf.function(loop, jit_compile=True, autograph=False))


def test_outfeeds_keep_structures_types_and_order(strategy):
    everything, last = Outfeed(), Outfeed(LAST)
    assert list(everything) == []
    with pytest.raises(ValueError, match="has not been enqueued"):
        everything.dequeue()

    @compiled
    def f(x):
        for i in tf.range(3):
            everything.enqueue({1: tf.cast(i, tf.uint8) + 250, 7: (x * tf.cast(i, tf.float16), x > 1)})
            last.enqueue(x + tf.cast(i, tf.float16))

    x = tf.constant([1.0, 2.0], tf.float16)
    strategy.run(f, args=(x,))
    with pytest.raises(RuntimeError, match="in eager mode and in mode ALL"):
        iter(last)
    assert len(list(everything)) == 3
    strategy.run(f, args=(x,))
    found = everything.dequeue(wait_for_completion=True)
    np.testing.assert_array_equal(found[1], np.uint8([250, 251, 252]))
    np.testing.assert_array_equal(found[7][0], np.float16([[0, 0], [1, 2], [2, 4]]))
    np.testing.assert_array_equal(found[7][1], [[False, True]] * 3)
    assert found[7][0].dtype == tf.float16
    assert everything.dequeue()[1].shape == (0,)
    np.testing.assert_array_equal(last.dequeue(), [3, 4])
    _ = last.deleter
    with pytest.raises(tf.errors.FailedPreconditionError, match="Trying to get the last value"):
        last.dequeue()


def test_enqueuing_what_does_not_fit_is_refused(strategy):
    queue = Outfeed()

    def twice(x):
        queue.enqueue(x)
        queue.enqueue(x)

    with pytest.raises(ValueError, match="can only be enqueued once"):
        strategy.run(compiled(twice), args=(tf.ones(2),))
    with pytest.raises(ValueError, match="all elements are alike"):
        strategy.run(compiled(lambda x: queue.enqueue([x, x])), args=(tf.ones(2),))
    with pytest.raises(ValueError, match="the outfeed is given an element of string, and the device takes numbers"):
        strategy.run(compiled(lambda: Outfeed().enqueue("text")))
    for element in ((), None):
        with pytest.raises(ValueError, match="the outfeed takes a tensor, a tuple or a dict of tensors, and was given"):
            strategy.run(compiled(lambda element=element: Outfeed().enqueue(element)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="outfeed queue with a dimension of size 0"):
        strategy.run(compiled(lambda: Outfeed().enqueue(tf.zeros([0, 3]))))
    with pytest.raises(RuntimeError, match="an outfeed is written by programs"):
        queue.enqueue(tf.ones(2))


def test_a_queue_that_nobody_has_initialized(strategy):
    queue = Infeed(numbers(3))
    total = compiled(lambda: repeat(3, lambda total, x: total + x, [tf.constant(0.0)], queue))
    with pytest.raises(tf.errors.FailedPreconditionError, match="is not initialized; run the initializer of its queue"):
        strategy.run(total)
    _ = queue.initializer
    assert float(strategy.run(total)) == 3


def test_queues_are_made_of_what_they_can_be_made_of(strategy):
    rows = numbers(5)
    for kwargs, message in [
        ({"prefetch_depth": 0}, "greater than zero, got 0"),
        ({"prefetch_depth": 256}, "less than 256, got 256"),
        ({"device_ordinal": -1}, "a number from 0, got -1"),
    ]:
        with pytest.raises(ValueError, match=message):
            Infeed(rows, **kwargs)
    with pytest.raises(TypeError, match=r"streams a tf\.data\.Dataset, got list"):
        Infeed([1.0])
    with pytest.raises(ValueError, match="gives elements of string, and the device takes numbers"):
        Infeed(tf.data.Dataset.from_tensors("a"))
    with pytest.raises(ValueError, match="gives elements of string, and the device takes numbers"):
        strategy.run(compiled(lambda source: next(source)), args=(iter(tf.data.Dataset.from_tensors("a")),))
    with pytest.raises(ValueError, match="nest tuples in tuples"):
        Infeed(rows.map(lambda x: (x, (x, x))))
    with pytest.raises(tf.errors.FailedPreconditionError, match="Unsupported datatype int64 on index 0"):
        _ = Infeed(tf.data.Dataset.range(3)).initializer
    with pytest.raises(tf.errors.InvalidArgumentError, match="a dimension of size 0"):
        _ = Infeed(rows.map(lambda x: tf.zeros((0, 2)))).initializer
    with pytest.raises(tf.errors.NotFoundError, match="Infeed with id"):
        _ = Infeed(rows).deleter
    with pytest.raises(ValueError, match="get_next is obsolete"):
        Infeed(rows).get_next()
    for kwargs, message in [
        ({"outfeed_mode": "all"}, "must be an IPUOutfeedMode, got 'all'"),
        ({"device_ordinal": "0"}, "a number from 0, got '0'"),
        ({"buffer_depth": 0}, "a number from 1, got 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            Outfeed(**kwargs)


def test_an_outfeed_that_nobody_reads_is_full_at_some_point(strategy, monkeypatch):
    monkeypatch.setattr("ipu_mlir.runtime.engine.outfeeds.Outfeed.__init__.__defaults__", (100,))
    queue = Outfeed()

    def step(x):
        queue.enqueue(x)

    step = compiled(step)
    with pytest.raises(RunError, match="that nobody has read"):
        for _ in range(20):
            strategy.run(step, args=(tf.ones(4),))


def test_queues_are_of_one_device():
    config = ipu.config.IPUConfig()
    config.auto_select_ipus = [1, 1]
    config.ipu_model.tiles_per_ipu = 4
    config.configure_ipu_system()
    second = ipu.ipu_strategy.IPUStrategy("/device:IPU:1")

    def added(feed, log):
        _ = feed.initializer
        return compiled(lambda: repeat(2, lambda total, x: (total + x, log.enqueue(x))[0], [0.0], feed))

    try:
        with second.scope():
            step = added(Infeed(numbers(4), device_ordinal=1), Outfeed())
            with pytest.raises(
                ValueError, match="for /device:IPU:1 uses a queue of /device:IPU:0; make it with device_ordinal=1"
            ):
                second.run(step)
            log = Outfeed(device_ordinal=1)
            step = added(Infeed(numbers(4)), log)
            with pytest.raises(ValueError, match="for /device:IPU:1 uses a queue of /device:IPU:0"):
                second.run(step)
            step = added(Infeed(numbers(4), device_ordinal=2), Outfeed(device_ordinal=1))
            with pytest.raises(ValueError, match="there is no /device:IPU:2"):
                second.run(step)
            log = Outfeed(device_ordinal=1)
            step = added(Infeed(numbers(4), device_ordinal=1), log)
            assert float(tf.nest.flatten(second.run(step))[0]) == 1
            assert log.dequeue().numpy().tolist() == [0, 1]
            assert float(next(iter(numbers(2)))) == 0
    finally:
        ipu.config.reset_ipu_configuration()
