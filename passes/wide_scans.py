"""Scans of floats of 16 and 8 bits: in f32, and each result rounded once, as ``ipu-widen-sums`` has it for sums."""

from collections.abc import Callable

from ipu_mlir.dialects.bindings import ir, upstream
from ipu_mlir.dialects.narrow_floats import is_narrow_float
from ipu_mlir.passes.blocked_scans import scan_along
from ipu_mlir.passes.build_generic import generic, identity_map
from ipu_mlir.passes.prefix_windows import is_exact


def wide_scan_along(values: ir.Value, combine: str, at: int, longest: Callable[[ir.Type], int]) -> ir.Value:
    """The scan of ``values`` along dimension ``at``, of which one vertex scans ``longest`` elements of a type."""
    element = values.type.element_type
    if is_exact(combine, element) or not is_narrow_float(str(element)):
        return scan_along(values, combine, at, longest(element))
    wide = ir.F32Type.get()
    return rounded(scan_along(widened(values, wide), combine, at, longest(wide)), element)


def widened(values: ir.Value, element: ir.Type) -> ir.Value:
    """``values`` as floats of the wider type ``element``."""
    return _converted(values, element, "arith.extf")


def rounded(values: ir.Value, element: ir.Type) -> ir.Value:
    """``values`` as floats of the narrower type ``element``."""
    return _converted(values, element, "arith.truncf")


def _converted(values: ir.Value, element: ir.Type, conversion: str) -> ir.Value:
    shape = list(values.type.shape)
    empty = upstream("tensor").EmptyOp(shape, element).result
    maps = [identity_map(len(shape))] * 2

    def body(arguments: list[ir.Value]) -> list[ir.Value]:
        return list(ir.Operation.create(conversion, [element], [arguments[0]]).results)

    return generic([values], [empty], maps, [True] * len(shape), body).results[0]
