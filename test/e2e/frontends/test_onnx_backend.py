"""Node tests of the onnx package by the class that they take; all of them are in ``docs/onnx-node-tests.md``."""

import numpy as np
import pytest

import ipu_mlir as ipu

onnx = pytest.importorskip("onnx")
from onnx.backend.test.loader import load_model_tests  # noqa: E402

from ipu_mlir.frontends.from_onnx import array_of  # noqa: E402
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
    "test_lstm_with_peepholes",
    "test_dynamicquantizelinear",
    "test_dequantizelinear_axis",
    "test_spacetodepth_crd_mode_example",
    "test_wrap_pad",
    "test_bitcast_float32_to_int32",
    "test_nllloss_NCd1d2_with_weight_reduction_mean",
    "test_sce_NCd1d2d3d4d5_mean_weight",
    "test_momentum",
    "test_adam",
    "test_cumsum_1d_exclusive",
    "test_scatter_elements_with_duplicate_indices",
    "test_ai_onnx_ml_array_feature_extractor",
    "test_rms_normalization_2d_axis0",
    "test_scan9_sum",
    "test_tfidfvectorizer_tf_only_bigrams_skip0",
    "test_gridsample_zeros_padding",
    "test_gridsample_volumetric_bilinear_align_corners_1",
    "test_gridsample_bicubic",
    "test_gridsample_reflection_padding",
    "test_resize_downsample_sizes_cubic_antialias",
    "test_resize_tf_crop_and_resize_extrapolation_value",
    "test_resize_upsample_sizes_nearest_not_larger",
    "test_resize_upsample_scales_nearest_axes_3_2",
    "test_roialign_mode_max",
    "test_deform_conv_with_mask_bias",
    "test_col2im_pads",
    "test_convtranspose_group_2",
    "test_convtranspose_autopad_same",
    "test_maxunpool_export_with_output_shape",
    "test_maxpool_2d_ceil_output_size_reduce_by_one",
    "test_maxpool_with_argmax_2d_precomputed_strides",
    "test_averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_True",
    "test_lppool_2d_dilations",
    "test_qlinearconv",
    "test_tensorscatter_circular",
    "test_linear_attention_gated_delta",
    "test_if",
    "test_cumprod_1d_reverse_exclusive",
    "test_cast_FLOAT_to_INT4",
    "test_castlike_FLOAT_to_UINT2",
    "test_cast_FLOAT4E2M1_to_FLOAT",
    "test_cast_FLOAT_to_FLOAT4E2M1",
    "test_quantizelinear_int4",
    "test_dynamicquantizelinear_expanded",
    "test_loop11",
    "test_gelu_tanh_2",
    "test_range_float_type_positive_delta_expanded",
    "test_scan_sum",
    "test_compress_negative_axis",
    "test_attention_4d_attn_mask_bool_4d",
    "test_flexattention_score_mod",
    "test_affine_grid_3d_align_corners_expanded",
    "test_optional_get_element_optional_tensor",
    "test_reduce_max_empty_set",
    "test_bitshift_left_int8_negative_shift",
    "test_lrn",
    "test_gathernd_example_int32_batch_dim1",
    "test_onehot_negative_indices",
    "test_hardmax_one_hot",
    "test_einsum_sum_bfloat16",
    "test_center_crop_pad_crop_and_pad",
    "test_unique_sorted_without_axis",
    "test_training_dropout_zero_ratio_mask",
)
REFUSED = {
    "test_string_concat": "x is text; a program takes numbers",
    "test_identity_sequence": "x is no tensor; a program takes tensors",
}


@pytest.fixture(scope="module")
def cases():
    return {case.name: case for case in load_model_tests(kind="node")}


@pytest.mark.parametrize("name", AGREE)
def test_a_node_agrees(name: str, cases):
    program = Backend.prepare(cases[name].model, target=ipu.Target(tiles_per_ipu=4))
    for inputs, expected in cases[name].data_sets:
        for found, wanted in zip(program.run(inputs), map(array_of, expected), strict=True):
            assert found.dtype == wanted.dtype
            found, wanted = (each.astype(np.float64) for each in (found, wanted))
            np.testing.assert_allclose(found, wanted, rtol=cases[name].rtol, atol=1e-5)


@pytest.mark.parametrize("name", REFUSED)
def test_a_node_that_would_be_wrong_or_unknown_is_refused(name: str, cases):
    with pytest.raises(ipu.CompileError, match=REFUSED[name]):
        Backend.prepare(cases[name].model).run(cases[name].data_sets[0][0])


@pytest.mark.parametrize("name", ["test_bernoulli", "test_training_dropout_default_mask"])
def test_numbers_are_drawn_anew_in_each_run(name: str, cases):
    program = Backend.prepare(cases[name].model, target=ipu.Target(tiles_per_ipu=4))
    first, second = (program.run(cases[name].data_sets[0][0])[0] for _ in range(2))
    assert (first != second).any()


def test_devices():
    assert Backend.supports_device("CPU") and Backend.supports_device("IPU:0") and not Backend.supports_device("CUDA")
