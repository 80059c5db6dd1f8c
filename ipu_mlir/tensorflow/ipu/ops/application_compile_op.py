"""Programs that are compiled into a file ahead of time (guide 21.15)."""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context

from ipu_mlir.tensorflow.applications.saved import Application
from ipu_mlir.tensorflow.devices import CURRENT, SYSTEM
from ipu_mlir.tensorflow.eager import ops_on_host
from ipu_mlir.tensorflow.feeds import as_list
from ipu_mlir.tensorflow.graph_mode import compile_in_graph
from ipu_mlir.tensorflow.host_ops import python_op
from ipu_mlir.tensorflow.program import Program

__all__ = ["experimental_application_compile_op"]


def experimental_application_compile_op(
    func: Callable[..., Any],
    inputs: Sequence[Any] | None = None,
    output_path: str | None = None,
    freeze_variables: bool = False,
    name: str | None = None,
) -> Any:
    """Compile ``func`` into a file that ``embedded_runtime_start`` starts.

    Args:
        func: gives tensors, or operations.
        inputs: its arguments, of which shapes and types matter; the start gives others.
        output_path: of the file; None for one in the folder of temporary files.
        freeze_variables: whether the file has the values that variables have when it is written. Otherwise the start
            gives them, after the arguments, or by name.
        name: of the operation.

    Returns:
        The path, a tensor of text: in a graph, it is written when that is asked for.

    Raises:
        CompileError: the function cannot be compiled, calls the host, or would run on several replicas.
    """
    title = name or str(getattr(func, "__name__", type(func).__name__)).strip("<>")
    given = [tf.convert_to_tensor(each) for each in as_list(inputs)]
    device = SYSTEM.device(CURRENT.get() or 0)
    path = output_path or tempfile.mkstemp(prefix=f"{title}-", suffix=".poplar_exec")[1]

    def flat(*tensors: tf.Tensor) -> list[tf.Tensor]:
        found = [each for each in tf.nest.flatten(func(*tensors)) if each is not None]
        return [tf.convert_to_tensor(each) for each in found if not isinstance(each, tf.Operation)]

    arguments = [tf.TensorSpec(each.shape, each.dtype, f"argument_{place}") for place, each in enumerate(given)]
    if tf.executing_eagerly():
        with ops_on_host():
            whole = tf.function(flat, autograph=False, jit_compile=True)  # its graph has what programs know by name
            program = Program(whole, arguments, device, title)
            Application.of(program, arguments, freeze_variables, title).write(path, program)
            return tf.constant(str(Path(path)), name=name)
    made = compile_in_graph(flat, given, device, title)
    captured = made.given[len(given) :]
    application = Application.of(made.program, arguments, freeze_variables, title)

    def run(*arrays: np.ndarray) -> list[Any]:
        with context.eager_mode():
            made.give(arrays[len(captured) :])
            application.write(path, made.program, arrays[: len(captured)])
        return [path.encode()]

    (found,) = python_op(run, [*captured, *made.read_variables()], [tf.string])
    found.set_shape([])
    return found
