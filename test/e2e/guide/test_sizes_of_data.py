"""Tensors of sizes that depend on data, inside of programs."""

import numpy as np
import pytest

import ipu_mlir

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")
if keras.backend.backend() != "tensorflow":
    pytest.skip("Keras runs on another backend here", allow_module_level=True)


RNG = np.random.default_rng(0)
X = RNG.normal(size=(5, 4)).astype(np.float32)
MASKS = [np.array(each) for each in ([1, 0, 1, 1, 0], [0] * 5, [1] * 5)]


def segments(x, kept):
    ids, places = tf.unique(tf.where(kept, tf.constant([3, 1, 3, 0, 1]), 6))
    sums = tf.math.unsorted_segment_sum(x, places, tf.shape(ids)[0])
    return tf.tensor_scatter_nd_add(tf.zeros((7, 4)), ids[:, None], sums * sums)


def joined(x, kept):
    both = tf.concat([tf.boolean_mask(x, kept), x, tf.boolean_mask(2.0 * x, ~kept)], 0)
    return tf.reduce_sum(both * both), tf.shape(both)


def gradient(x, kept):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(tf.boolean_mask(x, kept) ** 2) / 3.0
    return tape.gradient(loss, x)


def in_a_loop(x, kept):
    return tf.while_loop(
        lambda number, _: number < 3,
        lambda number, total: (number + 1, total + tf.reduce_sum(tf.boolean_mask(x, kept) * total)),
        [0, 1.0],
    )[1]


def crossed(x, kept):
    own = tf.boolean_mask(x, kept)
    loss = tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(own * 2.0), own)
    return tf.reduce_sum(loss), tf.reduce_max(own @ tf.transpose(x)), tf.matmul(own, own, transpose_a=True)


PROGRAMS = {
    "count": lambda x, kept: (tf.shape(tf.where(kept))[0], tf.shape(tf.boolean_mask(x, kept))),
    "sums": lambda x, kept: (tf.reduce_sum(tf.boolean_mask(x, kept), 0), tf.reduce_mean(tf.boolean_mask(x, kept))),
    "extremes": lambda x, kept: (tf.reduce_max(tf.boolean_mask(x, kept)), tf.reduce_min(tf.boolean_mask(x, kept), 0)),
    "in order": lambda x, kept: tf.reduce_sum(tf.sort(tf.boolean_mask(x, kept), 0) * tf.sort(tf.boolean_mask(x, kept))),
    "running": lambda x, kept: tf.reduce_sum(tf.cumsum(tf.boolean_mask(x, kept), 0) ** 2),
    "slices": lambda x, kept: (
        tf.reduce_sum(tf.boolean_mask(x, kept)[1:3]) - tf.reduce_sum(tf.boolean_mask(x, kept)[2:])
    ),
    "flat": lambda x, kept: tf.reduce_sum(tf.reshape(tf.boolean_mask(x, kept), [-1])),
    "moved": lambda x, kept: tf.reduce_prod(tf.transpose(tf.boolean_mask(x, kept)), 1),
    "parts": lambda x, kept: [tf.reduce_sum(each) for each in tf.dynamic_partition(x, tf.cast(kept, tf.int32), 2)],
    "padded": lambda x, kept: tf.reduce_sum(tf.pad(tf.boolean_mask(x, kept), [[1, 2], [0, 0]], constant_values=2.0)),
    "branch": lambda x, kept: tf.cond(kept[0], lambda: tf.reduce_sum(tf.boolean_mask(x, kept)), lambda: 0.0),
    "segments": segments,
    "joined": joined,
    "gradient": gradient,
    "in a loop": in_a_loop,
    "crossed": crossed,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_left_out_counts_nowhere(strategy, name):
    program = tf.function(PROGRAMS[name], jit_compile=True)
    for mask in MASKS:
        given = (tf.constant(X), tf.constant(mask, tf.bool))
        found, expected = strategy.run(program, args=given), PROGRAMS[name](*given)
        for one, other in zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_a_size_that_is_an_argument_needs_no_other_program(strategy):
    total = tf.function(lambda x, count: tf.reduce_sum(x[:count]), jit_compile=True)
    for count in range(6):
        found = strategy.run(total, args=(tf.constant(X[:, 0]), tf.constant(count)))
        np.testing.assert_allclose(found, X[:count, 0].sum(), rtol=1e-5)
    assert len(strategy._programs._programs) == 1
    some = tf.function(lambda x, count: x[:count], jit_compile=True)
    assert [strategy.run(some, args=(tf.constant(X), tf.constant(count))).shape[0] for count in (2, 5)] == [2, 5]


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (lambda x: tf.boolean_mask(x, x > 0), "gives a result of a size that depends on data"),
        (
            lambda x: tf.reduce_sum(tf.reverse(tf.boolean_mask(x, x > 0), [0])),
            "takes a tensor of a size that depends on data",
        ),
    ],
)
def test_what_needs_a_fixed_size_is_refused(strategy, program, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"test_sizes_of_data.py:\d+:.*{message}; .*tf\.where\("):
        strategy.run(tf.function(program, jit_compile=True), args=(tf.constant(X),))


