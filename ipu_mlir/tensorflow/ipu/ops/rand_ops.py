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

    Raises:
        ValueError: a rate that is no probability below 1, or a shape of the choice that does not fit.
    """
    x = tf.convert_to_tensor(x)
    if not 0 <= rate < 1:
        raise ValueError(f"rate must be a number from 0 and below 1, got {rate}")
    shape = list(x.shape) if noise_shape is None else list(noise_shape)
    if len(shape) != x.shape.rank or any(a not in (1, None, b) for a, b in zip(shape, x.shape, strict=True)):
        raise ValueError(f"noise_shape {shape} does not fit {list(x.shape)}: each dimension is that of x, or 1")
    shape = [own if each is None else each for each, own in zip(shape, x.shape, strict=True)]
    seed = next_seed() if seed is None else tf.cast(seed, tf.int32)

    @outlined_function(name="dropout")
    def dropped(values: Any, seed: Any) -> Any:
        kept = draw("random_uniform", shape, seed) >= rate
        return tf.where(kept, values / tf.cast(1 - rate, x.dtype), tf.zeros([], x.dtype))

    @tf.custom_gradient
    def whole(values: Any) -> Any:
        """Its gradient drops the same elements: it draws again, by the same code, and nothing is stored."""
        return dropped(values, seed), whole

    return tf.identity(whole(x), name)
