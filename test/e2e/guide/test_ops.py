"""Ops of eager mode on the device, and program ops wherever they are called."""

import numpy as np
import pytest

from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")
programs = pytest.importorskip("ipu_mlir.tensorflow.eager")


@pytest.fixture(autouse=True)
def ran(monkeypatch):
    """The names of the programs that ran."""
    config = ipu.config.IPUConfig()
    config.ipu_model.tiles_per_ipu = 4
    config.configure_ipu_system()
    names = []
    run = programs._PROGRAMS.call

    def call(function, args, kwargs, device, trace_in, name):
        names.append(name)
        return run(function, args, kwargs, device, trace_in, name)

    monkeypatch.setattr(programs._PROGRAMS, "call", call)
    yield names
    ipu.config.reset_ipu_configuration()


def test_ops_of_a_block_run_on_the_device(ran):
    x = tf.constant([[1.0, -2.0], [3.0, 4.0]])
    with tf.device("/device:IPU:0"):
        y = tf.nn.relu(x) + 1.0
        pair = tf.split(y, 2, axis=1)
        joined = tf.concat([*pair, y], 0 if y.shape[0] == 1 else 1)
        best = tf.argmax(joined, axis=1, output_type=tf.int32)
    after = tf.nn.relu(x)
    assert list(dict.fromkeys(ran)) == ["Relu", "AddV2", "Split", "ConcatV2", "ArgMax"]
    np.testing.assert_allclose(joined, [[2, 1, 2, 1], [4, 5, 4, 5]])
    np.testing.assert_array_equal(best, [0, 1])
    np.testing.assert_array_equal(after, [[1, 0], [3, 4]])


def test_an_op_is_compiled_once_for_a_shape(ran, caplog):
    caplog.set_level("INFO", "ipu_mlir.tensorflow")
    with ipu.scopes.ipu_scope("/device:IPU:0"):
        for size in (3, 3, 4, 3):
            assert float(tf.reduce_sum(tf.ones(size) * 7.0)) == 7 * size
    multiplied = [each.message for each in caplog.records if each.message.startswith("compiled Mul(")]
    assert len(multiplied) == 2 and ran.count("Mul") == 4


def test_what_has_effects_or_no_numbers_stays_on_the_host(ran):
    with tf.device("/device:IPU:0"):
        v = tf.Variable([1.0, 2.0])
        v.assign_add([1.0, 1.0])
        text = tf.strings.length(tf.constant("four"))
    assert int(text) == 4 and ran == []
    np.testing.assert_allclose(v, [2, 3])


def test_program_ops_outside_of_programs(capfd):
    ipu.internal_ops.print_tensor(tf.constant([1.5, 2.5]), name="x")
    assert "x" in capfd.readouterr().err
    a, b = ipu.control_flow_ops.barrier([tf.ones(2), tf.constant(3)])
    with pytest.raises(ValueError, match="barrier takes one tensor at least"):
        ipu.control_flow_ops.barrier([])
    with pytest.raises(TypeError, match="outlined_function takes a function, got 3"):
        ipu.functional_ops.outlined_function(3)
    for split, message in ((0, "split_dimension 0 has 3 elements, which 2 replicas"), (2, "split_dimension is 2, and")):
        with pytest.raises(ValueError, match=message):
            ipu.all_to_all_op.all_to_all(tf.ones([3, 4]), split, 0, 2)
    assert float(a[0]) == 1 and int(b) == 3
    assert int(ipu.replication_ops.replication_index()) == 0
    np.testing.assert_allclose(ipu.cross_replica_ops.cross_replica_sum(tf.ones(3)), 1)


