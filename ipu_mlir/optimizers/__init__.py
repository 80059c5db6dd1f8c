"""Optimizers: pure functions on trees of parameters, and the variables that keep their state on the device.

optimizer = ipu.optimizers.adam(1e-3)
training = ipu.optimizers.attach(optimizer, weights)  # weights: an ipu.Variable

@ipu.function
def step(x, y):
    loss, slopes = ipu.value_and_grad(loss_of)(weights.value, x, y)
    training.assign(slopes)
    return loss
"""

from ipu_mlir.optimizers.adafactor import adafactor
from ipu_mlir.optimizers.adaptive import adam, adamw, lamb, rmsprop
from ipu_mlir.optimizers.attached import Attached, attach
from ipu_mlir.optimizers.descent import sgd
from ipu_mlir.optimizers.gradients import clip, clip_by_global_norm, global_norm, weight_decay
from ipu_mlir.optimizers.loss_scaling import LossScaled, dynamic_loss_scale, static_loss_scale
from ipu_mlir.optimizers.optimizer import Optimizer, chain, per_tensor
from ipu_mlir.optimizers.schedules import constant, cosine, exponential, join, polynomial, steps, warm_up

__all__ = [
    "Attached",
    "LossScaled",
    "Optimizer",
    "adafactor",
    "adam",
    "adamw",
    "attach",
    "chain",
    "clip",
    "clip_by_global_norm",
    "constant",
    "cosine",
    "dynamic_loss_scale",
    "exponential",
    "global_norm",
    "join",
    "lamb",
    "per_tensor",
    "polynomial",
    "rmsprop",
    "sgd",
    "static_loss_scale",
    "steps",
    "warm_up",
    "weight_decay",
]
