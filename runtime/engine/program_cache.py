"""Translated programs on disk, so that other processes need neither plan nor lower nor translate them again.

A file has a line of JSON and the constants behind it, in the folder and with the digest of object code. It belongs to
one text of a program, one set of options, one version of this package and its libraries, and one kind of processor.
"""

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ipu_mlir.dialects.support.element_types import ELEMENT_TYPES
from ipu_mlir.dialects.support.errors import MemoryWarning, Settings
from ipu_mlir.runtime.engine import code_cache
from ipu_mlir.runtime.translator.translation import ArraySpec, RemoteSpec, Stream, Translation, Variable

_MOST_BYTES = 32 << 20
"""Of one file: programs with larger constants are compiled by every process."""


def key_of(program: Callable[[], bytes], entries: Sequence[str], entry: str, options: str) -> str | None:
    """What a program is kept as; None if nothing is kept, or the text of the program does not say all that it does."""
    if code_cache.folder() is None:
        return None
    text = program()
    if any(name.encode() in text for name in _codelets_of_users()):
        return None
    return "\n".join(["program", _version(), options, repr((*entries,)), entry, hashlib.sha256(text).hexdigest()])


def _codelets_of_users() -> Iterable[str]:
    """The names of codelets, of which the text of a program says no more; without the library there are none."""
    library = sys.modules.get("ipu_mlir.dialects.codelets.library")
    return library.LIBRARY.keys() - library.OWN if library else ()


class Kept(NamedTuple):
    """A translation, what its compilation warned of, and the name of the function."""

    translation: Translation
    heard: list[MemoryWarning]
    entry: str


def read(key: str) -> Kept | None:
    """What was kept as ``key``."""
    data = code_cache.read(key)
    return None if data is None else from_bytes(data)


def write(key: str, translation: Translation, heard: Sequence[MemoryWarning], entry: str) -> None:
    """Keep ``translation`` of function ``entry``, if it is one that can be, and the warnings that were ``heard``."""
    data = to_bytes(translation, heard, entry)
    if data is not None and len(data) <= _MOST_BYTES:
        code_cache.write(key, data)


def to_bytes(translation: Translation, heard: Sequence[MemoryWarning] = (), entry: str = "main") -> bytes | None:
    """``translation`` for ``from_bytes``; None if it is checked, or has arrays that are views or have other types."""
    if translation.declared is not None:
        return None
    data = bytearray()
    try:
        program = _to_json(translation, data)
    except _NotKept:
        return None
    warned = [[str(each), each.settings] for each in heard]
    return json.dumps([program, warned, entry]).encode() + b"\n" + data


def from_bytes(data: bytes) -> Kept:
    """What ``to_bytes`` wrote."""
    line, _, rest = data.partition(b"\n")
    program, warned, entry = json.loads(line)
    heard = [MemoryWarning(text, tuple(map(Settings, settings))) for text, settings in warned]
    return Kept(_of_json(program, rest), heard, entry)


class _NotKept(Exception):
    """There is an array that cannot be kept."""


_CLASSES = (Translation, ArraySpec, Variable, Stream, RemoteSpec)


def _to_json(value: Any, data: bytearray) -> Any:
    """``value`` with the names of its classes; the elements of its arrays come to the end of ``data``."""
    if isinstance(value, _CLASSES):
        parts = {each.name: _to_json(getattr(value, each.name), data) for each in fields(value)}
        return {"class": type(value).__name__, **parts}
    if isinstance(value, dict):
        return {"entries": [[name, _to_json(each, data)] for name, each in value.items()]}
    if isinstance(value, tuple):
        return [_to_json(each, data) for each in value]
    if isinstance(value, np.dtype):
        return {"dtype": _name(value)}
    if not isinstance(value, np.ndarray):
        return value
    is_splat = value.size > 1 and not any(value.strides)
    if not (is_splat or value.flags.c_contiguous):
        raise _NotKept
    found = {"array": _name(value.dtype), "shape": value.shape, "offset": len(data), "is_splat": is_splat}
    data += (value.ravel()[:1] if is_splat else value).tobytes()
    return found


def _of_json(found: Any, data: bytes) -> Any:
    """What ``_to_json`` was given."""
    if isinstance(found, list):
        return tuple(_of_json(each, data) for each in found)
    if not isinstance(found, dict):
        return found
    if "class" in found:
        (made,) = (each for each in _CLASSES if each.__name__ == found["class"])
        return made(**{name: _of_json(each, data) for name, each in found.items() if name != "class"})
    if "entries" in found:
        return {name: _of_json(each, data) for name, each in found["entries"]}
    if "dtype" in found:
        return _dtype(found["dtype"])
    shape = () if found["is_splat"] else tuple(found["shape"])
    array = np.ndarray(shape, _dtype(found["array"]), data, found["offset"]).copy()
    return np.broadcast_to(array, found["shape"]) if found["is_splat"] else array


def _name(dtype: np.dtype[Any]) -> str:
    """The name of a type of numbers that ``_dtype`` knows."""
    if dtype.name not in _types():
        raise _NotKept
    return dtype.name


def _dtype(name: str) -> np.dtype[Any]:
    return _types()[name]


@cache
def _types() -> dict[str, np.dtype[Any]]:
    native = (f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
    of_numpy = [np.dtype(name) for name in ("bool", "float16", "float32", "float64", *native)]
    return {dtype.name: dtype for dtype in (*of_numpy, *(row.dtype for row in ELEMENT_TYPES.values() if row.host))}


@cache
def _version() -> str:
    """What tells this package, as its files are, and NumPy from any other."""
    root = Path(__file__).parents[2]  # ipu_mlir, whose rooms may be links
    files: list[tuple[str, int, int]] = []
    for folder, _, names in os.walk(root, followlinks=True):
        for name in names:
            if name.endswith(".py"):
                about = os.stat(os.path.join(folder, name))
                files.append((os.path.join(folder, name), about.st_size, about.st_mtime_ns))
    return f"{np.__version__} {hashlib.sha256(repr(sorted(files)).encode()).hexdigest()}"
