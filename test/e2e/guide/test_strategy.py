"""``IPUStrategy.run``: functions of tensors, with variables that live on the device and are TensorFlow's as well."""

import logging
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")
if keras.backend.backend() != "tensorflow":
    pytest.skip("Keras runs on another backend here", allow_module_level=True)


def compiled(function):
    return tf.function(function, jit_compile=True)


def test_arguments_and_results_keep_their_structure_and_types(strategy):
    @compiled
    def f(pair, n, scale=2.0, *, mask=None):
        x, y = pair
        return {"sum": x + y["y"] * scale, "same": x, "none": mask, "count": tf.constant(n), "is": y["y"] > 0}

    x, y = np.float32([1, -2]), tf.constant([3.0, -4.0])
    found = strategy.run(f, args=((x, {"y": y}), 3), kwargs={"scale": tf.constant(3.0)})
    assert found["none"] is None and int(found["count"]) == 3
    np.testing.assert_allclose(found["sum"], [10, -14])
    np.testing.assert_array_equal(found["same"], x)
    np.testing.assert_array_equal(found["is"], [True, False])


def test_what_a_run_gives_is_reduced_along_an_axis(strategy):
    rows = strategy.run(compiled(lambda x: x * 2), args=(tf.constant([[1.0, 2], [3, 6]]),))
    for op, wanted in ((tf.distribute.ReduceOp.SUM, [8, 16]), ("MEAN", [4, 8])):
        np.testing.assert_array_equal(strategy.reduce(op, rows, axis=0), wanted)
    assert strategy.reduce("SUM", rows, axis=[0, 1]) == 24


def test_a_gradient_of_rows_comes_as_rows(strategy):
    with strategy.scope():
        table = tf.Variable(tf.reshape(tf.range(12.0), (4, 3)))

        @tf.function(jit_compile=True)
        def gradient(ids):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.gather(table, ids) ** 2)
            return {"rows": tape.gradient(loss, table), "loss": loss, "nothing": None}

        ids = tf.constant([2, 0, 2])
        found, expected = strategy.run(gradient, args=(ids,)), gradient(ids)
        assert isinstance(found["rows"], tf.IndexedSlices) and found["nothing"] is None
        for part in ("indices", "values", "dense_shape"):
            np.testing.assert_array_equal(getattr(found["rows"], part), getattr(expected["rows"], part))
        np.testing.assert_allclose(found["loss"], expected["loss"])
        table.scatter_sub(found["rows"])
        np.testing.assert_allclose(table[2], [-18.0, -21.0, -24.0])


def test_a_signature_makes_tensors_of_arrays_numbers_and_lists(strategy):
    spec = tf.TensorSpec

    class Scaled(tf.Module):
        @tf.function(jit_compile=True, input_signature=[spec([None, 2]), {"by": spec([])}])
        def scaled(self, x, more, offset=1.0):
            return x * more["by"] + offset

    own = Scaled()
    for x in (np.ones((2, 2)), [[1, 1], [1, 1]], tf.ones((2, 2))):
        np.testing.assert_array_equal(strategy.run(own.scaled, args=(x, {"by": 3})), np.full((2, 2), 4))
    assert len(strategy._programs._programs) == 1
    with pytest.raises(TypeError, match=r"int32.*to TensorSpec"):
        strategy.run(own.scaled, args=(tf.ones((2, 2), tf.int32), {"by": 3}))


def test_ragged_results(strategy):
    found = strategy.run(
        compiled(lambda x: tf.RaggedTensor.from_row_lengths(x, [2, 1])), args=(tf.constant([1, 2, 3]),)
    )
    assert found.to_list() == [[1, 2], [3]]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int32", "uint8", "uint32", "int64", "bool", "complex64"])
def test_element_types_of_arguments_variables_and_results(strategy, dtype):
    with strategy.scope():
        v = tf.Variable(tf.cast([1, 0, 3], dtype))

    @compiled
    def swap(x):
        old = tf.identity(v)
        v.assign(x)
        return old

    x = tf.cast([0, 200, 1], dtype)
    old = strategy.run(swap, args=(x,))
    assert old.dtype == v.dtype == tf.as_dtype(dtype)
    np.testing.assert_array_equal(old, tf.cast([1, 0, 3], dtype))
    np.testing.assert_array_equal(strategy.run(swap, args=(x,)), x)
    np.testing.assert_array_equal(v, x)


def test_a_complex_variable_in_a_loop(strategy):
    with strategy.scope():
        v = tf.Variable(tf.complex([1.0, -2.0], [0.0, 3.0]))

    @compiled
    def turn(n):
        for _ in tf.range(n):
            v.assign(v * 1j)
        return v[1]

    assert strategy.run(turn, args=(tf.constant(3),)) == -1j * (-2 + 3j)
    assert v.numpy().tolist() == [-1j, 3 + 2j]


