"""The beginning of an array in NumPy's format, which is believed to no more than it says."""

import struct
import tokenize
from dataclasses import dataclass
from math import prod
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

_READERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_RAISED = (ValueError, TypeError, SyntaxError, KeyError, EOFError, OverflowError, RecursionError, MemoryError)
_RAISED += (struct.error, tokenize.TokenError)
"""What NumPy raises of a beginning that is something else."""


class NoArrayError(ValueError):
    """It is no array in NumPy's format, or not all of it; the message follows the name of the file."""


@dataclass(frozen=True)
class Header:
    """Attributes:
    shape, dtype: of the array.
    is_fortran: whether the first dimension is the one whose elements lie together.
    offset: where its elements begin, in bytes.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_fortran: bool
    offset: int

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return prod(self.shape) * self.dtype.itemsize

    @property
    def end(self) -> int:
        """Where the elements end, in bytes from the beginning of the file."""
        return self.offset + self.nbytes

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)}" + (" in the order of Fortran" if self.is_fortran else "")


def read_header(file: IO[bytes]) -> Header:
    """The header at the beginning of ``file``, which is read to its end.

    Raises:
        NoArrayError: there is none, or one that says nonsense.
    """
    try:
        version = npy.read_magic(file)
        if version not in _READERS:
            raise NoArrayError(f"is of version {version[0]}.{version[1]}, which is not known")
        shape, is_fortran, dtype = _READERS[version](file)
    except NoArrayError:
        raise
    except _RAISED as error:
        raise NoArrayError("is no .npy file: its beginning is not that of an array") from error
    if any(type(extent) is not int or extent < 0 for extent in shape):
        raise NoArrayError(f"is no .npy file: its header says that it has {list(shape)} elements")
    return Header(shape, dtype, is_fortran and len(shape) > 1, file.tell())
