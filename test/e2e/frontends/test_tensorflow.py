"""Programs of TensorFlow and Keras: their results are those of the framework, in its structures and tensors."""

import pickle

import numpy as np
import pytest

import ipu_mlir as ipu

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")
if keras.backend.backend() != "tensorflow":
    pytest.skip("Keras runs on another backend here", allow_module_level=True)
TARGET = ipu.Target(tiles_per_ipu=16)
DETERMINANT = tf.linalg.det
BINCOUNT, ROT90 = tf.math.bincount, tf.image.rot90
"""As ``from tensorflow.linalg import det`` has it, before any program is traced."""


def check(source, *args, atol: float = 1e-5) -> None:
    exe = ipu.compile(source, args=args, target=TARGET)
    found, expected = exe(*args), source(*args)
    tf.nest.assert_same_structure(found, expected)
    for one, other in zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, atol=atol, rtol=1e-4)


def test_a_function_takes_and_gives_nested_tensors():
    @tf.function
    def f(x, weights, n):
        return {
            "product": x @ weights["w"] + n,
            "best": tf.math.top_k(x, 2),
            "sorted": tf.sort(x, direction="DESCENDING"),
        }

    check(f, tf.random.stateless_uniform((3, 4), (1, 2)), {"w": tf.ones((4, 2))}, 2)


def test_loops_branches_and_scatters():
    def f(x, rows):
        total = tf.zeros_like(x)
        for i in tf.range(5):
            total = tf.cond(i % 2 == 0, lambda t=total: t + x, lambda t=total: t * 2.0)
        return tf.tensor_scatter_nd_add(total, rows[:, None], tf.ones((2, 4)))

    check(tf.function(f), tf.random.stateless_uniform((3, 4), (1, 2)), tf.constant([2, 0]))


def test_cases_of_what_is_sorted_and_of_the_largest():
    @tf.function
    def f(x):
        y, best = tf.sort(x), tf.math.top_k(x, 2)
        number = tf.cast(tf.reduce_sum(x), tf.int32)
        return tf.switch_case(number, [lambda: y - 3, lambda: y[::-1], lambda: tf.repeat(best.values, 2)])

    for total in range(3):
        check(f, tf.constant([0.5, -1.0, 0.25, total + 0.5]))


def test_a_gradient():
    @tf.function
    def f(x, y):
        with tf.GradientTape() as tape:
            tape.watch(x)
            value = tf.reduce_sum(tf.nn.max_pool2d(tf.nn.relu(x) * y, 2, 2, "SAME"))
        return tape.gradient(value, x)

    check(f, tf.random.stateless_normal((2, 5, 5, 3), (1, 2)), tf.random.stateless_normal((2, 5, 5, 3), (3, 4)))


def test_a_keras_model_reads_its_weights_when_it_runs():
    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [
            keras.layers.Input((8, 8, 3)),
            keras.layers.Conv2D(4, 3, activation="relu"),
            keras.layers.BatchNormalization(),
            keras.layers.MaxPooling2D(),
            keras.layers.Flatten(),
            keras.layers.Dense(5, activation="gelu"),
        ]
    )
    x = np.random.default_rng(0).random((2, 8, 8, 3), np.float32)
    exe = ipu.compile(model, args=[x], target=TARGET)
    np.testing.assert_allclose(exe(x), model(x), atol=1e-5)
    model.set_weights([each * 1.5 for each in model.get_weights()])
    np.testing.assert_allclose(exe(x), model(x), atol=1e-5)


def test_variables_that_a_function_changes_have_their_new_values():
    first, count = tf.Variable([1.0, 2.0]), tf.Variable(np.uint32(7))
    turned, never = tf.Variable([1j, 2.0], dtype=tf.complex64), tf.Variable([3.0, 4.0])
    table = tf.constant(np.arange(2000, dtype=np.float32))

    @tf.function
    def f(x):
        if tf.reduce_sum(x) > 0:
            first.assign(first * x)
        for _ in tf.range(3):
            count.assign_add(2)
        turned[1:].assign(turned[:1] * 1j)
        return {"sum": first + never + table[:2], "nothing": None}

    exe = ipu.compile(f, args=[tf.TensorSpec([2])], target=TARGET)
    np.testing.assert_array_equal(exe(np.array([2, 3], np.float32))["sum"], [5, 11])
    assert exe(np.array([-2, -3], np.float32))["nothing"] is None
    np.testing.assert_array_equal(first, [2, 6])
    assert count.numpy() == 19
    np.testing.assert_array_equal(turned, [1j, -1])
    assert str(exe.placements()).count("Variable:0") == 3


