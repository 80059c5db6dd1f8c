"""Cells of recurrent layers are one family of codelets, whichever front end they come from."""

import re

import numpy as np
import pytest

import ipu_mlir as ipu

N, T, SIZE = 2, 3, 4
X = np.random.default_rng(0).standard_normal((N, T, SIZE)).astype(np.float32)
TARGET = ipu.Target(tiles_per_ipu=4)


def cells(executable):
    """The cells among the names of codelets, and how many there are of each."""
    names = re.findall(r'codelet = "((?:lstm|gru)_\w+)_f32"', executable.mlir())
    return {name: names.count(name) for name in names}


def jax_layer(kind):
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

    def gru(state, x):
        (h,) = state
        a, b = jnp.split(x @ w, [2 * SIZE], 1)
        r, z = jnp.split(jax.nn.sigmoid(a + h @ u[:, : 2 * SIZE]), 2, 1)
        h = (1 - z) * jnp.tanh(b + (r * h) @ u[:, 2 * SIZE :]) + z * h
        return (h,), h

    def layer(x):
        state = (jnp.zeros((N, SIZE)),) * (2 if kind == "lstm" else 1)
        return jax.lax.scan(lstm if kind == "lstm" else gru, state, x.transpose(1, 0, 2))[1]

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
def test_cells_have_one_name(kind, layer):
    source, args, expected = layer(kind)
    executable = ipu.compile(source, args=args, target=TARGET)
    found = cells(executable)
    assert set(found) == ({"lstm_state", "lstm_output"} if kind == "lstm" else {"gru_state"})
    found = executable(*args)
    found = found[0] if isinstance(found, tuple) else found
    np.testing.assert_allclose(np.asarray(found), expected(), rtol=2e-5, atol=2e-6)
