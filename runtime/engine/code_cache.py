"""Object code on disk, so that other processes need not make it again.

The folder may be one in which users have files of their own: only files whose names and beginnings are those that are
written here are read, counted or removed.
"""

import hashlib
import os
import re
import stat
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from ipu_mlir.dialects.storage.problems import reason_of
from ipu_mlir.dialects.storage.whole_files import Kind, write_whole
from ipu_mlir.dialects.support.errors import IpuError
from ipu_mlir.dialects.support.provider import libraries
from ipu_mlir.runtime.engine.object_code import can_load

FOLDER = "IPU_KERNEL_CACHE"
"""The environment variable that names the folder; empty for none."""

_MOST_FILES = 2048  # of about 3 KB each
_MOST_BYTES = 512 << 20  # of all files: programs with large constants are among them
_DIGEST_BYTES = 32
_MAGIC = b"ipu-mlir kernel\n"
HEAD_BYTES = len(_MAGIC) + _DIGEST_BYTES
"""Bytes of a file in front of the object code."""

_OURS = re.compile(r"[0-9a-f]{64}\.kernel")
_PRIVATE = Kind(mode=0o600)


def folder() -> Path | None:
    """The folder of object code: made if it is not there; None where there is none, or others may write into it.

    A warning says so once of one that the user has named.
    """
    chosen = os.environ.get(FOLDER)
    if chosen == "" or not can_load():
        return None
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    path = Path(chosen or os.path.join(caches, "ipu-mlir", "kernels"))
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = path.stat()
        _machine()
    except (OSError, ValueError) as error:
        taken = isinstance(error, FileExistsError | NotADirectoryError)
        return _without(chosen, "a file is in its place" if taken else reason_of(error, str(path)))
    if about.st_uid != os.geteuid() or about.st_mode & 0o022:
        return _without(chosen, "others may write into it, and could let this process run their code")
    return path


def _without(chosen: str | None, reason: str) -> None:
    if chosen:
        _say_once(f"no machine code is kept in {chosen} ({FOLDER}): {reason}")


@cache
def _say_once(text: str) -> None:
    warnings.warn(text, stacklevel=4)


def read(key: str) -> bytes | None:
    """The object code that was kept as ``key``, if the file is whole and is that of ``key`` and of this machine."""
    place = folder()
    if place is None:
        return None
    whole = _whole_key(key)
    try:
        content = (place / _name(whole)).read_bytes()
    except OSError:
        return None
    head, data = content[:HEAD_BYTES], content[HEAD_BYTES:]
    return data if head == _MAGIC + hashlib.sha256(whole + data).digest() else None


def write(key: str, data: bytes) -> None:
    """Keep ``data`` as ``key``: all of it or nothing, whoever else does so too. Those kept first make room."""
    place = folder()
    if place is None:
        return
    whole = _whole_key(key)
    with suppress(OSError, IpuError):  # a full disk, or one that is only read: the next process makes it again
        write_whole(place / _name(whole), _MAGIC + hashlib.sha256(whole + data).digest() + data, _PRIVATE)
        _make_room(place)


def _make_room(place: Path) -> None:
    """Remove the oldest files, if they are too many or too large. Another process may do so at the same time."""
    ages: list[tuple[int, int, str]] = []
    with os.scandir(place) as entries:
        for entry in entries:
            if _OURS.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(FileNotFoundError):
                    about = entry.stat(follow_symlinks=False)
                    ages.append((about.st_mtime_ns, about.st_size, entry.path))
    kept_bytes = 0
    for number, (_, size, path) in enumerate(sorted(ages, reverse=True)):
        kept_bytes += size
        if number < _MOST_FILES and kept_bytes <= _MOST_BYTES:
            continue
        with suppress(OSError):
            if _begins_as_ours(path):
                os.unlink(path)


def _begins_as_ours(path: str) -> bool:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(handle, "rb") as file:
        return stat.S_ISREG(os.fstat(handle).st_mode) and file.read(len(_MAGIC)) == _MAGIC


def _name(whole: bytes) -> str:
    return f"{hashlib.sha256(whole).hexdigest()}.kernel"


def _whole_key(key: str) -> bytes:
    return f"{_machine()}\n{key}".encode()


@cache
def _machine() -> str:
    """All that makes the code of one text differ: the libraries with LLVM in them, and the processor."""
    sizes = [(each.name, each.stat().st_size, each.stat().st_mtime_ns) for each in libraries()]
    return "\n".join([str(sizes), *_processor()])


def _processor() -> Iterator[str]:
    """Lines of Linux about the first processor, without what changes while it runs."""
    with open("/proc/cpuinfo") as file:
        for line in file:
            name = line.partition(":")[0].strip()
            if name in ("vendor_id", "cpu family", "model", "model name", "stepping", "flags"):
                yield line
            if not name:
                return
