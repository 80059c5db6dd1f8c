"""Recurrent layers of ONNX: what the reference implementation gives, and what the operators say beyond it."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx.reference import ReferenceEvaluator  # noqa: E402

from ipu_mlir.frontends.of_onnx.library import RULES  # noqa: E402

STEPS, BATCH, SIZE, UNITS = 4, 3, 2, 5
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def inputs_of(name, directions, has_states=True, has_peepholes=False):
    """Arrays in the order of the operator, empty names for those that are left out."""
    random, gates = np.random.default_rng(0), GATES[name]

    def numbers(*shape):
        return random.standard_normal(shape).astype(np.float32)

    x, w = numbers(STEPS, BATCH, SIZE), numbers(directions, gates * UNITS, SIZE)
    r, b = numbers(directions, gates * UNITS, UNITS), numbers(directions, 2 * gates * UNITS)
    states = [numbers(directions, BATCH, UNITS) for _ in range(2 if name == "LSTM" else 1)]
    given = [x, w, r, b, None, *(states if has_states else [None] * len(states))]
    return [*given, numbers(directions, 3 * UNITS)] if has_peepholes else given


def by_reference(name, inputs, **attributes):
    names = ["" if each is None else f"i{number}" for number, each in enumerate(inputs)]
    outputs = ["Y", "Y_h", "Y_c"][: 3 if name == "LSTM" else 2]
    node = onnx.helper.make_node(name, names, outputs, hidden_size=UNITS, **attributes)

    def value(name):
        return onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None)

    graph = onnx.helper.make_graph([node], "layer", [value(each) for each in names if each], list(map(value, outputs)))
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    return ReferenceEvaluator(model).run(None, {name: each for name, each in zip(names, inputs, strict=True) if name})


def by_rule(name, inputs, **attributes):
    return RULES["", name](*inputs, outputs=3 if name == "LSTM" else 2, types=[], **attributes)


def check(name, inputs, **attributes):
    for found, want in zip(by_rule(name, inputs, **attributes), by_reference(name, inputs, **attributes), strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", GATES)
def test_directions_states_and_layouts(name):
    check(name, inputs_of(name, 1, has_states=False), direction="forward")
    check(name, inputs_of(name, 1), direction="reverse")
    check(name, inputs_of(name, 2, has_peepholes=name == "LSTM"), direction="bidirectional")
    x, w, r, b, none, *states = inputs_of(name, 2)
    batch_first = [np.swapaxes(x, 0, 1), w, r, b, none, *(np.swapaxes(each, 0, 1) for each in states)]
    check(name, batch_first, direction="bidirectional", layout=1)
    check(name, [x, w, r], direction="bidirectional")


def test_reset_gates_before_the_product_and_behind_it():
    for linear in (0, 1):
        check("GRU", inputs_of("GRU", 1), linear_before_reset=linear)


@pytest.mark.parametrize("name", GATES)
def test_sequences_end_at_their_lengths(name):
    x, w, r, b, _, *states = inputs_of(name, 2)
    lengths = np.array([2, 4, 1], np.int32)
    found = by_rule(name, [x, w, r, b, lengths, *states], direction="bidirectional")
    for number, length in enumerate(lengths):
        own = (each[:, number : number + 1] for each in states)
        alone = by_reference(name, [x[:length, number : number + 1], w, r, b, None, *own], direction="bidirectional")
        np.testing.assert_allclose(found[0][:length, :, number], alone[0][:, :, 0], rtol=1e-5, atol=1e-6)
        assert (found[0][length:, :, number] == 0).all()
        for last, want in zip(found[1:], alone[1:], strict=True):
            np.testing.assert_allclose(last[:, number], want[:, 0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "alpha", "beta", "function"),
    [
        ("Relu", None, None, lambda x: np.maximum(x, 0)),
        ("Tanh", None, None, np.tanh),
        ("Sigmoid", None, None, lambda x: 1 / (1 + np.exp(-x))),
        ("Softsign", None, None, lambda x: x / (1 + abs(x))),
        ("Softplus", None, None, lambda x: np.log(np.exp(x) + 1)),
        ("Affine", [2.0], [0.5], lambda x: 2 * x + 0.5),
        ("LeakyRelu", None, None, lambda x: np.where(x < 0, 0.01 * x, x)),
        ("ThresholdedRelu", [0.2], None, lambda x: np.where(x > 0.2, x, 0)),
        ("ScaledTanh", [0.5], [2.0], lambda x: 0.5 * np.tanh(2 * x)),
        ("HardSigmoid", None, None, lambda x: np.clip(0.2 * x + 0.5, 0, 1)),
        ("Elu", [0.7], None, lambda x: np.where(x < 0, 0.7 * (np.exp(x) - 1), x)),
    ],
)
def test_activations_take_what_is_clipped(name, alpha, beta, function):
    x, w, r, b, *_ = inputs_of("RNN", 1)
    options = {"activations": [name], "activation_alpha": alpha, "activation_beta": beta, "clip": 0.9}
    found, _ = by_rule("RNN", [x, w, r, b], **options)
    h = np.zeros((BATCH, UNITS))
    for row, want in zip(x, found, strict=True):
        h = function(np.clip(row @ w[0].T + h @ r[0].T + b[0, :UNITS] + b[0, UNITS:], -0.9, 0.9))
        np.testing.assert_allclose(want[0], h, rtol=1e-5, atol=1e-6)


def test_alphas_are_of_those_activations_that_have_one():
    inputs = inputs_of("GRU", 2, has_states=False)
    names = ["Sigmoid", "LeakyRelu", "HardSigmoid", "Tanh"]
    options = {"direction": "bidirectional", "activation_alpha": [0.3, 0.25], "activation_beta": [0.4]}
    found, _ = by_rule("GRU", inputs, activations=names, **options)
    one, _ = by_rule("GRU", [each if each is None else each[:1] if each.shape[0] == 2 else each for each in inputs],
                     activations=names[:2], activation_alpha=[0.3])  # fmt: skip
    np.testing.assert_allclose(found[:, :1], one, rtol=1e-6)
    with pytest.raises(TypeError, match="a recurrent layer with the activation Sine; there are affine, elu"):
        by_rule("RNN", inputs_of("RNN", 1), activations=["Sine"])


def test_gates_of_input_and_forget_may_be_one():
    x, w, r, b, *_ = inputs_of("LSTM", 1)
    found = by_rule("LSTM", [x[:1], w, r, b], input_forget=1)[2]
    gates = x[0] @ w[0].T + b[0, : 4 * UNITS] + b[0, 4 * UNITS :]
    into, _, _, cell = np.split(gates, 4, -1)
    np.testing.assert_allclose(found[0], np.tanh(cell) / (1 + np.exp(-into)), rtol=1e-5)
