"""Ops of TensorFlow that draw from a state, in programs: they follow ``reset_ipu_seed``."""

import numpy as np
import pytest

from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")


@pytest.fixture
def strategy():
    config = ipu.config.IPUConfig()
    config.ipu_model.tiles_per_ipu = 4
    config.configure_ipu_system()
    yield ipu.ipu_strategy.IPUStrategy()
    ipu.config.reset_ipu_configuration()


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
