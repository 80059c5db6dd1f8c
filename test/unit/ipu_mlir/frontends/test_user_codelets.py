"""Vertex code of users, called with tensors of every front end."""

import numpy as np
import pytest

import ipu_mlir as ipu

TARGET = ipu.Target(tiles_per_ipu=4)
X = np.random.default_rng(0).standard_normal((3, 5)).astype(np.float32)
WEIGHTS = np.array([1, -2, 3], np.float32)


@ipu.codelet("n -> ", cycles=lambda n: 20 + 10 * n, scratch_bytes=lambda n: 4 * n)
def median(row):
    return np.median(row)


@median.gradient
def _(given, found, slopes):
    """Of an odd number: the slope, where the median is."""
    row, middle, slope = given[0], found[0][..., None], slopes[0][..., None]
    is_middle = row == middle
    if type(is_middle).__module__.startswith("tensorflow"):
        import tensorflow as tf

        is_middle = tf.cast(is_middle, row.dtype)
    return [is_middle * slope]


@ipu.codelet("n k, k -> n, n", cycles=7, types=[np.float32, np.int32], vectorised=lambda a, b: scored(a, b))
def farthest(rows, point):
    return scored(rows, point)


def scored(rows, point):
    distances = np.abs(rows - point[..., None, :]).sum(-1)
    return distances, np.argsort(np.argsort(distances, -1), -1).astype(np.int32)


def loss(x, weights):
    return (median(x) * weights).sum()


def gradient(x):
    return (x == np.median(x, 1, keepdims=True)) * WEIGHTS[:, None]


def test_traced_functions_call_vertices_of_both_executors():
    executable = ipu.compile(lambda x: median(x) + 1, args=[X], target=TARGET)
    assert "median_" in executable.mlir()
    np.testing.assert_array_equal(executable(X), np.median(X, 1) + 1)
    np.testing.assert_array_equal(executable.run_per_tile([X])[0], np.median(X, 1) + 1)
    # Three rows on three tiles, each for one of six workers.
    assert executable.profile().execution.cycles.compute >= 20 + 10 * 5
    found = ipu.function(lambda x: ipu.grad(loss)(x, WEIGHTS), target=TARGET)(X)
    np.testing.assert_array_equal(found, gradient(X))
    stacks, point = np.stack([X, -X]), np.ones((2, 5), np.float32)
    both = ipu.function(farthest, target=TARGET)(stacks, point)
    for one, other in zip(both, scored(stacks, point), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
        assert one.dtype == other.dtype
    assert median(X).dtype == np.float32 and farthest(X, point[0])[1].tolist() == scored(X, point[0])[1].tolist()


def test_functions_of_jax():
    jax = pytest.importorskip("jax")
    x = jax.numpy.asarray(X)
    step = jax.value_and_grad(lambda x: loss(x, WEIGHTS))
    value, slope = ipu.compile(jax.jit(step), args=[x], target=TARGET)(x)
    np.testing.assert_allclose(value, np.median(X, 1) @ WEIGHTS, rtol=1e-6)
    np.testing.assert_array_equal(slope, gradient(X))
    mapped = ipu.compile(jax.jit(jax.vmap(median)), args=[x], target=TARGET)(x)
    np.testing.assert_array_equal(mapped, np.median(X, 1))
    np.testing.assert_array_equal(median(x), np.median(X, 1))


@pytest.mark.slow
def test_functions_of_pytorch():
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(X)

    def step(x):
        x = x.detach().requires_grad_()
        return torch.autograd.grad(loss(x, torch.from_numpy(WEIGHTS)), x)[0]

    found = ipu.compile(lambda x: median(x) + 1, args=[x], target=TARGET)
    assert "median_" in found.mlir()
    np.testing.assert_array_equal(found(x), np.median(X, 1) + 1)
    np.testing.assert_array_equal(step(x), gradient(X))
    np.testing.assert_array_equal(ipu.compile(step, args=[x], target=TARGET)(x), gradient(X))
    distances, order = farthest(x, torch.ones(5))
    assert order.dtype == torch.int32 and distances.shape == (3,)


@pytest.mark.slow
def test_functions_of_tensorflow():
    tf = pytest.importorskip("tensorflow")
    x = tf.constant(X)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            found = tf.reduce_sum(median(x) * WEIGHTS)
        return found, tape.gradient(found, x)

    value, slope = ipu.compile(step, args=[X], target=TARGET)(X)
    np.testing.assert_allclose(value, np.median(X, 1) @ WEIGHTS, rtol=1e-6)
    np.testing.assert_array_equal(slope, gradient(X))
    np.testing.assert_array_equal(median(x), np.median(X, 1))


def declare(signature, function=np.median, **more):
    return ipu.codelet(signature, cycles=1, **more)(lambda *operands: function(*operands))


def middle(row):
    return row[len(row) // 2]


def undifferentiated(x):
    return undifferentiated.middle(x).sum()


undifferentiated.middle = ipu.codelet("n -> ", cycles=1)(middle)


@pytest.mark.parametrize(
    ("make", "error", "wrong"),
    [
        (lambda: declare("n"), ValueError, "is no signature"),
        (lambda: declare("rows -> "), ValueError, "is no signature"),
        (lambda: declare("n -> k"), ValueError, "an output with 'k', which is no dimension of an input"),
        (lambda: declare("n -> n", types=[np.int32] * 2), ValueError, "2 types, and 1 outputs"),
        (lambda: declare("n -> n, n")(X), TypeError, "gives 1 results, and its signature names 2"),
        (
            lambda: farthest(X, X[0, :3]),
            TypeError,
            r"farthest needs stacks of \[n, k\], \[k\], and .*given \[3, 5\], \[3\]",
        ),
        (lambda: median(X, X), TypeError, "median needs stacks of"),
        (lambda: ipu.function(ipu.grad(undifferentiated), target=TARGET)(X), ipu.CompileError, "no rule for its deriv"),
        (lambda: undifferentiated.middle.cotangents([X], [X], [X]), TypeError, "say it by @middle.gradient"),
    ],
)
def test_what_is_refused(make, error, wrong):
    with pytest.raises(error, match=wrong):
        make()