def test_seeds_of_random_numbers():
    x = tf.ones([8, 8])
    ipu.utils.reset_ipu_seed(7)
    first, second = ipu.rand_ops.dropout(x), ipu.rand_ops.dropout(x)
    ipu.utils.reset_ipu_seed(7)
    np.testing.assert_array_equal(ipu.rand_ops.dropout(x), first)
    assert np.any(first != second)
    for kwargs, message in [
        ({"rate": 1.0}, "from 0 and below 1, got 1.0"),
        ({"noise_shape": [8]}, "does not fit"),
        ({"noise_shape": [8, 2]}, "does not fit"),
    ]:
        with pytest.raises(ValueError, match=message):
            ipu.rand_ops.dropout(x, **kwargs)


def test_replicas_draw_numbers_of_their_own_unless_they_are_to_be_identical():
    config = ipu.config.IPUConfig()
    config.auto_select_ipus = 2
    config.configure_ipu_system()
    queue = ipu.ipu_outfeed_queue.IPUOutfeedQueue()

    @tf.function(jit_compile=True)
    def draw():
        queue.enqueue(ipu.rand_ops.dropout(tf.ones([64])))

    strategy = ipu.ipu_strategy.IPUStrategy()
    drawn = []
    with strategy.scope():
        for identical in (False, True, False):
            ipu.utils.reset_ipu_seed(7, experimental_identical_replicas=identical)
            strategy.run(draw)
            drawn.append(np.asarray(queue.dequeue())[0])
    own, same, again = drawn
    assert own.shape == (2, 64) and np.any(own[0] != own[1])
    np.testing.assert_array_equal(same[0], same[1])
    np.testing.assert_array_equal(own, again)
    np.testing.assert_array_equal(own[0], same[0])


def test_a_reduce_scatter_without_others_keeps_its_own_block():
    config = ipu.config.IPUConfig()
    config.auto_select_ipus, config.ipu_model.tiles_per_ipu = 2, 4
    config.configure_ipu_system()
    strategy, queue = ipu.ipu_strategy.IPUStrategy(), ipu.ipu_outfeed_queue.IPUOutfeedQueue()

    @tf.function(jit_compile=True)
    def scatter(x):
        own = x * (1 + tf.cast(ipu.replication_ops.replication_index(), tf.float32))
        queue.enqueue(ipu.reduce_scatter_op.reduce_scatter(own, 2, "COLLECTIVE_OP_LOCAL"))

    with strategy.scope():
        strategy.run(scatter, args=(tf.constant([1.0, 2.0, 3.0]),))
        np.testing.assert_array_equal(queue.dequeue()[0], [[1, 2], [6, 0]])


def test_what_there_is_not_yet_says_so():
    assert float(ipu.internal_ops.fifo(tf.ones(()), 0)) == 1
    with pytest.raises(ValueError, match="counts mini-batches: call it in a stage of a pipeline"):
        ipu.internal_ops.get_current_iteration_counter()
    with pytest.raises(TypeError, match="get_current_iteration_counter has no argument 'nome'"):
        ipu.internal_ops.get_current_iteration_counter(nome="count")
    with pytest.raises(ValueError, match="reduce_scatter has no 'SUM'"):
        ipu.reduce_scatter_op.reduce_scatter(tf.ones(2), 1, "SUM")
    with pytest.raises(AttributeError, match="has no attribute 'pipelines'; it has all_to_all_op"):
        _ = ipu.pipelines


def test_an_op_that_the_device_cannot_do_is_an_error():
    with tf.device("/device:IPU:0"), pytest.raises(CompileError):
        tf.linalg.eig(tf.ones((2, 2)))


def test_gradients_of_eager_ops_come_from_the_device(ran):
    v = tf.Variable([1.0, 2.0])
    with tf.device("/device:IPU:0"), tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.nn.relu(v * 3.0) * tf.concat([v, v], 0)[:2])
    with tf.device("/device:IPU:0"):
        np.testing.assert_allclose(tape.gradient(y, v), [6, 12])
    assert {"Mul", "Sum", "ConcatV2", "ReluGrad"} <= set(ran)


