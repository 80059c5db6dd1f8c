"""``.npz`` files of arrays, as NumPy writes them: read without trust, and written whole or not at all."""

import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Mapping

import numpy as np
from numpy.lib import format as npy

from ipu_mlir.dialects.storage.npy_header import NoArrayError, read_header
from ipu_mlir.dialects.storage.problems import reason_of
from ipu_mlir.dialects.storage.whole_files import STATE, cannot_write, unfinished
from ipu_mlir.dialects.support.errors import IpuError
from ipu_mlir.dialects.support.narrow_floats import ML_DTYPES

_MOST_UNPACKED = {zipfile.ZIP_STORED: 1, zipfile.ZIP_DEFLATED: 1032}
"""By the ways in which NumPy packs an array: how many bytes may come of one."""


_AROUND_BYTES = 512
"""About so many has a file in addition to the elements of each array."""


class _WrongSize(ValueError):
    """An array says that it is larger than the file can hold, or of another kind."""


_NO_ARRAYS = (ValueError, KeyError, EOFError, OverflowError, RuntimeError, NotImplementedError)
_NO_ARRAYS += (zipfile.BadZipFile, zlib.error, struct.error)
"""What NumPy and zipfile raise of files that are something else, encrypted, or damaged."""


def read_arrays(path: str) -> dict[str, np.ndarray]:
    """All arrays of the file, by name. Nothing in it is taken for more than numbers, nor for more than it holds.

    Raises:
        IpuError: there is no such file, or it is no ``.npz`` of arrays.
    """
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            state = os.fstat(file.fileno())
            if not stat.S_ISREG(state.st_mode):
                raise _WrongSize("it is no regular file")
            size = state.st_size
            archive = zipfile.ZipFile(file)
            members = [member for member in archive.infolist() if member.filename.endswith(".npy")]
            return {member.filename.removesuffix(".npy"): _array(archive, member, size) for member in members}
    except OSError as error:
        raise IpuError(f"cannot read {path}: {reason_of(error, path)}") from error
    except _NO_ARRAYS as error:
        reason = f": {error}" if isinstance(error, _WrongSize) else ""
        raise IpuError(f"{path} is no .npz file of arrays{reason}") from error
    except MemoryError as error:
        raise IpuError(f"the arrays of {path} need more memory than this machine has") from error


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo, size: int) -> np.ndarray:
    """One array, whose header is believed only as far as the file of ``size`` bytes can bear it out."""
    packed, unpacked = member.compress_size, member.file_size
    if (
        member.compress_type not in _MOST_UNPACKED
        or packed > size
        or unpacked > packed * _MOST_UNPACKED[member.compress_type]
    ):
        raise _WrongSize(f"{member.filename} cannot be {unpacked:,} bytes in {min(packed, size):,}")
    with archive.open(member) as file:
        try:
            header = read_header(file)
        except NoArrayError as error:
            raise _WrongSize(f"{member.filename} {error}") from error
        if header.end != unpacked:
            raise _WrongSize(
                f"{member.filename} has {unpacked - header.offset:,} bytes for {list(header.shape)} of {header.dtype}"
            )
    with archive.open(member) as file:
        return npy.read_array(file, allow_pickle=False)


def array_in_file(array: np.ndarray) -> np.ndarray:
    """``array``, as void if its type is one that ``np.load`` could not read."""
    return array.view(f"V{array.dtype.itemsize}") if array.dtype.name in ML_DTYPES.values() else array


def write_arrays(path: "str | os.PathLike[str]", arrays: Mapping[str, np.ndarray]) -> None:
    """Write ``arrays`` into the file ``path``, which is the old one until all of the new one is on the disk.

    Raises:
        IpuError: it cannot be written; the old file is as it was.
    """
    content = {name: array_in_file(array) for name, array in arrays.items()}
    try:
        with unfinished(path, STATE) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            for name, array in content.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    npy.write_array(member, array, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise cannot_write(path, error, sum(array.nbytes + _AROUND_BYTES for array in content.values())) from error
