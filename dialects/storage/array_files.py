"""Arrays in ``.npy`` files that are mapped into memory, by any number of processes at one time."""

import io
import mmap
import os
import stat
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib import format as npy

from ipu_mlir.dialects.storage.locks import folder_lock
from ipu_mlir.dialects.storage.npy_header import Header, NoArrayError, read_header
from ipu_mlir.dialects.storage.problems import reason_of
from ipu_mlir.dialects.storage.space import reserve
from ipu_mlir.dialects.storage.whole_files import Kind, place_of, unfinished
from ipu_mlir.dialects.support.errors import IpuError

_NEW = Kind(is_durable=True, replaces=False)


class ArrayFileError(IpuError):
    """A file cannot be made, is not the array that was expected, or is no longer where it was."""


class ArrayFile:
    """An array in a file. Whoever writes to ``array`` writes to the file.

    All of its bytes are on the disk before it is mapped: to write to it never needs more. Those who find no file make
    it one after the other; who comes later finds all of what the first one wrote.

    Attributes:
        array: all elements.
        path: of the file itself, behind all links.
    """

    def __init__(
        self,
        path: "str | os.PathLike[str]",
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        begin: Callable[[np.ndarray], object],
    ) -> None:
        """Map the file ``path``; if there is none, make it, of zeros that ``begin`` may change first.

        Raises:
            ArrayFileError: it cannot be made or used, or has another shape, type or size; the message names it.
        """
        name = os.fspath(path)
        self._expected = Header(shape, dtype, False, len(_text(shape, dtype)))
        try:
            self.path = place_of(name)
            if not os.path.exists(self.path):
                self._make(begin)
            self.array = self._mapped("r+", is_reserved=True)
            self._identity = os.stat(self.path)
        except NoArrayError as error:
            raise ArrayFileError(f"{name} {error}") from error
        except (OSError, ValueError) as error:
            raise ArrayFileError(f"{name}: {reason_of(error, name, self._expected.end - _on_disk(name))}") from error

    def _make(self, begin: Callable[[np.ndarray], object]) -> None:
        with folder_lock(os.path.dirname(self.path)):  # or each would take the bytes of a file that only one makes
            if os.path.exists(self.path):
                return
            try:
                with unfinished(self.path, _NEW) as file:
                    file.write(_text(self._expected.shape, self._expected.dtype))
                    file.flush()
                    reserve(file.fileno(), self._expected.end)
                    array = _map_of(file, self._expected, "r+")
                    begin(array)
                    array.flush()
            except FileExistsError:
                return  # made by somebody without locks

    def _mapped(self, mode: Any, is_reserved: bool = False) -> np.memmap:
        handle = os.open(self.path, (os.O_RDWR if mode == "r+" else os.O_RDONLY) | os.O_NONBLOCK)
        with open(handle, "r+b" if mode == "r+" else "rb", buffering=0) as file:
            state = os.fstat(handle)
            if not stat.S_ISREG(state.st_mode):
                raise NoArrayError("is no regular file")
            found = read_header(io.BytesIO(os.pread(handle, 1 << 16, 0)))
            expected = self._expected
            if (found.shape, found.dtype, found.is_fortran) != (expected.shape, expected.dtype, False):
                raise NoArrayError(f"has {found}, expected {expected}; name another file, which is made")
            if state.st_size < found.end:
                raise NoArrayError(
                    f"was cut off: {found} ends after {found.end:,} B, and the file has {state.st_size:,} B; bring "
                    "the whole file back, or name another one, which is made"
                )
            if is_reserved:
                reserve(handle, found.end)
            return _map_of(file, found, mode)

    def without_reading_ahead(self) -> np.ndarray | None:
        """Another map of it; where a page is missing, the system otherwise reads many around it.

        None where the system cannot be told so.
        """
        if not hasattr(mmap, "MADV_RANDOM"):
            return None
        second = self._again("r+")
        second._mmap.madvise(mmap.MADV_RANDOM)
        return np.asarray(second)

    def copy(self) -> np.ndarray:
        """The same elements; what is written to them stays in memory."""
        return np.asarray(self._again("c"))

    def _again(self, mode: Any) -> np.memmap:
        try:
            return self._mapped(mode)
        except NoArrayError as error:
            raise ArrayFileError(f"{self.path} has changed since it was opened: it {error}") from error
        except OSError as error:
            raise ArrayFileError(f"{self.path}: {reason_of(error, self.path)}") from error

    def flush(self) -> None:
        """Let the disk have all that was written.

        Raises:
            ArrayFileError: it has not; or the file is no longer the one that was opened.
        """
        try:
            self.array.flush()
            is_there = os.path.samestat(os.stat(self.path), self._identity)
        except FileNotFoundError:
            is_there = False
        except OSError as error:
            raise ArrayFileError(f"{self.path}: {reason_of(error, self.path)}") from error
        if not is_there:
            raise ArrayFileError(
                f"{self.path} was removed or replaced by another file after it was opened: what was written since then "
                "is in memory only; copy the rows into a file of their own"
            )


def _on_disk(path: str) -> int:
    """The bytes of its disk that the file ``path`` has."""
    try:
        return os.stat(path).st_blocks * 512
    except (OSError, ValueError):
        return 0


def _text(shape: tuple[int, ...], dtype: np.dtype[Any]) -> bytes:
    text = io.BytesIO()
    fields = {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    npy.write_array_header_1_0(text, fields)
    return text.getvalue()


def _map_of(file: Any, header: Header, mode: Any) -> np.memmap:
    return np.memmap(file, dtype=header.dtype, mode=mode, shape=header.shape, offset=header.offset)