def test_ops_in_the_scope_run_on_the_device(ran, caplog):
    strategy = ipu.ipu_strategy.IPUStrategy()
    with strategy.scope():
        x = tf.constant([1.0, 2.0])
        v = tf.Variable(x)
        v.assign(v * 3.0)
        with tf.device("/cpu:0"):
            assert float(tf.reduce_max(v)) == 6
        with tf.device("/device:IPU:0"):
            y = tf.maximum(v, 4.0)
        assert tf.where(y > 4.0).numpy().tolist() == [[1]]

        @tf.function(jit_compile=True)
        def twice(x):
            return x * 2.0

        np.testing.assert_allclose(strategy.run(twice, args=(y,)), [8, 12])
    np.testing.assert_allclose(tf.exp(x * 0.0), [1, 1])
    assert ran == ["Mul", "Maximum", "Greater", "Where"]
    assert "Where runs on the host: " in caplog.text


def test_the_scope_of_a_process_without_a_device_is_the_host(ran):
    config = ipu.config.IPUConfig()
    config.device_connection.type = ipu.config.DeviceConnectionType.PRE_COMPILE
    config.device_connection.version = "ipu2"
    config.configure_ipu_system()
    with ipu.ipu_strategy.IPUStrategy().scope():
        assert float(tf.constant(2.0) * 3.0) == 6
    assert ran == []


def test_what_keras_does_around_steps_stays_on_the_host(ran):
    keras = pytest.importorskip("keras")
    with ipu.ipu_strategy.IPUStrategy().scope():
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
        model.compile("sgd", "mse", metrics=["mae"])
        ran.clear()
        model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)
        model.predict(np.ones((4, 3)), verbose=0)
        assert ran == []
        assert model(tf.ones((4, 3))).shape == (4, 2)
    assert "MatMul" in ran


def test_complex_numbers_and_transforms_run_on_the_device():
    values = tf.complex(tf.constant([1.0, -2.0, 0.5, 3.0]), tf.constant([0.0, 1.0, -1.5, 2.0]))
    with tf.device("/device:IPU:0"):
        found = tf.signal.fft(values)
    np.testing.assert_allclose(found.numpy(), np.fft.fft(values.numpy()), rtol=1e-5)


def test_a_fifo_remembers_for_its_place_in_a_program():
    strategy = ipu.ipu_strategy.IPUStrategy()

    @tf.function(jit_compile=True)
    def late(x):
        return ipu.internal_ops.fifo(x, 2), ipu.internal_ops.fifo(x * 10.0, 1), ipu.internal_ops.fifo(x, 0)

    with strategy.scope():
        found = [[float(each) for each in strategy.run(late, args=(tf.constant(float(i)),))] for i in (1, 2, 3, 4)]
    assert found == [[0, 0, 1], [0, 10, 2], [1, 20, 3], [2, 30, 4]]
    with pytest.raises(RuntimeError, match="fifo remembers for a place in a program"):
        ipu.internal_ops.fifo(tf.ones(2), 1)


def test_what_is_no_image_is_refused():
    for shape, options, error, message in [
        ((2, 2), {}, tf.errors.InvalidArgumentError, "The image has 2 channels, expected 3."),
        ((2, 3), {"channel_scales": [1.0]}, tf.errors.InvalidArgumentError, r"channel_scales have the shape \(1,\)"),
        ((2, 3), {"channel_offsets": tf.zeros(3, tf.float16)}, TypeError, "channel_offsets are of type float16"),
        ((2, 3), {"image": tf.zeros((2, 3), tf.int32)}, TypeError, "uint8, float16 or float32, got int32"),
    ]:
        given = {"image": tf.zeros(shape), "channel_offsets": [1.0] * 3, "channel_scales": [1.0] * 3, **options}
        with pytest.raises(error, match=message):
            ipu.image_ops.normalise_image(**given)


