"""Largest errors of operators against TensorFlow, Keras, PyTorch and SciPy in f64 on the same numbers."""

import numpy as np
import pytest

from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")

ERRORS = {
    "embedding_ops.embedding_lookup": ("NumPy", 0, 0),
    "image_ops.normalise_image": ("NumPy", 2e-7, 1e-3),
    "math_ops.segment_sum": ("NumPy", 2e-7, 4e-4),
    "math_ops.serialized_matmul": ("NumPy", 2e-7, 6e-4),
    "nn_ops.ctc_loss_v2": ("PyTorch", 2e-7, 2e-7),
    "nn_ops.gelu": ("SciPy", 1e-7, 6e-4),
    "nn_ops.hard_sigmoid": ("NumPy", 1e-7, 5e-4),
    "nn_ops.multi_conv": ("PyTorch", 2e-7, 4e-4),
    "nn_ops.nce_loss": ("TensorFlow", 2e-7, 2e-3),
    "nn_ops.sampled_softmax_loss": ("TensorFlow", 2e-7, 2e-3),
    "nn_ops.softmax": ("SciPy", 2e-7, 8e-4),
    "nn_ops.swish": ("SciPy", 2e-7, 8e-4),
    "normalization_ops.group_norm": ("PyTorch", 2e-7, 4e-4),
    "normalization_ops.instance_norm": ("PyTorch", 4e-7, 4e-4),
    "normalization_ops.layer_norm": ("PyTorch", 2e-7, 4e-4),
    "slicing_ops.sequence_slice": ("NumPy", 0, 0),
    "statistics_ops.fixed_width_bins": ("NumPy", 1e-7, 7e-4),
    "statistics_ops.histogram": ("NumPy", 0, 2e-3),
}
"""Reference, and the largest error in f32 and in f16, relative to the largest value; losses of f16 are f32."""

SHAPE = (6, 8, 8, 12)
LABELS = np.random.default_rng(3).integers(1, 12, (8, 3)).astype(np.int32)


def operands(dtype):
    """A tensor of four dimensions, a matrix with as many columns as that has channels, and rows of a table."""
    random = np.random.default_rng(0)
    shapes = (SHAPE, (12, 16), (6, 8, 12))
    return [tf.constant(random.standard_normal(shape).astype(dtype)) for shape in shapes]


LOSSES = ("nce_loss", "sampled_softmax_loss")
COUNTS = {"num_sampled": 3, "num_classes": 12}
DRAWN_F64 = (
    [7, 2, 11],
    tf.constant([[0.2], [0.5], [0.1], [0.3]], tf.float64),
    tf.constant([0.3, 0.6, 0.1], tf.float64),
)
DRAWN = (DRAWN_F64[0], *(tf.cast(each, tf.float32) for each in DRAWN_F64[1:]))
"""Classes that are drawn, and how often true ones and these are expected."""


def sampled(w, rows):
    """Weights of 12 classes, their biases, labels, and four inputs of 16 numbers."""
    inputs = tf.reshape(rows, [-1])[:64]
    return w, w[:, 0], tf.constant([[1], [4], [8], [2]], tf.int64), tf.reshape(inputs, [4, 16])


def image_scales(dtype):
    """The offsets and the scales of three channels."""
    return tf.constant([0.25, -0.5, 1], dtype), tf.constant([2, 0.5, 4], dtype)


def ours(x, w, rows):
    """By name, what the operators give."""
    nn, norms = ipu.nn_ops, ipu.normalization_ops
    flat, number = tf.reshape(x, [-1, 12]), tf.range(6 * 64) // 40
    once = tf.ones([12], x.dtype)
    return {
        "nn_ops.gelu": nn.gelu(x, approximate=False),
        "nn_ops.swish": nn.swish(x),
        "nn_ops.hard_sigmoid": nn.hard_sigmoid(x),
        "nn_ops.softmax": nn.softmax(x),
        "nn_ops.multi_conv": nn.multi_conv(lambda: tf.nn.conv2d(x, tf.reshape(w, [1, 1, 12, 16]), 1, "SAME"))(),
        **{f"nn_ops.{loss}": getattr(nn, loss)(*sampled(w, rows), sampled_values=DRAWN, **COUNTS) for loss in LOSSES},
        "nn_ops.ctc_loss_v2": nn.ctc_loss_v2(LABELS, rows, [3] * 8, [6] * 8, 0, out_dtype=tf.float32),
        "normalization_ops.group_norm": norms.group_norm(
            x, groups=3, channels_axis=-1, center=False, scale=False, epsilon=1e-3, strided_channel_grouping=False
        ),
        "normalization_ops.instance_norm": norms.instance_norm(
            x, channels_axis=-1, center=False, scale=False, epsilon=1e-3
        ),
        "normalization_ops.layer_norm": norms.layer_norm(x, channels_axis=-1, center=False, scale=False, epsilon=1e-3),
        "math_ops.serialized_matmul": ipu.math_ops.serialized_matmul(flat, w, 2, "a_rows_b_columns"),
        "math_ops.segment_sum": ipu.math_ops.segment_sum(flat, number, 10),
        "embedding_ops.embedding_lookup": ipu.embedding_ops.embedding_lookup(w, LABELS[0], serialization_factor=2)
        * once[0],
        "image_ops.normalise_image": ipu.image_ops.normalise_image(x[..., :3], *image_scales(x.dtype), 0.5),
        "slicing_ops.sequence_slice": ipu.slicing_ops.sequence_slice(
            tf.zeros([6, 12], x.dtype), flat, [2, 3], [1, 9], [0, 3], zero_unused=True
        ),
        "statistics_ops.fixed_width_bins": ipu.statistics_ops.fixed_width_bins(tf.constant([-2, 3], x.dtype), 6),
        "statistics_ops.histogram": ipu.statistics_ops.histogram(
            tf.reshape(x, [-1]), ipu.statistics_ops.fixed_width_bins(tf.constant([-2, 2], x.dtype), 6)
        ),
    }


