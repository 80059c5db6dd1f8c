# Feature: CTC loss and beam search decoding (guide 21.15.8).
# Correct run: losses equal tf.nn.ctc_loss on the CPU, gradients too; with a full beam the decoded labels and probabilities equal those found by
# trying all paths; prints ok.
import itertools

import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow import ipu

config = ipu.config.IPUConfig()
config.auto_select_ipus = 1
config.configure_ipu_system()
TIME, BATCH, CLASSES, BLANK = 5, 2, 4, 3
random = np.random.default_rng(8)
logits = tf.constant(random.standard_normal((TIME, BATCH, CLASSES)), tf.float32)
labels = tf.constant([[0, 1, 1], [2, 0, 0]])
label_length, logit_length = tf.constant([3, 1]), tf.constant([5, 4])


@tf.function(jit_compile=True)
def losses(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = ipu.nn_ops.ctc_loss_v2(labels, x, label_length, logit_length, BLANK)
        total = tf.reduce_sum(loss)
    log_probs = tf.nn.log_softmax(x)
    return (
        loss,
        tape.gradient(total, x),
        ipu.nn_ops.ctc_loss_with_log_probs(labels, log_probs, label_length, logit_length, BLANK),
    )


@tf.function(jit_compile=True)
def decoded(x):
    ops = ipu.nn_ops
    return (
        ops.ctc_beam_search_decoder(x, logit_length, beam_width=400, top_paths=3, blank_index=BLANK),
        ops.ctc_beam_search_decoder_with_log_probs(
            tf.nn.log_softmax(x), logit_length, beam_width=400, top_paths=3, blank_index=BLANK
        ),
    )


def all_paths(probabilities):
    """Probability of every label sequence, by summing all paths that collapse to it."""
    found = {}
    for path in itertools.product(range(CLASSES), repeat=len(probabilities)):
        collapsed = tuple(k for k, _ in itertools.groupby(path) if k != BLANK)
        found[collapsed] = found.get(collapsed, 0.0) + np.prod([row[k] for row, k in zip(probabilities, path)])
    return sorted(found.items(), key=lambda item: -item[1])


strategy = ipu.ipu_strategy.IPUStrategy()
with strategy.scope():
    loss, gradient, from_log_probs = strategy.run(losses, args=(logits,))
    with tf.GradientTape() as tape:
        tape.watch(logits)
        expected = tf.nn.ctc_loss(labels, logits, label_length, logit_length, blank_index=BLANK)
        total = tf.reduce_sum(expected)
    assert loss.shape == (BATCH,)
    np.testing.assert_allclose(loss, expected, rtol=1e-4)
    np.testing.assert_allclose(from_log_probs, expected, rtol=1e-4)
    np.testing.assert_allclose(gradient, tape.gradient(total, logits), rtol=1e-3, atol=1e-4)

    probabilities = tf.nn.softmax(logits).numpy()
    for negative_log, lengths, found in strategy.run(decoded, args=(logits,)):
        assert negative_log.shape == (BATCH, 3) and lengths.shape == (BATCH, 3) and found.shape == (BATCH, 3, TIME)
        for b in range(BATCH):
            best = all_paths(probabilities[: int(logit_length[b]), b])[:3]
            for k, (sequence, probability) in enumerate(best):
                assert int(lengths[b, k]) == len(sequence)
                assert tuple(found[b, k, : len(sequence)].numpy()) == sequence
                np.testing.assert_allclose(float(negative_log[b, k]), -np.log(probability), rtol=1e-3)
print("ok")
