"""Machine code of LLVM for the kernels of a program, and how Python calls it."""

import ctypes
import os
import re
import threading
import warnings
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy._core._multiarray_umath import __cpu_features__ as _FEATURES

from ipu_mlir.dialects.support.errors import RunError, Settings
from ipu_mlir.dialects.support.provider import has_execution_engine
from ipu_mlir.runtime.engine import code_cache
from ipu_mlir.runtime.engine.object_code import ObjectCode, ObjectError
from ipu_mlir.runtime.translator.kernels.kernel_function import (
    DATA_OFFSET,
    EXTENTS_OFFSET,
    INTERPRETER,
    STRIDES_OFFSET,
    TABLE,
)
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions

_PIPELINE = (
    "builtin.module(convert-scf-to-cf,convert-vector-to-llvm,convert-math-to-llvm,convert-arith-to-llvm,"
    "convert-cf-to-llvm,reconcile-unrealized-casts)"
)
_OPTIMISED = 1  # -O2 and -O3 take several times as long, and make nothing faster that is vectors already
_KEPT = 64  # modules whose machine code stays in memory

_FUNCTION = re.compile(r"(\w+)\(([^)]*)\)")

_lock = threading.Lock()  # of the one context that all modules have, and of what is kept
_kept: OrderedDict[str, Mapping[str, "Kernel"]] = OrderedDict()
if hasattr(os, "register_at_fork"):  # a child never begins with a module that is half done
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


class KernelError(RunError):
    """There is no machine code for a program."""


class Kernel:
    """A function of machine code.

    Attributes:
        run: ``run(*numbers, *arrays)``. A loop of a program keeps the interpreter's lock, and lets go of it now and
            then; any other kernel runs without.
    """

    __slots__ = ("_library", "run")

    def __init__(self, library: Any, address: int, integers: int, arrays: int, keeps_lock: bool) -> None:
        self._library = library  # the code is gone with it
        make = ctypes.PYFUNCTYPE if keeps_lock else ctypes.CFUNCTYPE
        self.run = make(None, *[ctypes.c_int64] * integers, *[ctypes.py_object] * arrays)(address)


@cache
def why_not() -> str:
    """The reason why this process has no kernels; "" if it has."""
    if ctypes.sizeof(ctypes.c_void_p) != 8:
        return "its addresses do not have 64 bits"
    for array in (np.arange(3.0), np.zeros((2, 2), np.float32)[1:, 1:], np.array(1)):
        if not _is_laid_out_as_known(array):
            return "the array objects of this interpreter are laid out in an unknown way"
    if not (_FEATURES.get("ASIMD") or (_FEATURES.get("FMA3") and _FEATURES.get("F16C"))):
        return "this processor has no instruction for a product and a sum"
    return "" if has_execution_engine() else "the MLIR package has no execution engine"


def _is_laid_out_as_known(array: np.ndarray) -> bool:
    """True if kernels find the elements of ``array``, its extents and its strides."""
    if ctypes.c_void_p.from_address(id(array) + DATA_OFFSET).value != array.__array_interface__["data"][0]:
        return False
    for offset, numbers in ((EXTENTS_OFFSET, array.shape), (STRIDES_OFFSET, array.strides)):
        place = ctypes.c_void_p.from_address(id(array) + offset).value
        if numbers and (place is None or tuple((ctypes.c_ssize_t * array.ndim).from_address(place)) != numbers):
            return False
    return True


def possible(options: TranslatorOptions) -> TranslatorOptions:
    """``options``, without kernels where this process has none; that is said once."""
    if options.kernels == "never" or not why_not():
        return options
    _say_once(why_not())
    return replace(options, kernels="never")


@cache
def _say_once(reason: str) -> None:
    warnings.warn(f"programs run as NumPy calls, without machine code of their own: {reason}", stacklevel=4)


