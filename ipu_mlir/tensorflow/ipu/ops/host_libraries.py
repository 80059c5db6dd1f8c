"""Functions of shared libraries and of files of Python that the host calls for a program (guide 21.15.2).

A function of a library takes standard vectors and texts of C++ by reference. They are laid out here as libstdc++ lays
them out, the library of gcc and clang on Linux: a vector is three pointers, a text a pointer, a length and 16 bytes.
"""

import ctypes
import functools
import runpy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf


class _Vector(ctypes.Structure):
    _fields_ = (("begin", ctypes.c_void_p), ("end", ctypes.c_void_p), ("room", ctypes.c_void_p))


class _Text(ctypes.Structure):
    _fields_ = (("begin", ctypes.c_void_p), ("length", ctypes.c_size_t), ("room", ctypes.c_size_t * 2))


@functools.cache
def library_at(path: str) -> Any:
    """The shared library of a path.

    Raises:
        ValueError: there is none, or it cannot be loaded.
    """
    if not Path(path).is_file():
        raise ValueError(f"library_path is {path!r}, where no file is; build the shared library before")
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise ValueError(f"library_path is {path!r}, which is no shared library that can be loaded: {error}") from error


def function_in(library: Any, path: str, name: str) -> Any:
    """The function of that name.

    Raises:
        ValueError: the library has none.
    """
    try:
        return getattr(library, name)
    except AttributeError:
        raise ValueError(f'{path} has no function {name!r}; define it, with extern "C"') from None


def python_file(path: str, name: str) -> dict[str, Any]:
    """The names of a file of Python, among them the function ``name``.

    Raises:
        ValueError: it has no such function, or is not there.
    """
    if not Path(path).is_file():
        raise ValueError(f"library_path is {path!r}, where no file is")
    names = runpy.run_path(path)
    if not callable(names.get(name)):
        raise ValueError(f"{path} has no function {name!r}; define it")
    return names


def host_callback(
    path: str, function: str, outputs: Sequence[tf.TensorSpec], attributes: str, name: str, index: int
) -> Callable[..., list[np.ndarray]]:
    """From arrays to the arrays that a function of the library at ``path`` fills.

    Args:
        outputs: what it fills.
        attributes: text that it takes.
        name: of the operation, which it takes as well.
        index: which gradient is asked for; functions that do not take it as their last argument never see it.

    Raises:
        ValueError: the library, or a function of that name in it, is not there.
    """
    kinds: list[Any] = [(tuple(each.shape.as_list()), np.dtype(each.dtype.as_numpy_dtype)) for each in outputs]
    if Path(path).suffix == ".py":
        written = python_file(path, function)[function]
        more = (index,) if function.endswith("_grad") else ()

        def run_python(*arrays: np.ndarray) -> list[np.ndarray]:
            made = [np.zeros(shape, dtype) for shape, dtype in kinds]
            written(list(arrays), made, attributes, *more)
            return made

        return run_python
    called = function_in(library_at(path), path, function)
    called.restype = None

    def run(*arrays: np.ndarray) -> list[np.ndarray]:
        given = [np.ascontiguousarray(each) for each in arrays]
        made = [np.zeros(shape, dtype) for shape, dtype in kinds]
        kept: list[Any] = []
        called(
            ctypes.byref(_vector([each.ctypes.data for each in given], ctypes.c_void_p, kept)),
            ctypes.byref(_vector([each.size for each in given], ctypes.c_uint32, kept)),
            ctypes.byref(_vector([each.ctypes.data for each in made], ctypes.c_void_p, kept)),
            ctypes.byref(_text(attributes, kept)),
            ctypes.byref(_text(name, kept)),
            ctypes.c_uint32(index),
        )
        return made

    return run


def _vector(values: Sequence[int], kind: Any, kept: list[Any]) -> _Vector:
    """A vector, whose elements are alive as long as ``kept``."""
    elements = (kind * len(values))(*values)
    kept.append(elements)
    begin = ctypes.addressof(elements)
    end = begin + len(values) * ctypes.sizeof(kind)
    return _Vector(begin, end, end)


def _text(value: str, kept: list[Any]) -> _Text:
    letters = ctypes.create_string_buffer(value.encode())
    kept.append(letters)
    return _Text(ctypes.addressof(letters), len(letters) - 1, (ctypes.c_size_t * 2)(len(letters) - 1, 0))
