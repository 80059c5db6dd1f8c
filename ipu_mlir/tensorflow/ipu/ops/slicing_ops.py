"""Slices of rows, several at once (guide 21.15.17)."""

from typing import Any

import tensorflow as tf


def sequence_slice(dst: Any, src: Any, num_elems: Any, src_offsets: Any, dst_offsets: Any, zero_unused: bool) -> Any:
    """``dst`` with ``num_elems[i]`` rows of ``src`` from ``src_offsets[i]`` on at ``dst_offsets[i]``, for each ``i``.

    Of slices that overlap, the last one is seen. What is outside of ``src`` or of ``dst`` is not copied, where that is
    known at run time only.

    Args:
        num_elems: a vector of integers, as the offsets are.
        zero_unused: whether rows that no slice is copied to become zeros; else they are those of ``dst``.

    Raises:
        ValueError: the vectors have several lengths, rows of ``dst`` and ``src`` differ in shape or type, or constants
            name rows that one of them does not have.
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
    _check_rows("src", src, counts, sources)
    _check_rows("dst", dst, counts, places)
    rest = tf.zeros_like(dst) if zero_unused else dst
    if 0 in (counts.shape[0], dst.shape[0], src.shape[0]):
        return rest
    rows, numbers = tf.range(dst.shape[0])[None, :], tf.range(counts.shape[0])[:, None]
    starts = places[:, None]
    there = rows - starts + sources[:, None]
    inside = (rows >= starts) & (rows < starts + counts[:, None]) & (there >= 0) & (there < src.shape[0])
    last = tf.reduce_max(tf.where(inside, numbers, -1), 0)
    wanted = tf.reduce_sum(tf.where(numbers == last, there, 0), 0)
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


def _check_rows(what: str, rows: Any, counts: Any, offsets: Any) -> None:
    """Refuse constants that name rows which ``rows`` does not have."""
    numbers, starts = tf.get_static_value(counts), tf.get_static_value(offsets)
    known = () if numbers is None or starts is None else zip(numbers, starts, strict=True)
    for slice_, (number, start) in enumerate(known):
        if number < 0 or start < 0 or start + number > rows.shape[0]:
            raise ValueError(
                f"slice {slice_} has {number} rows from row {start} of {what} on, which has {rows.shape[0]} rows"
            )


def _one_after_the_other(counts: Any) -> Any:
    counts = _vector("num_elems", counts)
    return tf.cumsum(counts, exclusive=True) if counts.shape[0] else counts


def _vector(what: str, given: Any) -> Any:
    found = tf.convert_to_tensor(given)
    if found.shape.rank != 1 or not (found.dtype.is_integer or found.shape[0] == 0):
        raise ValueError(f"{what} must be a vector of integers, got {found.dtype.name}{found.shape}")
    return tf.cast(found, tf.int32)
