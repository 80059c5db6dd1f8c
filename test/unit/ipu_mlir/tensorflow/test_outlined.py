"""``outlined_function``: one body in the program however often it is called, forward and backward."""

import re

import numpy as np
import pytest

pytest.importorskip("tensorflow")
import tensorflow as tf

from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.tensorflow import ipu
from ipu_mlir.tensorflow.devices import Device
from ipu_mlir.tensorflow.program import Program

X, A, B = (np.random.default_rng(seed).standard_normal((4, 4)).astype(np.float32) for seed in range(3))
SPECS = [tf.TensorSpec((4, 4))] * 3


def program_of(function, specs=SPECS):
    return Program(function, specs, Device(Target(tiles_per_ipu=4)), "main")


def functions_in(program):
    """What the functions of the program are called, without numbers."""
    ops = program.executable.module("l3").regions[0].blocks[0].operations
    return sorted(re.sub(r"_\d+$", "", op.name.value) for op in ops if op.operation.name == "func.func")


def dense(x, w):
    return tf.nn.relu(tf.matmul(x, w)) + 1.0


def test_a_function_stands_once_and_its_gradient_too(monkeypatch):
    monkeypatch.setenv("IPU_KERNELS", "never")  # products are counted as calls of NumPy

    def step(layer):
        def main(x, a, b):
            with tf.GradientTape() as tape:
                tape.watch([x, a, b])
                y = x
                for w in (a, b, a, b):
                    y = layer(y, w) / 4
                loss = tf.reduce_sum(y * y)
            return y, tape.gradient(loss, [x, a, b])

        return main

    once = program_of(step(ipu.functional_ops.outlined_function(dense)))
    plain = program_of(step(dense))
    for found, wanted in zip(tf.nest.flatten(once([X, A, B])), tf.nest.flatten(plain([X, A, B])), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    assert len(functions_in(once)) == 3 and len(functions_in(plain)) == 1  # forward, backward
    assert once.executable.source().count("dot(") == 3 and plain.executable.source().count("dot(") == 12
    tiles = once.executable.run_per_tile([X, A, B])
    for found, wanted in zip(tf.nest.flatten(once([X, A, B])), tiles, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_structures_numbers_and_nothing_go_out():
    @ipu.functional_ops.outlined_function(name="parts")
    def parts(x):
        return {"twice": x * 2, "nothing": None, "pair": (x[0], 3.0)}

    def main(x, a, b):
        first, second = parts(x), parts(a)
        assert first["nothing"] is None
        return first["twice"], second["pair"]

    program = program_of(main)
    twice, (row, number) = program([X, A, B])
    np.testing.assert_array_equal(twice, X * 2)
    np.testing.assert_array_equal(row, A[0])
    assert float(number) == 3.0 and functions_in(program) == ["main", "parts"]


def test_variables_and_layers_of_one_form_share_code():
    layers = [tf.keras.layers.Dense(4, activation="relu") for _ in range(3)]
    for each in layers:
        each.build((4, 4))
    total = tf.Variable(tf.zeros(()))

    @ipu.functional_ops.outlined_function
    def apply(layer, x):
        return layer(x)

    @ipu.functional_ops.outlined_function
    def count(x):
        total.assign_add(tf.reduce_sum(x))
        return x + total

    @ipu.functional_ops.outlined_function
    def twice():
        total.assign(total * 2)

    def main(x, a, b):
        for layer in layers:
            x = apply(layer, x)
        found = count(x), count(a)
        assert twice() is None
        return found

    program = program_of(main)
    found, other = program([X, A, B])
    expected = X
    for layer in layers:
        expected = layer(expected).numpy()
    np.testing.assert_allclose(found, expected + expected.sum(), rtol=1e-4)
    np.testing.assert_allclose(other, A + expected.sum() + A.sum(), rtol=1e-4)
    np.testing.assert_allclose(total.numpy(), 2 * (expected.sum() + A.sum()), rtol=1e-4)
    assert functions_in(program) == ["apply", "count", "main", "twice"]
    assert program.executable.source().count("# linalg.matmul") == 1


def test_loops_and_calls_of_others():
    inner = ipu.functional_ops.outlined_function(dense)

    @ipu.functional_ops.outlined_function
    def outer(x, w):
        return inner(inner(x, w), w) / 8

    def main(x, a, b):
        x = outer(x, a)
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, outer(y, b)), [tf.constant(0), x])[1]

    program = program_of(main)
    expected = X
    for w in (A, B, B, B):
        expected = dense(dense(expected, w), w) / 8
    np.testing.assert_allclose(program([X, A, B]), expected, rtol=1e-4)
    assert functions_in(program) == ["dense", "main", "outer"]


def test_effects_keep_their_order():
    queue = ipu.ipu_outfeed_queue.IPUOutfeedQueue()

    @ipu.functional_ops.outlined_function
    def shown(x):
        queue.enqueue(tf.reduce_sum(x))
        return x * 2

    @tf.function(jit_compile=True)
    def main(x):
        return shown(shown(shown(x)))

    strategy = ipu.ipu_strategy.IPUStrategy()
    with strategy.scope():
        found = strategy.run(main, args=(tf.ones(4),))
    np.testing.assert_array_equal(found, np.full(4, 8))
    np.testing.assert_array_equal([float(each) for each in queue], [4, 8, 16])


def test_each_call_draws_numbers_of_its_own():
    @ipu.functional_ops.outlined_function
    def noisy(x):
        return x + tf.random.uniform((4, 4))

    program = program_of(lambda x, a, b: (noisy(x) - x, noisy(a) - a))
    drawn = [np.asarray(each) for _ in range(2) for each in program([X, A, B])]
    assert all(each.min() >= -1e-6 and each.max() <= 1 for each in drawn)
    assert len({each.tobytes() for each in drawn}) == 4
    assert np.std(drawn) > 0.2


def test_outside_of_programs_it_is_the_function():
    function = ipu.functional_ops.outlined_function(dense)
    np.testing.assert_allclose(function(X, A), np.maximum(X @ A, 0) + 1, rtol=1e-5)
    np.testing.assert_allclose(tf.function(function)(X, A), np.maximum(X @ A, 0) + 1, rtol=1e-5)
