"""What a batch gives at once is what its examples give one after the other, in both executors."""

import numpy as np
import pytest

import ipu_mlir as ipu

X = np.arange(60, dtype=np.float32).reshape(3, 4, 5) / 16
W = np.linspace(-1, 1, 30, dtype=np.float32).reshape(5, 6)
V = np.linspace(-2, 1, 15, dtype=np.float32).reshape(3, 5)
PLACES = np.array([[0, 3], [-1, 2], [2, 1]], np.int32)
NUMBERS = np.array([2, 0, 3], np.int32)


def at(x, key, how, values):
    """``x.at[key]`` where ``x`` is traced, and what it means on arrays."""
    if isinstance(x, ipu.Tensor):
        return getattr(x.at[key], how)(values)
    found = x.copy()
    if how == "set":
        found[key] = values
    else:
        {"add": np.add, "max": np.maximum}[how].at(found, key, values)
    return found


def _layer(x, w):
    return ipu.nn.softmax(np.tanh(x @ w) + np.float32(1))


def _shapes(x, w):
    """One of each op that moves elements."""
    return {
        "transpose": x.T @ x,
        "reshape": x.reshape(2, 10)[:, 1:7:2],
        "flatten": np.ravel(x),
        "expand": x[:, None] * w[:, :4].T[None],
        "concatenate": np.concatenate([x, w.T[:1]], 0),
        "backward": x[::-1, ::-2],
        "pad": np.pad(x, ((1, 0), (0, 2))),
        "roll": np.roll(x, 1, axis=-1),
        "sum": np.sum(x),
        "argmax": np.argmax(x, axis=0),
        "iota": np.where(np.arange(5) > 2, x, 0),
        "one hot": ipu.nn.one_hot(np.argmax(x, axis=1), 5),
        "nothing of the example": w * 2,
        "a number": 3,
        "list": x[[0, 2, 1, 1], [0, 1, 2, 3]],
        "tril": np.tril(x),
        "outer": np.einsum("ij,kj->ik", x, x),
        "set": at(x, np.s_[1:3, 2], "set", 7),
        "mask": at(x, x > 1, "add", 1),
    }


def _places(x, i, w):
    """Reads and writes at places that differ from example to example."""
    return {
        "row": x[i[0]],
        "rows": x[i],
        "of all": w[i],
        "columns": x[1:3, i, None],
        "both": x[i, i[::-1]],
        "slice": ipu.dynamic_slice(x, (i[0], 1), (2, 3)),
        "slice of all": ipu.dynamic_slice(w, (i[1], i[0]), (2, 3)),
        "update": ipu.dynamic_update_slice(x, x[:2, :2] * 2, (i[0], i[1])),
        "update of all": ipu.dynamic_update_slice(w, x[:2, :2], (1, i[0])),
        "along": np.take_along_axis(x, i[:, None], 0),
        "set": at(x, i, "set", w[:2, :5].T[:2, :1]),
        "add": at(x, np.s_[:, i], "add", x[:, :2]),
        "add to all": at(w, i, "add", 1),
        "number": at(np.ravel(x), i[0], "max", 9),
    }


def _control(x, n):
    def body(k, c):
        return c + x[k] * n.astype(np.float32)

    return {
        "fori": ipu.fori_loop(0, 3, body, x[0]),
        "fori to its own end": ipu.fori_loop(0, n, lambda k, c: (c[0] + x[k], c[1] + k), (x[0], n)),
        "while": ipu.while_loop(lambda c: np.max(c) < 20, lambda c: c * 2 + 1, x),
        "while of all": ipu.while_loop(
            lambda c: c[0] < 4, lambda c: (c[0] + np.int32(1), c[1] + x), (np.int32(0), x * 0)
        ),
        "cond": ipu.cond(n > 1, lambda c: c @ c.T, lambda c: c @ c.T * 0 - 1, x),
        "switch": ipu.switch(n, [lambda: x, lambda: x * 2, lambda: x * 3, lambda: -x]),
        "switch of all": ipu.switch(x.shape[0] - 2, [lambda: x, lambda: x * 2, lambda: x * 3]),
        "scan": ipu.scan(lambda c, row: (c + row * n.astype(np.float32), np.sum(c)), x[0], x),
        "map": ipu.map(np.sum, x),
        "prefixes": ipu.associative_scan(np.add, x),
    }


