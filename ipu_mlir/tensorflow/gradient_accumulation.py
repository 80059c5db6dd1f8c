"""Ways in which gradients of several batches become one."""

from enum import Enum


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
