"""Utilities (guide 21.15.5)."""

from typing import Any

import tensorflow as tf

from ipu_mlir.tensorflow.anywhere import anywhere
from ipu_mlir.tensorflow.custom_calls import call
from ipu_mlir.tensorflow.pipelines.stages import is_in_stage
from ipu_mlir.tensorflow.variables import is_tracing


def print_tensor(input: Any, name: str = "") -> Any:
    """An operation that shows a tensor on standard error, each time that it runs."""

    def shown(value: Any) -> list[Any]:
        call("print", [value], ordered=True, label=name or "tensor")
        return []

    return anywhere(shown, [input], f"print_{name or 'tensor'}")[1]


def remap(x: Any, name: str | None = None) -> Any:
    """A copy of ``x`` that is spread over the tiles; the compiler decides where any value is stored."""
    return tf.identity(x, name)


def remap_deduce(x: Any, name: str | None = None) -> Any:
    """A copy of ``x`` whose tiles follow from its use; the compiler decides where any value is stored."""
    return tf.identity(x, name)


def fifo(x: Any, depth: int, offload: bool = False, name: str | None = None) -> Any:
    """The value of ``depth`` executions of this place in a program ago; zeros before there is such a value.

    It remembers from run to run, and has no gradient.

    Args:
        depth: with less than 1 it is ``x`` as it is now.
        offload: whether the values wait in remote memory.

    Raises:
        RuntimeError: outside of a program.
    """
    if depth < 1:
        return tf.identity(x, name)
    if not is_tracing():
        raise RuntimeError("fifo remembers for a place in a program: call it in what strategy.run or compile runs")
    x = tf.convert_to_tensor(x)
    return call("fifo", [x], [tf.TensorSpec(x.shape, x.dtype)], ordered=True, depth=depth, offload=offload)[0]


def get_current_iteration_counter(name: str | None = None, **kwargs: Any) -> Any:
    """The number of the mini-batch, from 0, among those of an update: an int32, the same in all stages of a pipeline.

    Args:
        kwargs: ``lower_into_pipeline_stage`` alone, without effect.

    Raises:
        TypeError: there are others.
        ValueError: outside of the stages of a pipeline.
    """
    if unknown := kwargs.keys() - {"lower_into_pipeline_stage"}:
        raise TypeError(f"get_current_iteration_counter has no argument {min(unknown)!r}")
    if not is_in_stage():
        raise ValueError("get_current_iteration_counter counts mini-batches: call it in a stage of a pipeline")
    return tf.identity(call("micro_batch", results=[tf.TensorSpec((), tf.int32)])[0], name)
