"""``ipu-decompose-tensor-ops``: pads and concatenations as fills and inserted slices, no views of empty tensors."""

from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.passes.support.tensor_views import VIEW_OPS

# Upstream has the patterns, but only the transform dialect reaches them.
_SCHEDULE = """
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op) {
    %functions = transform.structured.match ops{["func.func"]} in %module : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %functions {
      transform.apply_patterns.tensor.decompose_concat
      transform.apply_patterns.linalg.decompose_pad
      transform.apply_patterns.tensor.fold_tensor_empty
    } : !transform.any_op
    transform.yield
  }
}
"""


class DecomposeTensorOps(Pass):
    """Write tensor.pad and tensor.concat as fills and inserted slices, and views of empty tensors as empty tensors.

    Needs:  linalg on tensors.
    Leaves: ``tensor.empty``, ``linalg.fill`` (``tensor.generate`` for a border that is computed) and
            ``tensor.insert_slice`` in place of ``tensor.pad`` and of ``tensor.concat`` (bufferization loses the mapping
            of the latter); no view of a ``tensor.empty``, which could not lie where its user wants it.
    """

    name = "ipu-decompose-tensor-ops"

    def run(self, module: ir.Operation) -> None:
        if not any(_is_decomposed(op) for op in list_ops(module, "tensor.pad", "tensor.concat", *VIEW_OPS)):
            return
        for op in list_ops(module, "tensor.pad"):
            _crop(op)
        interpreter = upstream("transform.interpreter")
        with module.context, ir.Location.unknown():
            schedule = ir.Module.parse(_SCHEDULE)
            interpreter.apply_named_sequence(module, next(iter(schedule.body.operations)), schedule)


def _crop(pad: ir.Operation) -> None:
    """Slice away what negative paddings cut off, which upstream does not decompose, and leave the others."""
    source, result = pad.operands[0], pad.results[0].type
    low, high = list(pad.attributes["static_low"]), list(pad.attributes["static_high"])
    if len(pad.operands) > 1 or min(low + high, default=0) >= 0 or not source.type.has_static_shape:
        return  # ipu-partition refuses what is not known
    begin = [min(max(-before, 0), size) for before, size in zip(low, source.type.shape, strict=True)]
    sizes = [
        max(min(size, size + after) - first, 0)
        for first, size, after in zip(begin, source.type.shape, high, strict=True)
    ]
    with ir.InsertionPoint(pad), pad.location:
        cropped = upstream("tensor").ExtractSliceOp(
            ir.RankedTensorType.get(sizes, source.type.element_type), source, [], [], [],
            begin, sizes, [1] * len(sizes),
        ).result  # fmt: skip
        low = [max(before, 0) for before in low]
        pad.operands[0] = cropped
        pad.attributes["static_low"] = ir.DenseI64ArrayAttr.get(low)
        pad.attributes["static_high"] = ir.DenseI64ArrayAttr.get(
            [whole - before - size for whole, before, size in zip(result.shape, low, sizes, strict=True)]
        )


def _is_decomposed(op: ir.Operation) -> bool:
    return op.name not in VIEW_OPS or defining_op(op.operands[0], "tensor.empty") is not None
