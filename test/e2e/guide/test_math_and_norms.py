"""Products in parts, normalisations and losses over samples, against TensorFlow on the host."""

import numpy as np
import pytest

from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")
nn = ipu.nn_ops
DIMENSIONS = ("a_columns", "a_rows_b_columns", "b_rows")


@pytest.fixture(autouse=True)
def strategy():
    config = ipu.config.IPUConfig()
    config.ipu_model.tiles_per_ipu = 4
    config.configure_ipu_system()
    ipu.utils.reset_ipu_seed(3)
    yield ipu.ipu_strategy.IPUStrategy()
    ipu.config.reset_ipu_configuration()


def on_device(strategy, function, *args):
    with strategy.scope():
        return strategy.run(tf.function(function, jit_compile=True), args=args)


def test_products_in_parts_and_their_gradients_are_those_of_the_whole(strategy):
    random = np.random.default_rng(11)
    cases = []
    for number in range(8):
        m, k, n = (int(each) for each in 4 * random.integers(1, 4, 3))
        turned = [bool(each) for each in random.integers(0, 2, 2)]
        stacks = [((), ()), ((2,), ()), ((3, 1), (2,)), ((2,), (1,))][int(random.integers(4))]
        shapes = [(*stacks[0], m, k), (*stacks[1], k, n)]
        values = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
        a, b = (each.swapaxes(-1, -2) if turn else each for each, turn in zip(values, turned, strict=True))
        cases.append((tf.constant(a), tf.constant(b), int(random.choice([1, 2, 4])), DIMENSIONS[number % 3], *turned))

    def with_gradients(product, a, b):
        with tf.GradientTape() as outer:
            outer.watch(b)
            with tf.GradientTape() as tape:
                tape.watch([a, b])
                c = product(a, b)
                loss = tf.reduce_sum(c**3)
            found = tape.gradient(loss, [a, b])
            second = tf.reduce_sum(found[0] ** 2)
        return [c, *found, outer.gradient(second, b)]

    def in_parts():
        return [
            with_gradients(lambda x, y, rest=rest: ipu.math_ops.serialized_matmul(x, y, *rest), a, b)
            for a, b, *rest in cases
        ]

    for found, (a, b, _, _, *turned) in zip(on_device(strategy, in_parts), cases, strict=True):
        plain = with_gradients(lambda x, y, turned=turned: tf.matmul(x, y, *turned), a, b)
        for ours, theirs in zip(found, plain, strict=True):
            assert ours.shape == theirs.shape
            np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-3 * float(tf.reduce_max(tf.abs(theirs))))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((4,), (4, 4), 2, "a_columns"), r"a must be a matrix or a stack of them, got a shape of \(4,\)"),
        (((4, 4), (4, 4), 2, "rows"), "must be one of a_columns, a_rows_b_columns, b_rows, got 'rows'"),
        (((4, 3), (4, 4), 2, "b_rows"), "rows of 3 elements cannot be multiplied by columns of 4"),
        (((4, 4), (4, 6), 4, "b_rows"), r"The serialization_factor \(4\) must divide the size of b_rows \(6\)"),
        (((4, 4), (4, 6), 0, "b_rows"), "serialization_factor must be at least 1, got 0"),
    ],
)
def test_products_that_cannot_be_cut_are_refused(arguments, message):
    a, b, *rest = arguments
    with pytest.raises(ValueError, match=message):
        ipu.math_ops.serialized_matmul(tf.zeros(a), tf.zeros(b), *rest)


@pytest.mark.parametrize(
    ("data", "ids", "count", "message"),
    [
        ((), [0], 1, "data has rows along its first dimension"),
        ((3,), [[0, 1, 2]], 3, "segment_ids must have rank 1"),
        ((3,), [0, 1], 3, "data has 3 rows, but segment_ids has 2 numbers"),
        ((3,), [0.0, 1.0, 1.0], 3, "segment_ids must be integers, got float32"),
        ((3,), [0, 1, 2], -123, "num_segments must be greater than 0; got -123"),
    ],
)
def test_segments_that_fit_no_rows_are_refused(data, ids, count, message):
    with pytest.raises(ValueError, match=message):
        ipu.math_ops.segment_sum(tf.zeros(data), ids, count)


def test_sums_of_segments_have_a_gradient(strategy):
    def run(values):
        with tf.GradientTape() as tape:
            tape.watch(values)
            found = ipu.math_ops.segment_sum(values, [0, 0, 2, 2], 4)
            loss = tf.reduce_sum(found**2)
        return found, tape.gradient(loss, values)

    found, gradient = on_device(strategy, run, tf.constant([1.0, 2.0, 3.0, 4.0]))
    np.testing.assert_allclose(found, [3, 0, 7, 0])
    np.testing.assert_allclose(gradient, [6, 6, 14, 14])


