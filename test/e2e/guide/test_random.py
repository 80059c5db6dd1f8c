"""Ops of TensorFlow that draw from a state, in programs: they follow ``reset_ipu_seed``."""

import numpy as np
import pytest

import ipu_mlir
from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")
lowering = pytest.importorskip("ipu_mlir.tensorflow.lowering")
TILES = 4


def test_ops_without_seeds_draw_anew_in_each_round_and_run_and_begin_anew(strategy):
    @tf.function(jit_compile=True)
    def step(x):
        rows = tf.TensorArray(tf.float32, 3)
        for i in tf.range(3):
            rows = rows.write(i, tf.random.normal((40,), mean=1.0))
        return {
            "normal": rows.stack(),
            "integers": tf.random.uniform((40,), minval=2, maxval=10, dtype=tf.int32),
            "seeded": tf.random.uniform((40,), 3.0, 4.0, seed=3),
            "dropout": tf.nn.dropout(x, 0.5),
            "truncated": tf.random.truncated_normal((40,), dtype=tf.float16),
            "order": tf.random.shuffle(tf.range(12)),
            "choice": tf.random.categorical([[0.0, 0.0, -100.0]], 40),
        }

    with strategy.scope():
        found = []
        for seed in (7, None, 7):
            if seed is not None:
                ipu.utils.reset_ipu_seed(seed)
            found.append({key: each.numpy() for key, each in strategy.run(step, args=(tf.ones(40),)).items()})
    first, second, again = found
    for key in first:
        np.testing.assert_array_equal(first[key], again[key])
        assert (first[key] != second[key]).any(), key
    assert len(np.unique(first["normal"])) == 120 and abs(first["normal"].mean() - 1) < 0.4
    assert first["integers"].min() == 2 and first["integers"].max() == 9
    assert first["seeded"].min() >= 3 and first["seeded"].max() < 4
    assert set(first["dropout"]) == {0, 2}
    assert first["truncated"].dtype == np.float16 and abs(first["truncated"]).max() <= 2
    assert sorted(first["order"]) == list(range(12))
    assert set(first["choice"].ravel()) == {0, 1}


def test_the_host_draws_as_before(strategy):
    with strategy.scope():
        strategy.run(tf.function(lambda: tf.random.normal((2,)), jit_compile=True))
    tf.random.set_seed(1)
    first = tf.random.normal((3,)).numpy()
    tf.random.set_seed(1)
    np.testing.assert_array_equal(first, tf.random.normal((3,)))


def test_a_number_of_results_that_is_an_argument_is_part_of_the_program(strategy):
    @tf.function(jit_compile=True)
    def largest(x, k):
        return tf.math.top_k(x, k).values

    with strategy.scope():
        found = strategy.run(largest, args=(tf.constant([1.0, 3.0, 2.0]), tf.constant(2)))
    assert found.numpy().tolist() == [3, 2]


def test_initial_values_of_variables_of_graphs_are_drawn_on_the_host(strategy):
    v1 = tf.compat.v1

    def step(x):
        return x + v1.get_variable("w", (200,), initializer=v1.random_normal_initializer(), use_resource=True)

    with tf.Graph().as_default(), ipu.scopes.ipu_scope("/device:IPU:0"):
        (found,) = ipu.ipu_compiler.compile(step, [tf.zeros(200)])
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            assert len(np.unique(session.run(found))) == 200


def test_a_seed_is_a_number():
    with pytest.raises(TypeError, match="'str' object cannot be interpreted as an integer"):
        ipu.utils.reset_ipu_seed("1")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"x": np.ones(3, np.int32)}, TypeError, "dropout scales floats, got elements of type int32"),
        ({"seed": 3}, ValueError, "seed must be two integers"),
        ({"seed_modifier": 2}, TypeError, "dropout has no argument 'seed_modifier'"),
    ],
)
def test_dropout_takes_what_it_uses(options, error, message):
    with pytest.raises(error, match=message):
        ipu.rand_ops.dropout(**({"x": tf.ones(3)} | options))


def test_dropout_draws_its_mask_again_for_the_gradient(strategy):
    x = tf.constant(np.random.default_rng(0).standard_normal((6, 50)), tf.float32)

    @tf.function(jit_compile=True)
    def run(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                free, rows = ipu.rand_ops.dropout(x, 0.25), ipu.rand_ops.dropout(x, 0.5, noise_shape=[6, 1])
                loss = tf.reduce_sum(free**3) + tf.reduce_sum(rows**2)
            first = tape.gradient(loss, x)
        return free, rows, first, outer.gradient(first, x), ipu.rand_ops.dropout(x, 0.25, seed=[3, 4])

    with strategy.scope():
        free, rows, first, second, seeded = (each.numpy() for each in strategy.run(run, args=(x,)))
    mask, of_rows = free != 0, rows != 0
    assert abs(mask.mean() - 0.75) < 0.1
    assert (of_rows.all(1) | ~of_rows.any(1)).all()
    by_free, by_rows = mask / 0.75, of_rows / 0.5
    np.testing.assert_allclose(first, 3 * by_free * free**2 + 2 * by_rows * rows, rtol=1e-4)
    np.testing.assert_allclose(second, 6 * by_free**2 * free + 2 * by_rows**2, rtol=1e-4)
    np.testing.assert_array_equal(seeded, ipu.rand_ops.dropout(x, 0.25, seed=[3, 4]))


def test_a_mask_is_drawn_by_one_code_and_not_kept(strategy):
    """Forward and backward are two calls of one function, so that no superstep between them keeps the mask."""

    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(ipu.rand_ops.dropout(x, 0.5) ** 2)
        return loss, tape.gradient(loss, x)

    with strategy.scope():
        module = lowering.trace(step, [tf.TensorSpec((40,), tf.float32)], "step").module
    exe = ipu_mlir.compile(module, target=ipu_mlir.Target(tiles_per_ipu=4))
    text = str(exe.module())
    assert text.count('library_call = "random_uniform"') == 1
    assert text.count("call @") == 2


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_uniform_numbers_of_few_bits_stay_below_1(strategy, kind):
    with strategy.scope():
        found = strategy.run(tf.function(lambda: tf.random.uniform((20000,), dtype=kind), jit_compile=True))
    assert float(tf.reduce_max(found)) < 1 and float(tf.reduce_min(found)) >= 0 and len(np.unique(found)) > 100


def test_replicas_drop_other_elements_unless_they_are_to_be_identical(capfd):
    config = ipu.config.IPUConfig()
    config.auto_select_ipus = 2
    config.ipu_model.tiles_per_ipu = 4
    config.configure_ipu_system()
    strategy = ipu.ipu_strategy.IPUStrategy()

    @tf.function(jit_compile=True)
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            dropped = ipu.rand_ops.dropout(x, 0.5)
            loss = tf.reduce_sum(dropped)
        gather = ipu.ops.all_to_all_op.all_gather
        return gather(dropped, 2), gather(tape.gradient(loss, x), 2)

    with strategy.scope():
        for identical in (False, True):
            ipu.utils.reset_ipu_seed(5, experimental_identical_replicas=identical)
            dropped, gradient = (each.numpy() for each in strategy.run(step, args=(tf.ones(32),)))
            assert np.array_equal(dropped[0], dropped[1]) == identical
            np.testing.assert_array_equal(dropped, gradient)
    ipu.config.reset_ipu_configuration()
    assert "AutoGraph could not transform" not in capfd.readouterr().err
