"""A third opinion: the same linalg on LLVM's JIT, which shares nothing with our passes and runtime."""

import ctypes
from collections.abc import Sequence
from importlib import import_module

import numpy as np

from ipu_mlir.dialects.support.bindings import PROVIDER, ir, passmanager, upstream

_BUFFERIZE = (
    "builtin.module(convert-elementwise-to-linalg,"
    "one-shot-bufferize{copy-before-write allow-return-allocs-from-loops bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map},"
    "buffer-results-to-out-params{hoist-static-allocs modify-public-functions})"
)
_LOWER = (
    "builtin.module(func.func(convert-linalg-to-loops,llvm-request-c-wrappers),expand-strided-metadata,lower-affine,"
    "arith-expand,convert-scf-to-cf,convert-math-to-llvm,convert-math-to-libm,convert-to-llvm,reconcile-unrealized-casts)"
)


def run_on_llvm(text: str, inputs: Sequence[np.ndarray], like: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The results of ``@main``, each of the shape and type of one of ``like``.

    Each result is what an op of the program computes, in a buffer of its own.
    """
    engine = import_module(f"{PROVIDER}.execution_engine")
    describe = import_module(f"{PROVIDER}.runtime").get_ranked_memref_descriptor
    with ir.Context():
        module = ir.Module.parse(text)
        passmanager.PassManager.parse(_BUFFERIZE).run(module.operation)
        _copy_by_loops(module.operation)
        passmanager.PassManager.parse(_LOWER).run(module.operation)
        jit = engine.ExecutionEngine(module, opt_level=0)
    outputs = [np.zeros(array.shape, array.dtype) for array in like]
    arrays = [np.array(array, order="C", copy=True) for array in inputs]
    jit.invoke("main", *(ctypes.pointer(ctypes.pointer(describe(array))) for array in (*arrays, *outputs)))
    return outputs


def _copy_by_loops(module: ir.Operation) -> None:
    """Make a linalg op of every ``memref.copy``, which would call a function that no library of the wheel has."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == "memref.copy":
            found.append(op)
        return ir.WalkResult.ADVANCE

    module.walk(visit)
    for op in found:
        with ir.InsertionPoint(op), op.location:
            upstream("linalg").copy(op.operands[0], outs=[op.operands[1]])
        op.erase()
