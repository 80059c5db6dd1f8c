"""Normalisation of groups of channels, with variables of the graph (guide 21.15.9)."""

import warnings
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

tf1 = tf.compat.v1

_LEAST_EPSILON = 1.53e-05
"""Below it, ``epsilon`` is lost in float16."""


def group_norm(
    inputs: Any,
    groups: int = 2,
    channels_axis: int = -1,
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1.53e-05,
    param_initializers: Mapping[str, Any] | None = None,
    reuse: Any = None,
    variables_collections: Any = None,
    training: bool = True,
    trainable: bool = True,
    scope: Any = None,
    strided_channel_grouping: bool = True,
) -> Any:
    """Groups of channels of each sample with mean 0 and variance 1, then times ``gamma`` plus ``beta``.

    There are no running statistics, so that training and inference do the same.

    Args:
        inputs: samples along the first dimension.
        groups: how many.
        channels_axis: the dimension of channels, any but the first.
        center: whether there is a variable ``beta``.
        scale: whether there is a variable ``gamma``.
        epsilon: what is added to variances; a smaller one than 1.53e-05 gives a warning.
        param_initializers: of ``beta`` and ``gamma``, by name; zeros and ones if not given.
        reuse: whether the variables of the scope are used again, as of ``tf.compat.v1.variable_scope``.
        variables_collections: to which the variables are added; a list, or a list by the name of a variable.
        training: without effect.
        trainable: whether ``beta`` and ``gamma`` are trained.
        scope: of the variables.
        strided_channel_grouping: whether channel c is in group c % groups; otherwise groups are channels beside each
            other.

    Raises:
        ValueError: rank or channels are not known, there is no such axis, or groups do not divide the channels.
    """
    inputs = _checked(inputs)
    channels = _channels(inputs.shape, channels_axis)
    check_groups(groups, channels)
    own = (center, scale, param_initializers, reuse, variables_collections, trainable, scope)
    return _normalised(inputs, groups, channels_axis, epsilon, strided_channel_grouping, "GroupNorm", own)


def instance_norm(
    inputs: Any,
    channels_axis: int = -1,
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1.53e-05,
    param_initializers: Mapping[str, Any] | None = None,
    reuse: Any = None,
    variables_collections: Any = None,
    training: bool = True,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """As ``group_norm``, with a group for each channel; ``training`` is without effect here too.

    Raises:
        ValueError: rank or channels are not known, or there is no such axis.
    """
    inputs = _checked(inputs)
    groups = _channels(inputs.shape, channels_axis)
    own = (center, scale, param_initializers, reuse, variables_collections, trainable, scope)
    return _normalised(inputs, groups, channels_axis, epsilon, True, "InstanceNorm", own)


def layer_norm(
    inputs: Any,
    channels_axis: int = -1,
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1.53e-05,
    param_initializers: Mapping[str, Any] | None = None,
    reuse: Any = None,
    variables_collections: Any = None,
    training: bool = True,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """As ``group_norm``, with one group of all channels; ``training`` is without effect here too.

    Raises:
        ValueError: rank or channels are not known, or there is no such axis.
    """
    inputs = _checked(inputs)
    _channels(inputs.shape, channels_axis)
    own = (center, scale, param_initializers, reuse, variables_collections, trainable, scope)
    return _normalised(inputs, 1, channels_axis, epsilon, True, "LayerNorm", own)


def check_groups(groups: int, channels: int) -> None:
    """Refuse groups that do not divide the channels, by a ValueError."""
    if not 1 <= groups <= channels:
        raise ValueError(f"Invalid groups {groups} for {channels} channels.")
    if channels % groups:
        raise ValueError(f"{channels} channels is not commensurate with {groups} groups.")


def normalised_groups(
    inputs: Any, groups: int, axis: int, epsilon: float, strided: bool, gamma: Any = None, beta: Any = None
) -> Any:
    """``inputs`` in groups of mean 0 and variance 1, times ``gamma`` plus ``beta``, one each for a channel.

    Numbers of 16 bits are computed in float32, and the result is of that type. The variance is the mean square of the
    distances from the mean, which is the stable form.
    """
    x = tf.cast(inputs, tf.float32 if inputs.dtype.size < 4 else inputs.dtype)
    axis %= x.shape.rank
    sizes = [size if size is not None else tf.shape(x)[at] for at, size in enumerate(x.shape)]
    split = [groups, x.shape[axis] // groups]
    kept, split = (axis + 1, split[::-1]) if strided else (axis, split)
    grouped = tf.reshape(x, [*sizes[:axis], *split, *sizes[axis + 1 :]])
    mean, variance = tf.nn.moments(grouped, [at for at in range(1, x.shape.rank + 1) if at != kept], keepdims=True)
    x = tf.reshape((grouped - mean) * tf.math.rsqrt(variance + epsilon), sizes)
    along = [-1 if at == axis else 1 for at in range(x.shape.rank)]
    for weight, use in ((gamma, tf.multiply), (beta, tf.add)):
        if weight is not None:
            x = use(x, tf.reshape(tf.cast(weight, x.dtype), along))
    return x


def _checked(inputs: Any) -> Any:
    inputs = tf.convert_to_tensor(inputs)
    if inputs.shape.rank is None:
        raise ValueError(f"{inputs.name} has no known rank; give it a shape by tf.ensure_shape")
    if not inputs.dtype.is_floating:
        raise ValueError(f"inputs must be floating point numbers, got {inputs.dtype.name}")
    return inputs


def _channels(shape: Any, axis: int) -> int:
    rank = shape.rank
    if not -rank <= axis < rank or axis % rank == 0:
        raise ValueError(f"channels_axis {axis} is not one of the dimensions of {shape} but the first")
    if shape[axis] is None:
        raise ValueError(f"dimension {axis} of {shape} are the channels, whose number must be known")
    return shape[axis]


def _normalised(inputs: Any, groups: int, axis: int, epsilon: float, strided: bool, name: str, own: Any) -> Any:
    center, scale, initializers, reuse, collections, trainable, scope = own
    if epsilon < _LEAST_EPSILON:
        warnings.warn(f"epsilon is {epsilon}; below {_LEAST_EPSILON} it may be too small for float16", stacklevel=3)
    initializers = {"gamma": tf1.ones_initializer(), "beta": tf1.zeros_initializer(), **(initializers or {})}
    unknown = initializers.keys() - {"gamma", "beta"}
    if unknown:
        raise ValueError(f"param_initializers are those of gamma and beta, got one of {', '.join(sorted(unknown))}")
    with tf1.variable_scope(scope, name, [inputs], reuse=reuse):

        def variable(name: str, is_there: bool) -> Any:
            added = collections.get(name) if isinstance(collections, Mapping) else collections
            kinds = None if added is None else [tf1.GraphKeys.GLOBAL_VARIABLES, *added]
            given = {"trainable": trainable, "collections": kinds, "use_resource": True}
            if not is_there:
                return None
            return tf1.get_variable(name, [inputs.shape[axis]], inputs.dtype, initializers[name], **given)

        gamma, beta = variable("gamma", scale), variable("beta", center)
        found = normalised_groups(inputs, groups, axis, epsilon, strided, gamma, beta)
        return tf.cast(found, inputs.dtype)