def _flat(results):
    """As tensors by their names."""
    found = {}
    for name, each in results.items():
        for place, leaf in enumerate(each if isinstance(each, tuple) else [each]):
            found[f"{name} {place}"] = leaf * 1 if isinstance(leaf, int) or leaf.dtype != bool else leaf
    return found


def _second(x, w):
    """A product with a batch on the right only, and one of batches of their own."""
    return {"right": w[:4, :4] @ x, "batch": np.stack([x, x]) @ np.stack([w, w])}


PROGRAMS = {
    "layer": (lambda x, w: ipu.vmap(_layer, in_axes=(0, None))(x, w), (X, W)),
    "shapes": (lambda x, w: _flat(ipu.vmap(_shapes, in_axes=(0, None))(x, w)), (X, W)),
    "products": (lambda x, w: ipu.vmap(_second, (0, None))(x, w), (X, W)),
    "places": (lambda x, i, w: _flat(ipu.vmap(_places, (0, 0, None))(x, i, w)), (X, PLACES, W)),
    "control": (lambda x, n: _flat(ipu.vmap(_control)(x, n)), (X, NUMBERS)),
    "axes": (
        lambda x, v: ipu.vmap(lambda p: {"y": p["a"] @ p["b"]}, ({"a": 2, "b": -1},), 1)({"a": x[:, 1:], "b": v}),
        (X, V),
    ),
    "nested": (lambda v: ipu.vmap(ipu.vmap(lambda a, b: a * b - a, (0, None)), (None, 0))(v[0], v[1]), (V,)),
    "all pairs": (lambda v: ipu.vmap(lambda a: ipu.vmap(lambda b: np.sum(a * b))(v))(v), (V,)),
    "in a loop": (
        lambda v: ipu.fori_loop(0, 3, lambda k, c: ipu.vmap(lambda a: a / np.sum(a))(c) + k.astype("f4"), v + 3),
        (V,),
    ),
    "a loop inside of both": (
        lambda v: ipu.vmap(ipu.vmap(lambda a: ipu.fori_loop(0, 3, lambda k, c: c * a + a, a)))(v),
        (V,),
    ),
    "keywords": (lambda v: ipu.vmap(lambda a, *, b: a - b)(v, b=v[:, 0]), (V,)),
    "one size": (lambda v: ipu.vmap(lambda a: v[0] + a, None, 0, 2)(v[1]), (V,)),
    "the same for all": (lambda v: ipu.vmap(lambda a, b: (a, b * 2), (0, None), (0, None))(v, v[0])[1], (V,)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_one_after_the_other(agrees, name):
    function, arrays = PROGRAMS[name]
    agrees(function, *arrays, tolerance=1e-5, per_tile=True)


def _library(x):
    """Functions that nobody wrote for batches."""
    square = x[:, :4] @ x[:, :4].T + np.eye(4, dtype=np.float32)
    return {
        "sort": np.sort(x, axis=0),
        "argsort": np.argsort(x),
        "cumsum": np.cumsum(x, axis=1),
        "median": np.median(x, axis=1),
        "count": np.searchsorted(np.sort(x[:, 0]), x[0]),
        "solve": np.linalg.solve(square, x),
        "lengths": np.abs(np.fft.fft(x)),
    }


def test_functions_that_nobody_wrote_for_batches(both_agree):
    both_agree(lambda x: ipu.vmap(_library)(x), np.random.default_rng(3).random((3, 4, 5), np.float32), tolerance=1e-3)


@ipu.custom_vjp
def _clipped(x, w):
    return np.clip(x, -1, 1) * w


_clipped.defvjp(lambda x, w: (_clipped(x, w), x), lambda x, ct: (ct, (x * ct).sum(0)))


def _of_all_kinds(x, w):
    """A loop, a function with a derivative of its own, one that is outlined, and a gradient."""
    last, rows = ipu.scan(lambda c, row: (np.tanh(c @ w + row), c * row), w[0], x)
    outlined = ipu.checkpoint(lambda x: np.sin(x @ w))(x)
    slope = ipu.grad(lambda w: np.cos(x @ w).sum())(w)
    return last.sum() + (rows**2).sum() + (_clipped(x, w[0]) ** 2 * outlined).sum() + (slope**2).sum()


def test_gradients_of_examples():
    target, (x, w) = ipu.Target(tiles_per_ipu=1), (X[:2, :, :4], W[:4, :4])
    of_one = ipu.grad(_of_all_kinds, (0, 1))
    found = ipu.function(lambda x, w: ipu.vmap(of_one, (0, None))(x, w), target=target)(x, w)
    one = ipu.function(of_one, target=target)
    for place, example in enumerate(x):
        for got, wanted in zip(found, one(example, w), strict=True):
            np.testing.assert_allclose(got[place], wanted, rtol=1e-5, atol=1e-5)


def test_a_batch_of_products_is_one_product():
    text = str(ipu.function(ipu.vmap(lambda x, w: x @ w)).trace(X, np.stack([W] * 3)))
    assert text.count("linalg.generic") == 1 and "execute_region" not in text and "scf" not in text


def test_what_all_examples_share_is_computed_once():
    text = str(ipu.function(ipu.vmap(lambda x, w: x + np.sum(np.exp(w)), (0, None))).trace(X, W))
    assert "tensor<3x5x6xf32>" not in text


def test_a_batch_of_updates_is_one_scatter():
    update, target = ipu.vmap(lambda x, i: x.at[i].add(1)), ipu.Target(tiles_per_ipu=3)
    source = ipu.compile(update, args=[X, PLACES], target=target, kernels="never").source()
    assert source.count("scatter_add") == 1 and "for " not in source.split("def main")[1]


ROWS = ipu.RemoteBuffer(np.zeros((3, 5), np.float32))
PIPELINE = ipu.pipeline([lambda w, x: x @ w, lambda w, x: w @ x], 2)

BAD = [
    (lambda x: ipu.vmap(lambda a, b: a)(x, x[:2]), ValueError, r"argument\[1\] has 2 examples, argument\[0\] says 3"),
    (
        lambda x: ipu.vmap(lambda a: a, 3)(x),
        ValueError,
        r"argument\[0\] has 3 dimensions, and examples cannot lie along axis 3",
    ),
    (lambda x: ipu.vmap(lambda a: a, None)(x), ValueError, "no argument has an axis of examples; give axis_size="),
    (lambda x: ipu.vmap(lambda a: a, None, axis_size=0)(x), ValueError, "vmap of 0 examples"),
    (lambda x: ipu.vmap(lambda a: a, (0, 0))(x), TypeError, r"in_axes=\(0, 0\) is not nested as what it is for"),
    (
        lambda x: ipu.vmap(lambda a: a, 0, None)(x),
        ValueError,
        "result differs from example to example, and out_axes has None",
    ),
    (
        lambda x: ipu.vmap(lambda a: a, 0, 3)(x),
        ValueError,
        "result has 3 dimensions with that of the examples, and no axis 3",
    ),
    (lambda x: ipu.vmap(lambda a, b: a * b)(x, 3), ValueError, r"argument\[1\] has 0 dimensions.*use None"),
    (
        lambda x: ipu.vmap(lambda a: ipu.place(a, tile=1))(x),
        TypeError,
        "place inside of the function is for one example",
    ),
    (lambda x: ipu.vmap(lambda a: a @ a)(x), ValueError, r"matmul of float32\[4, 5\] and float32\[4, 5\]"),
    (
        lambda x: ipu.vmap(lambda a: a + ROWS.load(a.astype(np.int32)[0, 0]))(x),
        TypeError,
        "vmap does not know what a load from a remote buffer is for a batch",
    ),
    (
        lambda x: ipu.vmap(lambda a: PIPELINE([a, a], [np.ones((2, 4), np.float32)]))(x),
        TypeError,
        "vmap does not know what a pipeline is for a batch",
    ),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_refused(number):
    function, kind, message = BAD[number]
    with pytest.raises(kind, match=message) as caught:
        ipu.function(function).trace(X)
    assert isinstance(caught.value, ipu.IpuError) and caught.value.place.file == __file__
