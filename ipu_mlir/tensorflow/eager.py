"""Ops of eager mode on the device, each as a program that is compiled once for the shapes of its arguments."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context, record
from tensorflow.python.framework import op_callbacks, op_def_library, op_def_registry

from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.tensorflow.devices import CURRENT, SYSTEM
from ipu_mlir.tensorflow.program import Programs
from ipu_mlir.tensorflow.variables import is_tracing

_LOG = logging.getLogger("ipu_mlir.tensorflow")
_PROGRAMS = Programs(says_again=False)
_FUNCTIONS: dict[Any, Callable[..., Any]] = {}
_ON_HOST: set[Any] = set()
"""Ops that cannot be compiled, such as those whose shapes depend on values: that is said once."""
_IS_STRICT: ContextVar[bool] = ContextVar("is strict", default=True)
_HANDING_ON = {"EnsureShape", "Identity", "IdentityN", "PreventGradient", "StopGradient"}
"""Ops that compute nothing."""
_SHAPES = {"Index", "Taxis", "Tdim", "Tidx", "Tmultiples", "Tpaddings", "Tperm", "Tshape", "index_type"}
"""Attributes of ops that are types of shapes and axes."""


def run_here(function: Callable[..., Any], args: Sequence[Any], name: str) -> Any:
    """The results of ``function``, as a program on the device of this block, or the first; it leaves no files."""
    device = replace(SYSTEM.device(CURRENT.get() or 0), reports="", executables=None)
    with ops_on_host():
        return _PROGRAMS.call(function, args, {}, device, lambda own, given, _: own(*given), tf.compat.as_str(name))


def run_whole(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The results of a function of TensorFlow, as a program on the device of this block."""
    device = SYSTEM.device(CURRENT.get() or 0)
    with ops_on_host():
        return _PROGRAMS.call(function, args, kwargs, device, lambda own, given, named: own(*given, **named))


def runs_on_device() -> bool:
    """True if operations that are called here in eager mode run on the device."""
    return _instead in context.context().op_callbacks


def must_run_on_device() -> bool:
    """True if it is an error where they cannot."""
    return runs_on_device() and _IS_STRICT.get()


@contextmanager
def ops_on_device(is_strict: bool) -> Iterator[None]:
    """Let ops that are called in the block run on the device of it.

    TensorFlow has no such device and computes them as well; what it gives is replaced.

    Args:
        is_strict: whether one that cannot run there is an error; if not, it stays on the host, which the log says.
    """
    before = _IS_STRICT.set(is_strict)
    try:
        with _replaced(True):
            yield
    finally:
        _IS_STRICT.reset(before)


@contextmanager
def ops_on_host() -> Iterator[None]:
    """Let ops that are called in the block stay where TensorFlow runs them."""
    with _replaced(False):
        yield


@contextmanager
def _replaced(wanted: bool) -> Iterator[None]:
    before = runs_on_device()
    _replace(wanted)
    try:
        yield
    finally:
        _replace(before)


def _replace(wanted: bool) -> None:
    is_now = runs_on_device()
    if wanted and not is_now:
        op_callbacks.add_op_callback(_instead)
    elif is_now and not wanted:
        op_callbacks.remove_op_callback(_instead)


def _instead(op_type: str, inputs: Any, attrs: Any, outputs: Any, op_name: str | None = None, graph: Any = None) -> Any:
    """Replace the results of an op by those of the device."""
    if graph is not None:
        return None  # those of a graph stay as they are, a list
    if is_tracing() or not _is_computed(op_type, inputs, outputs):
        return outputs
    is_strict = _IS_STRICT.get()
    key = (op_type, repr(attrs), tuple((each.dtype, tuple(each.shape)) for each in inputs))
    has_device = SYSTEM.device(CURRENT.get() or 0).connection not in ("PRE_COMPILE", "NEVER")
    if not is_strict and (key in _ON_HOST or not has_device):
        return outputs
    fixed = _shapes(op_type, attrs, inputs)
    try:
        given = [each for place, each in enumerate(inputs) if place not in fixed]
        found = run_here(_function(op_type, attrs, fixed), given, op_type)
    except CompileError as error:
        if is_strict:
            raise
        _ON_HOST.add(key)
        _LOG.warning("%s runs on the host: %s", tf.compat.as_str(op_type), error)
        return outputs
    for own, theirs in zip(found, outputs, strict=True):  # the tape knows the latter
        record.record_operation("Identity", [own], [theirs], lambda gradient: [gradient])
    outputs[:] = found
    return outputs


def _is_computed(op_type: str, inputs: Any, outputs: Any) -> bool:
    """True if the device can do an op: one of numbers, without effects, that takes something and gives something."""
    definition = op_def_registry.get(op_type)
    if (
        definition is None
        or definition.is_stateful
        or definition.name in _HANDING_ON
        or not inputs
        or not outputs
        or not isinstance(outputs, list)
    ):
        return False
    values = [*inputs, *outputs]
    return all(tf.is_tensor(each) and each.dtype.is_numpy_compatible and each.dtype != tf.string for each in values)


def _counts(op_type: str, given: Mapping[str, Any]) -> list[tuple[Any, int | None]]:
    """The arguments of an op, each with how many tensors it takes as a list."""
    return [
        (each, given[each.number_attr] if each.number_attr else None)
        if not each.type_list_attr
        else (each, len(given[each.type_list_attr]))
        for each in op_def_registry.get(op_type).input_arg
    ]


def _shapes(op_type: str, attrs: Sequence[Any], inputs: Sequence[Any]) -> dict[int, np.ndarray]:
    """Arguments that are shapes and axes, by their place: they are part of a program.

    All others that turn out to be one are found when they cannot be compiled.
    """
    given = dict(zip(attrs[::2], attrs[1::2], strict=True))
    kinds = [each.type_attr for each, count in _counts(op_type, given) for _ in range(1 if count is None else count)]
    return {place: inputs[place].numpy() for place, kind in enumerate(kinds) if kind in _SHAPES}


def _function(op_type: str, attrs: Sequence[Any], inside: Mapping[int, np.ndarray]) -> Callable[..., Any]:
    """The op as a function of flat tensors, without those ``inside``."""
    values = tuple((place, each.dtype, each.shape, each.tobytes()) for place, each in inside.items())
    key = (op_type, repr(attrs), values)
    if key not in _FUNCTIONS:
        given = dict(zip(attrs[::2], attrs[1::2], strict=True))
        arguments = op_def_registry.get(op_type).input_arg
        follows = {name for each in arguments for name in (each.type_attr, each.number_attr, each.type_list_attr)}
        fixed = {name: value for name, value in given.items() if name not in follows}

        def function(*tensors: Any) -> list[Any]:
            rest, named = list(tensors), {}
            for place, value in inside.items():
                rest.insert(place, tf.constant(value))
            for each, count in _counts(op_type, given):
                named[each.name] = rest.pop(0) if count is None else [rest.pop(0) for _ in range(count)]
            return tf.nest.flatten(op_def_library.apply_op(op_type, **named, **fixed))

        _FUNCTIONS[key] = function
    return _FUNCTIONS[key]
