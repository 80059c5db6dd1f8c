"""Bytes of the disk that a file has for sure, before its memory is mapped: a write to a map cannot fail, only kill."""

import errno
import os

_CHUNK = 1 << 20
_NOT_HERE = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)


def reserve(handle: int, size: int) -> None:
    """Let the file ``handle`` have ``size`` bytes on its disk: zeros where it ended before that.

    Raises:
        OSError: the disk is full, or the process may not write so large files.
    """
    state, disk = os.fstat(handle), os.fstatvfs(handle)
    there = state.st_blocks * 512
    if state.st_size >= size and there >= size:
        return
    if size - there > disk.f_bavail * disk.f_frsize:  # trying would take all that others have left, for a while
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(handle, 0, size)
            return
        except OSError as error:
            if error.errno not in _NOT_HERE:
                raise
    for start in range(state.st_size, size, _CHUNK):
        written = 0
        while written < (part := min(_CHUNK, size - start) - written):
            written += os.pwrite(handle, bytes(part), start + written)