def machine_code(text: str, level: int = _OPTIMISED) -> Mapping[str, Kernel]:
    """The kernels of the module ``text``, by name.

    Raises:
        KernelError: this process has none, or LLVM does not take them.
    """
    if why_not():
        never = Settings(kernels="never")
        raise KernelError(f"the program has kernels, but {why_not()}; compile it with {never}", settings=(never,))
    key = f"{level} {text}"
    with _lock:
        found = _kept.get(key)
        if found is None:
            found = _kept[key] = _compiled(text, level)
        _kept.move_to_end(key)
        if len(_kept) > _KEPT:
            _kept.popitem(last=False)
        return found


def lowered(text: str) -> Any:
    """The module ``text`` in the LLVM dialect."""
    from ipu_mlir.dialects.support.bindings import ir, passmanager

    with _context():
        module = ir.Module.parse(text)
        passes = passmanager.PassManager.parse(_PIPELINE)
        passes.enable_verifier(False)  # once is enough: after each pass, it takes as long as they do
        passes.run(module.operation)
        module.operation.verify()
    return module


def _compiled(text: str, level: int) -> Mapping[str, Kernel]:
    library = _library(text, level)
    heads = map(_FUNCTION.match, text.split("\n  llvm.func @")[1:])
    signatures = {head[1]: head[2] for head in heads if head and head[1] != TABLE}
    addresses = (ctypes.c_void_p * len(signatures))()
    functions = (ctypes.c_void_p * len(INTERPRETER))(*(_address(name) for name in INTERPRETER))
    _call_packed(library.raw_lookup(TABLE), ctypes.addressof(addresses), ctypes.addressof(functions))
    found = {}
    for (name, parameters), address in zip(signatures.items(), addresses, strict=True):
        integers, arrays = parameters.count(": i64"), parameters.count(": !llvm.ptr")
        found[name] = Kernel(library, address or 0, integers, arrays, name.startswith("loop"))
    return found


def _library(text: str, level: int) -> Any:
    """The machine code of ``text``: from the cache on disk, or else from LLVM."""
    key = f"{_PIPELINE}\n-O{level}\n{text}"
    kept = code_cache.read(key)
    if kept is not None:
        with suppress(ObjectError):
            return ObjectCode(kept)
    # What is in the cache needs none of these.
    from ipu_mlir.dialects.support.bindings import execution_engine, ir
    from ipu_mlir.runtime.translator.kernels.module import unknown_in

    unknown = unknown_in(text)
    if unknown:  # LLVM ends the process on some of what it does not expect
        raise KernelError(
            f"the kernels of the program have {unknown}, which LLVM was not tested with, a bug of ipu-mlir"
        )
    try:
        library = execution_engine()(lowered(text), opt_level=level, enable_object_dump=True)
        library.raw_lookup(TABLE)
    except (ir.MLIRError, RuntimeError) as error:
        first = str(error).partition("\n")[0]
        raise KernelError(f"LLVM does not take the kernels of the program, a bug of ipu-mlir: {first}") from error
    if code_cache.folder() is not None:
        with suppress(ObjectError, OSError):  # what cannot be loaded again is not kept
            data = _object_of(library)
            ObjectCode(data)
            code_cache.write(key, data)
    return library


def _object_of(library: Any) -> bytes:
    """The object code of an engine that has run; it goes by way of a file, which is in memory and has no name."""
    with open(os.memfd_create("kernel"), "rb") as file:
        library.dump_to_object_file(f"/proc/self/fd/{file.fileno()}")
        return file.read()


def _call_packed(address: int, *pointers: int) -> None:
    """Call what ``raw_lookup`` gives: it takes the addresses of its arguments."""
    held = [ctypes.c_void_p(pointer) for pointer in pointers]
    arguments = (ctypes.c_void_p * len(held))(*(ctypes.addressof(each) for each in held))
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)(ctypes.addressof(arguments))


def _address(name: str) -> int:
    found = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
    assert found, f"the interpreter has no {name}"
    return found


@cache
def _context() -> Any:
    from ipu_mlir.dialects.support.bindings import ir

    context = ir.Context()
    context.enable_multithreading(False)  # a child that is forked has no threads of it
    return context
