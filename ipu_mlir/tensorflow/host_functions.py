"""Programs in functions that TensorFlow traces for the host: an operation runs one, in its place among the others."""

import functools
import logging
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.autograph.core import config
from tensorflow.python.eager import record
from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function
from tensorflow.python.ops import control_flow_util, resource_variable_ops
from tensorflow.python.types import core

from ipu_mlir.tensorflow.devices import CURRENT
from ipu_mlir.tensorflow.eager import must_run_on_device, run_whole, runs_on_device
from ipu_mlir.tensorflow.errors import own_error
from ipu_mlir.tensorflow.host_ops import python_op
from ipu_mlir.tensorflow.outside import all_called
from ipu_mlir.tensorflow.random_state import take_over_random_numbers
from ipu_mlir.tensorflow.variables import is_tracing, own_handle, resident, tracing, variable_of

_LOG = logging.getLogger("ipu_mlir.tensorflow")
_NO_NUMBERS = (tf.string, tf.variant, tf.resource)
_PLAIN = tuple(
    f"ipu_mlir.tensorflow.{each}"
    for each in ("feeds", "host_functions", "host_ops", "ipu.ipu_strategy", "ipu.pipelining_ops", "pipelines")
)
"""Modules that functions call, whose Python TensorFlow is not to convert."""
_IN_PROGRAMS = "_ipu_in_programs"
"""Attribute of functions that programs have called."""
_ADDED = [0]
"""How many operations that run programs were added to functions."""
_SAID: "weakref.WeakSet[Any]" = weakref.WeakSet()
"""Functions of the host of which the log has said so."""


def add_to_function(run: Callable[[Any], Any], traced: Callable[[Any], Any], given: Any, name: str) -> Any:
    """The results of a program, in the function of the host that is being traced.

    The program is compiled when the operation first runs, for the shapes that its arguments have then. Operations on
    the variables and queues of the program are before or after it as in the function around.

    Args:
        run: gives the results for arguments nested as ``given``, in eager mode.
        traced: calls the function for such arguments while it is traced.
        given: arguments; tensors among them are inputs.
        name: what messages call the program.

    Raises:
        TypeError: an argument has no numbers.
        ValueError: the function around is compiled for the host as a whole, or the program uses a tensor of it.
    """
    graph = tf.compat.v1.get_default_graph()
    if control_flow_util.GraphOrParentsInXlaContext(graph):
        raise ValueError(
            f"{graph.name} has jit_compile=True and runs {name} on the device, which code that is compiled for the "
            f"host cannot do; leave jit_compile out, or run the whole of it by strategy.run({graph.name}, ...)"
        )
    leaves = tf.nest.flatten(given, expand_composites=True)
    at = [place for place, leaf in enumerate(leaves) if isinstance(leaf, tf.Tensor)]
    for place in at:
        if leaves[place].dtype in _NO_NUMBERS:
            raise TypeError(
                f"{name} takes {leaves[place].name} of type {leaves[place].dtype.name}, which no device has; make "
                "numbers of text before, and iter(dataset) outside of the function that calls strategy.run"
            )

    def nested(tensors: Sequence[Any]) -> Any:
        filled = list(leaves)
        for place, tensor in zip(at, tensors, strict=True):
            filled[place] = tensor
        return tf.nest.pack_sequence_as(given, filled, expand_composites=True)

    inputs = [leaves[place] for place in at]
    with tf.init_scope(), tracing(), all_called():
        take_over_random_numbers()
        wrapper = tf.function(lambda *own: traced(nested(own)), autograph=False)
        concrete = wrapper.get_concrete_function(*(tf.TensorSpec(each.shape, each.dtype) for each in inputs))
    for each, _ in concrete.graph.captures:
        if not isinstance(each, core.Value):
            raise ValueError(
                f"{name} uses {each.name}, a tensor of the function around it, which is no part of the program; pass "
                "it in args"
            )
    outside = [each for each, _ in concrete.graph.captures if each.dtype == tf.resource]
    results = tf.nest.flatten(concrete.structured_outputs, expand_composites=True)
    types = [each.dtype for each in results if each is not None]

    def flat(*tensors: Any) -> list[Any]:
        found = run(nested(tensors[: len(inputs)]))
        return [each for each in tf.nest.flatten(found, expand_composites=True) if each is not None]

    _ADDED[0] += 1
    found = python_op(flat, inputs, types, outside)
    refuse_gradients(name, [*inputs, *concrete.graph.variables], found)
    for tensor, result in zip(found, [each for each in results if each is not None], strict=True):
        tensor.set_shape(result.shape)
    given_back = iter(found)
    filled = [each if each is None else next(given_back) for each in results]
    return tf.nest.pack_sequence_as(concrete.structured_outputs, filled, expand_composites=True)


