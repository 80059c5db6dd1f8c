"""Utilities (guide 21.15.5)."""

from typing import Any

import tensorflow as tf

from ipu_mlir.tensorflow.anywhere import anywhere
from ipu_mlir.tensorflow.calls import call


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
    """The value of ``depth`` rounds ago.

    Raises:
        NotImplementedError: programs of TensorFlow do not reach fifos yet.
    """
    if depth < 1:
        return tf.identity(x, name)
    raise NotImplementedError("fifo: programs of TensorFlow do not reach fifos yet; keep the value in a tf.Variable")


def get_current_iteration_counter(name: str | None = None, **kwargs: Any) -> Any:
    """The number of the mini-batch in a pipeline.

    Raises:
        NotImplementedError: there are no pipelines yet.
    """
    raise NotImplementedError("get_current_iteration_counter: there are no pipelines yet")
