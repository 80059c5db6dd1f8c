"""Images (guide 21.15.4)."""

from typing import Any

import tensorflow as tf


def normalise_image(
    image: Any, channel_offsets: Any, channel_scales: Any, scale: Any = 1, name: str | None = None
) -> Any:
    """``(image * scale - channel_offsets) * channel_scales``, with zeros as a fourth channel.

    Args:
        image: of uint8, which gives float16, or of float16 or float32; its last dimension are three channels.
        channel_offsets: for each channel one, in the type of the result.
        channel_scales: as ``channel_offsets``.
        scale: a number.

    Raises:
        InvalidArgumentError: there are not three channels, or not an offset and a scale for each of them.
        TypeError: the image, offsets or scales are of another type.
    """
    image = tf.convert_to_tensor(image)
    kind = tf.float16 if image.dtype == tf.uint8 else image.dtype
    if kind not in (tf.float16, tf.float32):
        raise TypeError(f"normalise_image takes images of uint8, float16 or float32, got {image.dtype.name}")
    channels = image.shape[-1] if image.shape.rank else 0
    if channels != 3:
        raise tf.errors.InvalidArgumentError(None, None, f"The image has {channels} channels, expected 3.")
    given = {"channel_offsets": channel_offsets, "channel_scales": channel_scales}
    for what, each in given.items():
        given[what] = value = tf.convert_to_tensor(each, None if tf.is_tensor(each) or hasattr(each, "dtype") else kind)
        if value.dtype != kind:
            raise TypeError(
                f"{what} are of type {value.dtype.name}, expected {kind.name} for {image.dtype.name} images"
            )
        if value.shape.as_list() != [3]:
            raise tf.errors.InvalidArgumentError(
                None, None, f"{what} have the shape {value.shape}, expected [3]: one for each channel"
            )
    offsets, scales = given.values()
    normal = (tf.cast(image, kind) * tf.cast(scale, kind) - offsets) * scales
    return tf.pad(normal, [[0, 0]] * (image.shape.rank - 1) + [[0, 1]], name=name)
