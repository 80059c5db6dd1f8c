"""A step on several batches: the weights change once, by what their gradients make together."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ipu_mlir.tensorflow.gradient_accumulation import GradientAccumulationReductionMethod, accumulator_type
from ipu_mlir.tensorflow.keras.loops import at, form_of, zeros
from ipu_mlir.tensorflow.keras.options import Accumulation
from ipu_mlir.tensorflow.variables import offload


def accumulated(model: Any, options: Accumulation, step: Callable[[Any], Any], batches: Any, name: str) -> Any:
    """The logs of the last of several steps.

    Args:
        step: on a batch; gives logs, and applies gradients by the optimizer of the model.
        batches: nested tensors, along a first axis.
        name: what messages call the step.

    Raises:
        ValueError: a step applies gradients more or less than once.
    """
    optimizer, taken = model.optimizer, []

    def once(batch: Any) -> Any:
        taken.clear()
        logs = step(batch)
        if len(taken) != 1:
            raise ValueError(
                f"{name} applies gradients {len(taken)} times, and they accumulate to be applied once; leave "
                "out gradient accumulation, or let the step apply them once"
            )
        ((gradients, variables),) = taken
        own = model.trainable_variables if variables is None else variables
        return logs, [_accumulator(each, variable, options) for each, variable in zip(gradients, own, strict=True)]

    def body(number: Any, _: Any, sums: Any) -> Any:
        logs, gradients = once(at(batches, number))
        together = zip(sums, gradients, strict=True)
        return number + 1, logs, [_gathered(total, each, number, options) for total, each in together]

    optimizer.__dict__["apply"] = lambda gradients, variables=None: taken.append((list(gradients), variables))
    try:
        logs, gradients = zeros(form_of(once, at(batches, 0)))
        start = (tf.constant(0), logs, gradients)
        _, logs, sums = tf.while_loop(lambda number, *_: number < options.batches, body, start)
        ((gradients, variables),) = taken
    finally:
        del optimizer.__dict__["apply"]
    optimizer.apply([tf.cast(total, each.dtype) for total, each in zip(sums, gradients, strict=True)], variables)
    offload_state(optimizer, options)
    return logs


def offload_state(optimizer: Any, options: Accumulation) -> None:
    """Let the variables of an optimizer be in remote memory between updates, if the options say so."""
    is_offloaded = options.options.get("offload_weight_update_variables")
    is_cut = options.options.get("replicated_optimizer_state_sharding", False)
    is_cut = bool(is_offloaded if is_cut is None else is_cut)
    if is_offloaded or (is_offloaded is None and is_cut):
        for variable in optimizer.variables:
            offload(variable._value, is_cut)


def _accumulator(gradient: Any, variable: Any, options: Accumulation) -> Any:
    """A gradient in the type in which gradients by its variable gather."""
    dense = tf.convert_to_tensor(gradient)
    given = options.options.get("dtype")
    return dense if given is None else tf.cast(dense, accumulator_type(given, variable))


def _gathered(total: Any, gradient: Any, number: Any, options: Accumulation) -> Any:
    if options.method is GradientAccumulationReductionMethod.SUM:
        return total + gradient
    if options.method is GradientAccumulationReductionMethod.MEAN:
        return total + gradient * tf.constant(1 / options.batches, gradient.dtype)
    before, with_it = tf.cast(number, tf.float32), tf.cast(number + 1, tf.float32)
    return total * tf.cast(before / with_it, gradient.dtype) + gradient * tf.cast(1 / with_it, gradient.dtype)