def test_a_function_that_gives_nothing_changes_variables_of_each_size():
    total = tf.Variable(0.0)

    def f(x):
        total.assign_add(tf.reduce_sum(x))

    exe = ipu.compile(f, args=[tf.TensorSpec([None])], target=TARGET)
    assert exe(np.ones(3, np.float32)) is None
    assert exe(np.ones(4, np.float32)) is None
    assert total.numpy() == 7


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_values_on_the_edges_of_bins_are_counted_as_tensorflow_does(dtype):
    values = (np.arange(-20, 130) / np.float32(100 if dtype == np.float32 else 1)).astype(dtype)

    def f(x):
        return [tf.histogram_fixed_width(x, [0, 1], 10), tf.histogram_fixed_width(x, [-1, 3], 7)]

    for found, wanted in zip(ipu.compile(f, args=[tf.constant(values)])(values), f(tf.constant(values)), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_a_training_step_is_one_program():
    def step_of(jitted):
        keras.utils.set_random_seed(0)
        layers = [
            keras.layers.Dense(4, activation="tanh"),
            keras.layers.Dropout(0.3),
            keras.layers.BatchNormalization(),
        ]
        model = keras.Sequential([*layers, keras.layers.Dense(1)])
        model.build((8, 3))
        optimizer = keras.optimizers.Adam(0.1)
        optimizer.build(model.trainable_variables)

        @tf.function(jit_compile=jitted)
        def step(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return loss

        return step, [*model.variables, *optimizer.variables]

    x = np.random.default_rng(0).random((8, 3), np.float32)
    y = x.sum(1, keepdims=True)
    step, variables = step_of(jitted=False)
    exe = ipu.compile(step, args=[x, y], target=TARGET)
    theirs, expected = step_of(jitted=True)
    for _ in range(3):
        np.testing.assert_allclose(exe(x, y), theirs(x, y), rtol=1e-4)
    for found, wanted in zip(variables, expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4)


def test_what_xla_cannot_compile_is_said_with_its_line():
    with pytest.raises(ipu.CompileError, match="AsString"):
        ipu.compile(tf.function(tf.strings.as_string), args=[tf.ones(3)], target=TARGET)


def test_an_op_that_xla_lacks_is_named_with_the_line_and_a_way_out():
    def printed(x):
        tf.print(x)
        return x

    with pytest.raises(ipu.CompileError, match=r"no op 'StringFormat' \(\S*test_tensorflow.py:\d+\); return what"):
        ipu.compile(tf.function(printed), args=[tf.ones(3)], target=TARGET)


def test_an_array_that_grows_is_refused_as_xla_drops_what_is_written():
    def grown(x):
        array = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        for place in tf.range(3):
            array = array.write(place, x[place])
        return array.stack()

    with pytest.raises(ipu.CompileError, match=r"a TensorArray of 0 elements grows \(\S*test_tensorflow.py:\d+\)"):
        ipu.compile(tf.function(grown), args=[tf.ones(3)], target=TARGET)


def test_ops_that_xla_lacks_are_replaced_under_any_name():
    matrix = tf.constant([[2.0, 1.0], [0.5, 3.0]])
    sparse = tf.sparse.from_dense([[1.0, 0.0], [0.0, 3.0]])

    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = DETERMINANT(x) + tf.reduce_sum(tf.sparse.sparse_dense_matmul(sparse, x, adjoint_a=True) ** 2)
        counts = tf.histogram_fixed_width(x, [0.0, 3.0], 3)
        bins = BINCOUNT(tf.cast(x, tf.int32), minlength=4, maxlength=4)
        turned = ROT90(x[..., None], 3)
        order = tf.math.invert_permutation(tf.linalg.lu(x)[1])
        return (
            y,
            tape.gradient(y, x),
            counts,
            bins,
            turned,
            order,
            tf.math.bessel_i0(x),
            tf.raw_ops.MatrixDeterminant(input=x),
        )

    check(f, matrix)


def test_tables_are_looked_up_before():
    known = keras.layers.IntegerLookup(vocabulary=[3, 5, 7])
    with pytest.raises(ipu.CompileError, match=r"no op 'LookupTableFindV2' \(\S*test_tensorflow.py:\d+\); look text"):
        ipu.compile(lambda x: known(x), args=[tf.constant([3, 7])], target=TARGET)


def test_maxima_of_windows_that_xla_lacks():
    image = tf.random.stateless_normal((1, 5, 4, 2), [1, 2])
    added = tf.random.stateless_normal((2, 3, 2), [3, 4])

    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            largest, place = tf.nn.max_pool_with_argmax(x, (2, 3), (2, 1), "SAME", include_batch_in_index=True)
            dilated = tf.nn.dilation2d(x, added, [1, 2, 1, 1], "VALID", "NHWC", [1, 1, 2, 1])
            y = tf.reduce_sum(largest**2) + tf.reduce_sum(dilated**2)
        return (
            largest,
            place,
            dilated,
            tape.gradient(y, x),
            tf.nn.erosion2d(x, added, [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1]),
        )

    check(f, image)


def test_sparse_rows_are_results():
    @tf.function
    def f(table, rows):
        with tf.GradientTape() as tape:
            tape.watch(table)
            total = tf.reduce_sum(tf.gather(table, rows) ** 2)
        return {"rows": tape.gradient(total, table), "sum": total}

    args = [tf.random.stateless_normal((5, 3), (1, 2)), tf.constant([4, 0, 4])]
    found, expected = ipu.compile(f, args=args, target=TARGET)(*args), f(*args)
    assert isinstance(found["rows"], tf.IndexedSlices)
    np.testing.assert_allclose(found["rows"].values, expected["rows"].values, rtol=1e-5)
    np.testing.assert_array_equal(found["rows"].indices, expected["rows"].indices)
    np.testing.assert_allclose(found["sum"], expected["sum"], rtol=1e-5)


def test_a_recurrent_layer_of_keras_carries_its_weights_through_the_loop():
    layer = keras.layers.LSTM(4, return_sequences=True)
    check(layer, tf.random.stateless_normal((2, 5, 3), (1, 2)))


def test_open_sizes_come_with_the_arguments():
    offset = tf.Variable([1.0, 2.0])

    def f(x, y, times):
        return {
            "mean": tf.reduce_sum(x, 0) / tf.cast(tf.shape(x)[0], tf.float32) + offset,
            "all": tf.concat([x, y], 0) * times,
        }

    specs = [tf.TensorSpec((None, 2)), tf.TensorSpec((None, 2)), 3]
    program = ipu.compile(tf.function(f), args=specs, target=TARGET)
    for rows in (2, 4, 2):
        x, y = tf.ones((rows, 2)), tf.zeros((1, 2))
        offset.assign_add([1.0, 1.0])
        found, expected = program(x, y, 3), f(x, y, 3)
        np.testing.assert_allclose(found["mean"], expected["mean"])
        np.testing.assert_allclose(found["all"], expected["all"])
    assert program.specialized([x, y]) is program.specialized([x, y])
    with pytest.raises(ipu.RunError, match=r"leaf 1 of the arguments has shape \(1, 3\), expected \(\?, 2\)"):
        program(x, tf.zeros((1, 3)), 3)
    with pytest.raises(ipu.RunError, match="leaf 2 of the arguments is 4, the program was compiled for 3"):
        program(x, y, 4)
    with pytest.raises(ipu.CompileError, match="cannot be pickled, because its sizes are open"):
        pickle.dumps(program)
    added = ipu.compile(lambda x, y: x + y, args=[tf.TensorSpec((None,)), tf.TensorSpec((None,))], target=TARGET)
    with pytest.raises(
        ipu.CompileError, match="do not go together: argument 0, dimension 0: 2; argument 1, dimension 0: 3"
    ):
        added(tf.ones(2), tf.ones(3))
    with pytest.raises(ipu.CompileError, match=r"for tensors of any rank: TensorSpec.*; say how many dimensions"):
        ipu.compile(f, args=[tf.TensorSpec(None), tf.TensorSpec((None, 2)), 3])


def test_complex_numbers_are_complex_tensors():
    check(
        lambda x, z: (tf.signal.rfft(x), z * tf.complex(x, x), tf.abs(z)),
        tf.range(4.0),
        tf.constant([1 + 2j, 3j] * 2, tf.complex64),
    )


def test_ragged_results_are_assembled_and_ragged_arguments_refused():
    def rows(x):
        return {"rows": tf.RaggedTensor.from_row_lengths(tf.reshape(x, [-1]), [3, 4, 5]), "sum": tf.reduce_sum(x)}

    x = tf.reshape(tf.range(12.0), (3, 4))
    found = ipu.compile(rows, args=[x], target=TARGET)(x)
    assert found["rows"].to_list() == rows(x)["rows"].to_list() and found["sum"] == 66
    with pytest.raises(ipu.CompileError, match="takes a RaggedTensor; give its tensors one by one"):
        ipu.compile(lambda x: tf.reduce_sum(x), args=[rows(x)["rows"]], target=TARGET)


def test_long_constants_of_bools():
    mask = np.random.default_rng(0).random((3, 7, 11)) > 0.5

    def f(x):
        return tf.where(mask, x, 0.0), tf.constant(mask[..., 1])

    x = tf.ones((3, 7, 11))
    for ours, theirs in zip(ipu.compile(f, args=[x])(x), f(x), strict=True):
        np.testing.assert_array_equal(ours, theirs)
