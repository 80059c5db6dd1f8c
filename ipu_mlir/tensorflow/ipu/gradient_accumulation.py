"""How gradients of several batches become one (guide 21.16.1)."""

from enum import Enum


class GradientAccumulationReductionMethod(Enum):
    """What an update is made of: the sum of the gradients, or their mean, which a running one never exceeds."""

    SUM = "SUM"
    MEAN = "MEAN"
    RUNNING_MEAN = "RUNNING_MEAN"
