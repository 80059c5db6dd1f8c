"""Remote buffers of one session: rows in memory, or in files that are larger than memory."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from ipu_mlir.dialects.storage.array_files import ArrayFile, ArrayFileError
from ipu_mlir.dialects.storage.npz import array_in_file
from ipu_mlir.dialects.support.counted import counted
from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.engine.inputs import as_expected
from ipu_mlir.runtime.translator.translation import RemoteSpec

_FEW_BYTES = 1 << 14
"""Of a file, what so few bytes need is read without what lies around it, unless it follows what was read before."""


class RemoteArray:
    """The rows of one remote buffer.

    Attributes:
        array: all of them; a map of the file where there is one. Where replicas have rows of their own, its first
            dimension is for them.
        file: where they lie; None for memory. Sessions with one file, in any processes, share its rows.
    """

    def __init__(self, spec: RemoteSpec, file: "str | os.PathLike[str] | None" = None) -> None:
        """Begin with zeros, or with what the program says; or with what ``file`` has, which is made if there is none.

        Raises:
            RunError: there is not so much memory or room on the disk, or the file holds something else.
        """
        self.spec = spec
        self.file = None if file is None else self._in_file(file)
        self.array = self._in_memory() if self.file is None else np.asarray(self.file.array).view(spec.dtype)
        self._waiting: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}
        self._random: np.ndarray | None = None
        if self.file is not None and self.lines.size and self.lines[:1].nbytes <= _FEW_BYTES:
            found = self.file.without_reading_ahead()
            self._random = None if found is None else found.view(spec.dtype).reshape(self.lines.shape)
        self._next = 0

    def _in_memory(self) -> np.ndarray:
        try:
            array = np.zeros(self.spec.shape, self.spec.dtype)
        except (MemoryError, ValueError) as error:  # ValueError: more than there are addresses
            raise RunError(
                f"remote buffer {self.spec.name!r} needs {self.spec.nbytes:,} B, which this machine does not have; "
                "keep it in a file: RemoteBuffer(..., file=...)"
            ) from error
        return self._begun(array)

    def _begun(self, array: np.ndarray) -> np.ndarray:
        if self.spec.initial is not None:
            self._fill(array, self.spec.initial)
        return array

    def _fill(self, array: np.ndarray, value: np.ndarray) -> None:
        """Let ``array`` have the parts of ``value``, or all of it."""
        spec = self.spec
        if spec.whole is None:
            array[...] = value
        elif spec.partition == "token":
            for replica, own in enumerate(array):
                rows = value[replica :: spec.replicas]
                own[: len(rows)], own[len(rows) :] = rows, 0
        else:
            flat = value.reshape(spec.whole[0], -1)
            size = array.shape[2]
            for replica, own in enumerate(array):
                block = flat[:, replica * size : (replica + 1) * size]
                own[:, : block.shape[1]], own[:, block.shape[1] :] = block, 0

    def value(self) -> np.ndarray:
        """A copy of what replicas have together, or each of them."""
        spec = self.spec
        if spec.whole is None:
            return self.array.copy()
        if spec.partition == "token":
            return self.array.swapaxes(0, 1).reshape(-1, *spec.whole[1:])[: spec.whole[0]]
        size = prod(spec.whole[1:])
        return self.array.swapaxes(0, 1).reshape(spec.whole[0], -1)[:, :size].reshape(spec.whole).copy()

    def _in_file(self, file: "str | os.PathLike[str]") -> ArrayFile:
        kind = array_in_file(np.empty(0, self.spec.dtype)).dtype
        try:
            return ArrayFile(file, self.spec.shape, kind, lambda array: self._begun(array.view(self.spec.dtype)))
        except ArrayFileError as error:
            raise self._error(error) from error

    @property
    def rows(self) -> int:
        """The number of rows that a program sees."""
        return self.spec.shape[1 if self.spec.replicas else 0]

    @cached_property
    def lines(self) -> np.ndarray:
        """The rows of all replicas, one after the other, in the same memory."""
        return self.array.reshape(-1, *self.spec.shape[2 if self.spec.replicas else 1 :])

    def lines_at(self, places: Any) -> np.ndarray:
        """``lines``; those of a file by a map that reads no more than is asked for, where ``places`` are anywhere."""
        if self._random is None:
            return self.lines
        if not isinstance(places, np.ndarray):
            first, end = (places, places + 1) if isinstance(places, int) else (places.start, places.stop)
            follows, self._next = first == self._next, end
            if follows or (end - first) * self.lines.strides[0] > _FEW_BYTES:
                return self.lines
        return self._random

    def copy(self) -> "RemoteArray":
        """The same rows, which are no longer those of the file: what is written to them stays in memory."""
        copied = RemoteArray.__new__(RemoteArray)
        copied.spec, copied.file = self.spec, None
        copied._waiting = {every: list(each) for every, each in self._waiting.items()}
        copied._random, copied._next = None, 0
        copied.array = self.array.copy() if self.file is None else self._copy_of(self.file)
        return copied

    def _copy_of(self, file: ArrayFile) -> np.ndarray:
        try:
            return file.copy().view(self.spec.dtype)
        except ArrayFileError as error:
            raise self._error(error) from error

    def _error(self, error: ArrayFileError) -> RunError:
        return RunError(f"remote buffer {self.spec.name!r}: {error}")

    def flush(self) -> None:
        """Let the file have what was written.

        Raises:
            RunError: updates are waiting for others before they are added; or the file is gone.
        """
        if self._waiting:
            waiting = counted(sum(map(len, self._waiting.values())), "update")
            raise RunError(
                f"table {self.spec.name!r} has gathered {waiting} and not added them yet; save it after a run that "
                "ends with a whole number of windows"
            )
        if self.file is not None:
            try:
                self.file.flush()
            except ArrayFileError as error:
                raise self._error(error) from error

    def give(self, value: np.ndarray) -> None:
        """Let it have ``value``; updates that were gathered are forgotten."""
        self._fill(self.array, value)
        self._waiting.clear()

    def places_of(self, rows: Any, moved: np.ndarray) -> Any:
        """The index in ``lines`` of the rows that are moved: of one, or of as many from it on as ``moved`` has more.

        Where each replica has rows of its own, the first dimension of ``rows`` and of ``moved`` is for them.

        Raises:
            RunError: the buffer does not have them.
        """
        if np.ndim(rows) > 0:
            places = np.asarray(rows)
            if moved.ndim == places.ndim + self.lines.ndim:  # several from each one on
                places = places[..., None] + np.arange(moved.shape[places.ndim], dtype=places.dtype)
            return self._checked(places)
        first, count = int(rows), len(moved) if moved.ndim == self.lines.ndim else 1
        if not 0 <= first <= self.rows - count:
            which = f"row {first}" if count == 1 else f"rows {first} to {first + count - 1}"
            raise RunError(
                f"remote buffer {self.spec.name!r} has rows 0 to {self.rows - 1}, and the program moves {which}"
            )
        return first if moved.ndim < self.lines.ndim else slice(first, first + count)

    def _checked(self, places: np.ndarray) -> np.ndarray:
        """The index in ``lines`` of rows by their numbers."""
        if places.size and not (places.min() >= 0 and places.max() < self.rows):
            wrong = places[(places < 0) | (places >= self.rows)].flat[0]
            raise RunError(
                f"table {self.spec.name!r} has rows 0 to {self.rows - 1}, and the program asks for row {wrong}"
            )
        if not self.spec.replicas:
            return places
        return places + self.rows * np.arange(self.spec.replicas).reshape(-1, *[1] * (places.ndim - 1))

    def add(self, every: int, rows: np.ndarray, update: np.ndarray) -> None:
        """Add ``update`` to ``rows``; with ``every``, when so many updates that say so are there."""
        ready = [(self._checked(rows), update)]
        if every > 1:
            waiting = self._waiting.setdefault(every, [])
            waiting += [(places.copy(), what.copy()) for places, what in ready]
            if len(waiting) < every:
                return
            ready = self._waiting.pop(every)
        for where, what in ready:
            flat = where.reshape(-1)
            what = what.reshape(flat.size, *self.lines.shape[1:]).astype(self.array.dtype, copy=False)
            lines = self.lines_at(flat)
            if len(np.unique(flat)) == flat.size:
                lines[flat] += what
            else:
                np.add.at(lines, flat, what)


class RemoteMemory:
    """The remote buffers of one session."""

    def __init__(
        self,
        specs: Iterable[RemoteSpec],
        shared: Mapping[str, RemoteArray] | None = None,
        files: Mapping[str, Any] | None = None,
    ) -> None:
        """Make the buffers; those of one name are one.

        Args:
            shared: those that others use too.
            files: by name, in which file a buffer lies.
        """
        self.buffers: dict[str, RemoteArray] = dict(shared or {})
        self._merged: dict[str, tuple[str, ...]] = {}
        for spec in specs:
            if spec.variables:
                self._merged[spec.name] = spec.variables
            elif spec.name not in self.buffers:
                self.buffers[spec.name] = RemoteArray(spec, (files or {}).get(spec.name))

    def copy(self) -> "RemoteMemory":
        """The same rows, in memory of their own."""
        copied = RemoteMemory((), {name: each.copy() for name, each in self.buffers.items()})
        copied._merged = self._merged
        return copied

    def _found(self, name: str, rows: Any) -> tuple[RemoteArray, Any]:
        """The buffer ``name`` and ``rows`` of it; of variables that are rows of one buffer, that which is the row."""
        if name not in self._merged:
            return self.buffers[name], rows
        number = int(np.asarray(rows).flat[0])  # the same on all replicas
        return self.buffers[self._merged[name][number]], np.zeros_like(rows)

    def fetch(self, name: str, rows: Any, out: np.ndarray) -> None:
        """Write a row, consecutive rows, or those that ``rows`` names, to ``out``."""
        buffer, rows = self._found(name, rows)
        places = buffer.places_of(rows, out)
        np.copyto(out, buffer.lines_at(places)[places], "unsafe")

    def remote_store(self, name: str, value: Any, row: Any) -> None:
        """Write ``value`` from ``row`` on."""
        buffer, row = self._found(name, row)
        array = np.asarray(value)
        places = buffer.places_of(row, array)
        buffer.lines_at(places)[places] = array

    def host_update_add(self, name: str, every: int, rows: Any, update: Any) -> None:
        """Add ``update`` to the rows that ``rows`` names."""
        self.buffers[name].add(every, np.asarray(rows), np.asarray(update))

    def expected(self, name: str, value: Any) -> np.ndarray:
        """``value`` as the buffer ``name`` takes it."""
        spec = self.buffers[name].spec
        if spec.whole is not None:
            spec = replace(spec, shape=spec.whole)
        elif spec.replicas and np.shape(value) == spec.shape[1:]:
            value = np.broadcast_to(value, spec.shape)  # one for all replicas
        return as_expected(value, spec, f"the value of remote buffer {name!r}")
