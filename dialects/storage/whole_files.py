"""Files that are written whole or not at all: beside the old one first, and then in its place.

Until its writer is done, the new file has a name that no other writer takes, and a lock that ends with its writer. A
file with such a name and without such a lock was left by a process that was killed; the next writer removes it.
"""

import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import BinaryIO

from ipu_mlir.dialects.storage.locks import has_no_owner, lock_as_owner
from ipu_mlir.dialects.storage.problems import reason_of
from ipu_mlir.dialects.support.errors import IpuError

_UNFINISHED = re.compile(r"\.ipu-mlir-[0-9a-f]{16}\.unfinished")


@dataclass(frozen=True)
class Kind:
    """Ways in which files of one kind are written.

    Attributes:
        mode: of a file that is new, less the bits that the user's mask takes away.
        is_durable: whether the new one is on the disk, not only in the system's memory, before the old one is gone.
        replaces: whether it takes the place of a file that is there; if not, that one stays.
    """

    mode: int = 0o666
    is_durable: bool = False
    replaces: bool = True


OUTPUT, STATE = Kind(), Kind(is_durable=True)


def write_whole(path: "str | os.PathLike[str]", data: bytes, kind: Kind = OUTPUT) -> None:
    """Write ``data`` into the file ``path``, which has the old content until it has all of the new one.

    A link stays a link, to a file with the new content; a file that was there keeps its mode and its owner. Another
    name of the same file (a hard link) keeps the old content.

    Raises:
        IpuError: it cannot be written, with the reason; the old file is as it was.
    """
    try:
        with unfinished(path, kind) as file:
            file.write(data)
    except (OSError, ValueError) as error:
        raise cannot_write(path, error, len(data)) from error


def make_folder(path: "str | os.PathLike[str]") -> None:
    """Make the folder ``path``, and those that it lies in, if it is not there.

    Raises:
        IpuError: it cannot be made, with the reason.
    """
    name = os.fspath(path)
    try:
        os.makedirs(name, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise IpuError(f"cannot make the folder {name}: a file is in its place") from error
    except (OSError, ValueError) as error:
        raise IpuError(f"cannot make the folder {name}: {reason_of(error, name)}") from error


def cannot_write(path: "str | os.PathLike[str]", error: OSError | ValueError, needed: int | None = None) -> IpuError:
    """The error that says so of the file ``path``; ``needed`` as of ``reason_of``."""
    name = os.fspath(path)
    return IpuError(f"cannot write {name}: {reason_of(error, name, needed)}")


@contextmanager
def unfinished(path: "str | os.PathLike[str]", kind: Kind) -> Iterator[BinaryIO]:
    """A new file, empty, that is ``path`` if the block ends well, and gone if it does not.

    Raises:
        OSError, ValueError: it cannot be made, or not take its place.
        FileExistsError: there is a file ``path``, and ``kind`` replaces none.
    """
    place = place_of(os.fspath(path))
    folder = os.path.dirname(place)
    old = _state_of(place)
    if old is not None and kind.replaces:
        _check_replaceable(place, old)
    remove_abandoned(folder)
    file, aside = _new_file(folder, kind.mode if old is None else 0o600)
    with file:
        try:
            yield file
            file.flush()
            if old is not None:
                _take_over(file.fileno(), old)
            if kind.is_durable:
                os.fsync(file.fileno())
            _give_place(aside, place, kind)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(aside)
    if kind.is_durable:
        _sync_folder(folder)


def remove_abandoned(folder: str) -> None:
    """Remove the files of ``folder`` that writers left which were killed. Errors in it are those of nobody."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _UNFINISHED.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    _remove_if_abandoned(entry.path)


def _remove_if_abandoned(path: str) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if os.fstat(handle).st_uid == os.geteuid() and has_no_owner(handle) and _is_at(handle, path):
            os.unlink(path)
    finally:
        os.close(handle)


def _new_file(folder: str, mode: int) -> tuple[BinaryIO, str]:
    """An empty file in ``folder`` that is locked, and its path."""
    while True:
        path = os.path.join(folder, f".ipu-mlir-{secrets.token_hex(8)}.unfinished")
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), mode)
        lock_as_owner(handle)
        if _is_at(handle, path):  # else another writer saw it before it was locked
            return open(handle, "w+b"), path
        os.close(handle)


def _is_at(handle: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False


def place_of(name: str) -> str:
    """The path of the file itself, behind all links.

    Raises:
        OSError: it is empty, or that of a folder.
        ValueError: it has a zero byte.
    """
    if not name or name.endswith(os.sep):
        raise _error(errno.EISDIR) if name else FileNotFoundError(errno.ENOENT, "the name of the file is empty")
    return os.path.realpath(name)


def _state_of(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _check_replaceable(path: str, state: os.stat_result) -> None:
    """Refuse what ``open`` refuses: a file that may only be read is not one to be replaced."""
    if stat.S_ISDIR(state.st_mode):
        raise _error(errno.EISDIR)
    if not stat.S_ISREG(state.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file")
    if not os.access(path, os.W_OK):
        raise _error(errno.EACCES)


def _take_over(handle: int, old: os.stat_result) -> None:
    """Let the file ``handle`` have the owner and the mode of the one whose place it takes."""
    new = os.fstat(handle)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        with suppress(PermissionError):
            os.fchown(handle, old.st_uid, old.st_gid)
    os.fchmod(handle, stat.S_IMODE(old.st_mode))


def _give_place(aside: str, place: str, kind: Kind) -> None:
    if kind.replaces:
        os.replace(aside, place)
        return
    try:
        os.link(aside, place)
    except FileExistsError:
        raise
    except OSError:  # a file system without second names; only who holds the lock of the folder may come so far
        if os.path.lexists(place):
            raise _error(errno.EEXIST) from None
        os.replace(aside, place)


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def _sync_folder(folder: str) -> None:
    """Let the disk have the names in ``folder``, where this user may open it and its file system knows of that."""
    with suppress(PermissionError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
        finally:
            os.close(handle)
