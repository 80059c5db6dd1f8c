"""Recurrent layers are loops over one family of codelets, whichever front end they come from."""

import re

import numpy as np
import pytest

import ipu_mlir as ipu

N, T, SIZE = 2, 3, 4
X = np.random.default_rng(0).standard_normal((N, T, SIZE)).astype(np.float32)
TARGET = ipu.Target(tiles_per_ipu=4)


PARTS = {"lstm": {"product", "state", "output"}, "gru": {"product", "state"}}
"""What layers of a family are made of; where a front end adds up gates apart from the cell, of ``gates`` as well."""


def check(kind, source, args, expected):
    """One loop over the steps, whose codelets are of one family, gives what the framework gives."""
    executable = ipu.compile(source, args=args, target=TARGET)
    text = executable.mlir()
    assert text.count("scf.for") == 1
    parts = set(re.findall(r'codelet = "((?:lstm|gru)_\w+)_f32"', text))
    assert parts - {f"{kind}_gates"} == {f"{kind}_{part}" for part in PARTS[kind]}
    found = executable(*args)
    found = found[0] if isinstance(found, tuple) else found
    np.testing.assert_allclose(np.asarray(found), expected(), rtol=2e-5, atol=2e-6)
    return executable


def jax_layer(kind, lengths=(T, T), attention=None):
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    rng = np.random.default_rng(1)
    gates = 4 if kind == "lstm" else 3
    w, u = (rng.standard_normal((SIZE, gates * SIZE)).astype(np.float32) for _ in range(2))

    def lstm(state, x):
        h, c = state
        i, f, g, o = jnp.split(x @ w + h @ u, 4, 1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    def gru(state, x, scores=None):
        (h,) = state
        a, b = jnp.split(x @ w, [2 * SIZE], 1)
        r, z = jnp.split(jax.nn.sigmoid(a + h @ u[:, : 2 * SIZE]), 2, 1)
        z = z if attention is None else (1 - scores[:, None]) * z
        h = (1 - z) * jnp.tanh(b + (r * h) @ u[:, 2 * SIZE :]) + z * h
        return (h,), h

    def step(state, given):
        x, number, *scores = given
        new, row = (lstm if kind == "lstm" else gru)(state, x, *scores)
        if min(lengths) == T:
            return new, row
        goes_on = (number < jnp.asarray(lengths))[:, None]
        return tuple(jnp.where(goes_on, *pair) for pair in zip(new, state, strict=True)), jnp.where(goes_on, row, 0)

    def layer(x):
        state = (jnp.zeros((N, SIZE)),) * (2 if kind == "lstm" else 1)
        scores = () if attention is None else (jnp.asarray(attention),)
        return jax.lax.scan(step, state, (x.transpose(1, 0, 2), jnp.arange(T), *scores))[1]

    return layer, [jax.numpy.asarray(X)], lambda: np.asarray(layer(X))


def torch_layer(kind):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    module = (torch.nn.LSTM if kind == "lstm" else torch.nn.GRU)(SIZE, SIZE, batch_first=True).eval()
    return module, [torch.from_numpy(X)], lambda: module(torch.from_numpy(X))[0].detach().numpy()


def keras_layer(kind):
    keras = pytest.importorskip("keras")
    keras.utils.set_random_seed(0)
    layer = (keras.layers.LSTM if kind == "lstm" else keras.layers.GRU)(SIZE, return_sequences=True)
    model = keras.Sequential([keras.Input((T, SIZE), batch_size=N), layer])
    return model, [X], lambda: model.predict(X, verbose=0)


def onnx_layer(kind):
    onnx = pytest.importorskip("onnx")
    from onnx.reference import ReferenceEvaluator

    rng, gates = np.random.default_rng(1), 4 if kind == "lstm" else 3
    shapes = {"W": (1, gates * SIZE, SIZE), "R": (1, gates * SIZE, SIZE), "B": (1, 2 * gates * SIZE)}
    weights = [onnx.numpy_helper.from_array(rng.standard_normal(n).astype(np.float32), k) for k, n in shapes.items()]
    given, gives = (
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        for name, shape in (("X", (T, N, SIZE)), ("Y", (T, 1, N, SIZE)))
    )
    node = onnx.helper.make_node(kind.upper(), ["X", *shapes], ["Y"], hidden_size=SIZE)
    graph = onnx.helper.make_graph([node], "layer", [given], [gives], weights)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    x = X.transpose(1, 0, 2).copy()
    return model, [x], lambda: ReferenceEvaluator(model).run(None, {"X": x})[0]


OTHERS = (torch_layer, keras_layer, onnx_layer)
LAYERS = [jax_layer, *(pytest.param(each, marks=pytest.mark.slow) for each in OTHERS)]


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_layers_are_one_family(kind, layer):
    check(kind, *layer(kind))


def jax_gradient(kind):
    jax = pytest.importorskip("jax")
    layer, (x,), _ = jax_layer(kind)
    function = jax.grad(lambda x: (layer(x) ** 2).sum())
    return function, x, lambda: function(x)


def keras_gradient(kind):
    tf = pytest.importorskip("tensorflow")
    model = keras_layer(kind)[0]

    @tf.function
    def function(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(x) ** 2)
        return tape.gradient(loss, model.trainable_variables)[1]

    return function, X, lambda: function(X)


def torch_gradient(kind):
    torch = pytest.importorskip("torch")
    module = torch_layer(kind)[0]

    def function(x):
        x = x.detach().requires_grad_()
        return torch.autograd.grad((module(x)[0] ** 2).sum(), x)[0]

    return function, torch.from_numpy(X), lambda: function(torch.from_numpy(X))


OTHER_GRADIENTS = [pytest.param(each, marks=pytest.mark.slow) for each in (keras_gradient, torch_gradient)]


@pytest.mark.parametrize("gradient", [jax_gradient, *OTHER_GRADIENTS])
@pytest.mark.parametrize("kind", ["lstm", pytest.param("gru", marks=pytest.mark.slow)])
def test_gradients_are_a_family_too(kind, gradient):
    """Two loops, which count; weights, which TensorFlow keeps for each step, are there once."""
    source, x, expected = gradient(kind)
    executable = ipu.compile(source, args=[x], target=TARGET)
    text = executable.mlir()
    assert text.count("scf.for") == 2 and "scf.while" not in text
    assert f"memref<{T}x{SIZE}x{(4 if kind == 'lstm' else 3) * SIZE}xf32" not in text
    found = set(re.findall(r'codelet = "((?:lstm|gru)_\w+)_f32"', text))
    assert {f"{kind}_product", f"{kind}_gates", f"{kind}_gradient_product", f"{kind}_gradient_gates"} <= found
    np.testing.assert_allclose(np.asarray(executable(x)), np.asarray(expected()), rtol=1e-4, atol=2e-5)


def test_sequences_that_end_before_others():
    check("lstm", *jax_layer("lstm", lengths=(3, 1)))


def test_attention_moves_the_update_gate():
    """AUGRU, whose update gate is less by as much as a score of the step says; one sequence ends before the other."""
    scores = np.random.default_rng(2).uniform(size=(T, N)).astype(np.float32)
    layer = jax_layer("gru", (3, 2), scores)
    executable = check("gru", *layer)
    np.testing.assert_allclose(executable.run_per_tile([X])[0], layer[2](), rtol=2e-5, atol=2e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize(
    ("options", "loops"),
    [
        ({"num_layers": 2, "bidirectional": True, "batch_first": True}, 4),
        ({"bias": False}, 1),
        ({"proj_size": 2}, 1),
        ({"nonlinearity": "relu"}, 1),
    ],
)
def test_layers_of_pytorch(name, options, loops):
    torch = pytest.importorskip("torch")
    if ("proj_size" in options and name != "LSTM") or ("nonlinearity" in options and name != "RNN"):
        pytest.skip(f"{name} does not take {', '.join(options)}")
    torch.manual_seed(0)
    module, x = getattr(torch.nn, name)(SIZE, 3, **options).eval(), torch.from_numpy(X)
    executable = ipu.compile(module, args=[x], target=TARGET)
    assert executable.mlir().count("scf.for") == loops
    wanted = torch.utils._pytree.tree_leaves(module(x))
    for found, want in zip(torch.utils._pytree.tree_leaves(executable(x)), wanted, strict=True):
        np.testing.assert_allclose(np.asarray(found), want.detach().numpy(), rtol=2e-5, atol=2e-6)


@pytest.mark.slow
def test_layers_in_functions_and_between_random_numbers():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    module, x = torch.nn.GRU(SIZE, 3), torch.from_numpy(X)
    executable = ipu.compile(lambda x: torch.sin(module(x)[0]), args=[x], target=TARGET)
    assert executable.mlir().count("scf.for") == 1
    np.testing.assert_allclose(executable(x), torch.sin(module(x)[0]).detach().numpy(), rtol=2e-5, atol=2e-6)

    def gradient(x):
        x = x.detach().requires_grad_()
        return torch.autograd.grad(torch.sin(module(x)[0]).sum(), x)[0]

    wanted = gradient(x)
    for function in (gradient, torch.func.grad(lambda x: torch.sin(module(x)[0]).sum())):
        executable = ipu.compile(function, args=[x], target=TARGET)
        assert executable.mlir().count("scf.for") == 2
        np.testing.assert_allclose(executable(x), wanted, rtol=2e-5, atol=2e-6)
    slope = torch.func.grad(lambda x: torch.sin(module(x)[0]).sum())
    twice = torch.func.grad(lambda x: (slope(x) ** 2).sum())
    np.testing.assert_allclose(ipu.compile(twice, args=[x], target=TARGET)(x), twice(x).detach(), rtol=2e-5, atol=2e-6)
    drops = torch.nn.LSTM(SIZE, 3, num_layers=2, dropout=0.5)
    found = ipu.compile(drops, args=[x], target=TARGET)(x)[0]
    assert np.isfinite(np.asarray(found)).all()
