"""Quantized models of ONNX: what a quantizer writes around convolutions and products, of opsets of today and before."""

import numpy as np
import pytest

import ipu_mlir as ipu

onnx = pytest.importorskip("onnx")
from onnx import parser  # noqa: E402

TARGET = ipu.Target(tiles_per_ipu=4)
HEAD = '<ir_version: 9, opset_import: ["" : 17, "com.microsoft" : 1]>\nmain '
RNG = np.random.default_rng(0)
X = RNG.standard_normal((1, 2, 4, 4)).astype(np.float32)


def values_of(*floats: float) -> str:
    return f"float[{len(floats)}] {{{', '.join(map(str, floats))}}}"


def test_a_convolution_between_scales_of_each_channel():
    weights = RNG.integers(-127, 128, (3, 2, 1, 1)).astype(np.int8)
    scales = np.array([0.01, 0.02, 0.005], np.float32)
    text = f"""(float[1,2,4,4] x) => (float[1,3,4,4] y) {{
        s = Constant <value = float {{0.02}}> ()
        z = Constant <value = uint8 {{128}}> ()
        out = Constant <value = float {{0.05}}> ()
        zero = Constant <value = int8 {{-3}}> ()
        ws = Constant <value = {values_of(*scales.tolist())}> ()
        xq = QuantizeLinear (x, s, z)
        xd = DequantizeLinear (xq, s, z)
        wd = DequantizeLinear <axis = 0> (w, ws)
        c = Conv (xd, wd)
        cq = QuantizeLinear (c, out, zero)
        y = DequantizeLinear (cq, out, zero)
    }}"""
    model = parser.parse_model(HEAD + text)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    stored = np.clip(np.rint(X / np.float32(0.02)) + 128, 0, 255) - 128
    real = np.einsum("nchw,oc->nohw", stored, weights[:, :, 0, 0].astype(np.float64))
    real = real * 0.02 * scales.astype(np.float64)[:, None, None]
    expected = (np.clip(np.rint(real / 0.05) - 3, -128, 127) + 3) * 0.05
    found = ipu.compile(model, target=TARGET)(X)
    assert np.abs(found - expected).max() < 0.051  # a tie may go either way
    assert (np.abs(found - expected) > 1e-5).mean() < 0.05


A, B = (RNG.integers(0, 256, (2, 3)).astype(np.uint8) for _ in range(2))
REAL_A, REAL_B = (A.astype(np.float64) - 128) * 0.02, (B.astype(np.float64) - 120) * 0.03
OF_RUNTIME = {
    "QLinearAdd": ("(a, s, z, b, t, u, o, p)", REAL_A + REAL_B),
    "QLinearMul": ("(a, s, z, b, t, u, o, p)", REAL_A * REAL_B),
    "QLinearSigmoid": ("(a, s, z, o, p)", 1 / (1 + np.exp(-REAL_A))),
    "QLinearLeakyRelu <alpha = 0.5>": ("(a, s, z, o, p)", np.where(REAL_A < 0, REAL_A / 2, REAL_A)),
    "QLinearSoftmax <axis = 1>": ("(a, s, z, o, p)", np.exp(REAL_A) / np.exp(REAL_A).sum(1, keepdims=True)),
    "QLinearConcat <axis = 0>": ("(o, p, a, s, z, b, t, u)", np.concatenate([REAL_A, REAL_B])),
    "QGemm <transB = 1>": ("(a, s, z, b, t, u, , o, p)", REAL_A @ REAL_B.T),
}


@pytest.mark.parametrize("name", OF_RUNTIME)
def test_ops_that_a_quantizer_writes_beyond_those_of_onnx(name: str):
    operands, real = OF_RUNTIME[name]
    constants = "".join(
        f"{each} = Constant <value = {kind} {{{number}}}> () "
        for each, kind, number in (
            *(("s", "float", 0.02), ("z", "uint8", 128), ("t", "float", 0.03), ("u", "uint8", 120)),
            *(("o", "float", 0.05), ("p", "uint8", 100)),
        )
    )
    text = f"(uint8[2,3] a, uint8[2,3] b) => (uint8[n,m] y) {{ {constants} y = com.microsoft.{name} {operands} }}"
    found = ipu.compile(parser.parse_model(HEAD + text), target=TARGET)(A, B)
    expected = np.clip(np.rint(real / 0.05) + 100, 0, 255)
    assert found.dtype == np.uint8
    assert np.abs(found - expected).max() <= 1  # a tie may go either way
    assert (found != expected).mean() < 0.2
