"""Programs in graphs of ``tf.compat.v1``: a session passes variables and arguments, and takes both back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.framework.func_graph import FuncGraph, func_graph_from_py_func
from tensorflow.python.ops import handle_data_util

from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.frontends.of_tensorflow.absent_ops import absent_ops_replaced
from ipu_mlir.runtime.engine.state import Cell
from ipu_mlir.tensorflow.custom_calls import token
from ipu_mlir.tensorflow.devices import Device
from ipu_mlir.tensorflow.host_ops import python_op
from ipu_mlir.tensorflow.imported_graphs import handle_in_graph, import_graph
from ipu_mlir.tensorflow.outside import all_called
from ipu_mlir.tensorflow.program import Program
from ipu_mlir.tensorflow.random_state import take_over_random_numbers
from ipu_mlir.tensorflow.variables import (
    Resident,
    offload,
    offloaded,
    own_handle,
    resident,
    standing_for,
    tracing,
    variable_of,
)


@dataclass(frozen=True)
class _State:
    """A variable that a graph uses, and the one that stands for it in the program: itself, if no graph has made it."""

    handle: Any
    shadow: tf.Variable

    @property
    def is_handed_over(self) -> bool:
        """True if sessions have its value between runs."""
        return self.handle is not own_handle(self.shadow)

    @property
    def dtype(self) -> tf.DType:
        return self.shadow.dtype


@dataclass(frozen=True)
class InGraph:
    """A program for a graph that is being made.

    Attributes:
        program: of the arguments, and of what the function captures besides variables.
        given: these tensors.
        outputs: what the function gives, as specs.
        kept: the variables whose values sessions have between runs, with the memory of the program.
        changed: those of them that a run changes.
    """

    program: Program
    given: list[tf.Tensor]
    outputs: list[tf.TensorSpec]
    kept: list[tuple[_State, Resident, Cell]]
    changed: list[tuple[_State, Resident, Cell]]

    def read_variables(self) -> list[tf.Tensor]:
        """Tensors of the graph with the values of ``kept``."""
        return [tf.raw_ops.ReadVariableOp(resource=state.handle, dtype=state.dtype) for state, _, _ in self.kept]

    def give(self, values: Sequence[np.ndarray]) -> None:
        """Let the program have ``values`` of ``kept``."""
        for (_, own, cell), value in zip(self.kept, values, strict=True):
            own.give(cell, value)


def compile_in_graph(
    function: Callable[..., Any], inputs: Sequence[tf.Tensor], device: Device | Callable[[], Device], name: str
) -> InGraph:
    """``function`` as a program for the graph that is being made; arguments and errors as of ``add_to_graph``."""
    take_over_random_numbers()
    with tracing(), all_called(), absent_ops_replaced():
        inner = func_graph_from_py_func(name, function, _specs(inputs), {}, add_control_dependencies=True)
    device = device() if callable(device) else device
    outside = [each for each, _ in inner.captures]
    states = {place: _state(each) for place, each in enumerate(outside) if _is_state(each)}
    values = [each for each in outside if each.dtype != tf.resource]
    for each in (*inputs, *values):
        if each.dtype in (tf.string, tf.variant):
            raise CompileError(f"{name} takes {each.name} of type {each.dtype.name}, which no device has")
        if not each.shape.is_fully_defined():
            raise CompileError(
                f"{name} takes {each.name} of shape {each.shape}, and is compiled for known sizes; give a placeholder "
                "all of its shape, and datasets batch(..., drop_remainder=True)"
            )
    shadows = {id(state.handle): state.shadow for state in states.values()}
    with context.eager_mode(), standing_for(shadows):
        specs = _specs([*inputs, *values])
        program = Program(_importing(inner, states, len(inputs)), specs, device, name, written_in=inner)
    cells = {id(own): cell for own, cell in program.residents}
    written = {id(own) for own, _ in program.changed}
    residents = [(state, resident(state.shadow, is_new=True)) for state in states.values()]
    used = [(state, own) for state, own in residents if id(own) in cells and state.is_handed_over]
    kept = [(state, own, cells[id(own)]) for state, own in used]
    outputs = _specs(tf.nest.flatten(inner.structured_outputs))
    return InGraph(program, [*inputs, *values], outputs, kept, [each for each in kept if id(each[1]) in written])


def add_to_graph(
    function: Callable[..., Any], inputs: Sequence[tf.Tensor], device: Device | Callable[[], Device], name: str
) -> tuple[list[tf.Tensor], tf.Operation]:
    """Let the graph that is being made run ``function`` on ``device``.

    Args:
        function: of tensors; gives a list of tensors.
        inputs: its arguments, tensors of the graph.
        device: where it runs, or what gives that once the function is traced.

    Returns:
        What it gives, and an operation that runs it.

    Raises:
        CompileError: it cannot be compiled.
    """
    made = compile_in_graph(function, inputs, device, name)
    count = len(made.given)

    def run(*arrays: np.ndarray) -> list[np.ndarray]:
        with context.eager_mode():
            made.give(arrays[count:])
            found = [each.numpy() for each in made.program(arrays[:count])]
            return [*found, *(own.value(cell) for _, own, cell in made.changed)]

    with tf.device("/cpu:0"):
        types = [*(each.dtype for each in made.outputs), *(state.dtype for state, _, _ in made.changed)]
        given = [*made.given, *made.read_variables()]
        if not types:
            return [], python_op(run, given, [])
        found = python_op(run, given, types)
        new = found[len(made.outputs) :]
        assigns = [
            tf.raw_ops.AssignVariableOp(resource=state.handle, value=value)
            for (state, _, _), value in zip(made.changed, new, strict=True)
        ]
        with tf.control_dependencies([found[0].op, *assigns]):
            done = tf.no_op(name)
            results = [tf.identity(each) for each in found[: len(made.outputs)]]
    for result, spec in zip(results, made.outputs, strict=True):
        result.set_shape(spec.shape)
    return results, done


def add_nested_to_graph(function: Callable[[Any], Any], given: Any, device: Device, name: str) -> Any:
    """As ``add_to_graph``, for arguments that are nested as ``given``: the results, nested as ``function`` nests them.

    Without any, the operation.
    """
    leaves = tf.nest.flatten(given, expand_composites=True)
    at = [place for place, leaf in enumerate(leaves) if isinstance(leaf, tf.Tensor)]
    nested: list[Any] = []

    def flat(*tensors: tf.Tensor) -> list[tf.Tensor]:
        filled = list(leaves)
        for place, tensor in zip(at, tensors, strict=True):
            filled[place] = tensor
        nested[:] = [function(tf.nest.pack_sequence_as(given, filled, expand_composites=True))]
        found = tf.nest.flatten(nested[0], expand_composites=True)
        return [tf.convert_to_tensor(each) for each in found if each is not None]

    results, done = add_to_graph(flat, [leaves[place] for place in at], device, name.strip("<>"))
    if not results:
        return done
    rest = iter(results)
    kept = [each if each is None else next(rest) for each in tf.nest.flatten(nested[0], expand_composites=True)]
    return tf.nest.pack_sequence_as(nested[0], kept, expand_composites=True)


def _is_state(outside: Any) -> bool:
    return outside.dtype == tf.resource and outside is not token()._handle


def _state(handle: Any) -> _State:
    variable = variable_of(handle)
    if variable is not None:
        return _State(handle, variable)
    about = handle_data_util.get_resource_handle_data(handle).shape_and_type[0]
    shape = tf.TensorShape(about.shape)
    with context.eager_mode():
        made = _State(handle, tf.Variable(tf.zeros(shape, tf.as_dtype(about.dtype)), name=handle.op.name))
    if (is_cut := offloaded(handle)) is not None:
        offload(made.shadow, is_cut)
    return made


def _importing(inner: FuncGraph, states: dict[int, _State], number: int) -> Callable[..., Any]:
    """A function that does what is in the graph ``inner``, on the shadows of its variables.

    Args:
        number: of arguments; what the graph captures besides variables follows them.
    """
    captured = [each for each, _ in inner.captures]

    def function(*tensors: tf.Tensor) -> list[tf.Tensor]:
        rest = iter(tensors)
        given = [next(rest) for _ in range(number)]
        for place, outside in enumerate(captured):
            if place in states or outside.dtype == tf.resource:
                given.append(handle_in_graph(states[place].shadow if place in states else token()))
            else:
                given.append(next(rest))
        return import_graph(inner, inner.inputs, given, inner.outputs)

    return function


def _specs(tensors: Sequence[tf.Tensor]) -> list[tf.TensorSpec]:
    return [tf.TensorSpec(each.shape, each.dtype) for each in tensors]
