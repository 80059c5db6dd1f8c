"""Ways in which gradients of several batches become one (guide 21.16.1)."""

from ipu_mlir.tensorflow.gradient_accumulation import GradientAccumulationReductionMethod

__all__ = ["GradientAccumulationReductionMethod"]
