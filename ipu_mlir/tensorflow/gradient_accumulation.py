"""Ways in which gradients of several batches become one."""

from enum import Enum
from typing import Any

import numpy as np
import tensorflow as tf


class GradientAccumulationReductionMethod(Enum):
    """What an update is made of: the sum of the gradients, or their mean, which a running one never exceeds."""

    SUM = 0
    MEAN = 1
    RUNNING_MEAN = 2

    @classmethod
    def _missing_(cls, value: object) -> "GradientAccumulationReductionMethod":
        """By name in any case, as Keras is told it.

        Raises:
            ValueError: there is no such method.
        """
        if isinstance(value, str) and value.upper() in cls.__members__:
            return cls[value.upper()]
        raise ValueError(
            f"Cannot parse {value!r} as one of GradientAccumulationReductionMethod: {', '.join(cls.__members__)}"
        )


def type_of_sums(given: Any, tensor: Any) -> tf.DType:
    """The type in which tensors such as ``tensor`` are added up.

    Args:
        given: a type, what gives one for ``tensor``, or None for its own.
    """
    if callable(given) and not isinstance(given, type | tf.DType | np.dtype):
        given = given(tensor)
    wanted: Any = tensor.dtype if given is None else given
    return tf.as_dtype(wanted)


def accumulator_type(given: Any, variable: Any) -> tf.DType:
    """The type in which gradients by ``variable`` are added up; ``given`` is as of ``type_of_sums``.

    Raises:
        TypeError: it is none of floats.
    """
    kind = type_of_sums(given, variable)
    if not kind.is_floating:
        raise TypeError(f"gradients by {variable.name} are added up in floats, got {kind.name}; give a type of floats")
    return kind
