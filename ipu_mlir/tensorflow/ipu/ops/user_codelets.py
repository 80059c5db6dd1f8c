"""Vertex code of users as library codelets: files of Python, C or C++, or shared libraries (guide 21.15.2)."""

import ctypes
import functools
import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from ipu_mlir.dialects.codelets.codelet import CodeletCall, LibraryCodelet
from ipu_mlir.dialects.codelets.library import LIBRARY, register
from ipu_mlir.dialects.codelets.signature import Signature
from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.size_arithmetic import Size
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.tensorflow.ipu.ops.host_libraries import function_in, library_at, python_file

Array = np.ndarray[Any, Any]

_COMPILERS = {".c": ("cc", "gcc", "clang"), ".cc": ("c++", "g++", "clang++"), ".cpp": ("c++", "g++", "clang++")}
_CYCLES_PER_ELEMENT = 6
_LETTERS = "abcdefghijklmnqrstuvwxyz"
"""Of dimensions; ``p`` stands for the parts of complex numbers."""


class _Code:
    """The functions of a file: what a vertex computes, what it takes, and whether it is elementwise."""

    def __init__(self, path: str, name: str) -> None:
        self._path, self._name = path, name
        suffix = Path(path).suffix
        self._python = python_file(path, name) if suffix == ".py" else None
        if self._python is not None:
            self.is_elementwise = bool(self._python.get(f"{name}_is_elementwise", 0))
            return
        self._library = library_at(_compiled(path) if suffix in _COMPILERS else path)
        if hasattr(self._library, "custom_op_api_level"):
            raise ValueError(
                f"{path} adds vertices to a graph of the machine's own library, which is not here; give a file of "
                f"Python or C with a function {name!r} for one vertex"
            )
        self._function = function_in(self._library, path, name)
        self._function.restype = None
        try:
            self.is_elementwise = bool(ctypes.c_int.in_dll(self._library, f"{name}_is_elementwise").value)
        except ValueError:
            self.is_elementwise = False

    def run(self, inputs: Sequence[Array], outputs: Sequence[Array], attributes: str, index: int) -> None:
        """Fill ``outputs``, contiguous arrays."""
        if self._python is not None:
            more = (index,) if self._name.endswith("_grad") else ()
            self._python[self._name](list(inputs), list(outputs), attributes, *more)
            return
        pointers = [(ctypes.c_void_p * len(each))(*(one.ctypes.data for one in each)) for each in (inputs, outputs)]
        sizes = [each.size for each in (*inputs, *outputs)]
        counts = (ctypes.c_uint32 * len(sizes))(*sizes)
        self._function(pointers[0], counts, pointers[1], attributes.encode(), ctypes.c_int32(index))

    def cycles(self, counts: Sequence[int]) -> int | None:
        """Of a vertex, as the file has them; None if it says nothing."""
        name = f"{self._name}_cycles"
        if self._python is not None:
            return int(self._python[name](list(counts))) if name in self._python else None
        if not hasattr(self._library, name):
            return None
        function = getattr(self._library, name)
        function.restype = ctypes.c_uint64
        return int(function((ctypes.c_uint32 * len(counts))(*counts)))


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """For what is compiled, until the process ends."""
    return tempfile.TemporaryDirectory(prefix="ipu-mlir-codelets-")


def _compiled(path: str) -> str:
    """The shared library of a file of C or C++.

    Raises:
        CompileError: there is no compiler, or it has errors.
    """
    wanted = _COMPILERS[Path(path).suffix]
    compiler = next(filter(None, map(shutil.which, wanted)), None)
    if compiler is None:
        raise CompileError(
            f"{path} needs a compiler, and none of {', '.join(wanted)} is on the PATH; install one, or write the "
            "vertex in Python"
        )
    text = Path(path).read_bytes()
    made = Path(_folder().name) / f"{hashlib.sha256(text).hexdigest()[:24]}{Path(path).suffix}.so"
    if not made.exists():
        found = subprocess.run(
            [compiler, "-O2", "-shared", "-fPIC", path, "-o", str(made)], capture_output=True, text=True, check=False
        )
        if found.returncode:
            raise CompileError(f"{Path(compiler).name} cannot compile {path}:\n{found.stderr.strip()}")
    return str(made)