def refuse_gradients(name: str, sources: Sequence[Any], results: Any) -> None:
    """Let tapes that ask for gradients of ``results`` by ``sources``, tensors and variables, raise a ValueError."""
    if not record.could_possibly_record():
        return

    def refused(*_: Any) -> Any:
        raise ValueError(
            f"no gradient goes through {name}, which runs on the device as a program; open the tape in the function "
            "that strategy.run takes, and let it return the gradients or apply them"
        )

    used = []
    for each in sources:
        if isinstance(each, tf.Variable):
            if not each.trainable:
                continue
            resource_variable_ops.variable_accessed(each)
            used.append(own_handle(each))
        elif each.dtype.is_floating:
            used.append(each)
    flat = [each for each in tf.nest.flatten(results, expand_composites=True) if tf.is_tensor(each)]
    record.record_operation("IpuProgram", [each for each in flat if each.dtype.is_floating], used, refused)


@functools.cache
def take_over_functions() -> None:
    """Let functions that are called where operations run on the device run there, and raise errors of programs."""
    config.CONVERSION_RULES = (*(config.DoNotConvert(each) for each in _PLAIN), *config.CONVERSION_RULES)
    Function.__call__ = _on_device(Function.__call__)


def _on_device(theirs: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(theirs)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if is_tracing():
            self.__dict__[_IN_PROGRAMS] = True
            return theirs(self, *args, **kwargs)
        if not runs_on_device():
            return _called_on_host(theirs, self, args, kwargs)
        if must_run_on_device() and tf.executing_eagerly() and _has_numbers((args, kwargs)):
            return run_whole(self, args, kwargs)
        strategy = tf.distribute.get_strategy()
        if getattr(strategy, "ordinal", None) == CURRENT.get() and self._jit_compile is True:
            return strategy.run(self, args, kwargs)
        added = _ADDED[0]
        found = _called_on_host(theirs, self, args, kwargs)
        if tf.executing_eagerly() and self not in _SAID and _has_numbers((args, kwargs)):
            _SAID.add(self)
            if added == _ADDED[0]:
                _LOG.warning(
                    "%s runs on the host: it has no jit_compile=True, and runs nothing by strategy.run",
                    getattr(self, "__name__", "a function"),
                )
        return found

    return call


def _has_numbers(given: Any) -> bool:
    """True if no tensor among arguments is text or another value of the host."""
    leaves = tf.nest.flatten(given, expand_composites=True)
    return all(each.dtype not in _NO_NUMBERS for each in leaves if isinstance(each, tf.Tensor))


def _called_on_host(theirs: Callable[..., Any], function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What TensorFlow gives, with the newest values of variables and the errors of programs.

    TensorFlow keeps what it has traced for a program, where nobody asked for handles.
    """
    if _IN_PROGRAMS in function.__dict__:
        used = [each for own in function._list_all_concrete_functions() for each in own.captured_inputs]
        for handle in {id(each): each for each in used}.values():
            if handle.dtype == tf.resource and (variable := variable_of(handle)) is not None:
                resident(variable).handed_out()
    try:
        return theirs(function, *args, **kwargs)
    except tf.errors.UnknownError as error:
        own = own_error(error)
        if own is error or not tf.executing_eagerly():
            raise
        raise own from error
