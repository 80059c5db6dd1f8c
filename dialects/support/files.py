"""Files of others, read whole and with a limit: a device or a pipe may never end."""

import os
import stat
from pathlib import Path

from ipu_mlir.dialects.support.errors import IpuError

MOST_BYTES = 2 << 30
_CHUNK = 1 << 20


class FileTooLarge(IpuError):
    """A file has more bytes than a program or a profile may have."""


def read_bytes(path: str | Path, most: int = MOST_BYTES) -> bytes:
    """The content of the file ``path``.

    Raises:
        OSError: it cannot be read.
        FileTooLarge: it has more than ``most`` bytes; no more than those are read.
    """
    with open(path, "rb") as file:
        state = os.fstat(file.fileno())
        if stat.S_ISREG(state.st_mode) and state.st_size <= most:
            return file.read()
        chunks: list[bytes] = []
        left = most if not stat.S_ISREG(state.st_mode) else -1
        while left >= 0 and (chunk := file.read(_CHUNK)):
            chunks.append(chunk)
            left -= len(chunk)
        if left < 0:
            raise FileTooLarge(f"the file has more than {most:,} bytes, the most that is read")
        return b"".join(chunks)
