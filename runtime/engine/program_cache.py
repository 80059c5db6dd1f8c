"""Translated programs on disk, so that other processes need neither plan nor lower nor translate them again.

A file has a line of JSON and the constants behind it, in the folder and with the digest of object code. It belongs to
one text of a program, one set of options, one version of this package and its libraries, and one kind of processor.
"""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ipu_mlir.dialects.codelets.library import LIBRARY, OWN
from ipu_mlir.dialects.support.element_types import ELEMENT_TYPES
from ipu_mlir.dialects.support.errors import MemoryWarning, Settings
from ipu_mlir.runtime.engine import code_cache
from ipu_mlir.runtime.translator.translate import ArraySpec, Translation

_MOST_BYTES = 32 << 20
"""Of one file: programs with larger constants are compiled by every process."""


def key_of(program: Callable[[], bytes], entries: Sequence[str], entry: str, options: str) -> str | None:
    """What a program is kept as; None if nothing is kept, or the text of the program does not say all that it does."""
    if code_cache.folder() is None:
        return None
    text = program()
    if any(
        name.encode() in text for name in LIBRARY.keys() - OWN
    ):  # of what a user's codelet does the text has the name
        return None
    return "\n".join(["program", _version(), options, repr((*entries,)), entry, hashlib.sha256(text).hexdigest()])


Kept = tuple[Translation, list[MemoryWarning]]
"""A translation, and what its compilation warned of."""


def read(key: str) -> Kept | None:
    """What was kept as ``key``."""
    data = code_cache.read(key)
    return None if data is None else from_bytes(data)


def write(key: str, translation: Translation, heard: Sequence[MemoryWarning] = ()) -> None:
    """Keep ``translation``, if it is one that can be, and the warnings that were ``heard``."""
    data = to_bytes(translation, heard)
    if data is not None and len(data) <= _MOST_BYTES:
        code_cache.write(key, data)


def to_bytes(translation: Translation, heard: Sequence[MemoryWarning] = ()) -> bytes | None:
    """``translation`` for ``from_bytes``; None if it has state, is checked, or has constants that are views."""
    constants = translation.constants
    if translation.has_state or translation.declared is not None:
        return None
    if not all(array.flags.c_contiguous and _name(array.dtype) for array in constants.values()):
        return None
    head = {
        "source": translation.source,
        "arguments": [_spec_to_json(spec) for spec in translation.arguments],
        "results": [_spec_to_json(spec) for spec in translation.results],
        "temporary_bytes": translation.temporary_bytes,
        "single_blas_thread": translation.single_blas_thread,
        "kernels": translation.kernels,
        "warnings": [[str(each), each.settings] for each in heard],
        "constants": [[name, _name(array.dtype), array.shape] for name, array in constants.items()],
    }
    return b"\n".join([json.dumps(head).encode(), b"".join(array.tobytes() for array in constants.values())])


def from_bytes(data: bytes) -> Kept:
    """What ``to_bytes`` wrote."""
    line, _, rest = data.partition(b"\n")
    head = json.loads(line)
    constants: dict[str, np.ndarray] = {}
    offset = 0
    for name, dtype, shape in head["constants"]:
        array = np.ndarray(shape, _dtype(dtype), rest, offset).copy()
        constants[name], offset = array, offset + array.nbytes
    heard = [MemoryWarning(text, tuple(map(Settings, settings))) for text, settings in head["warnings"]]
    translation = Translation(
        head["source"],
        tuple(_spec_of_json(spec) for spec in head["arguments"]),
        tuple(_spec_of_json(spec) for spec in head["results"]),
        head["temporary_bytes"],
        constants,
        head["single_blas_thread"],
        kernels=head["kernels"],
    )
    return translation, heard


def _spec_to_json(spec: ArraySpec) -> list[Any]:
    return [spec.name, spec.shape, _name(spec.dtype), spec.bits and _name(spec.bits)]


def _spec_of_json(found: list[Any]) -> ArraySpec:
    name, shape, dtype, bits = found
    return ArraySpec(name, tuple(shape), _dtype(dtype), bits and _dtype(bits))


def _name(dtype: np.dtype[Any]) -> str | None:
    """The name of a type of numbers that ``_dtype`` knows."""
    return dtype.name if dtype.name in _types() else None


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
