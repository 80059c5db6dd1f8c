"""Ops of eager mode on the device, each as a program that is compiled once for the shapes of its arguments."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import op_callbacks, op_def_library, op_def_registry

from ipu_mlir.tensorflow.devices import CURRENT, SYSTEM
from ipu_mlir.tensorflow.program import Programs
from ipu_mlir.tensorflow.variables import is_tracing

_PROGRAMS = Programs(says_again=False)
_FUNCTIONS: dict[Any, Callable[..., Any]] = {}


def run_here(function: Callable[..., Any], args: Sequence[Any], name: str) -> Any:
    """The results of ``function``, run as a program on the device of this block, or the first one."""
    device = SYSTEM.device(CURRENT.get() or 0)
    return _PROGRAMS.call(function, args, {}, device, lambda own, given, _: own(*given), tf.compat.as_str(name))


@contextmanager
def ops_on_device() -> Iterator[None]:
    """Let ops that are called in the block run on the device of it.

    TensorFlow has no such device and computes them as well; what it gives is replaced.
    """
    op_callbacks.add_op_callback(_instead)
    try:
        yield
    finally:
        op_callbacks.remove_op_callback(_instead)


def _instead(op_type: str, inputs: Any, attrs: Any, outputs: Any, op_name: str | None = None, graph: Any = None) -> Any:
    """Replace the results of an op by those of the device."""
    if graph is None and not is_tracing() and _is_computed(op_type, inputs, outputs):
        found = run_here(_function(op_type, attrs), inputs, op_type)
        outputs[:] = found
    return outputs


def _is_computed(op_type: str, inputs: Any, outputs: Any) -> bool:
    """True if the device can do an op: one of numbers, without effects, that takes something and gives something."""
    definition = op_def_registry.get(op_type)
    if definition is None or definition.is_stateful or not inputs or not outputs or not isinstance(outputs, list):
        return False
    values = [*inputs, *outputs]
    return all(tf.is_tensor(each) and each.dtype.is_numpy_compatible and each.dtype != tf.string for each in values)


def _function(op_type: str, attrs: Sequence[Any]) -> Callable[..., Any]:
    """The op as a function of flat tensors."""
    key = (op_type, repr(attrs))
    if key not in _FUNCTIONS:
        given = dict(zip(attrs[::2], attrs[1::2], strict=True))
        arguments = op_def_registry.get(op_type).input_arg
        follows = {name for each in arguments for name in (each.type_attr, each.number_attr, each.type_list_attr)}
        fixed = {name: value for name, value in given.items() if name not in follows}

        def function(*tensors: Any) -> list[Any]:
            rest, named = list(tensors), {}
            for each in arguments:
                count = given[each.number_attr] if each.number_attr else None
                if each.type_list_attr:
                    count = len(given[each.type_list_attr])
                named[each.name] = rest.pop(0) if count is None else [rest.pop(0) for _ in range(count)]
            return tf.nest.flatten(op_def_library.apply_op(op_type, **named, **fixed))

        _FUNCTIONS[key] = function
    return _FUNCTIONS[key]
