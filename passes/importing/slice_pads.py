"""``ipu-slice-pads``: paddings that take elements away become slices."""

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.passes.support.tensor_views import DYNAMIC


class SlicePads(Pass):
    """Write a ``tensor.pad`` of negative widths as a slice, and a pad of what is left.

    Canonicalization adds up paddings that follow each other; where the first takes elements away, their sum would keep
    them. Importers of torch-mlir make such paddings.

    Needs:  tensors of static shapes where widths are negative.
    Leaves: no ``tensor.pad`` of negative widths there.
    """

    name = "ipu-slice-pads"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in list_ops(module, "tensor.pad"):
                low, high = (list(ir.DenseI64ArrayAttr(op.attributes[f"static_{side}"])) for side in ("low", "high"))
                cut_low, cut_high = ([-min(0, each) if each != DYNAMIC else 0 for each in side] for side in (low, high))
                source = op.operands[0]
                shape = list(source.type.shape)
                if DYNAMIC in shape or not any((*cut_low, *cut_high)):
                    continue
                sizes = [size - first - last for size, first, last in zip(shape, cut_low, cut_high, strict=True)]
                type_ = ir.RankedTensorType.get(sizes, source.type.element_type)
                with ir.InsertionPoint(op), op.location:
                    ones = [1] * len(shape)
                    left = upstream("tensor").ExtractSliceOp(type_, source, [], [], [], cut_low, sizes, ones)
                op.operands[0] = left.result
                for side, widths, cut in (("low", low, cut_low), ("high", high, cut_high)):
                    kept = [width + taken for width, taken in zip(widths, cut, strict=True)]
                    op.attributes[f"static_{side}"] = ir.DenseI64ArrayAttr.get(kept)
