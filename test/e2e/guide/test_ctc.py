"""Losses of label sequences and searches for them: types, gradients, refusals."""

import numpy as np
import pytest

from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")
nn = ipu.nn_ops


@pytest.fixture(autouse=True)
def strategy():
    config = ipu.config.IPUConfig()
    config.ipu_model.tiles_per_ipu = 4
    config.configure_ipu_system()
    yield ipu.ipu_strategy.IPUStrategy()
    ipu.config.reset_ipu_configuration()


def test_losses_of_16_bits_are_computed_in_32(strategy):
    random = np.random.default_rng(3)
    logits = tf.constant(random.standard_normal((7, 2, 5)), tf.float16)
    labels = tf.constant([[1, 1, 2], [3, 0, 0]])

    @tf.function(jit_compile=True)
    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = nn.ctc_loss_v2(labels, x, [3, 1], [7, 6], -1, out_dtype=tf.float32)
            total = tf.reduce_sum(loss)
        decoded = nn.ctc_beam_search_decoder(x, [7, 6], beam_width=60, top_paths=2)
        return loss, tape.gradient(total, x), nn.ctc_loss_v2(labels, x, [3, 1], [7, 6], 4), *decoded

    with strategy.scope():
        loss, gradient, short, best, lengths, found = strategy.run(run, args=(logits,))
    wide = tf.cast(logits, tf.float32)
    with tf.GradientTape() as tape:
        tape.watch(wide)
        wanted = tf.nn.ctc_loss(labels, wide, tf.constant([3, 1]), tf.constant([7, 6]), blank_index=4)
        total = tf.reduce_sum(wanted)
    np.testing.assert_allclose(loss, wanted, rtol=1e-5)
    np.testing.assert_allclose(gradient, tape.gradient(total, wide), atol=2e-3)
    assert [each.dtype.name for each in (loss, gradient, short, best)] == ["float32"] + ["float16"] * 3
    assert best.shape == lengths.shape == (2, 2) and found.shape == (2, 2, 7)
    sequences, scores = tf.nn.ctc_beam_search_decoder(wide, tf.constant([7, 6]), beam_width=60, top_paths=2)
    for path in range(2):
        theirs = tf.sparse.to_dense(sequences[path], -1).numpy()
        for place in range(2):
            ours = found[place, path, : lengths[place, path]].numpy()
            np.testing.assert_array_equal(ours, theirs[place][theirs[place] >= 0])
    np.testing.assert_allclose(best, -scores, rtol=2e-3)


def test_losses_without_labels_and_outside_of_programs(strategy):
    scores = tf.nn.log_softmax(tf.zeros((2, 1, 4)))
    with strategy.scope():
        loss = nn.ctc_loss_with_log_probs(tf.zeros((1, 0), tf.int32), scores, [0], [2], 0)
    np.testing.assert_allclose(loss, [2 * np.log(4)], rtol=1e-6)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            lambda x: nn.ctc_loss_v2([[0]], x[0], [1], [2], 0),
            r"logits must be .* \[time, batch, classes\], got float32",
        ),
        (
            lambda x: nn.ctc_loss_v2([[0, 1]] * 2, x, [1], [2], 0),
            r"labels must be integers of shape \[1, labels\], got",
        ),
        (lambda x: nn.ctc_loss_v2([[0]], x, [1, 1], [2], 0), r"label_length must be integers of shape \[1\]"),
        (lambda x: nn.ctc_loss_v2([[0]], x, [1], [2.0], 0), r"lengths of the data must be integers of shape \[1\]"),
        (lambda x: nn.ctc_loss_v2([[0]], x, [1], [2], 4), "blank_index is 4, but there are 4 classes; it is -4 to 3"),
        (lambda x: nn.ctc_loss_v2([[0]], x, [1], [2], 0, tf.float16), "out_dtype is float16 for float32"),
        (lambda x: nn.ctc_beam_search_decoder(x, [2], 2, 3), "top_paths is 3, but must be 1 to beam_width, which is 2"),
    ],
)
def test_operands_that_do_not_fit_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong(tf.zeros((2, 1, 4)))
