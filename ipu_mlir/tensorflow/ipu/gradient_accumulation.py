"""Ways in which gradients of several batches become one (guide 21.16.1)."""

from enum import Enum


class GradientAccumulationReductionMethod(Enum):
    """What an update is made of: the sum of the gradients, or their mean, which a running one never exceeds."""

    SUM = "SUM"
    MEAN = "MEAN"
    RUNNING_MEAN = "RUNNING_MEAN"

    @classmethod
    def _missing_(cls, value: object) -> "GradientAccumulationReductionMethod | None":
        """By name in small letters too, as Keras is told it."""
        return cls.__members__.get(value.upper()) if isinstance(value, str) else None
