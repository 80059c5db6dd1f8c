"""Layers for the IPU (guide 21.14)."""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from ipu_mlir.tensorflow.ipu.ops.cross_replica_ops import assume_equal_across_replicas
from ipu_mlir.tensorflow.ipu.ops.normalization_ops import check_groups, normalised_groups
from ipu_mlir.tensorflow.ipu.ops.rand_ops import dropout
from ipu_mlir.tensorflow.variables import is_tracing

_saved = keras.saving.register_keras_serializable(package="ipu")


class _Same(keras.layers.Layer):
    """A layer whose output has the shape of its input."""

    supports_masking = True

    def build(self, input_shape: Any) -> None:
        """Make what the layer has."""
        self.built = True

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the input."""
        return input_shape


@_saved
class AssumeEqualAcrossReplicas(_Same):
    """Its input, of which the program says that it is one on all replicas: conditions may ask for it."""

    def __init__(self, inplace: bool = False, **kwargs: Any) -> None:
        """Make the layer.

        Args:
            inplace: without effect: nothing is copied.
            kwargs: as of layers of Keras.
        """
        super().__init__(**kwargs)
        self.inplace = inplace

    def call(self, inputs: Any, **kwargs: Any) -> Any:
        """The input; outside of programs there is one value already."""
        return assume_equal_across_replicas(inputs, self.inplace) if is_tracing() else inputs

    def get_config(self) -> dict[str, Any]:
        """The arguments of ``from_config``."""
        return {**super().get_config(), "inplace": self.inplace}


@_saved
class RecomputationCheckpoint(_Same):
    """Its input, which is kept for gradients in a pipeline whose stages recompute; elsewhere it is kept anyway."""

    def call(self, inputs: Any, **kwargs: Any) -> Any:
        """The input."""
        return tf.nest.map_structure(tf.identity, inputs)


@_saved
class Dropout(_Same):
    """Zeros with probability ``rate`` and the rest scaled by 1/(1-rate) when training; otherwise its input."""

    def __init__(self, rate: float, noise_shape: Any = None, seed: Any = None, **kwargs: Any) -> None:
        """Make the layer.

        Args:
            rate: from 0, below 1.
            noise_shape: of the choice, where it is one for several elements.
            seed: two int32, with which every call makes the same choice; without them it is another one each time,
                which follows from ``reset_ipu_seed``.
            kwargs: as of layers of Keras.

        Raises:
            ValueError: a rate that is no such probability, or a seed that is not two numbers.
        """
        super().__init__(**kwargs)
        if not 0 <= rate < 1:
            raise ValueError(f"rate must be a number from 0 and below 1, got {rate}")
        if seed is not None and tuple(tf.convert_to_tensor(seed).shape) != (2,):
            raise ValueError(f"seed must be two integers, such as [3, 4], got {seed!r}")
        self.rate, self.noise_shape = rate, noise_shape
        self.seed = seed if seed is None else [int(each) for each in seed]

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        """The output."""
        return dropout(inputs, self.rate, self.noise_shape, self.seed) if training and self.rate else inputs

    def get_config(self) -> dict[str, Any]:
        """The arguments of ``from_config``."""
        return {**super().get_config(), "rate": self.rate, "noise_shape": self.noise_shape, "seed": self.seed}


@_saved
class Embedding(keras.layers.Layer):
    """Rows of a table: ``[batch, length]`` to ``[batch, length, output_dim]``."""

    def __init__(self, input_dim: int, output_dim: int, embeddings_initializer: Any = "uniform", **kwargs: Any) -> None:
        """Make the layer.

        Args:
            input_dim: rows of the table.
            output_dim: elements of a row.
            embeddings_initializer: of the table, by its name or as Keras has it.
            kwargs: as of layers of Keras.

        Raises:
            ValueError: a size that is not positive.
        """
        super().__init__(**kwargs)
        if input_dim <= 0 or output_dim <= 0:
            raise ValueError(f"Both input_dim and output_dim must be positive, got {input_dim} and {output_dim}")
        self.input_dim, self.output_dim = input_dim, output_dim
        self.embeddings_initializer = keras.initializers.get(embeddings_initializer)
        self.autocast = False  # of indices, which are no numbers to round

    def build(self, input_shape: Any) -> None:
        """Make the table.

        Raises:
            ValueError: the indices are not of rank 2.
        """
        if len(input_shape) != 2:
            raise ValueError(f"the indices must have the shape [batch, length], got {list(input_shape)}")
        shape = (self.input_dim, self.output_dim)
        self.embeddings = self.add_weight(shape=shape, initializer=self.embeddings_initializer, name="embeddings")

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        """The rows."""
        rows = tf.nn.embedding_lookup(tf.convert_to_tensor(self.embeddings), tf.cast(inputs, tf.int32))
        return tf.cast(rows, self.compute_dtype)

    def compute_output_shape(self, input_shape: Any) -> tuple[Any, ...]:
        """The shape of the indices and ``output_dim``."""
        return (*input_shape, self.output_dim)

    def get_config(self) -> dict[str, Any]:
        """The arguments of ``from_config``."""
        initializer = keras.initializers.serialize(self.embeddings_initializer)
        sizes = {"input_dim": self.input_dim, "output_dim": self.output_dim}
        return {**super().get_config(), **sizes, "embeddings_initializer": initializer}


@_saved
class GroupNormalization(_Same):
    """Groups of channels of each sample with mean 0 and variance 1, then times ``gamma`` plus ``beta``."""

    def __init__(
        self,
        dtype: Any = tf.float32,
        groups: int = 2,
        channels_axis: int = -1,
        center: bool = True,
        scale: bool = True,
        epsilon: float = 1e-3,
        beta_initializer: Any = None,
        gamma_initializer: Any = None,
        strided_channel_grouping: bool = True,
        trainable: bool = True,
        name: str | None = None,
    ) -> None:
        """Make the layer.

        Args:
            dtype: of weights and output.
            groups: how many.
            channels_axis: the dimension of channels.
            center: whether there is a ``beta``.
            scale: whether there is a ``gamma``.
            epsilon: what is added to variances.
            beta_initializer: of ``beta``; zeros where it is not given.
            gamma_initializer: of ``gamma``; ones where it is not given.
            strided_channel_grouping: whether channel c is in group c % groups; otherwise groups are channels beside
                each other.
            trainable: whether ``beta`` and ``gamma`` are trained.
            name: of the layer.
        """
        super().__init__(dtype=_policy(dtype), trainable=trainable, name=name)
        self.groups, self.channels_axis, self.epsilon = groups, channels_axis, epsilon
        self.center, self.scale, self.strided_channel_grouping = center, scale, strided_channel_grouping
        self.beta_initializer = keras.initializers.get(beta_initializer or "zeros")
        self.gamma_initializer = keras.initializers.get(gamma_initializer or "ones")

    def build(self, input_shape: Any) -> None:
        """Make ``beta`` and ``gamma``.

        Raises:
            ValueError: there is no such dimension, its size is not known, or groups do not divide it.
        """
        rank = len(input_shape)
        if not -rank <= self.channels_axis < rank or self.channels_axis % rank == 0:
            raise ValueError(f"channels_axis {self.channels_axis} is not one of {list(input_shape)} but the first")
        self._channels(input_shape[self.channels_axis])
        shape = (input_shape[self.channels_axis],)
        made = self.add_weight
        self.gamma = made(shape=shape, initializer=self.gamma_initializer, name="gamma") if self.scale else None
        self.beta = made(shape=shape, initializer=self.beta_initializer, name="beta") if self.center else None

    def _channels(self, channels: int | None) -> int:
        """The number of groups."""
        if channels is None:
            raise ValueError(f"{self.name} needs to know how many channels its input has")
        check_groups(self.groups, channels)
        return self.groups

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        """The output."""
        groups = self._channels(inputs.shape[self.channels_axis])
        own = (self.channels_axis, self.epsilon, self.strided_channel_grouping, self.gamma, self.beta)
        return tf.cast(normalised_groups(inputs, groups, *own), self.compute_dtype)

    def get_config(self) -> dict[str, Any]:
        """The arguments of ``from_config``."""
        config = super().get_config()
        given = ("groups", "channels_axis", "center", "scale", "epsilon", "strided_channel_grouping")
        config.update({name: getattr(self, name) for name in given})
        for name in ("beta_initializer", "gamma_initializer"):
            config[name] = keras.initializers.serialize(getattr(self, name))
        return config


@_saved
class InstanceNormalization(GroupNormalization):
    """Each channel of each sample with mean 0 and variance 1, then times ``gamma`` plus ``beta``."""

    def __init__(
        self,
        dtype: Any = tf.float32,
        channels_axis: int = -1,
        center: bool = True,
        scale: bool = True,
        epsilon: float = 1e-3,
        beta_initializer: Any = None,
        gamma_initializer: Any = None,
        trainable: bool = True,
        name: str | None = None,
    ) -> None:
        """As ``GroupNormalization``, with a group for each channel."""
        initializers = {"beta_initializer": beta_initializer, "gamma_initializer": gamma_initializer}
        own = {"trainable": trainable, "name": name, **initializers}
        super().__init__(dtype, 1, channels_axis, center, scale, epsilon, **own)

    def _channels(self, channels: int | None) -> int:
        super()._channels(channels)
        assert channels is not None, "asked for above"
        return channels

    def get_config(self) -> dict[str, Any]:
        """The arguments of ``from_config``."""
        config = super().get_config()
        return {name: config[name] for name in config.keys() - {"groups", "strided_channel_grouping"}}


@_saved
class LayerNormalization(keras.layers.LayerNormalization):
    """Elements along ``axis`` with mean 0 and variance 1, then times ``gamma`` plus ``beta``."""

    def __init__(
        self,
        dtype: Any = tf.float32,
        axis: int | Sequence[int] = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        """As of ``keras.layers.LayerNormalization``, with the arguments in another order."""
        own = {"dtype": _policy(dtype), "trainable": trainable, "name": name, **kwargs}
        super().__init__(axis, epsilon, center, scale, beta_initializer, gamma_initializer, **own)

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        """The output."""
        return super().call(inputs)


def _policy(dtype: Any) -> Any:
    """``dtype`` as layers of Keras take it."""
    return dtype.name if isinstance(dtype, tf.DType) else dtype


GroupNorm, InstanceNorm, LayerNorm = GroupNormalization, InstanceNormalization, LayerNormalization
