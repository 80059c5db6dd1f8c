"""Variables of TensorFlow that live on the device between runs, and are TensorFlow's when somebody asks for them."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable

from ipu_mlir.runtime.engine.state import Cell
from ipu_mlir.runtime.translator.translate import Variable

_TRACING = threading.local()


@contextmanager
def tracing() -> Iterator[None]:
    """In the block, who asks for the handle of a variable traces a program for the device."""
    before = is_tracing()
    _TRACING.on = True
    try:
        yield
    finally:
        _TRACING.on = before


def is_tracing() -> bool:
    """Whether this thread traces a program for the device."""
    return getattr(_TRACING, "on", False)


class Resident:
    """The value of a variable on the device.

    Attributes:
        cell: its memory there; None before a program has it.
        is_current: whether the memory has the variable's value.
        is_newest: whether it has a value that TensorFlow does not have.
        is_held: whether a graph of the host may keep the handle, so that TensorFlow has the value between runs.
    """

    def __init__(self, variable: Any) -> None:
        self._variable = variable
        self.cell: Cell | None = None
        self.is_current = self.is_newest = self.is_held = False

    def cell_for(self, form: Variable) -> Cell:
        """The memory, in the form in which a program has the variable."""
        if self.cell is None:
            self.cell = Cell(form)
        return self.cell

    def bring(self) -> None:
        """Let the device have the value."""
        variable = self._variable
        value = tf.raw_ops.ReadVariableOp(resource=variable._handle, dtype=variable.dtype).numpy()
        self.give(value)
        self.is_current = not self.is_held

    def give(self, value: np.ndarray) -> None:
        """Let the memory have ``value``."""
        assert self.cell is not None, "a program that runs has its variables"
        self.cell.give(value.view(f"i{value.itemsize}") if value.dtype.kind == "u" else value)
        self.is_current = True

    def value(self) -> np.ndarray:
        """A copy of what is in the memory, in the type of TensorFlow."""
        assert self.cell is not None, "what a run has changed has memory"
        wanted = np.dtype(self._variable.dtype.as_numpy_dtype)
        value = self.cell.value(self._variable.name)
        return value.view(wanted) if wanted.kind == "u" else value

    def changed(self) -> None:
        """A run has given it a value."""
        self.is_newest = True
        if self.is_held:
            self.fetch()
            self.is_current = False

    def fetch(self) -> None:
        """Let TensorFlow have the value."""
        if not self.is_newest:
            return
        self.is_newest = False
        with tf.init_scope():  # otherwise a graph that is being traced would assign it in each of its runs
            constant = tf.constant(self.value(), self._variable.dtype)
            tf.raw_ops.AssignVariableOp(resource=self._variable._handle, value=constant)


class _OnDevice:
    """What is different for a variable that lives on the device: who asks for its handle finds the newest value."""

    _resident: Resident
    _handle: Any

    @property
    def handle(self) -> Any:
        """As of TensorFlow's own variables."""
        resident = self.__dict__.get("_resident")
        if resident is not None and not is_tracing():
            resident.fetch()
            resident.is_current = False  # who has the handle may write
            if not tf.executing_eagerly():
                resident.is_held = True
        return self._handle

    def __reduce__(self) -> Any:
        raise TypeError(f"variable {self.name} cannot be pickled; save it with tf.train.Checkpoint")


_KINDS: dict[type, type] = {}


def resident(variable: Any, is_new: bool = False) -> Resident:
    """Let ``variable`` live on the device, if it does not yet.

    Who has it already may have its handle: it belongs to TensorFlow between runs, unless ``is_new``.

    Raises:
        TypeError: it is no variable with a resource.
    """
    found = variable.__dict__.get("_resident")
    if found is not None:
        return found
    kind = type(variable)
    if not isinstance(variable, BaseResourceVariable):
        raise TypeError(f"{variable!r} is a {kind.__name__}, which cannot live on the device; use a tf.Variable")
    if kind not in _KINDS:
        _KINDS[kind] = type(kind.__name__, (_OnDevice, kind), {"__module__": kind.__module__})
    made = Resident(variable)
    made.is_held = not is_new
    variable.__dict__["_resident"] = made
    variable.__class__ = _KINDS[kind]
    return made
