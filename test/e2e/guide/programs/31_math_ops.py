# Feature: math_ops.segment_sum and serialized_matmul, forward and backward (guide 21.15.6).
# Correct run: segment sums equal TensorFlow's, missing segments are zero; every serialisation equals the plain product, gradients too; a factor
# that does not divide is a ValueError; prints ok.
import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow import ipu

config = ipu.config.IPUConfig()
config.auto_select_ipus = 1
config.configure_ipu_system()
random = np.random.default_rng(5)
data = random.standard_normal((6, 4)).astype(np.float32)
ids = np.array([0, 0, 1, 3, 3, 3], np.int32)


@tf.function(jit_compile=True)
def segments(values, segment_ids):
    return ipu.math_ops.segment_sum(values, segment_ids, 5)


def product(dimension, transpose_a, transpose_b):
    @tf.function(jit_compile=True)
    def run(a, b):
        with tf.GradientTape() as tape:
            tape.watch([a, b])
            c = ipu.math_ops.serialized_matmul(a, b, 4, dimension, transpose_a=transpose_a, transpose_b=transpose_b)
            loss = tf.reduce_sum(c * c)
        return c, tape.gradient(loss, [a, b])

    return run


strategy = ipu.ipu_strategy.IPUStrategy()
with strategy.scope():
    result = strategy.run(segments, args=(tf.constant(data), tf.constant(ids)))
    assert result.shape == (5, 4)
    np.testing.assert_allclose(result, tf.math.unsorted_segment_sum(data, ids, 5), rtol=1e-5)

    left = random.standard_normal((2, 8, 12)).astype(np.float32)
    right = random.standard_normal((2, 12, 16)).astype(np.float32)
    for dimension in ("a_columns", "a_rows_b_columns", "b_rows"):
        for transpose_a in (False, True):
            for transpose_b in (False, True):
                a = tf.constant(left.swapaxes(1, 2) if transpose_a else left)
                b = tf.constant(right.swapaxes(1, 2) if transpose_b else right)
                c, (da, db) = strategy.run(product(dimension, transpose_a, transpose_b), args=(a, b))
                expected = left @ right
                np.testing.assert_allclose(c, expected, rtol=1e-4, atol=1e-4)
                wanted_a, wanted_b = 2 * expected @ right.swapaxes(1, 2), 2 * left.swapaxes(1, 2) @ expected
                np.testing.assert_allclose(
                    da, wanted_a.swapaxes(1, 2) if transpose_a else wanted_a, rtol=1e-3, atol=1e-3
                )
                np.testing.assert_allclose(
                    db, wanted_b.swapaxes(1, 2) if transpose_b else wanted_b, rtol=1e-3, atol=1e-3
                )

    wrong = tf.function(lambda a, b: ipu.math_ops.serialized_matmul(a, b, 5, "b_rows"), jit_compile=True)
    try:
        strategy.run(wrong, args=(tf.constant(left), tf.constant(right)))
    except ValueError as error:
        print(f"refused: {error}")
    else:
        raise SystemExit("5 does not divide 16")
print("ok")
