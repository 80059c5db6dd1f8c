"""Ops into which onnxruntime's optimizers fuse those of ONNX, against what they stand for in NumPy."""

import math

import numpy as np
import pytest

import ipu_mlir as ipu

pytest.importorskip("onnx")
from onnx import parser

RNG = np.random.default_rng(0)
X, Y, S = (RNG.standard_normal((2, 3, 4)).astype(np.float32) for _ in range(3))
B, C = (RNG.standard_normal(4).astype(np.float32) for _ in range(2))
W, D = RNG.standard_normal((4, 12)).astype(np.float32), RNG.standard_normal(12).astype(np.float32)
N, M = np.array([[2, 0, 1], [1, 1, 0]], np.int32), np.array([[1, 1, 0], [1, 1, 1]], np.int32)
VALUES = {"x": X, "y": Y, "s": S, "b": B, "c": C, "w": W, "d": D, "n": N, "m": M}


def erf(x):
    return np.vectorize(math.erf)(x)


def norm(x, is_centred=True):
    x = x - x.mean(-1, keepdims=True) if is_centred else x
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-3)


def attention(parts, allowed, heads=2):
    q, k, v = (each.reshape(2, 3, heads, 2).swapaxes(1, 2) for each in parts)
    scores = np.where(allowed, q @ k.swapaxes(-2, -1) / math.sqrt(2), -1e9)
    shares = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    return (shares @ v).swapaxes(1, 2).reshape(2, 3, 4)


CASES = {
    "FusedMatMul <alpha = 0.5, transB = 1> (x, y)": lambda: 0.5 * X @ Y.swapaxes(1, 2),
    "FusedMatMul <transA = 1> (x, y)": lambda: X.swapaxes(1, 2) @ Y,
    "Gelu (x)": lambda: X * (1 + erf(X / math.sqrt(2))) / 2,
    "BiasGelu (x, b)": lambda: (X + B) * (1 + erf((X + B) / math.sqrt(2))) / 2,
    "FastGelu (x)": lambda: X * (1 + np.tanh(math.sqrt(2 / math.pi) * (X + 0.044715 * X**3))) / 2,
    "QuickGelu <alpha = 1.5> (x)": lambda: X / (1 + np.exp(-1.5 * X)),
    "SkipLayerNormalization <epsilon = 0.001> (x, s, b, c)": lambda: norm(X + S) * B + C,
    "SkipSimplifiedLayerNormalization <epsilon = 0.001> (x, s, b, c)": lambda: norm(X + S + C, False) * B,
    "EmbedLayerNormalization <epsilon = 0.001> (n, m, p, p, p, b, c)": (
        lambda: norm(Y[0][N] + Y[0][None] + Y[0][M]) * B + C
    ),
    "Attention <num_heads = 2> (x, w, d, m)": (lambda: attention(np.split(X @ W + D, 3, -1), M[:, None, None] == 1)),
    "Attention <num_heads = 2, unidirectional = 1> (x, w, d)": (
        lambda: attention(np.split(X @ W + D, 3, -1), np.tri(3, dtype=bool))
    ),
    "MultiHeadAttention <num_heads = 2> (x, y, s, d)": (
        lambda: attention([X + D[:4], Y + D[4:8], S + D[8:]], np.array(True))
    ),
}


def run(call: str, more: str = "", **values: np.ndarray) -> np.ndarray:
    kinds = {"float32": "float", "int32": "int32", "uint8": "uint8"}
    given = ", ".join(
        f"{kinds[each.dtype.name]}[{', '.join(map(str, each.shape))}] {name}" for name, each in values.items()
    )
    head = '<ir_version: 9, opset_import: ["" : 17, "com.microsoft": 1]>'
    text = f"{head} g ({given}) => (float found) {{ {more} found = {call} }}"
    return ipu.compile(parser.parse_model(text), target=ipu.Target(tiles_per_ipu=4))(*values.values())


@pytest.mark.parametrize("call", CASES)
def test_fused_ops(call: str):
    values = VALUES | {"p": Y[0]}
    names = call.rpartition("(")[2].rstrip(")").split(", ")
    found = run(f"com.microsoft.{call}", **{name: values[name] for name in dict.fromkeys(names)})
    np.testing.assert_allclose(found, CASES[call](), rtol=2e-5, atol=2e-6)


def test_convolutions_and_products_with_activations():
    x, w = RNG.standard_normal((1, 2, 5, 5)).astype(np.float32), RNG.standard_normal((3, 2, 1, 1)).astype(np.float32)
    real = np.einsum("nchw,oc->nohw", x, w[:, :, 0, 0])
    call = 'com.microsoft.FusedConv <activation = "LeakyRelu", activation_params = [0.25]> (x, w)'
    np.testing.assert_allclose(run(call, x=x, w=w), np.where(real < 0, real / 4, real), rtol=1e-5, atol=1e-6)
    call = 'com.microsoft.FusedGemm <transB = 1, alpha = 2.0, activation = "Relu"> (x, y, b)'
    expected = np.maximum(2 * X[0] @ Y[0].T + B[:3], 0)
    np.testing.assert_allclose(run(call, x=X[0], y=Y[0], b=B[:3]), expected, rtol=1e-5, atol=1e-6)


def test_products_and_layers_of_8_bits():
    stored = RNG.integers(0, 256, (4, 12)).astype(np.uint8)
    scales = "k = Constant <value = float {0.02}> ()  z = Constant <value = uint8 {120}> ()"
    real = (stored.astype(np.float32) - 120) * np.float32(0.02)
    found = run("com.microsoft.DynamicQuantizeMatMul (x, w, k, z, d)", scales, x=X[0], w=stored, d=D)
    np.testing.assert_allclose(found, X[0] @ real + D, atol=0.1)
    weights = {"w": stored[None], "r": stored[None, :3]}
    many = scales.replace("float {0.02}", "float[1] {0.02}").replace("uint8 {120}", "uint8[1] {120}")
    call = "com.microsoft.DynamicQuantizeLSTM <hidden_size = 3> (x, w, r, , , , , , k, z, k, z)"
    own = {"x": X, "w": np.ascontiguousarray(real.T)[None], "r": np.ascontiguousarray(real[:3].T)[None]}
    np.testing.assert_allclose(
        run(call, many, x=X, **weights), run("LSTM <hidden_size = 3> (x, w, r)", **own), rtol=1e-5, atol=1e-6
    )
