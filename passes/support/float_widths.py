"""Tensors of floats in a wider type, and in a narrower one."""

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.support.build_generic import elementwise


def widened(values: ir.Value, element: ir.Type) -> ir.Value:
    """``values`` as floats of the wider type ``element``."""
    return elementwise(values, element, lambda x: upstream("arith").ExtFOp(element, x).result).results[0]


def rounded(values: ir.Value, element: ir.Type) -> ir.Value:
    """``values`` as floats of the narrower type ``element``."""
    return elementwise(values, element, lambda x: upstream("arith").TruncFOp(element, x).result).results[0]