def test_an_array_that_grows_from_nothing_is_refused(strategy):
    @compiled
    def gather(x, n):
        found = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(n):
            found = found.write(i, x * 2.0)
        return found.stack()

    with pytest.raises(CompileError, match=r"a TensorArray of 0 elements grows \(.*test_strategy.py:\d+\).*its size"):
        strategy.run(gather, args=(tf.ones(3), tf.constant(4)))


def test_functions_share_variables_and_python_reads_and_assigns_them(strategy, tmp_path):
    with strategy.scope():
        v = tf.Variable([1.0, 2.0], name="v")
        unused = tf.Variable(7.0)

    @compiled
    def add(x):
        v.assign_add(x)

    @compiled
    def double():
        v.assign(v * 2.0)
        return v + 0.0

    checkpoint = tf.train.Checkpoint(v=v, unused=unused)
    assert strategy.run(add, args=(tf.constant([1.0, 1.0]),)) is None
    np.testing.assert_allclose(strategy.run(double), [4, 6])
    np.testing.assert_allclose(v, [4, 6])
    path = checkpoint.write(str(tmp_path / "saved"))
    v.assign([0.0, 1.0])
    np.testing.assert_allclose(strategy.run(double), [0, 2])
    v.assign_sub([0.0, 1.0])
    np.testing.assert_allclose(strategy.run(double), [0, 2])
    checkpoint.read(path).assert_consumed()
    np.testing.assert_allclose(strategy.run(double), [8, 12])
    assert float(unused) == 7.0


def test_operations_that_are_given_a_variable_see_its_newest_value(strategy):
    with strategy.scope():
        v = tf.Variable(1.0)
        add = tf.function(lambda: v.assign_add(5.0), jit_compile=True)
        found = []
        for each in (lambda: tf.negative(v), lambda: tf.raw_ops.Sub(x=v, y=0.0), lambda: tf.stack([v]), lambda: v + 0):
            strategy.run(add)
            found.append(abs(float(tf.squeeze(each()))))
        assert found == [6.0, 11.0, 16.0, 21.0]


def test_a_function_that_only_reads_a_variable_leaves_it_as_it_is(strategy):
    with strategy.scope():
        weights = tf.Variable([1.0, 2.0, 3.0, 4.0])

    @compiled
    def largest_without(place):
        return tf.argmax(tf.tensor_scatter_nd_update(weights, [[place]], [-100.0]))

    assert [int(strategy.run(largest_without, args=(tf.constant(place),))) for place in (3, 0, 0)] == [2, 3, 3]
    assert weights.numpy().tolist() == [1, 2, 3, 4]


def test_a_function_of_the_host_sees_every_value(strategy):
    with strategy.scope():
        v = tf.Variable(1.0)

    @tf.function
    def on_host():
        v.assign_add(10.0)
        return v * 1.0

    @compiled
    def add():
        v.assign_add(1.0)
        return v * 1.0

    assert float(on_host()) == 11
    assert float(strategy.run(add)) == 12
    assert float(on_host()) == 22
    assert float(strategy.run(add)) == 23
    assert float(v) == 23


def test_values_that_a_function_captures_are_constants(strategy):
    inside, v = tf.constant(np.linspace(0, 1, 300, dtype=np.float32)), tf.Variable(tf.ones(300))
    flags = tf.constant([True, False] * 150)

    @compiled
    def f(x):
        v.assign(v + inside)
        return tf.where(flags, v, x)

    x = np.arange(300, dtype=np.float32)
    expected = np.where(np.arange(300) % 2 == 0, 1 + np.linspace(0, 1, 300), x)
    np.testing.assert_allclose(strategy.run(f, args=(x,)), expected, rtol=1e-6)


def test_many_truths_are_constants(strategy):
    mask = np.random.default_rng(0).random((3, 7, 9)) > 0.5
    found = strategy.run(compiled(lambda x: tf.where(mask, x, 0.0)), args=(tf.ones(mask.shape),))
    np.testing.assert_array_equal(found, mask)


def test_a_number_that_shapes_depend_on_is_part_of_the_program(strategy):
    @compiled
    def f(x, n):
        total = tf.zeros([])
        for i in tf.range(n):
            total += x * tf.cast(i, tf.float32)
        return total

    assert float(strategy.run(f, args=(tf.constant(2.0), tf.constant(4)))) == 12
    assert float(strategy.run(f, args=(tf.constant(2.0), tf.constant(5)))) == 20


def test_a_program_is_compiled_again_only_for_other_shapes_types_or_values(strategy, caplog):
    @compiled
    def f(x, n, flag=True):
        return x + n if flag else x

    caplog.set_level(logging.INFO, "ipu_mlir.tensorflow")
    x = tf.ones(3)
    for args, kwargs in [((x, 1), {}), ((2 * x, 1), {}), ((), {"n": 1, "x": x}), ((x.numpy(), 1, True), {})]:
        strategy.run(f, args=args, kwargs=kwargs)
    assert [each.message[:12] for each in caplog.records] == ["compiled f(f"]
    strategy.run(f, args=(tf.ones(4), 1))
    assert "f is compiled again" in caplog.records[1].message
    strategy.run(f, args=(x, 2))
    strategy.run(f, args=(x, 1.0))
    strategy.run(f, args=(x, 1, False))
    assert sum("compiled f(" in each.message for each in caplog.records) == 5