def user_codelet(
    path: str,
    function: str,
    inputs: Sequence[tf.TensorSpec],
    outputs: Sequence[tf.TensorSpec],
    attributes: str,
    index: int,
) -> str:
    """The name of the library codelet for a function of a file, on flat operands of these sizes.

    Args:
        index: which gradient the function is asked for.

    Raises:
        ValueError: the file or the function is not there, or the sizes do not fit.
        CompileError: the file cannot be compiled.
    """
    if not Path(path).is_file():
        raise ValueError(f"library_path is {path!r}, where no file is")
    forms = [(tuple(each.shape), each.dtype.name) for each in (*inputs, *outputs)]
    key = repr((path, Path(path).read_bytes(), function, forms, len(inputs), attributes, index))
    name = f"{function}_{hashlib.sha256(key.encode()).hexdigest()[:16]}"
    if name not in LIBRARY:
        code = _Code(path, function)
        register(_codelet(name, code, f"{path}: {function}", inputs, outputs, attributes, index))
    return name


def _codelet(
    name: str,
    code: _Code,
    source: str,
    inputs: Sequence[tf.TensorSpec],
    outputs: Sequence[tf.TensorSpec],
    attributes: str,
    index: int,
) -> LibraryCodelet:
    every = [*inputs, *outputs]
    sizes_of_all = [int(each.shape.num_elements()) for each in every]
    if not inputs or len(inputs) > 12 or len(outputs) > 4 or 0 in sizes_of_all:
        raise ValueError(
            f"{source}: vertex code takes 1 to 12 inputs and gives 1 to 4 outputs, none of them empty; found "
            f"{len(inputs)} and {len(outputs)}, with {sizes_of_all} elements"
        )
    if code.is_elementwise and len(set(sizes_of_all)) > 1:
        raise ValueError(f"{source} is elementwise, but its inputs and outputs have {sizes_of_all} elements")
    letters = ["n" if code.is_elementwise else letter for letter in _LETTERS[: len(every)]]
    signature = Signature(
        tuple((each,) for each in letters[: len(inputs)]),
        tuple((each,) for each in letters[len(inputs) :]),
        parallel="n" if code.is_elementwise else "",
    )
    types = [np.dtype(each.dtype.as_numpy_dtype) for each in every]

    def run(*operands: Array) -> tuple[Array, ...]:
        """Of flat arrays, in which programs have integers with a sign."""
        given = [np.ascontiguousarray(each) for each in operands]
        given = [each.view(dtype) if dtype.kind == "u" else each for each, dtype in zip(given, types, strict=False)]
        shapes: list[Any] = (
            [given[0].shape] * len(every) if code.is_elementwise else [tuple(each.shape.as_list()) for each in every]
        )
        given = [each.reshape(shape) for each, shape in zip(given, shapes, strict=False)]
        made = [np.zeros(shape, dtype) for shape, dtype in zip(shapes, types, strict=True)][len(inputs) :]
        code.run(given, made, attributes, index)
        signed = [each.view(f"i{each.itemsize}") if each.dtype.kind == "u" else each for each in made]
        return tuple(each.reshape(-1) for each in signed)

    def cycles(call: CodeletCall, sizes: IntArray, machine: Machine) -> Size:
        """What the file says; without that, a worker takes six cycles for each element (assumption)."""
        rows = sizes.reshape(-1, sizes.shape[-1])
        found = [_cycles_of(code, [int(each) for each in row], len(every), machine) for row in rows]
        return np.array(found, np.int64).reshape(sizes.shape[:-1])[()]

    return LibraryCodelet(
        name=name,
        per_tile=run,
        vectorised=run,
        cycles=cycles,
        scratch_bytes=lambda call, sizes, machine: 0,
        flops=lambda call, sizes: 0,
        code_bytes=1024,
        needs=f"{signature}, flat",
        takes=lambda given, made: [shape[0] for shape in (*given, *made)] == sizes_of_all or code.is_elementwise,
        takes_types=lambda given, made: True,
        signature=signature,
        source=source,
    )


def _cycles_of(code: _Code, row: list[int], number: int, machine: Machine) -> int:
    counts = row * number if code.is_elementwise else row
    found = code.cycles(counts)
    return machine.workers * _CYCLES_PER_ELEMENT * sum(counts) if found is None else found
