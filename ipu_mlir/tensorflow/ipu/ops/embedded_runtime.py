"""Compiled applications that run by themselves (guide 21.15.19)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow.applications.running import Running
from ipu_mlir.tensorflow.applications.saved import Application, read_application
from ipu_mlir.tensorflow.host_ops import python_op

__all__ = [
    "RuntimeContext",
    "embedded_runtime_call",
    "embedded_runtime_start",
    "embedded_runtime_start_and_call",
    "embedded_runtime_stop",
]

_TIMEOUT = 5000


class RuntimeContext:
    """A running application; made by ``embedded_runtime_start``."""

    def __init__(self, name: str, executable_file: str, executable_proto: Application, start_output: Any) -> None:
        """Made by ``embedded_runtime_start``.

        Args:
            executable_file: where it comes from.
            executable_proto: what is in that file.
            start_output: a tensor that there is once the application has started.
        """
        self._name, self._application, self._start_output = name, executable_proto, start_output
        self.executable_file = executable_file
        self._running: Running | None = None

    def name(self) -> str:
        """Its name."""
        return self._name

    def output_types(self) -> list[tf.DType]:
        """Element types of what a call gives."""
        return [each.dtype for each in self._results()]

    def signature(self) -> dict[str, tuple[tf.TensorSpec, ...]]:
        """What the start takes (``inputs``), what a call takes (``streamed_inputs``), and what it gives."""
        return {
            "inputs": self._application.startup,
            "streamed_inputs": self._batches(),
            "streamed_outputs": self._results(),
        }

    def start_output(self) -> Any:
        """A tensor that there is once the application has started."""
        return self._start_output

    def _batches(self) -> tuple[tf.TensorSpec, ...]:
        return next(iter(self._application.batches.values()), ())

    def _results(self) -> tuple[tf.TensorSpec, ...]:
        return next(iter(self._application.results.values()), ())

    def _start(self, startup: Sequence[np.ndarray], timeout: int) -> None:
        if self._running is None:  # a graph may run the start again
            self._running = Running(self._application, list(map(np.asarray, startup)), timeout / 1e6)

    def _call(self, batch: Sequence[np.ndarray]) -> list[np.ndarray]:
        assert self._running is not None, "calls come after the start"
        return self._running.call(list(map(np.asarray, batch)))


def embedded_runtime_start(
    executable_file: str, inputs: Sequence[Any] | Mapping[str, Any], name: str, timeout: int | None = None
) -> RuntimeContext:
    """Start the application in a file, in eager mode now, in graphs with the first call.

    Args:
        executable_file: as ``experimental_application_compile_op`` writes it.
        inputs: its arguments and variables, in order or by name.
        name: of the context.
        timeout: microseconds, 5000 by default, after which a pipeline that waits for a batch goes on without, so that
            those in it come out.

    Raises:
        ValueError: it is no such file, an input is missing, or has another shape.
        TypeError: an input has another type.
    """
    path = executable_file.decode() if isinstance(executable_file, bytes) else str(executable_file)
    application = read_application(path)
    given = _matching(_in_order(inputs, application), application.startup)
    made = RuntimeContext(name, path, application, None)
    microseconds = _TIMEOUT if timeout is None else timeout

    def start(*arrays: np.ndarray) -> list[np.ndarray]:
        made._start(arrays, microseconds)
        return [np.array(1, np.int32)]

    made._start_output = _run(start, given, [tf.int32])[0]
    return made


def embedded_runtime_call(inputs: Sequence[Any], context: RuntimeContext) -> list[tf.Tensor]:
    """What the application gives for one batch.

    Args:
        inputs: tensors of one element of its infeed, flat.
        context: of the application.

    Raises:
        ValueError: they are no list, too few or too many, or have other shapes.
        TypeError: one has another type.
    """
    given = _matching(inputs, context._batches())
    with tf.control_dependencies([] if tf.executing_eagerly() else [context.start_output()]):
        found = _run(lambda *arrays: context._call(arrays), given, context.output_types())
    for tensor, spec in zip(found, context._results(), strict=True):
        tensor.set_shape(spec.shape)
    return found


def embedded_runtime_start_and_call(
    executable_file: str, startup_inputs: Sequence[Any] | Mapping[str, Any], call_inputs: Sequence[Any], name: str
) -> tuple[list[tf.Tensor], RuntimeContext]:
    """The results of a call, and the context. Arguments and errors are those of both functions."""
    context = embedded_runtime_start(executable_file, startup_inputs, name)
    return embedded_runtime_call(call_inputs, context), context


def embedded_runtime_stop(context: RuntimeContext) -> None:
    """Refuse: an application ends when nobody has its context any more.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError(
        f"Embedded runtime doesn't support stopping an engine. {context.name()} ends when its context is dropped."
    )


def _run(function: Any, given: Sequence[tf.Tensor], types: Sequence[tf.DType]) -> list[tf.Tensor]:
    if not tf.executing_eagerly():
        return list(python_op(function, given, types))
    return [tf.constant(each) for each in function(*(each.numpy() for each in given))]


def _in_order(inputs: Sequence[Any] | Mapping[str, Any], application: Application) -> Sequence[Any]:
    if not isinstance(inputs, Mapping):
        return inputs
    names = [str(spec.name) for spec in application.startup]
    missing = [each for each in names if each not in inputs]
    if missing:
        raise ValueError(f"Failed to find input tensor with name '{missing[0]}' in the input dictionary {list(inputs)}")
    return [inputs[each] for each in names]


def _matching(inputs: Any, specs: Sequence[tf.TensorSpec]) -> list[tf.Tensor]:
    """``inputs`` as tensors of the shapes and types of ``specs``."""
    if not isinstance(inputs, list | tuple):
        raise ValueError(f"Expected the inputs to be a list, got {type(inputs).__name__}.")
    if len(inputs) != len(specs):
        raise ValueError(f"Embedded application runtime expects {len(specs)} inputs, but {len(inputs)} were provided.")
    found = [tf.convert_to_tensor(each) for each in inputs]
    for place, (each, spec) in enumerate(zip(found, specs, strict=True)):
        name = spec.name or f"input_{place}"
        if not each.shape.is_compatible_with(spec.shape):
            raise ValueError(
                f"Mismatched input shape at position {place} ('{name}'). Expected {list(spec.shape)}, but input "
                f"{place} has shape {each.shape}."
            )
        if each.dtype != spec.dtype:
            raise TypeError(
                f"Mismatched input dtype at position {place} ('{name}'). Expected {spec.dtype.name}, but input {place} "
                f"has dtype {each.dtype.name}."
            )
    return found
