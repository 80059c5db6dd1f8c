"""Operations of the host in the middle of programs: a graph of their own, which runs when a program asks for it."""

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context, record
from tensorflow.python.framework.func_graph import FuncGraph

from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.tensorflow.custom_calls import as_tensorflow_has_it, call

_NUMBERS = count()
_PARTS: "weakref.WeakValueDictionary[str, _HostPart | _HostFunction]" = weakref.WeakValueDictionary()
_OF_GRAPHS: "weakref.WeakKeyDictionary[Any, list[_HostPart]]" = weakref.WeakKeyDictionary()
"""Who has the graph of a program, which only knows its parts by their names, has them."""
_FUNCTIONS: list["_HostFunction"] = []
"""Functions of arrays, which programs that were loaded again may call, too."""
_WAITING = threading.local()
"""Parts of the program that this thread traces which may get the shapes of their tensors yet."""


def host_function(name: str) -> Callable[..., Any]:
    """What the host does where a program calls the function ``name``."""
    return _PARTS[name].run


@contextmanager
def on_host(name: str) -> Iterator[None]:
    """A block in a function that is being traced for the device, whose operations the host runs.

    Raises:
        ValueError: it uses a variable, or something else that cannot go to the host.
    """
    around, inside = tf.compat.v1.get_default_graph(), FuncGraph(name)
    with inside.as_default():
        yield
    part = _HostPart(f"{name}_{next(_NUMBERS)}", inside, around)
    _OF_GRAPHS.setdefault(around, []).append(part)
    if all(each.shape.is_fully_defined() for each in part.ends()):
        part.call()
    else:
        _WAITING.parts.append(part)


def call_host(
    function: Callable[..., list[np.ndarray]], operands: list[Any], specs: list[tf.TensorSpec], name: str
) -> list[Any]:
    """The results of a function of arrays, which the host calls in the middle of the program that is being traced."""
    part = _HostFunction(function, [each.dtype for each in operands])
    own = f"{name}_{next(_NUMBERS)}"
    _PARTS[own] = part
    _FUNCTIONS.append(part)
    return call("host_call", operands, specs, ordered=True, function=own)


class _HostFunction:
    """A function of arrays, in the types that TensorFlow has."""

    def __init__(self, function: Callable[..., list[np.ndarray]], types: list[tf.DType]) -> None:
        self._function, self._types = function, [np.dtype(each.as_numpy_dtype) for each in types]

    def run(self, *arrays: np.ndarray) -> list[np.ndarray]:
        pairs = zip(arrays, self._types, strict=True)
        return self._function(*(as_tensorflow_has_it(array, dtype) for array, dtype in pairs))


@contextmanager
def all_called() -> Iterator[None]:
    """Trace a program in the block, which calls the host for every part of it that is the host's.

    Raises:
        CompileError: a part is not called, as it ends with a tensor that has no shape and that nobody uses.
    """
    before = getattr(_WAITING, "parts", [])
    _WAITING.parts = []
    try:
        yield
        for part in _WAITING.parts:
            if not part.is_called:
                name = next(each.name for each in part.ends() if not each.shape.is_fully_defined())
                raise CompileError(
                    f"{name} in outside_compilation_scope has no shape, and nobody uses it; give it one by set_shape, "
                    "or let the function of the host give nothing"
                )
    finally:
        _WAITING.parts = before


class _HostPart:
    """The operations of a block, and the call of them in the graph around it."""

    def __init__(self, name: str, inside: FuncGraph, around: Any) -> None:
        self._name, self._inside = name, inside
        self._around = weakref.ref(around)
        self._taken = [(outer, own) for outer, own in inside.captures]
        for outer, _ in self._taken:
            if not outer.dtype.is_numpy_compatible or outer.dtype == tf.string:
                raise ValueError(
                    f"outside_compilation_scope uses something of type {outer.dtype.name} from outside, which the "
                    "device cannot pass; read variables before the scope"
                )
        self._given: list[Any] = []
        self._results: dict[int, Any] = {}
        self.is_called = False
        self._run: Any = None
        theirs, me = around.capture, weakref.ref(self)

        def capture(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            part = me()
            if part is not None and getattr(tensor, "graph", None) is inside:
                return part.result(tensor)
            return theirs(tensor, *args, **kwargs)

        around.capture = capture
        _PARTS[name] = self

    def ends(self) -> list[Any]:
        """Tensors of numbers that no operation of the block uses."""
        return [each for each in self._tensors() if not each.consumers()]

    def call(self) -> None:
        """Let the program call the host here, which gives all tensors whose shapes are known."""
        self._given = [each for each in self._tensors() if each.shape.is_fully_defined()]
        self.is_called = True
        specs = [tf.TensorSpec(each.shape, each.dtype) for each in self._given]
        around = self._around()
        assert around is not None, "its own tensors are used in it"
        with around.as_default():
            found = call("host_call", [outer for outer, _ in self._taken], specs, ordered=True, function=self._name)
        self._results = {id(each): result for each, result in zip(self._given, found, strict=True)}

    def result(self, tensor: Any) -> Any:
        """What stands for a tensor of the block in the graph around it.

        Raises:
            ValueError: it has no shape, or no numbers.
        """
        for outer, own in self._taken:
            if own is tensor:
                return self._around().capture(outer)  # type: ignore[union-attr]
        if not self.is_called:
            self.call()
        if id(tensor) not in self._results:
            raise ValueError(
                f"{tensor.name} of outside_compilation_scope is {tensor.dtype.name} of shape {tensor.shape}, and the "
                "device takes numbers of known shapes; use set_shape in the scope"
            )
        found = self._results[id(tensor)]
        record.record_operation("captured_value", [found], [tensor], lambda gradient: [gradient])
        return found

    def run(self, *arrays: np.ndarray) -> list[np.ndarray]:
        """What the tensors of the block are for what the program passes."""
        with context.eager_mode(), tf.device("/cpu:0"):
            pairs = zip(arrays, self._taken, strict=True)
            given = [
                tf.constant(as_tensorflow_has_it(array, np.dtype(own.dtype.as_numpy_dtype)))
                for array, (_, own) in pairs
            ]
            if self._run is None:
                self._run = tf.function(self._imported, autograph=False)
            return [each.numpy() for each in self._run(*given)]

    def _imported(self, *tensors: Any) -> list[Any]:
        definition = self._inside.as_graph_def()
        mapped = {own.name: tensor for (_, own), tensor in zip(self._taken, tensors, strict=True) if own.consumers()}
        results = [each.name for each in self._given]
        return list(tf.graph_util.import_graph_def(definition, mapped, results, name="") or [])

    def _tensors(self) -> list[Any]:
        own = {id(each) for _, each in self._taken}
        found = [each for op in self._inside.get_operations() for each in op.outputs if id(each) not in own]
        return [each for each in found if each.dtype.is_numpy_compatible and each.dtype != tf.string]
