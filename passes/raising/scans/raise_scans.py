"""``ipu-raise-scans``: cumulative sums, products and extremes as scans."""

from dataclasses import dataclass

from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.raising.scans.blocked_scans import longest_scan, scan_along
from ipu_mlir.passes.raising.scans.prefix_windows import PrefixWindow, prefix_window
from ipu_mlir.passes.support.linalg_builders import widened
from ipu_mlir.passes.support.rewriting import list_ops


@dataclass(frozen=True)
class RaiseScans(Pass):
    """Write windows over all elements up to the own one as scans.

    Frontends pad ``n`` elements with ``n - 1`` neutral ones for that, and let a window of ``n`` slide over them: that
    takes ``n * n`` steps. The library codelets ``scan_add``, ``scan_mul``, ``scan_max``, ``scan_min`` and
    ``scan_logaddexp`` take ``n``; one vertex scans all of a dimension. Those ``_from_end`` begin with the last element.

    Option: ``longest``, how many elements one vertex scans at most: an eighth of a tile's memory if nothing is said. A
    longer dimension is scanned in blocks, which are then combined with the last elements of the blocks before them.

    Needs:  linalg on tensors, static shapes, sums of 16-bit floats in f32 (``ipu-widen-sums``): others stay windows.
    Leaves: no window that starts from a neutral element and combines the elements of a dimension up to its own, or from
            it on; shorter windows stay.
    """

    name = "ipu-raise-scans"

    longest: int | None = None

    def run(self, module: ir.Operation) -> None:
        with module.context:
            tile_bytes = module_target(module).bytes_per_tile
            pads = list_ops(module, "tensor.pad")
            for op in dict.fromkeys(use.owner.operation for pad in pads for use in pad.results[0].uses):
                window = prefix_window(op)
                if window is not None:
                    element = op.results[0].type.element_type
                    longest = self.longest or longest_scan(tile_bytes, element)
                    with ir.InsertionPoint(op), op.location:
                        op.results[0].replace_all_uses_with(_scan(window, element, longest))
                    op.erase()


def _scan(window: PrefixWindow, element: ir.Type, longest: int) -> ir.Value:
    source, at = window.source, window.dimension
    if source.type.element_type != element:
        source = widened(source, element)
    scanned = scan_along(source, window.combine, at, longest, from_end=window.from_end)
    if not window.beyond:
        return scanned
    sizes = list(scanned.type.shape)
    offsets = [0] * len(sizes)
    offsets[at] = 0 if window.from_end else window.beyond
    return upstream("tensor").insert_slice(scanned, window.initial, [], [], [], offsets, sizes, [1] * len(sizes))
