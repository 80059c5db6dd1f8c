"""Largest errors of operators against TensorFlow, Keras, PyTorch and SciPy in f64 on the same numbers."""

import numpy as np
import pytest

from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")

ERRORS = {
    "embedding_ops.embedding_lookup": ("NumPy", 0, 0),
    "math_ops.segment_sum": ("NumPy", 2e-7, 4e-4),
    "math_ops.serialized_matmul": ("NumPy", 2e-7, 6e-4),
    "nn_ops.ctc_loss_v2": ("PyTorch", 2e-7, 2e-7),
    "nn_ops.gelu": ("SciPy", 1e-7, 6e-4),
    "nn_ops.hard_sigmoid": ("NumPy", 1e-7, 5e-4),
    "nn_ops.softmax": ("SciPy", 2e-7, 8e-4),
    "nn_ops.swish": ("SciPy", 2e-7, 8e-4),
    "normalization_ops.group_norm": ("PyTorch", 2e-7, 4e-4),
    "normalization_ops.instance_norm": ("PyTorch", 4e-7, 4e-4),
    "normalization_ops.layer_norm": ("PyTorch", 2e-7, 4e-4),
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
    return {
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
