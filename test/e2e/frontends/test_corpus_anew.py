"""Programs of the corpus made anew from their sources: by our importers they give what the stored ones give."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from support.compare import disagreements
from support.corpus import programs

import ipu_mlir as ipu
from ipu_mlir.compilation.sources import load_module
from ipu_mlir.passes.support.rewriting import list_ops

TARGET = ipu.Target(tiles_per_ipu=16)


def weights_of(name: str) -> list[np.ndarray]:
    """The constants of a stored program that has its weights inside, those of the first layer first."""
    module = load_module(programs()[name].mlir)
    found = [op.attributes["value"] for op in list_ops(module.operation, "arith.constant")]
    arrays = [np.array(each) for each in found if hasattr(each, "is_splat") and len(each.type.shape) > 0]
    first = max(array.size for array in arrays)
    return arrays if arrays[0].size == first else arrays[::-1]


def layers(x: Any, weights: Sequence[Any], relu: Callable[[Any], Any]) -> Any:
    """Dense layers on flat inputs, in the arrays of any framework."""
    for number in range(0, len(weights), 2):
        x = x @ weights[number] + weights[number + 1]
        x = relu(x) if number + 2 < len(weights) else x
    return x


def tf_matmul(inputs: list[np.ndarray]) -> tuple[Any, Any]:
    tf = pytest.importorskip("tensorflow")
    return tf.function(tf.matmul), inputs


def tf_keras_mnist_fwd(inputs: list[np.ndarray]) -> tuple[Any, Any]:
    keras = pytest.importorskip("keras")
    dense = [keras.layers.Dense(256, "relu"), keras.layers.Dense(128, "relu"), keras.layers.Dense(10)]
    model = keras.Sequential([keras.Input((28, 28), batch_size=32), keras.layers.Flatten(), *dense])
    model.set_weights(inputs[1:])
    return model, inputs[:1]


def tf_keras_mnist_sgd_step(inputs: list[np.ndarray]) -> tuple[Any, Any]:
    tf = pytest.importorskip("tensorflow")
    keras = pytest.importorskip("keras")

    @tf.function
    def step(x: Any, y: Any, *state: Any) -> Any:
        *weights, rate, count = state
        with tf.GradientTape() as tape:
            tape.watch(weights)
            loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)(
                y, layers(tf.reshape(x, (32, 784)), weights, tf.nn.relu)
            )
        gradients = tape.gradient(loss, weights)
        return loss, *(w - rate * g for w, g in zip(weights, gradients, strict=True)), count + 1

    return step, inputs


def jax_mlp_fwd(inputs: list[np.ndarray]) -> tuple[Any, Any]:
    jax = pytest.importorskip("jax")
    return jax.jit(lambda *given: layers(given[-1], given[:-1], jax.nn.relu)), inputs


def jax_math_zoo(inputs: list[np.ndarray]) -> tuple[Any, Any]:
    jax = pytest.importorskip("jax")
    jnp, special = jax.numpy, jax.scipy.special

    def functions(x: Any) -> Any:
        plain = [each(x) for each in (jnp.floor, jnp.round, jnp.sign, jnp.cbrt, jnp.isnan)]
        size = jnp.abs(x)
        first = [
            jnp.exp(x),
            jnp.log1p(size),
            jnp.expm1(x),
            special.erf(x),
            jnp.tan(x),
            jnp.arctan2(x, x + 1),
            size**1.5,
        ]
        last = [jnp.remainder(x, 0.7), special.erfinv(x / 10), jnp.arcsin(jnp.clip(x, -1, 1))]
        return [*first, special.gammaln(size + 1), jnp.sinh(x), *plain, *last]

    return jax.jit(functions), inputs


def kerasjax_mnist_sgd_step(inputs: list[np.ndarray]) -> tuple[Any, Any]:
    """The step that Keras makes of its layers and its optimizer, written out."""
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    @jax.jit
    def step(*given: Any) -> Any:
        *weights, count, rate, x, y = given

        def loss_of(weights: Any) -> Any:
            scores = jax.nn.log_softmax(layers(x.reshape(32, 784), weights, jax.nn.relu))
            return -jnp.mean(jnp.sum(jax.nn.one_hot(y, 10) * scores, axis=-1))

        loss, gradients = jax.value_and_grad(loss_of)(weights)
        return loss, *(w - rate * g for w, g in zip(weights, gradients, strict=True)), count + 1, rate

    return step, inputs


def pt_mlp(inputs: list[np.ndarray]) -> tuple[Any, Any]:
    torch = pytest.importorskip("torch")
    weights = [torch.from_numpy(each) for each in weights_of("pt_mlp")]
    nn = torch.nn
    dense = [nn.Linear(*weight.T.shape) for weight in weights[::2]]
    model = nn.Sequential(nn.Flatten(), dense[0], nn.ReLU(), dense[1], nn.ReLU(), dense[2])
    with torch.no_grad():
        for own, stored in zip(model.parameters(), weights, strict=True):
            own.copy_(stored)
    return model.eval(), [torch.from_numpy(each) for each in inputs]


def pt_mlp_params_as_args(inputs: list[np.ndarray]) -> tuple[Any, Any]:
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(32, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    names = [name for name, _ in model.named_parameters()]

    def call(x: Any, *weights: Any) -> Any:
        return torch.func.functional_call(model, dict(zip(names, weights, strict=True)), (x,))

    return call, [torch.from_numpy(each) for each in inputs]


def pt_mlp_train_onehot_linalg(inputs: list[np.ndarray]) -> tuple[Any, Any]:
    torch = pytest.importorskip("torch")

    def step(*given: Any) -> Any:
        *weights, x, y = given

        def loss_of(weights: Any) -> Any:
            turned = [each.T if each.ndim == 2 else each for each in weights]
            scores = torch.log_softmax(layers(x.flatten(1), turned, torch.relu), 1)
            return -(y * scores).sum(1).mean()

        gradients, loss = torch.func.grad_and_value(loss_of)(tuple(weights))
        return loss, *(w - 0.01 * g for w, g in zip(weights, gradients, strict=True))

    return step, [torch.from_numpy(each) for each in inputs]


def onnx_mlp(inputs: list[np.ndarray]) -> tuple[Any, Any]:
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    nodes = [
        helper.make_node("Flatten", ["x"], ["flat"]),
        helper.make_node("Gemm", ["flat", "w0", "w1"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Gemm", ["b", "w2", "w3"], ["c"]),
        helper.make_node("Softmax", ["c"], ["y"]),
    ]
    weights = [onnx.numpy_helper.from_array(each, f"w{n}") for n, each in enumerate(weights_of("onnx_mlp"))]
    ends = [helper.make_tensor_value_info(name, 1, size) for name, size in (("x", [4, 8, 8]), ("y", [4, 10]))]
    graph = helper.make_graph(nodes, "mlp", ends[:1], ends[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), inputs


MADE_BY = (
    *(tf_matmul, tf_keras_mnist_fwd, tf_keras_mnist_sgd_step, jax_math_zoo, jax_mlp_fwd, kerasjax_mnist_sgd_step),
    *(pt_mlp, pt_mlp_params_as_args, pt_mlp_train_onehot_linalg, onnx_mlp),
)


@pytest.mark.slow
@pytest.mark.parametrize("make", MADE_BY, ids=lambda make: make.__name__)
def test_a_program_made_anew_gives_what_the_stored_one_gives(make: Callable[..., Any]) -> None:
    program = programs()[make.__name__]
    source, args = make(program.inputs)
    found = ipu.compile(source, args=args, target=TARGET)(*args)
    results = [np.asarray(each) for each in (found if isinstance(found, tuple | list) else [found])]
    assert disagreements(results, program.expected, program.atol, program.ill_conditioned) == []
    stored = ipu.compile(program.mlir, target=TARGET).run(program.inputs)
    assert disagreements(results, stored, program.atol, program.ill_conditioned) == []
