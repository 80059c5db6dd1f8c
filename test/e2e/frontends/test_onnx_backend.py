"""Node tests of the onnx package by the class that they take; all of them are in ``docs/onnx-node-tests.md``."""

import numpy as np
import pytest

import ipu_mlir as ipu

onnx = pytest.importorskip("onnx")
from onnx.backend.test.loader import load_model_tests  # noqa: E402

from ipu_mlir.onnx_backend import Backend  # noqa: E402

AGREE = (
    "test_conv_with_strides_padding",
    "test_gemm_all_attributes",
    "test_top_k_same_values_largest",
    "test_reduce_max_default_axes_keepdim_example",
    "test_gather_elements_0",
    "test_maxpool_2d_pads",
    "test_lstm_defaults",
    "test_attention_3d_gqa",
    "test_split_variable_parts_2d_opset18",
    "test_center_crop_pad_crop",
    "test_dequantizelinear_uint4",
)
REFUSED = {
    "test_lstm_with_peepholes": "torch-mlir leaves out the peepholes",
    "test_castlike_FLOAT_to_FLOAT8E4M3FN": "torch-mlir makes infinity or NaN of what is too large",
    "test_dynamicquantizelinear": "torch-mlir takes numbers without a sign for numbers with one",
    "test_dequantizelinear_axis": "torch-mlir scales along another dimension",
    "test_gridsample_zeros_padding": "torch-mlir reads outside of the image",
    "test_spacetodepth_crd_mode_example": "torch-mlir puts columns and rows in another order",
    "test_wrap_pad": "torch-mlir comes to no end over it",
    "test_string_concat": "torch-mlir cannot import the ONNX model",
}


@pytest.fixture(scope="module")
def cases():
    return {case.name: case for case in load_model_tests(kind="node")}


@pytest.mark.parametrize("name", AGREE)
def test_a_node_agrees(name: str, cases):
    program = Backend.prepare(cases[name].model, target=ipu.Target(tiles_per_ipu=4))
    for inputs, expected in cases[name].data_sets:
        for found, wanted in zip(program.run(inputs), expected, strict=True):
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(found, wanted, rtol=cases[name].rtol, atol=1e-5)


@pytest.mark.parametrize("name", REFUSED)
def test_a_node_that_would_be_wrong_or_unknown_is_refused(name: str, cases):
    with pytest.raises(ipu.CompileError, match=REFUSED[name]):
        Backend.prepare(cases[name].model).run(cases[name].data_sets[0][0])


def test_devices():
    assert Backend.supports_device("CPU") and Backend.supports_device("IPU:0") and not Backend.supports_device("CUDA")
