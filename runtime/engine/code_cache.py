"""Object code on disk, so that other processes need not make it again."""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from ipu_mlir.dialects.support.bindings import compiled
from ipu_mlir.runtime.engine.object_code import can_load

FOLDER = "IPU_KERNEL_CACHE"
"""The environment variable that names the folder; empty for none."""

_MOST_FILES = 2048  # of about 3 KB each
_DIGEST_BYTES = 32


def folder() -> Path | None:
    """The folder of object code: made if it is not there; None where there is none, or others may write into it."""
    chosen = os.environ.get(FOLDER)
    if chosen == "" or not can_load():
        return None
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    path = Path(chosen or os.path.join(caches, "ipu-mlir", "kernels"))
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = path.stat()
        _machine()
    except OSError:
        return None
    return path if about.st_uid == os.geteuid() and not about.st_mode & 0o022 else None


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
    digest, data = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    return data if digest == hashlib.sha256(whole + data).digest() else None


def write(key: str, data: bytes) -> None:
    """Keep ``data`` as ``key``: all of it or nothing, whoever else does so too. Those kept first make room."""
    place = folder()
    if place is None:
        return
    whole = _whole_key(key)
    with suppress(OSError):  # a full disk, or one that is only read: the next process makes it again
        handle, unfinished = tempfile.mkstemp(dir=place, suffix=".new")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(whole + data).digest() + data)
            os.replace(unfinished, place / _name(whole))
        except BaseException:
            os.unlink(unfinished)
            raise
        files = [entry for entry in os.scandir(place) if entry.is_file()]
        for entry in sorted(files, key=lambda entry: entry.stat().st_mtime)[: max(0, len(files) - _MOST_FILES)]:
            os.unlink(entry)


def _name(whole: bytes) -> str:
    return hashlib.sha256(whole).hexdigest()


def _whole_key(key: str) -> bytes:
    return f"{_machine()}\n{key}".encode()


@cache
def _machine() -> str:
    """All that makes the code of one text differ: the libraries with LLVM in them, and the processor."""
    libraries = Path(compiled("_mlir").__file__ or "").parent.glob("lib*")
    sizes = [(each.name, each.stat().st_size, each.stat().st_mtime_ns) for each in sorted(libraries)]
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
