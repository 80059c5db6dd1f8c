"""Slices of rows, several at once (guide 21.15.17)."""

from typing import Any

import tensorflow as tf


def sequence_slice(dst: Any, src: Any, num_elems: Any, src_offsets: Any, dst_offsets: Any, zero_unused: bool) -> Any:
    """``dst`` with ``num_elems[i]`` rows of ``src`` from ``src_offsets[i]`` on at ``dst_offsets[i]``, for each ``i``.

    Of slices that overlap, the last one is seen. What is outside of ``dst`` goes.

    Args:
        num_elems: a vector of integers, as the offsets are.
        zero_unused: whether rows that no slice is copied to become zeros; else they are those of ``dst``.

    Raises:
        ValueError: the vectors have several lengths, or rows of ``dst`` and ``src`` differ in shape or type.
    """
    dst, src = tf.convert_to_tensor(dst), tf.convert_to_tensor(src)
    if dst.shape.rank == 0 or src.shape.rank == 0 or dst.shape[1:] != src.shape[1:] or dst.dtype != src.dtype:
        raise ValueError(
            f"rows of src are copied to dst, and must be alike: src is {src.dtype.name}{src.shape}, dst is "
            f"{dst.dtype.name}{dst.shape}"
        )
    given = {"num_elems": num_elems, "src_offsets": src_offsets, "dst_offsets": dst_offsets}
    counts, sources, places = (_vector(what, each) for what, each in given.items())
    if not counts.shape == sources.shape == places.shape:
        raise ValueError(
            f"num_elems, src_offsets and dst_offsets have a number for each slice; found {counts.shape[0]}, "
            f"{sources.shape[0]} and {places.shape[0]} of them"
        )
    rest = tf.zeros_like(dst) if zero_unused else dst
    if 0 in (counts.shape[0], dst.shape[0], src.shape[0]):
        return rest
    rows, numbers = tf.range(dst.shape[0])[None, :], tf.range(counts.shape[0])[:, None]
    starts = places[:, None]
    inside = (rows >= starts) & (rows < starts + counts[:, None])
    last = tf.reduce_max(tf.where(inside, numbers, -1), 0)
    wanted = tf.reduce_sum(tf.where(numbers == last, rows - starts + sources[:, None], 0), 0)
    copied = tf.gather(src, tf.clip_by_value(wanted, 0, src.shape[0] - 1))
    return tf.where(tf.reshape(last >= 0, [-1] + [1] * (dst.shape.rank - 1)), copied, rest)


def sequence_slice_pack(dst: Any, src: Any, num_elems: Any, dst_offsets: Any, zero_unused: bool) -> Any:
    """As ``sequence_slice``, of slices that follow each other in ``src``."""
    return sequence_slice(dst, src, num_elems, _one_after_the_other(num_elems), dst_offsets, zero_unused)


def sequence_slice_unpack(src: Any, num_elems: Any, src_offsets: Any, total_elements: int) -> Any:
    """Slices of ``src`` one after the other, ``total_elements`` rows; those that no slice fills are zeros."""
    src = tf.convert_to_tensor(src)
    dst = tf.zeros([total_elements, *src.shape[1:]], src.dtype)
    return sequence_slice(dst, src, num_elems, src_offsets, _one_after_the_other(num_elems), True)


def _one_after_the_other(counts: Any) -> Any:
    counts = _vector("num_elems", counts)
    return tf.cumsum(counts, exclusive=True) if counts.shape[0] else counts


def _vector(what: str, given: Any) -> Any:
    found = tf.convert_to_tensor(given)
    if found.shape.rank != 1 or not (found.dtype.is_integer or found.shape[0] == 0):
        raise ValueError(f"{what} must be a vector of integers, got {found.dtype.name}{found.shape}")
    return tf.cast(found, tf.int32)
