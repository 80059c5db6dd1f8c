"""Python in graphs: a function of the host that a graph runs, or that runs at once where there is no graph."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import record
from tensorflow.python.framework.func_graph import FuncGraph

from ipu_mlir.tensorflow.custom_calls import token
from ipu_mlir.tensorflow.errors import marked, take_over_sessions


def host_op(function: Callable[[], None]) -> Any:
    """Run ``function`` now, or give an operation that does."""
    if tf.executing_eagerly():
        function()
        return None
    found = python_op(lambda: function() or [], [], [])
    return found if isinstance(found, tf.Operation) else tf.no_op()


def host_values(function: Callable[[], Any], form: Any, more: Sequence[int | None] = ()) -> Any:
    """The results of ``function``, now or when a graph runs.

    Args:
        function: gives flat arrays.
        form: how they are nested, with specs.
        more: dimensions in front of those of the specs.
    """
    specs = tf.nest.flatten(form)
    if tf.executing_eagerly():
        return tf.nest.pack_sequence_as(
            form, [tf.constant(array, spec.dtype) for array, spec in zip(function(), specs, strict=True)]
        )
    found = python_op(function, [], [spec.dtype for spec in specs])
    for tensor, spec in zip(found, specs, strict=True):
        tensor.set_shape([*more, *spec.shape])
    return tf.nest.pack_sequence_as(form, found)


def python_op(
    function: Callable[..., Any], inputs: Sequence[Any], types: Sequence[tf.DType], resources: Sequence[Any] = ()
) -> Any:
    """Let the graph that is being made run ``function``, whose errors keep their class.

    In a function of TensorFlow it runs after what was called before and used ``resources``, programs or queues.

    Args:
        function: of arrays, or of tensors in a function of TensorFlow; gives a list of such.
        inputs: tensors of the graph.
        types: of the results.
        resources: handles of the variables that it uses.

    Returns:
        A list of tensors; where there is none, an operation in a graph of ``tf.compat.v1``.
    """
    graph = tf.compat.v1.get_default_graph()
    take_over_sessions()
    with tf.device("/cpu:0"):
        if not isinstance(graph, FuncGraph):
            return tf.numpy_function(marked(function), list(inputs), list(types))
        order = [graph.capture(each) for each in {id(each): each for each in (*resources, token().handle)}.values()]
        with record.stop_recording():
            found = tf.py_function(
                marked(lambda *given: function(*given[: len(inputs)])), [*inputs, *order], list(types)
            )
    return list(found) if isinstance(found, list | tuple) else []
