"""Functions as programs in graphs (guide 21.2)."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.tensorflow.devices import CURRENT, ENTERED, SYSTEM, Device
from ipu_mlir.tensorflow.feeds import as_list
from ipu_mlir.tensorflow.graph_mode import add_to_graph


def compile(computation: Callable[..., Any], inputs: Sequence[Any] | None = None) -> Any:
    """Let the graph run ``computation`` on the IPU device whose scope this is, or else that it enters itself.

    Args:
        computation: gives a tensor, tensors and after them operations, operations only, or None.
        inputs: its arguments; lists in the list arrive as lists of tensors, each leaf one of its own.

    Returns:
        A list of tensors, of one too; an operation where there is none.

    Raises:
        CompileError: not in a graph, neither in the scope of an IPU device nor with one inside, tensors come after
            operations, or the function cannot be compiled.
    """
    if tf.executing_eagerly():
        raise CompileError("ipu_compiler.compile is for graphs of tf.compat.v1; in eager mode use strategy.run")
    given = as_list(inputs)
    leaves = [tf.convert_to_tensor(leaf) for leaf in tf.nest.flatten(given)]

    def flat(*tensors: tf.Tensor) -> list[tf.Tensor]:
        return _tensors(computation(*tf.nest.pack_sequence_as(given, tensors)))

    name = getattr(computation, "__name__", type(computation).__name__).strip("<>")
    entered: list[int] = []
    before = ENTERED.set(entered)
    try:
        results, done = add_to_graph(flat, leaves, lambda: _device(entered), name)
    finally:
        ENTERED.reset(before)
    return results or done


def _device(entered: Sequence[int]) -> Device:
    """The device in whose scope this is, or else the only one of those that a computation has entered."""
    current = CURRENT.get()
    ordinals = list(dict.fromkeys(entered if current is None else [current]))
    if not ordinals:
        raise CompileError('not in the scope of an IPU device; compile in ipu.scopes.ipu_scope("/device:IPU:0")')
    if len(ordinals) > 1:
        names = ", ".join(f"/device:IPU:{each}" for each in ordinals)
        raise CompileError(f"the computation enters the scopes of several devices, {names}; compile one for each")
    try:
        return SYSTEM.device(ordinals[0])
    except ValueError as error:
        raise CompileError(str(error)) from error


def _tensors(given: Any) -> list[tf.Tensor]:
    flat = [each for each in tf.nest.flatten(given) if each is not None]
    found = [tf.convert_to_tensor(each) for each in flat if not isinstance(each, tf.Operation)]
    if any(isinstance(each, tf.Operation) for each in flat[: len(found)]):
        raise CompileError("a computation gives tensors first, and operations after them")
    return found
