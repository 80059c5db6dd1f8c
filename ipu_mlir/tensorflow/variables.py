"""Variables of TensorFlow that live on the device between runs, and are TensorFlow's when somebody asks for them."""

import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

import numpy as np
import tensorflow as tf
from keras.src.backend.common.symbolic_scope import in_symbolic_scope
from tensorflow.python.eager import context
from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable

from ipu_mlir.runtime.engine.remote import RemoteArray
from ipu_mlir.runtime.engine.state import Cell, RemoteCell
from ipu_mlir.runtime.translator.translation import RemoteSpec, Variable
from ipu_mlir.specs.tensor_types import as_for_users, as_in_programs

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
    """True if this thread traces a program for the device."""
    return getattr(_TRACING, "on", False)


class Resident:
    """The value of a variable on the device.

    Programs for several replicas may have one for each; TensorFlow has that of the first.

    Attributes:
        is_held: whether a graph of the host may keep the handle, so that TensorFlow has the value between runs.
    """

    def __init__(self, variable: Any, is_held: bool) -> None:
        self._variable = variable
        self.is_held = is_held
        self._cells: dict[tuple[Any, ...], Cell] = {}
        self._newest: Cell | None = None
        """The memory with a value that TensorFlow does not have."""
        self._current: set[Cell] = set()
        """The memory that has the variable's value."""

    def cell_for(self, form: Variable | RemoteSpec) -> Cell:
        """The memory, in the form in which a program has the variable: on tiles, or in remote memory."""
        is_remote = isinstance(form, RemoteSpec)
        key = (is_remote, form.replicas, form.shape)
        if key not in self._cells:
            self._cells[key] = RemoteCell(RemoteArray(form)) if isinstance(form, RemoteSpec) else Cell(form)
        return self._cells[key]

    def bring(self, cell: Cell) -> None:
        """Let ``cell`` have the value, if it does not."""
        if cell in self._current:
            return
        if self._newest is not None:
            self.give(cell, self.value(self._newest))
        else:
            variable = self._variable
            self.give(cell, tf.raw_ops.ReadVariableOp(resource=own_handle(variable), dtype=variable.dtype).numpy())
        if self.is_held:
            self._current.clear()

    def give(self, cell: Cell, value: np.ndarray) -> None:
        """Let ``cell`` have ``value``, for each replica."""
        bits = value.view(f"i{value.itemsize}") if value.dtype.kind == "u" else value
        cell.give(as_in_programs(bits, bits.dtype))
        self._current.add(cell)

    def value(self, cell: Cell) -> np.ndarray:
        """A copy of what is in the memory, of the first replica, in the type of TensorFlow."""
        wanted = np.dtype(self._variable.dtype.as_numpy_dtype)
        value = cell.value(self._variable.name)
        value = value[0] if cell.variable.replicas else value
        return as_for_users(value, wanted) if wanted.kind in "cu" else value

    def changed(self, cell: Cell) -> None:
        """A run has given ``cell`` a value."""
        self._newest, self._current = cell, {cell}
        if self.is_held:
            self.fetch()
            self._current.clear()

    def fetch(self) -> None:
        """Let TensorFlow have the value."""
        if self._newest is None:
            return
        newest, self._newest = self._newest, None
        with context.eager_mode():  # otherwise a graph that is being made would assign it in each of its runs
            constant = tf.constant(self.value(newest), self._variable.dtype)
            tf.raw_ops.AssignVariableOp(resource=own_handle(self._variable), value=constant)

    def handed_out(self) -> None:
        """Somebody has the handle, and may write."""
        self.fetch()
        self._current.clear()
        if not tf.executing_eagerly() and not in_symbolic_scope():  # whose graph Keras only asks for shapes
            self.is_held = True


def own_handle(variable: Any) -> Any:
    """The handle of a variable, whose value stays where it is."""
    return variable.__dict__["_handle"]


_OFFLOADED = "_ipu_offload"


def offload(variable: Any, is_cut: bool) -> None:
    """Let ``variable`` be in remote memory while no program uses it; each replica has a part, if it ``is_cut``."""
    for each in (variable, own_handle(variable)):  # programs of graphs know the handle alone
        setattr(each, _OFFLOADED, is_cut)


def offloaded(variable: Any) -> bool | None:
    """Whether each replica has a part of a variable, or of that of a handle, in remote memory; None: it is on tiles."""
    found: bool | None = getattr(variable, _OFFLOADED, None)
    return found


class _OnDevice:
    """What is different for a variable that lives on the device: who asks for its handle finds the newest value.

    TensorFlow's own operations ask for ``_handle`` when they are given a variable, Python for ``handle``.
    """

    @property
    def _handle(self) -> Any:
        resident = self.__dict__.get("_resident")
        if resident is not None and not is_tracing():
            resident.handed_out()
        return own_handle(self)

    @_handle.setter
    def _handle(self, value: Any) -> None:
        self.__dict__["_handle"] = value

    @property
    def handle(self) -> Any:
        """As of TensorFlow's own variables."""
        return self._handle

    def __reduce__(self) -> Any:
        raise TypeError(f"variable {self.name} cannot be pickled; save it with tf.train.Checkpoint")


_KINDS: dict[type, type] = {}
_SHADOWS: ContextVar[Mapping[int, Any]] = ContextVar("variables for those of graphs", default=MappingProxyType({}))
_OF_HANDLES: "weakref.WeakValueDictionary[int, Any]" = weakref.WeakValueDictionary()


def variable_of(handle: Any) -> Any:
    """The variable that lives on the device and has ``handle``; None if there is none."""
    found = _OF_HANDLES.get(id(handle))
    return found if found is not None and own_handle(found) is handle else None


@contextmanager
def standing_for(shadows: Mapping[int, Any]) -> Iterator[None]:
    """In the block, variables stand for those of a graph in the program that is compiled: by identity of a handle."""
    before = _SHADOWS.set(shadows)
    try:
        yield
    finally:
        _SHADOWS.reset(before)


def shadow_of(handle: Any) -> Any:
    """The variable that stands for that of ``handle``, a tensor of a graph; None if it has a value of its own."""
    return _SHADOWS.get().get(id(handle))


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
    made = Resident(variable, is_held=not is_new)
    variable.__dict__["_resident"] = made
    _OF_HANDLES[id(own_handle(variable))] = variable
    variable.__class__ = _KINDS[kind]
    return made
