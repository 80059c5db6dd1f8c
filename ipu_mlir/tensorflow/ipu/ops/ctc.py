"""Losses of label sequences, and searches for them (guide 21.15.8), computed by codelets."""

from typing import Any

import tensorflow as tf

from ipu_mlir.tensorflow.anywhere import anywhere
from ipu_mlir.tensorflow.custom_calls import call


def ctc_loss_v2(
    labels: Any,
    logits: Any,
    label_length: Any,
    logit_length: Any,
    blank_index: int,
    out_dtype: Any = None,
    name: str | None = None,
) -> Any:
    """The negative logarithm of the probability of each sequence of labels (connectionist temporal classification).

    Args:
        labels: integers ``[batch, labels]``, none of which is the blank.
        logits: of shape ``[time, batch, classes]``.
        label_length: how many labels each sequence has, ``[batch]``.
        logit_length: how many times each sequence has, ``[batch]``.
        blank_index: the class that stands for no label, from 0, or from the end if it is negative.
        out_dtype: of the result, if it is not that of the logits.

    Returns:
        A tensor of shape ``[batch]``; infinite where a sequence has too few times for its labels, and then its gradient
        is NaN.

    Raises:
        ValueError: shapes, types or a blank that do not fit.
    """
    logits = _scores("logits", logits)
    given = (label_length, logit_length, blank_index, out_dtype, name or "ctc_loss_v2")
    return _loss(labels, logits, tf.nn.log_softmax(_wide(logits)), *given)


def ctc_loss_with_log_probs(
    labels: Any,
    data: Any,
    label_length: Any,
    data_length: Any,
    blank_index: int,
    out_dtype: Any = None,
    name: str | None = None,
) -> Any:
    """As ``ctc_loss_v2``, from logarithms of probabilities ``[time, batch, classes]``.

    Raises:
        ValueError: shapes, types or a blank that do not fit.
    """
    data = _scores("data", data)
    given = (label_length, data_length, blank_index, out_dtype, name or "ctc_loss_with_log_probs")
    return _loss(labels, data, _wide(data), *given)


