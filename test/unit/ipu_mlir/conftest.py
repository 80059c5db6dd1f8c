"""Run a traced module on LLVM's JIT: an opinion that shares nothing with our passes and runtime."""

import ctypes
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.dialects.support.bindings import PROVIDER, ir, passmanager, upstream

_TO_BUFFERS = (
    "builtin.module(canonicalize,convert-elementwise-to-linalg,"
    "one-shot-bufferize{allow-return-allocs-from-loops bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map},"
    "buffer-results-to-out-params{hoist-static-allocs modify-public-functions})"
)
_TO_LLVM = (
    "builtin.module(func.func(convert-linalg-to-loops,llvm-request-c-wrappers),expand-strided-metadata,lower-affine,"
    "arith-expand,convert-math-to-funcs,convert-scf-to-cf,"
    "convert-math-to-llvm,convert-math-to-libm,convert-to-llvm,reconcile-unrealized-casts)"
)

SMALL = ipu.Target(tiles_per_ipu=3)
Check = Callable[..., None]


@pytest.fixture(scope="session")
def agrees() -> Check:
    """``agrees(function, *arrays)``: compiled, and run on LLVM, ``function`` gives what it gives on the arrays.

    Element types are NumPy's: the program is traced in a block of ``x64``.
    A function that tries many things at once returns them in a dict, whose keys then name what disagrees.
    """
    return _agrees


def _agrees(function: Callable[..., Any], *arrays: np.ndarray, tolerance: float = 0.0, per_tile: bool = False) -> None:
    with np.errstate(all="ignore"):
        returned = function(*arrays)
    labels = list(returned) if isinstance(returned, dict) else []
    if isinstance(returned, dict):
        returned = list(returned.values())
    expected = [np.asarray(each) for each in (returned if isinstance(returned, list | tuple) else [returned])]
    labels = labels or [f"result {place}" for place in range(len(expected))]
    traced = ipu.function(function)
    with ipu.x64():
        module = traced.trace(*arrays)
        executable = ipu.compile(traced, args=arrays, target=SMALL)
    _assert_close(run_on_llvm(module, list(arrays), expected), expected, labels, tolerance)
    _assert_close(executable.run(arrays), expected, labels, tolerance)
    if per_tile:
        _assert_close(executable.run_per_tile(arrays), expected, labels, tolerance)


def _assert_close(results: list[np.ndarray], expected: list[np.ndarray], labels: list[str], tolerance: float) -> None:
    for found, wanted, label in zip(results, expected, labels, strict=True):
        exact = wanted.dtype.kind != "f"
        relative = 0.0 if exact else max(tolerance, 20 * float(np.finfo(wanted.dtype).eps))
        np.testing.assert_allclose(found, wanted, rtol=relative, atol=relative, strict=True, err_msg=label)


def run_on_llvm(module: ir.Module, inputs: list[np.ndarray], like: list[np.ndarray]) -> list[np.ndarray]:
    """The results of ``@main``, which have the shapes and types of ``like``."""
    from importlib import import_module

    engine = import_module(f"{PROVIDER}.execution_engine")
    describe = import_module(f"{PROVIDER}.runtime").get_ranked_memref_descriptor
    results = [str(type_) for type_ in module.body.operations[0].type.results]
    assert results == [_type_text(array) for array in like]
    _without_marks(module)
    with module.context:
        passmanager.PassManager.parse(_TO_BUFFERS).run(module.operation)
        _copy_by_loops(module)
        passmanager.PassManager.parse(_TO_LLVM).run(module.operation)
        jit = engine.ExecutionEngine(module, opt_level=0)
    outputs = [np.zeros(array.shape, array.dtype) for array in like]
    held = [np.array(array, order="C") for array in inputs]  # LLVM's program may write its arguments
    jit.invoke("main", *(ctypes.pointer(ctypes.pointer(describe(array))) for array in (*held, *outputs)))
    return outputs


def _without_marks(module: ir.Module) -> None:
    """``ipu.stop_gradient`` is its operand, where nothing is differentiated."""
    marks = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        marks.extend([op] if op.name == "ipu.stop_gradient" else [])
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    for op in marks:
        op.results[0].replace_all_uses_with(op.operands[0])
        op.erase()


def _type_text(array: np.ndarray) -> str:
    element = {"f": "f", "i": "i", "b": "i"}[array.dtype.kind] + str(array.itemsize * 8 if array.dtype != bool else 1)
    return f"tensor<{'x'.join([*map(str, array.shape), element])}>"


def _copy_by_loops(module: ir.Module) -> None:
    """``memref.copy`` becomes a call into a library that the JIT does not have; ``linalg.copy`` becomes loops."""
    linalg = upstream("linalg")
    copies = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        copies.extend([op] if op.name == "memref.copy" else [])
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    for op in copies:
        with ir.InsertionPoint(op), op.location:
            linalg.copy(op.operands[0], outs=[op.operands[1]])
        op.erase()


@pytest.fixture(scope="session")
def both_agree() -> Check:
    """``both_agree(function, *arrays)``: compiled, ``function`` gives on both executors what it gives on the arrays.

    The function returns what it tries in a dict; types and shapes have to be NumPy's as well. ``known`` has the results
    where NumPy's own are others, by their keys.
    """
    return _both_agree


def _both_agree(
    function: Callable[..., Any], *arrays: Any, tolerance: float = 0.0, known: dict[str, Any] | None = None
) -> None:
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        expected = {key: np.asarray(value) for key, value in (function(*arrays) | (known or {})).items()}
    with ipu.x64():
        executable = ipu.compile(ipu.function(function), args=arrays, target=SMALL)
    call = executable._call
    assert call is not None
    for results in (executable(*arrays), call.unflatten(executable.run_per_tile(call.flatten(arrays, {})))):
        assert list(results) == list(expected)
        for key, found in results.items():
            wanted = expected[key]
            assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype), key
            np.testing.assert_allclose(_wide(found), _wide(wanted), rtol=tolerance, atol=tolerance, err_msg=key)


def _wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