def test_normalised_groups_of_16_bits_are_computed_in_32(strategy):
    x = np.random.default_rng(4).standard_normal((2, 5, 6)).astype(np.float16) + np.float16(60)

    def norms(values):
        groups = ipu.normalization_ops.group_norm
        return groups(values, 2, center=False, scale=False), groups(values, 3, 1 - 2, False, False, training=False)

    found = on_device(strategy, norms, tf.constant(x))
    for ours, groups in zip(found, (2, 3), strict=True):
        split = np.float64(x).reshape(2, 5, 6 // groups, groups)
        wanted = (split - split.mean((1, 2), keepdims=True)) / np.sqrt(split.var((1, 2), keepdims=True) + 1.53e-5)
        assert ours.dtype == tf.float16
        np.testing.assert_allclose(ours, wanted.reshape(x.shape), rtol=4e-3, atol=4e-3)


def test_norms_that_fit_no_channels_are_refused():
    norms, x = ipu.normalization_ops, tf.zeros((2, 3, 6))
    for wrong, message in (
        (lambda: norms.group_norm(x, groups=4), "6 channels is not commensurate with 4 groups."),
        (lambda: norms.group_norm(x, groups=7), "Invalid groups 7 for 6 channels."),
        (lambda: norms.instance_norm(x, channels_axis=0), "channels_axis 0 is not one of the dimensions"),
        (lambda: norms.layer_norm(x, channels_axis=3), "channels_axis 3 is not one of the dimensions"),
        (lambda: norms.layer_norm(tf.zeros((2, 3), tf.int32)), "must be floating point numbers, got int32"),
        (lambda: norms.layer_norm(x, param_initializers={"delta": 1}), "those of gamma and beta, got one of delta"),
    ):
        with pytest.raises(ValueError, match=message):
            wrong()
    with pytest.warns(UserWarning, match="epsilon is 1e-06; below 1.53e-05"):
        norms.layer_norm(x, epsilon=1e-6, center=False, scale=False)


def test_activations_have_the_gradients_of_tensorflow(strategy):
    x = tf.constant(np.linspace(-4, 4, 12).reshape(3, 4), tf.float32)
    ours = (nn.gelu, lambda v: nn.gelu(v, False), nn.swish, nn.softmax, lambda v: nn.softmax(v, True), nn.hard_sigmoid)
    gelu, soft = tf.nn.gelu, tf.nn.softmax
    theirs = (lambda v: gelu(v, True), gelu, tf.nn.swish, soft, soft, lambda v: tf.clip_by_value(0.2 * v + 0.5, 0, 1))

    def gradients(functions, value):
        found = []
        for each in functions:
            with tf.GradientTape() as tape:
                tape.watch(value)
                result = each(value) ** 2
            found += [result, tape.gradient(result, value)]
        return found

    for found, wanted in zip(on_device(strategy, lambda v: gradients(ours, v), x), gradients(theirs, x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-5)
    assert np.isnan(on_device(strategy, nn.softmax, x + 1e3)).any()
    assert not np.isnan(on_device(strategy, lambda v: nn.softmax(v, stable=True), x + 1e3)).any()


def test_options_of_convolutions_are_text():
    with pytest.raises(TypeError, match="options as a dictionary of text by name, got str"):
        nn.multi_conv(options="planType")
    with pytest.raises(TypeError, match="options as text by name, got 'a': 1"):
        nn.multi_conv(lambda: None, options={"a": 1})
    with pytest.raises(ValueError, match="multi_conv: a is no option of the libraries; there are availableMemory"):
        nn.multi_conv(lambda: None, options={"a": "1"})
    with pytest.raises(ValueError, match="multi_conv: partialsType is 'int', expected one of half"):
        nn.multi_conv(lambda: None, options={"partialsType": "int"})


def test_convolutions_are_summed_as_their_options_say(strategy, caplog):
    @tf.function(jit_compile=True)
    def step(x, w):
        def convolve(x):
            return tf.nn.conv2d(x, w, 1, "SAME")

        wide = nn.multi_conv(convolve, options={"partialsType": "float", "planType": "serial"})(x)
        return wide, nn.multi_conv(options={"partialsType": "half"})(convolve)(x[:, :3])

    x, w = np.ones((1, 4, 4, 8), np.float16), np.ones((1, 1, 8, 3), np.float16)
    with strategy.scope():
        for found in strategy.run(step, args=(x, w)):
            assert (found.numpy() == 8).all()
    (program,) = strategy._programs._programs.values()
    text = program.executable.mlir("l1")
    assert "4x4x3xf32>" in text and "3x4x3xf32>" not in text
    assert "multi_conv: planType has no effect here: the planner takes" in caplog.text


def test_convolutions_take_the_memory_that_their_options_say(strategy):
    options = {"availableMemoryProportion": "0.01", "partialsType": "float"}

    @tf.function(jit_compile=True)
    def step(x, w):
        def convolve(x):
            return tf.nn.conv2d(x, w, 1, "SAME")

        return nn.multi_conv(convolve, options)(x), convolve(x[:, :15])

    x, w = (np.ones(shape, np.float32) for shape in ((1, 16, 16, 64), (3, 3, 64, 48)))
    with strategy.scope():
        for found in strategy.run(step, args=(x, w)):
            assert found.numpy()[0, 1, 1, 0] == 576
    (program,) = strategy._programs._programs.values()
    text = program.executable.mlir("l2")
    assert "ipu.step" in text
    assert all("1x16x16x48xf32" in line for line in text.splitlines() if "ipu.step" in line)


def test_drawn_classes_that_are_true_have_no_part_in_the_softmax(strategy):
    random = np.random.default_rng(2)
    weights, inputs = (tf.constant(random.standard_normal(shape), tf.float32) for shape in ((9, 4), (3, 4)))
    labels = tf.constant([[1, 2], [0, 5], [7, 1]], tf.int64)
    sampled = (tf.constant([1, 5, 8], tf.int64), tf.fill([3, 2], 0.3), tf.fill([3], 0.2))
    given = (weights, tf.range(9.0), labels, inputs, 3, 9, 2, sampled)

    def losses(function, *more):
        with tf.GradientTape() as tape:
            tape.watch([weights, inputs])
            loss = function(*given, *more)
            total = tf.reduce_sum(loss)
        return [loss, *(tf.convert_to_tensor(each) for each in tape.gradient(total, [weights, inputs]))]

    found = on_device(strategy, lambda: losses(nn.sampled_softmax_loss) + losses(nn.nce_loss))
    with tf.device("/cpu:0"):
        wanted = losses(tf.nn.sampled_softmax_loss) + losses(tf.nn.nce_loss)
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="num_sampled is 10, but no class is drawn twice; it is 1 to 9"):
        nn.nce_loss(weights, tf.range(9.0), labels, inputs, 10, 9, 2)
    with pytest.raises(ValueError, match=r"labels must have the shape \[batch, num_true\] with num_true 1"):
        nn.nce_loss(weights, tf.range(9.0), labels, inputs, 3, 9)


def test_the_sampler_draws_as_tensorflow_does():
    from ipu_mlir.tensorflow.ipu.ops.sampled_losses import log_uniform_sample

    labels, count, classes, runs = tf.constant([[0], [3]], tf.int64), 5, 12, 1500
    one = tf.function(lambda seed: log_uniform_sample(labels, count, classes, seed))
    ours = [one(tf.constant([number, 5])) for number in range(runs)]
    theirs = [
        tf.random.log_uniform_candidate_sampler(labels, 1, count, True, classes, number) for number in range(runs)
    ]
    seen = []
    for found in (ours, theirs):
        drawn = np.array([each[0].numpy() for each in found])
        assert all(len(set(row)) == count for row in drawn)
        shares = np.bincount(drawn.ravel(), minlength=classes) / runs
        seen.append((shares, np.mean([each[1].numpy() for each in found], 0)))
    np.testing.assert_allclose(seen[0][0], seen[1][0], atol=0.06)  # 4 standard deviations
    np.testing.assert_allclose(seen[0][1], seen[1][1], atol=0.02)


def test_draws_differ_from_run_to_run_unless_there_is_a_seed(strategy):
    random = np.random.default_rng(2)
    weights, inputs = (tf.constant(random.standard_normal(shape), tf.float32) for shape in ((40, 4), (3, 4)))
    labels = tf.constant([[1], [0], [7]], tf.int64)

    def loss(seed):
        return nn.sampled_softmax_loss(weights, tf.zeros(40), labels, inputs, 4, 40, seed=seed)

    free, fixed = tf.function(lambda: loss(None), jit_compile=True), tf.function(lambda: loss(4), jit_compile=True)
    with strategy.scope():
        found = [[strategy.run(each).numpy() for _ in range(2)] for each in (free, fixed)]
    assert not np.array_equal(*found[0])
    np.testing.assert_array_equal(*found[1])