def ctc_beam_search_decoder(
    logits: Any,
    logits_lengths: Any,
    beam_width: int = 100,
    top_paths: int = 1,
    blank_index: int = -1,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """The most probable sequences of labels, by a search with a beam.

    Args:
        logits: of shape ``[time, batch, classes]``.
        logits_lengths: how many times each sequence has, ``[batch]``.
        beam_width: how many sequences the search keeps from one time to the next.
        top_paths: how many it gives, not more than it keeps.
        blank_index: the class that stands for no label, from 0, or from the end if it is negative.

    Returns:
        The negative logarithms of probabilities ``[batch, top_paths]``, the most probable first; how many labels there
        are, ``[batch, top_paths]``; and the labels ``[batch, top_paths, time]``, with -1 behind the last one. Where
        fewer sequences are possible, the rest is infinite and empty.

    Raises:
        ValueError: shapes, types or sizes that do not fit.
    """
    logits = _scores("logits", logits)
    return _decoded(logits, tf.nn.log_softmax(_wide(logits)), logits_lengths, beam_width, top_paths, blank_index, name)


def ctc_beam_search_decoder_with_log_probs(
    log_probs: Any,
    input_lengths: Any,
    beam_width: int = 100,
    top_paths: int = 1,
    blank_index: int = -1,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """As ``ctc_beam_search_decoder``, from logarithms of probabilities ``[time, batch, classes]``.

    Raises:
        ValueError: shapes, types or sizes that do not fit.
    """
    given = _scores("log_probs", log_probs)
    return _decoded(given, _wide(given), input_lengths, beam_width, top_paths, blank_index, name)


def _scores(what: str, given: Any) -> Any:
    found = tf.convert_to_tensor(given)
    if found.shape.rank != 3 or not found.dtype.is_floating:
        raise ValueError(
            f"{what} must be floating point numbers of shape [time, batch, classes], got {found.dtype.name}"
            f"{found.shape}"
        )
    if not found.shape.is_fully_defined() or 0 in found.shape:
        raise ValueError(f"{what} must have a known shape without a 0, got {found.shape}")
    return found


def _wide(scores: Any) -> Any:
    """``scores`` in a type in which sums of them are computed."""
    return tf.cast(scores, tf.float32) if scores.dtype.size < 4 else scores


def _integers(what: str, given: Any, shape: list[int | None]) -> Any:
    found = tf.convert_to_tensor(given)
    if not found.dtype.is_integer or not found.shape.is_compatible_with(shape):
        wanted = "[" + ", ".join("labels" if each is None else str(each) for each in shape) + "]"
        raise ValueError(f"{what} must be integers of shape {wanted}, got {found.dtype.name}{found.shape}")
    return tf.ensure_shape(tf.cast(found, tf.int32), shape)


def _blank(blank_index: int, classes: int, batch: int) -> Any:
    index = int(blank_index)
    if not -classes <= index < classes:
        raise ValueError(f"blank_index is {index}, but there are {classes} classes; it is {-classes} to {classes - 1}")
    return tf.fill([batch], tf.constant(index % classes, tf.int32))


def _loss(
    labels: Any, scores: Any, log_probs: Any, count: Any, times: Any, blank: int, out_dtype: Any, name: str
) -> Any:
    _, batch, classes = scores.shape
    wanted = scores.dtype if out_dtype is None else tf.as_dtype(out_dtype)
    if wanted not in (scores.dtype, tf.float32):
        raise ValueError(f"out_dtype is {wanted.name} for {scores.dtype.name}; it is that type, or float32")
    labels = _integers("labels", labels, [batch, None])
    if not labels.shape[1]:
        labels = tf.zeros([batch, 1], tf.int32)
    numbers = (_integers("label_length", count, [batch]), _integers("the lengths of the data", times, [batch]))
    rows = tf.transpose(log_probs, [1, 0, 2])
    return tf.cast(_by_codelet(rows, labels, *numbers, _blank(blank, classes, batch), name), wanted)


def _by_codelet(rows: Any, labels: Any, counts: Any, times: Any, blanks: Any, name: str) -> Any:
    one = tf.TensorSpec(rows.shape[:1], rows.dtype)

    @tf.custom_gradient
    def loss(rows: Any) -> Any:
        operands = [rows, labels, counts, times, blanks]

        def gradient(given: Any) -> Any:
            both = [one, tf.TensorSpec(rows.shape, rows.dtype)]
            found = _codelet("ctc_loss_gradient", operands, both, f"{name}_gradient")[1]
            return given[:, None, None] * tf.stop_gradient(found)

        return _codelet("ctc_loss", operands, [one], name)[0], gradient

    return loss(rows)


def _decoded(
    scores: Any, log_probs: Any, times: Any, beam_width: int, top_paths: int, blank: int, name: str | None
) -> tuple[Any, Any, Any]:
    length, batch, classes = scores.shape
    width, paths = int(beam_width), int(top_paths)
    if not 1 <= paths <= width:
        raise ValueError(f"top_paths is {paths}, but must be 1 to beam_width, which is {width}")
    rows, times = tf.transpose(log_probs, [1, 0, 2]), _integers("the lengths of the data", times, [batch])
    specs = [
        tf.TensorSpec([batch, width], rows.dtype),
        tf.TensorSpec([batch, width], tf.int32),
        tf.TensorSpec([batch, width, length], tf.int32),
    ]
    operands = [rows, times, _blank(blank, classes, batch), tf.zeros([batch, width], tf.int32)]
    found = _codelet("ctc_beam_search", [tf.stop_gradient(each) for each in operands], specs, name or "ctc_search")
    best, lengths, labels = (each[:, :paths] for each in found)
    return tf.cast(best, scores.dtype), lengths, labels


def _codelet(codelet: str, operands: list[Any], results: list[Any], name: str) -> list[Any]:
    return anywhere(lambda *given: call("codelet", given, results, name=codelet), operands, name)[0]
