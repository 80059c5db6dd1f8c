"""Operations of the host in the middle of programs."""

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import ipu_mlir  # noqa: E402
from ipu_mlir.tensorflow import ipu  # noqa: E402

outside = ipu.scopes.outside_compilation_scope


def configured(ipus=1):
    config = ipu.config.IPUConfig()
    config.auto_select_ipus = ipus
    config.ipu_model.tiles_per_ipu = 4
    config.configure_ipu_system()
    return ipu.ipu_strategy.IPUStrategy()


def test_the_host_is_called_in_loops_and_branches_in_their_order():
    seen = []

    def on_host(values, number):
        seen.append((int(number), values.dtype, values.tolist()))
        return np.sort(values), np.uint8(200)

    @tf.function(jit_compile=True)
    def step(x):
        for i in tf.range(3):
            if i > 0:
                with outside("sorting"):
                    found, many = tf.numpy_function(on_host, [x, i], [tf.float32, tf.uint8])
                    found = tf.ensure_shape(found, [3])
                    many = tf.ensure_shape(many, [])
                    wide = tf.cast(many, tf.int32) * 2
                x = -found + tf.cast(wide, tf.float32)
        return x

    strategy = configured()
    with strategy.scope():
        found = strategy.run(step, args=(tf.constant([3.0, 1.0, 2.0]),))
    assert found.numpy().tolist() == [3.0, 2.0, 1.0]
    assert [number for number, *_ in seen] == [1, 2]
    assert seen[1][1:] == (np.float32, [399.0, 398.0, 397.0])


def test_a_block_without_results_runs_and_effects_stay(capfd):
    @tf.function(jit_compile=True)
    def step(x):
        with outside():
            tf.print("now", x)
        return x * 2

    strategy = configured()
    with strategy.scope():
        for _ in range(2):
            strategy.run(step, args=(tf.constant([1.0, 2.0]),))
    assert capfd.readouterr().err.count("now [1 2]") == 2


def test_gradients_go_through_operations_of_tensorflow():
    @tf.function(jit_compile=True)
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            with outside():
                y = tf.sin(x) * x
            loss = tf.reduce_sum(y * 3.0)
        return tape.gradient(loss, x)

    x = tf.constant([0.5, -1.0])
    strategy = configured()
    with strategy.scope():
        found = strategy.run(step, args=(x,))
    np.testing.assert_allclose(found, 3 * (np.sin(x) + x * np.cos(x)), rtol=1e-5)


def test_each_replica_calls_the_host():
    seen = []

    @tf.function(jit_compile=True)
    def step(x):
        own = x + tf.cast(ipu.replication_ops.replication_index(), tf.float32)
        with outside():
            found = tf.numpy_function(lambda value: (seen.append(float(value)), value)[1], [own], tf.float32)
        found.set_shape([])
        return ipu.cross_replica_ops.cross_replica_sum(found)

    strategy = configured(ipus=2)
    with strategy.scope():
        assert float(strategy.run(step, args=(tf.constant(1.0),))) == 3
    assert seen == [1, 2]


def run(function):
    strategy = configured()
    with strategy.scope():
        variable = tf.Variable([1.0, 2.0])
        strategy.run(tf.function(lambda x: function(x, variable), jit_compile=True), args=(tf.constant([1.0, 2.0]),))


def uses_a_variable(x, variable):
    with outside():
        return variable * x


def has_no_shape(x, variable):
    with outside():
        y = tf.numpy_function(lambda value: value, [x], tf.float32)
    return y + 1


def is_not_used(x, variable):
    with outside():
        tf.numpy_function(lambda value: value, [x], tf.float32)
    return x


def is_text(x, variable):
    with outside():
        y = tf.strings.as_string(x)
    return tf.strings.length(y)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            uses_a_variable,
            "type resource from outside, which the device cannot pass; read variables before the scope",
        ),
        (has_no_shape, "of shape <unknown>, and the device takes numbers of known shapes; use set_shape"),
        (is_not_used, "in outside_compilation_scope has no shape, and nobody uses it; give it one by set_shape"),
        (is_text, r"is string of shape \(2,\), and the device takes numbers of known shapes"),
    ],
)
def test_what_cannot_go_over_is_refused(function, message):
    with pytest.raises(ValueError if function is not is_not_used else ipu_mlir.CompileError, match=message):
        run(function)


def test_what_the_function_raises_ends_the_run_and_the_next_one_works():
    @tf.function(jit_compile=True)
    def step(x):
        with outside():
            y = tf.numpy_function(lambda value: 1 // int(value) + value, [x], tf.float32)
            y.set_shape([])
        return y

    strategy = configured()
    with strategy.scope():
        with pytest.raises(tf.errors.OpError, match="ZeroDivisionError"):
            strategy.run(step, args=(tf.constant(0.0),))
        assert float(strategy.run(step, args=(tf.constant(1.0),))) == 2
