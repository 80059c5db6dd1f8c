"""Reasons why files cannot be used, in words: with the folder that is missing, or the bytes."""

import errno
import os

_ULIMIT = "the most that a file of this process may have (ulimit -f)"


def reason_of(error: OSError | ValueError, path: str, needed: int | None = None) -> str:
    """The reason of ``error``, which the system gave for ``path``; no full stop, and no name of the file.

    Args:
        needed: how many bytes of the disk the file was to get, where that is known.
    """
    if not isinstance(error, OSError):
        return str(error)  # a zero byte in the name
    text = error.strerror or str(error)
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return text + _folder_of(path)
    if needed is None:
        return text
    if error.errno == errno.EFBIG:
        return f"{text}: it needs {needed:,} B, and {_ULIMIT} is {_limit():,} B"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return text + _missing(path, needed)
    return text


def _folder_of(path: str) -> str:
    """``: there is no folder ...`` for the first folder of ``path`` that is none, or nothing."""
    folder = os.path.dirname(os.path.realpath(path))
    if not folder or os.path.isdir(folder):
        return ""
    while not os.path.lexists(os.path.dirname(folder)):
        folder = os.path.dirname(folder)
    above = os.path.dirname(folder)
    if not os.path.isdir(above):
        return f": {above} is a file, not a folder"
    return f": {folder} is a file, not a folder" if os.path.lexists(folder) else f": there is no folder {folder}"


def _missing(path: str, needed: int) -> str:
    """The bytes that the disk of ``path`` lacks."""
    try:
        folder = os.path.dirname(os.path.realpath(path))
        disk = os.statvfs(folder)
    except OSError:
        return ""
    free = disk.f_bavail * disk.f_frsize
    if needed <= free:  # what is left is not for this user
        return f": it needs {needed:,} B more"
    return f": it needs {needed:,} B more, and its disk has {free:,} B left, {needed - free:,} B too few"


def _limit() -> int:
    import resource  # only where there are such limits

    return resource.getrlimit(resource.RLIMIT_FSIZE)[0]
