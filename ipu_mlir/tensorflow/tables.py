"""Tables on the host that programs look up and add to: a session's value goes in, and comes back."""

import re
import weakref
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
import tensorflow as tf

from ipu_mlir.runtime.engine.remote import RemoteArray
from ipu_mlir.runtime.engine.state import State
from ipu_mlir.runtime.translator.translation import RemoteSpec
from ipu_mlir.tensorflow.custom_calls import call
from ipu_mlir.tensorflow.devices import SYSTEM
from ipu_mlir.tensorflow.variables import is_tracing

_NUMBERS = count()
_TABLES: "weakref.WeakValueDictionary[str, Table]" = weakref.WeakValueDictionary()


class Table:
    """Rows that programs find by their numbers, while somebody has given them.

    Attributes:
        name: what programs call it.
        label: what messages call it.
    """

    def __init__(self, label: str, shape: tuple[int, int], dtype: tf.DType, partition: str) -> None:
        """A table without rows.

        Args:
            partition: how replicas share it, ``token`` or ``encoding``, where the configuration lets them.
        """
        self.name, self.label = f"{re.sub(r'[^A-Za-z0-9_]', '_', label)}_table_{next(_NUMBERS)}", label
        self._shape, self._dtype, self._partition = shape, dtype, partition
        self._rows: dict[RemoteSpec, _Rows] = {}
        self.is_open = False
        _TABLES[self.name] = self

    def lookup(self, numbers: Any) -> Any:
        """The rows of ``numbers``, in a function that is being traced for the device."""
        spec = tf.TensorSpec((*numbers.shape, self._shape[1]), self._dtype)
        return self._call("host_gather", [tf.cast(numbers, tf.int32)], [spec])[0]

    def add(self, numbers: Any, update: Any, every: int) -> None:
        """Add to those rows; with ``every``, when so many updates are there."""
        more = {"every": every} if every > 1 else {}
        self._call("host_update_add", [tf.cast(numbers, tf.int32), update], [], **more)

    def give(self, value: np.ndarray) -> None:
        """Begin with ``value``."""
        self.is_open, self._value = True, value
        for rows in self._rows.values():
            rows.give(_bits(value))

    def take(self) -> np.ndarray:
        """What the rows are at the end; programs find none afterwards. Updates that wait for others are lost."""
        self.is_open = False
        for rows in self._rows.values():
            return rows.value().view(self._value.dtype)
        return self._value

    def rows(self, spec: RemoteSpec) -> RemoteArray:
        """The memory, in the form in which a program has it.

        Raises:
            ValueError: another program has it in another form.
        """
        form = replace(spec, initial=None)
        if form not in self._rows:
            if self._rows:
                raise ValueError(
                    f"the table {self.label!r} is looked up by programs for different numbers of replicas, which "
                    "cannot share it; configure one device"
                )
            self._rows[form] = _Rows(self, form)
            if self.is_open:
                self._rows[form].give(_bits(self._value))
        return self._rows[form]

    def _call(self, name: str, operands: list[Any], results: list[tf.TensorSpec], **attributes: Any) -> list[Any]:
        if not is_tracing():
            raise RuntimeError(
                f"the table {self.label!r} is looked up in programs: in what ipu_compiler.compile or strategy.run runs"
            )
        config = SYSTEM.config
        if config is not None and config.experimental.enable_remote_buffer_embedding:
            attributes["partition"] = self._partition
        return call(name, operands, results, ordered=True, buffer=self.name, shape=list(self._shape), **attributes)


class _Rows(RemoteArray):
    """The rows of a table, which programs find while somebody has given them."""

    def __init__(self, table: Table, spec: RemoteSpec) -> None:
        super().__init__(spec)
        self._table = table

    @property
    def lines(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride] - asked each time
        if not self._table.is_open:
            raise RuntimeError(
                f"the program looks up the table {self._table.label!r}, which is not registered; run it in "
                "`with embedding.register(session):`"
            )
        return super().lines


def connect(state: State) -> None:
    """Let the tables of a program be those that its name says."""
    buffers = state.remote.buffers
    for name in buffers:
        if name in _TABLES:
            buffers[name] = _TABLES[name].rows(buffers[name].spec)


def _bits(value: np.ndarray) -> np.ndarray:
    """As programs have it, who know no unsigned types."""
    return value.view(f"i{value.itemsize}") if value.dtype.kind == "u" else value
