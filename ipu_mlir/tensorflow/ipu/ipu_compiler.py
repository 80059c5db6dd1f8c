"""Functions as programs in graphs (guide 21.2)."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.tensorflow.devices import CURRENT, SYSTEM
from ipu_mlir.tensorflow.graph_mode import add_to_graph


def compile(computation: Callable[..., Any], inputs: Sequence[Any] | None = None) -> Any:
    """Let the graph run ``computation`` on the IPU device whose scope this is.

    Args:
        computation: gives a tensor, tensors and after them operations, operations only, or None.
        inputs: its arguments; lists in the list arrive as lists of tensors, each leaf one of its own.

    Returns:
        A list of tensors, of one too; an operation where there is none.

    Raises:
        CompileError: not in a graph, not in the scope of an IPU device, tensors come after operations, or the function
            cannot be compiled.
    """
    ordinal = CURRENT.get()
    if tf.executing_eagerly():
        raise CompileError("ipu_compiler.compile is for graphs of tf.compat.v1; in eager mode use strategy.run")
    if ordinal is None:
        raise CompileError('not in the scope of an IPU device; compile in ipu.scopes.ipu_scope("/device:IPU:0")')
    given = list(inputs or [])
    leaves = [tf.convert_to_tensor(leaf) for leaf in tf.nest.flatten(given)]

    def flat(*tensors: tf.Tensor) -> list[tf.Tensor]:
        return _tensors(computation(*tf.nest.pack_sequence_as(given, tensors)))

    name = getattr(computation, "__name__", type(computation).__name__).strip("<>")
    try:
        device = SYSTEM.device(ordinal)
    except ValueError as error:
        raise CompileError(str(error)) from error
    results, done = add_to_graph(flat, leaves, device, name)
    return results or done


def _tensors(given: Any) -> list[tf.Tensor]:
    flat = [each for each in tf.nest.flatten(given) if each is not None]
    found = [tf.convert_to_tensor(each) for each in flat if not isinstance(each, tf.Operation)]
    if any(isinstance(each, tf.Operation) for each in flat[: len(found)]):
        raise CompileError("a computation gives tensors first, and operations after them")
    return found
