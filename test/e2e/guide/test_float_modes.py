"""Options of floats in TensorFlow: ``floating_point_behaviour``, ``scopes.stochastic_rounding``, ``reset_ipu_seed``."""

import numpy as np
import pytest

from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")

X = tf.fill([400], 0.1)


def configured(**options):
    config = ipu.config.IPUConfig()
    config.ipu_model.tiles_per_ipu = 4
    for name, value in options.items():
        setattr(config.floating_point_behaviour, name, value)
    config.configure_ipu_system()
    return ipu.ipu_strategy.IPUStrategy()


@pytest.fixture(autouse=True)
def forgotten():
    yield
    ipu.config.reset_ipu_configuration()


@tf.function(jit_compile=True)
def rounded(x):
    return tf.cast(x, tf.float16)


def test_seeds_decide_how_numbers_round():
    strategy = configured(esr=ipu.config.StochasticRoundingBehaviour.ON)
    with strategy.scope():
        ipu.utils.reset_ipu_seed(3)
        first, second = (strategy.run(rounded, [X]).numpy() for _ in range(2))
        ipu.utils.reset_ipu_seed(3)
        again = strategy.run(rounded, [X]).numpy()
        ipu.utils.reset_ipu_seed(4)
        other = strategy.run(rounded, [X]).numpy()
    np.testing.assert_array_equal(first, again)
    assert (first != second).any() and (first != other).any()
    assert 0.3 < np.mean(first > 0.1) < 0.5


def test_a_scope_says_where_numbers_are_rounded_at_random():
    @tf.function(jit_compile=True)
    def main(x):
        with ipu.scopes.stochastic_rounding(True):
            random = tf.cast(x, tf.float16)
            with ipu.scopes.stochastic_rounding(False):
                nearest = tf.cast(x * 3.0, tf.float16)
        return random, nearest, tf.cast(x * 5.0, tf.float16)

    strategy = configured()
    with strategy.scope():
        random, nearest, outside = strategy.run(main, [X])
    assert len(np.unique(random)) == 2
    assert len(np.unique(nearest)) == len(np.unique(outside)) == 1


@pytest.mark.parametrize(("nanoo", "expected"), [(False, 65504), (True, np.nan)])
def test_float16_that_is_too_large(nanoo, expected):
    strategy = configured(nanoo=nanoo, inv=True)  # the group is set: floats are those of the machine
    with strategy.scope():
        found = strategy.run(tf.function(lambda x: x * 2, jit_compile=True), [tf.constant([60000.0], tf.float16)])
    np.testing.assert_array_equal(found, np.array([expected], np.float16))


def test_a_division_by_zero_ends_the_run_with_its_line():
    strategy = configured(div0=True)
    with strategy.scope():
        run = tf.function(lambda x, y: x / y, jit_compile=True)
        strategy.run(run, [X, X])
        with pytest.raises(Exception, match=r"by zero \(div0\), in arith.divf at test_float_modes.py:\d+"):
            strategy.run(run, [X, 0 * X])
