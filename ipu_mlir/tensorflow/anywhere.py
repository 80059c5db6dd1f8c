"""Functions of custom calls, wherever they are called: in programs, in eager mode, in graphs."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from ipu_mlir.tensorflow.devices import CURRENT, SYSTEM
from ipu_mlir.tensorflow.eager import run_here
from ipu_mlir.tensorflow.graph_mode import add_to_graph
from ipu_mlir.tensorflow.variables import is_tracing


def anywhere(function: Callable[..., list[Any]], tensors: Sequence[Any], name: str) -> tuple[list[Any], Any]:
    """The results of ``function`` for tensors, and an operation that runs it; outside of programs, one of its own."""
    given = [tf.convert_to_tensor(each) for each in tensors]
    if is_tracing():
        found = function(*given)
        return found, tf.no_op()
    if tf.executing_eagerly():
        return list(run_here(function, given, name)), None
    return add_to_graph(function, given, SYSTEM.device(CURRENT.get() or 0), name)