def theirs(x, w, rows):
    """The same in f64 by others."""
    import scipy.special
    import torch

    t = torch.from_numpy(x).permute(0, 3, 1, 2)

    def last(value):
        return value.permute(0, 2, 3, 1).numpy()

    functional = torch.nn.functional
    flat = x.reshape(-1, 12)
    losses = functional.ctc_loss(
        torch.log_softmax(torch.from_numpy(rows), -1),
        torch.from_numpy(LABELS),
        torch.full((8,), 6),
        torch.full((8,), 3),
        reduction="none",
    )
    edges = np.linspace(-2, 2, 6).astype(np.float32)
    offsets, scales = (each.numpy().astype(np.float64) for each in image_scales(tf.float32))
    weights = torch.from_numpy(w.T.copy())[:, :, None, None]
    return {
        "nn_ops.multi_conv": last(functional.conv2d(t, weights)),
        **{
            f"nn_ops.{loss}": getattr(tf.nn, loss)(*sampled(w, rows), sampled_values=DRAWN_F64, **COUNTS).numpy()
            for loss in LOSSES
        },
        "image_ops.normalise_image": np.pad((x[..., :3] * 0.5 - offsets) * scales, [(0, 0)] * 3 + [(0, 1)]),
        "slicing_ops.sequence_slice": np.stack([flat[1], flat[2], 0 * flat[0], *flat[9:12]]),
        "statistics_ops.fixed_width_bins": np.linspace(-2, 3, 6),
        "nn_ops.gelu": x * scipy.special.ndtr(x),
        "nn_ops.swish": x * scipy.special.expit(x),
        "nn_ops.hard_sigmoid": np.clip(0.2 * x + 0.5, 0, 1),
        "nn_ops.softmax": scipy.special.softmax(x, -1),
        "nn_ops.ctc_loss_v2": losses.numpy(),
        "normalization_ops.group_norm": last(functional.group_norm(t, 3, eps=1e-3)),
        "normalization_ops.instance_norm": last(functional.instance_norm(t, eps=1e-3)),
        "normalization_ops.layer_norm": last(functional.group_norm(t, 1, eps=1e-3)),
        "math_ops.serialized_matmul": flat @ w,
        "math_ops.segment_sum": np.stack([flat[np.arange(384) // 40 == n].sum(0) for n in range(10)]),
        "embedding_ops.embedding_lookup": w[LABELS[0]],
        "statistics_ops.histogram": np.histogram(x, [-np.inf, *edges, np.inf])[0],
    }


@pytest.mark.parametrize(("dtype", "column"), [(np.float32, 1), (np.float16, 2)])
def test_errors_are_those_of_the_page(dtype, column):
    config = ipu.config.IPUConfig()
    config.ipu_model.tiles_per_ipu = 4
    config.configure_ipu_system()
    given = operands(dtype)
    with ipu.ipu_strategy.IPUStrategy().scope() as strategy:
        found = strategy.run(tf.function(ours, jit_compile=True), given)
    ipu.config.reset_ipu_configuration()
    wanted = theirs(*(each.numpy().astype(np.float64) for each in given))
    seen = {
        name: float(np.abs(np.asarray(found[name], np.float64) - value).max() / np.abs(value).max())
        for name, value in wanted.items()
    }
    assert seen.keys() == ERRORS.keys()
    assert not {name: error for name, error in seen.items() if not error <= ERRORS[name][column]}