def test_collectives_of_shards_and_their_gradients():
    config = ipu.config.IPUConfig()
    config.auto_select_ipus, config.ipu_model.tiles_per_ipu = 2, 4
    config.configure_ipu_system()
    strategy, within = ipu.ipu_strategy.IPUStrategy(), ipu.within_replica_ops

    def whole(a, b):
        with tf.GradientTape() as tape:
            tape.watch([a, b])
            first, second = within.all_reduce([a, b], "COLLECTIVE_OP_MEAN")
            squares = within.reduce_scatter([a, b], "COLLECTIVE_OP_SQUARE_ADD")
            loss = tf.reduce_sum(first * second) + tf.reduce_sum(within.all_gather(squares)[1])
        both = within.all_reduce([a[0] > 0, b[0] > 0], "COLLECTIVE_OP_LOGICAL_AND")
        return tape.gradient(loss, [a, b]), first, squares, both

    given = (tf.constant([1.0, -2.0, 3.0]), tf.constant([4.0, 5.0]))
    with strategy.scope():
        found = strategy.run(tf.function(whole, jit_compile=True), args=given)
    np.testing.assert_allclose(found[1], [2.5, 1.5, 1.5])
    np.testing.assert_allclose(tf.concat(found[2], 0), [9, 0, 17, 29])
    assert [bool(each) for each in found[3]] == [True, True]
    np.testing.assert_allclose(found[0][0], [2.5 + 2, 1.5 - 4, 1.5 + 6])
    np.testing.assert_allclose(found[0][1], [2.5 + 8, 1.5 + 10])
    np.testing.assert_allclose(within.all_gather([1.0, 2.0])[1], [1, 2])
    parts = within.reduce_scatter(
        [tf.constant([1.0, 2.0, 3.0]), *(tf.zeros(3) + n for n in range(3))], "COLLECTIVE_OP_ADD"
    )
    np.testing.assert_allclose(tf.concat(parts, 0), [0, 5, 6, 4])  # of x, y, z on four IPUs: 0, y, z, x
    for call, message in [
        (lambda: within.all_gather([]), "a tensor for each shard, got none"),
        (lambda: within.all_gather([tf.ones(2), tf.ones(2, tf.int32)]), r"got float32\(2,\), int32\(2,\)"),
        (lambda: within.all_reduce(tf.unstack(tf.ones((2, 2, 2))), "COLLECTIVE_OP_ADD"), "takes numbers or vectors"),
        (lambda: within.reduce_scatter(tf.unstack(tf.ones((2, 2))), "SUM"), "no 'SUM'; there are COLLECTIVE_OP_ADD"),
        (lambda: within.all_reduce([tf.ones(2)] * 2, "COLLECTIVE_OP_ADD"), "got one twice"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()

    def reversed_shards(x):
        made = []
        for index in (1, 0):
            with ipu.scopes.ipu_shard(index):
                made.append(x * (index + 1.0))
        return within.all_gather(made)

    with pytest.raises(tf.errors.FailedPreconditionError, match=r"in their order, got those of shards \[1, 0\]"):
        strategy.run(tf.function(reversed_shards, jit_compile=True), args=(tf.ones(2),))


def test_slices_as_a_loop_copies_them_and_their_gradients():
    rng = np.random.default_rng(5)
    dst, src = rng.standard_normal((7, 2)).astype(np.float32), rng.standard_normal((6, 2)).astype(np.float32)
    counts, sources, places = [3, 0, 2], [1, 4, 4], [0, 3, 2]  # the last one overlaps the first
    strategy, ops = ipu.ipu_strategy.IPUStrategy(), ipu.slicing_ops

    def whole(dst, src, counts):
        with tf.GradientTape() as tape:
            tape.watch([dst, src])
            found = ops.sequence_slice(dst, src, counts, sources, places, False)
            loss = tf.reduce_sum(found * found)
        empty = ops.sequence_slice_unpack(src, counts, sources, 0)
        gradients = [tf.convert_to_tensor(each) for each in tape.gradient(loss, [dst, src])]
        return found, gradients, ops.sequence_slice_unpack(src, counts, sources, 6), empty

    with strategy.scope():
        found, gradients, unpacked, empty = strategy.run(
            tf.function(whole, jit_compile=True), args=(tf.constant(dst), tf.constant(src), tf.constant(counts))
        )
    expected, origin = dst.copy(), [None] * 7
    for count, source, place in zip(counts, sources, places, strict=True):
        for each in range(count):
            expected[place + each], origin[place + each] = src[source + each], source + each
    np.testing.assert_array_equal(found, expected)
    of_dst = np.where([[each is None] for each in origin], 2 * dst, 0)
    of_src = np.zeros_like(src)
    for row in filter(lambda row: row is not None, origin):
        of_src[row] += 2 * src[row]
    np.testing.assert_allclose(gradients[0], of_dst)
    np.testing.assert_allclose(gradients[1], of_src, rtol=1e-6)
    np.testing.assert_array_equal(unpacked, [*src[1:4], *src[4:6], [0, 0]])
    assert empty.shape == (0, 2)
    np.testing.assert_array_equal(ops.sequence_slice(dst, src, [], [], [], False), dst)
    beyond = tf.function(ops.sequence_slice)(dst, src, tf.constant([3]), tf.constant([4]), tf.constant([0]), True)
    np.testing.assert_array_equal(beyond, [*src[4:6], *np.zeros((5, 2))])


def test_what_slices_and_histograms_refuse():
    rows, x = tf.ones((3, 2)), tf.ones(4)
    for call, message in [
        (lambda: ipu.slicing_ops.sequence_slice(rows, tf.ones((3, 1)), [1], [0], [0], True), "must be alike: src is"),
        (lambda: ipu.slicing_ops.sequence_slice_pack(rows, rows, [1], [0, 1], True), "found 1, 1 and 2 of them"),
        (lambda: ipu.slicing_ops.sequence_slice(rows, rows, [2], [2], [0], True), "2 rows from row 2 of src on, which"),
        (lambda: ipu.slicing_ops.sequence_slice(rows, rows, [1], [0], [-1], True), "1 rows from row -1 of dst on"),
        (
            lambda: ipu.slicing_ops.sequence_slice_pack(rows, rows, [1.5], [0], True),
            r"got float32\(1,\)",
        ),
        (lambda: ipu.slicing_ops.sequence_slice_unpack(rows, 1, [0], 1), "num_elems must be a vector of integers"),
        (lambda: ipu.statistics_ops.histogram(x, tf.ones(2, tf.float16)), "levels are of type float16"),
        (lambda: ipu.statistics_ops.histogram(rows, x), "inputs must be a vector of float16 or float32"),
        (lambda: ipu.statistics_ops.histogram_update(x, x, x), r"hist is float32\(4,\), expected float32\(5,\)"),
        (lambda: ipu.statistics_ops.fixed_width_bins(x, 0), "n_bins must be at least 1, got 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()


def test_batches_are_normalised_as_tensorflow_does(ran):
    norm = tf.compat.v1.nn.fused_batch_norm
    x = tf.constant(np.random.default_rng(0).normal(2.0, 3.0, (3, 5, 2, 4)), tf.float32)
    scale = tf.constant([0.5, 1.0, 1.5, 2.0])

    def f(x, scale):
        with tf.GradientTape() as tape:
            tape.watch([x, scale])
            trained, mean, variance, *_ = norm(x, scale, scale + 1.0)
            used, *_ = norm(x, scale, scale, mean, variance, is_training=False)
            loss = tf.reduce_sum(trained**3 + used * trained)
        return trained, used, mean, variance, tape.gradient(loss, [x, scale])

    expected = f(x, scale)
    found = ipu.ipu_strategy.IPUStrategy().run(tf.function(f, jit_compile=True), args=(x, scale))
    for one, other in zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3)
