"""Scans of floats of 16 and 8 bits: in f32, and each result rounded once, as ``ipu-widen-sums`` has it for sums."""

from collections.abc import Callable

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.element_types import is_narrow_float
from ipu_mlir.passes.raising.scans.blocked_scans import scan_along
from ipu_mlir.passes.raising.scans.prefix_windows import is_exact
from ipu_mlir.passes.support.linalg_builders import rounded, widened


def wide_scan_along(values: ir.Value, combine: str, at: int, longest: Callable[[ir.Type], int]) -> ir.Value:
    """The scan of ``values`` along dimension ``at``, of which one vertex scans ``longest`` elements of a type."""
    element = values.type.element_type
    if is_exact(combine, element) or not is_narrow_float(str(element)):
        return scan_along(values, combine, at, longest(element))
    wide = ir.F32Type.get()
    return rounded(scan_along(widened(values, wide), combine, at, longest(wide)), element)
