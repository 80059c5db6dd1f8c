"""``.npz`` files of arrays, as NumPy writes them: read without trust, and written whole or not at all."""

import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from math import prod

import numpy as np
from numpy.lib import format as npy

from ipu_mlir.dialects.support.errors import IpuError
from ipu_mlir.dialects.support.narrow_floats import ML_DTYPES

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_MOST_UNPACKED = {zipfile.ZIP_STORED: 1, zipfile.ZIP_DEFLATED: 1032}
"""By the ways in which NumPy packs an array: how many bytes may come of one."""


class _WrongSize(ValueError):
    """An array says that it is larger than the file can hold, or of another kind."""


_NO_ARRAYS = (ValueError, TypeError, SyntaxError, KeyError, EOFError, OverflowError, RecursionError)
_NO_ARRAYS += (RuntimeError, NotImplementedError, zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError)
"""What NumPy and zipfile raise of files that are something else, encrypted, or damaged."""


def read_arrays(path: str) -> dict[str, np.ndarray]:
    """All arrays of the file, by name. Nothing in it is taken for more than numbers, nor for more than it holds.

    Raises:
        IpuError: there is no such file, or it is no ``.npz`` of arrays.
    """
    try:
        with open(path, "rb") as file, zipfile.ZipFile(file) as archive:
            size = os.fstat(file.fileno()).st_size
            members = [member for member in archive.infolist() if member.filename.endswith(".npy")]
            return {member.filename.removesuffix(".npy"): _array(archive, member, size) for member in members}
    except OSError as error:
        raise IpuError(f"cannot read {path}: {error.strerror or error}") from error
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
        read_header = _HEADERS.get(npy.read_magic(file))
        if read_header is None:
            raise _WrongSize(f"{member.filename} is of a version that is not known")
        shape, _, dtype = read_header(file)
        needed = prod(shape) * dtype.itemsize
        if any(extent < 0 for extent in shape) or needed != unpacked - file.tell():
            raise _WrongSize(f"{member.filename} has {unpacked - file.tell():,} bytes for {list(shape)} of {dtype}")
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
    target = os.path.abspath(path)
    aside = f"{target}.{os.getpid()}.part"
    try:
        try:
            with open(aside, "wb") as file:
                with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
                    for name, array in arrays.items():
                        with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                            npy.write_array(member, array_in_file(array), allow_pickle=False)
                file.flush()
                os.fsync(file.fileno())
            os.replace(aside, target)
        finally:
            if os.path.exists(aside):
                os.unlink(aside)
        folder = os.open(os.path.dirname(target), os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise IpuError(f"cannot write {path}: {error.strerror or error}") from error