def test_results_are_as_large_as_values_say():
    calls = tf.Variable(0)

    def f(x):
        calls.assign_add(1)
        own = tf.boolean_mask(x, x > 0)
        return tf.where(x > 0), {"sorted": tf.sort(own, direction="DESCENDING"), "sum": tf.reduce_sum(x)}, own[1:3]

    exe = ipu_mlir.compile(tf.function(f), args=[X], target=ipu_mlir.Target(tiles_per_ipu=4))
    for x in (X, -X, 0 * X, 0 * X + 1):
        for found, wanted in zip(tf.nest.flatten(exe(x)), tf.nest.flatten(f(tf.constant(x))), strict=True):
            assert found.shape == wanted.shape
            np.testing.assert_allclose(found, wanted, rtol=1e-5)
    assert calls.numpy() == 8


@pytest.mark.parametrize("entry", [-1, slice(-2, None), slice(None, -1), (..., tf.newaxis, -1, slice(None))])
def test_slices_that_count_from_such_an_end_are_refused(strategy, entry):
    """XLA counts from the end of the largest size, in silence."""

    def f(x):
        return tf.reduce_sum(tf.boolean_mask(x, x[:, 0] > 0)[entry])

    message = r"test_sizes_of_data.py:\d+\) counts from the end of a tensor whose size depends on data; .*tf\.gather"
    with pytest.raises(ipu_mlir.CompileError, match=message):
        ipu_mlir.compile(tf.function(f), args=[X])
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        strategy.run(tf.function(f, jit_compile=True), args=(tf.constant(X),))
    of_rows = tf.function(lambda x: tf.reduce_sum(tf.boolean_mask(x, x[:, 0] > 0)[:, -1] + x[-1, 0]))
    np.testing.assert_allclose(ipu_mlir.compile(of_rows, args=[X])(X), of_rows(X), rtol=1e-5)


@pytest.mark.parametrize("name", ["RMSprop", "Adagrad", "Adadelta", "Adafactor"])
def test_embeddings_with_optimizers_that_join_rows(strategy, name):
    ids = RNG.integers(0, 9, (16, 6))
    wanted = RNG.normal(size=(16, 1)).astype(np.float32)

    def trained():
        keras.utils.set_random_seed(0)
        layers = keras.layers
        model = keras.Sequential(
            [keras.Input((6,), dtype="int32"), layers.Embedding(9, 4), layers.Flatten(), layers.Dense(1)]
        )
        model.compile(getattr(keras.optimizers, name)(0.01), "mse", steps_per_execution=2, jit_compile=False)
        model.fit(ids, wanted, batch_size=8, epochs=2, shuffle=False, verbose=0)
        return model.get_weights()

    expected = trained()
    with strategy.scope():
        found = trained()
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