def test_threads_compile_and_run_at_once(strategy, caplog):
    with strategy.scope():
        count = tf.Variable(0)
        add = compiled(lambda: count.assign_add(1))
        scale = compiled(lambda x: tf.sinh(x) * 2.0)
        caplog.set_level(logging.INFO, "ipu_mlir.tensorflow")
        with ThreadPoolExecutor(4) as threads:
            added = [threads.submit(strategy.run, add) for _ in range(8)]
            scaled = [
                threads.submit(strategy.run, scale, (np.ones(1 + number % 4, np.float32),)) for number in range(8)
            ]
            assert sorted(int(each.result()) for each in added) == list(range(1, 9))
            assert [each.result().shape[0] for each in scaled] == [1, 2, 3, 4] * 2
    assert sum(each.message.startswith("compiled ") for each in caplog.records) == 5


def test_training_as_tensorflow_does(strategy):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((16, 4), dtype=np.float32), rng.integers(0, 3, 16).astype(np.int32)

    def trained(run):
        keras.utils.set_random_seed(1)
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(3)])
        optimizer = keras.optimizers.Adam(0.01)

        @compiled
        def step(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(y, model(x), from_logits=True))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return loss

        losses = [float(run(step, (x, y))) for _ in range(10)]
        return losses, model.get_weights()

    with strategy.scope():
        found, weights = trained(lambda step, args: strategy.run(step, args=args))
    expected, others = trained(lambda step, args: step(*args))
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    for one, other in zip(weights, others, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_what_cannot_run_on_the_device_is_refused_with_the_line_of_the_user(strategy):
    concrete = tf.function(lambda x: x, jit_compile=True).get_concrete_function(tf.TensorSpec(()))
    with pytest.raises(ValueError, match="get_concrete_function; give it the function itself"):
        strategy.run(concrete, args=(1.0,))
    with pytest.raises(ValueError, match=r"tf.function\(jit_compile=True\)"):
        strategy.run(lambda: 1)
    with pytest.raises(ValueError, match=r"tf.function\(jit_compile=True\)"):
        strategy.run(tf.function(lambda: 1))

    @compiled
    def text(x):
        return tf.strings.length(tf.strings.as_string(x))

    with pytest.raises(
        CompileError, match=r"cannot compile text: .* op 'AsString' \(\S*test_strategy.py:\d+\); .*map$"
    ):
        strategy.run(text, args=(tf.ones(2),))
    for function, message in [
        (lambda x: (tf.print(x), x)[1:], r"'StringFormat' \(.*\); print by ipu.internal_ops.print_tensor, or in"),
        (
            lambda x: tf.py_function(abs, [x], x.dtype),
            r"'EagerPyFunc' \(.*\); let the host do it in ipu.scopes.outside",
        ),
        (lambda x: tf.data.Dataset.range(3).reduce(x, lambda a, _: a), r"'RangeDataset' \(.*\); make iter\(dataset\)"),
        (lambda x: "text", "it gives text"),
        (
            lambda x: tf.reshape(x, tf.cast(x, tf.int32)),
            r"must be a compile-time constant \(\S*test_strategy.py:\d+\)$",
        ),
        (
            lambda x: tf.switch_case(tf.cast(x[0], tf.int32), [lambda: x[:, None], lambda: x[None]]),
            "several sizes that",
        ),
    ]:
        with pytest.raises(CompileError, match=message):
            strategy.run(compiled(function), args=(tf.ones(2),))
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([1], [2]), 0)
    with pytest.raises(CompileError, match=r"cannot compile .*another resource of the host"):
        strategy.run(compiled(lambda x: table.lookup(x)), args=(tf.constant([1]),))


def test_ops_and_their_gradients_stand_on_the_lines_of_the_user(strategy):
    def f(x):
        for _ in tf.range(3):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(tf.sinh(x))
            x = tape.gradient(y, x) * 2.0
        return x

    strategy.run(compiled(f), args=(tf.ones(4),))
    (program,) = (each for each in strategy._programs._programs.values() if hasattr(each, "executable"))
    text = program.executable.module("l0").operation.get_asm(enable_debug_info=True)
    found = {int(number) for number in re.findall(r'test_strategy\.py":(\d+)', text)}
    assert f.__code__.co_firstlineno + 5 in found


def test_a_collective_that_does_not_fit_is_an_error_on_the_line_of_the_user(strategy):
    def f(x):
        return ipu.cross_replica_ops.cross_replica_sum(x, replica_group_size=3)

    with pytest.raises(CompileError, match=r"test_strategy\.py:\d+:\d+: error: .*replica group size"):
        strategy.run(compiled(f), args=(tf.ones(2),))
