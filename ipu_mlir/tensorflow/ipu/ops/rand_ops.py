"""Random numbers (guide 21.15.15)."""

from typing import Any

import tensorflow as tf

from ipu_mlir.tensorflow.ipu.ops.functional_ops import outlined_function
from ipu_mlir.tensorflow.random_state import draw, next_seed


@tf.autograph.experimental.do_not_convert
def dropout(
    x: Any, rate: float = 0.5, noise_shape: Any = None, seed: Any = None, name: str | None = None, **kwargs: Any
) -> Any:
    """Zeros with probability ``rate``, and the other elements by 1/(1-rate).

    Args:
        noise_shape: of the choice, where it is one for several elements.
        seed: two int32; the same ones give the same choice. Without them it is another one each time, which follows
            from ``reset_ipu_seed``.
        kwargs: ``ref`` alone, without effect.

    Raises:
        TypeError: elements that are no floats, or another argument.
        ValueError: a rate that is no probability below 1, a shape of the choice that does not fit, or a seed that is no
            pair.
    """
    if unknown := kwargs.keys() - {"ref"}:
        raise TypeError(f"dropout has no argument {min(unknown)!r}; it takes x, rate, noise_shape, seed, name and ref")
    x = tf.convert_to_tensor(x)
    if not x.dtype.is_floating:
        raise TypeError(f"dropout scales floats, got elements of type {x.dtype.name}; cast them")
    if not 0 <= rate < 1:
        raise ValueError(f"rate must be a number from 0 and below 1, got {rate}")
    shape = list(x.shape) if noise_shape is None else list(noise_shape)
    if len(shape) != x.shape.rank or any(a not in (1, None, b) for a, b in zip(shape, x.shape, strict=True)):
        raise ValueError(f"noise_shape {shape} does not fit {list(x.shape)}: each dimension is that of x, or 1")
    shape = [own if each is None else each for each, own in zip(shape, x.shape, strict=True)]
    seed = next_seed() if seed is None else tf.cast(seed, tf.int32)
    if not seed.shape.is_compatible_with([2]):
        raise ValueError(f"seed must be two integers, such as [3, 4], got a shape of {seed.shape}")

    @outlined_function(name="dropout")
    def dropped(values: Any, seed: Any) -> Any:
        kept = draw("random_uniform", shape, seed) >= rate
        return tf.where(kept, values / tf.cast(1 - rate, x.dtype), tf.zeros([], x.dtype))

    @tf.custom_gradient
    def whole(values: Any) -> Any:
        """Its gradient drops the same elements: it draws again, by the same code, and nothing is stored."""
        return dropped(values, seed), whole

    return tf.identity(whole(x), name)
