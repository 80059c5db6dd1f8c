"""Sizes of what arithmetic on whole tensors gives: those of its operands."""

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.importing.dynamic_types import before_cast, cast_to, dynamic_sizes
from ipu_mlir.passes.support.rewriting import list_ops


def compute_on_what_is_cast(module: ir.Operation) -> int:
    """Let ``arith`` and ``math`` ops compute on tensors, not on their casts to types that say less; gives how many."""
    count = 0
    for op in list_ops(module):
        if op.name.startswith(("arith.", "math.")) and len(op.results) == 1 and dynamic_sizes(op.results[0].type):
            shapes = [before_cast(value).type for value in op.operands if isinstance(value.type, ir.RankedTensorType)]
            known = min(shapes, key=dynamic_sizes, default=op.results[0].type)
            if dynamic_sizes(known) < dynamic_sizes(op.results[0].type):
                _compute_in_shape(op, known)
                count += 1
    return count


def _compute_in_shape(op: ir.Operation, known: ir.RankedTensorType) -> None:
    """Replace ``op`` by one whose tensors all have the shape of ``known``."""

    def in_shape(kind: ir.Type) -> ir.Type:
        if not isinstance(kind, ir.RankedTensorType):
            return kind
        return ir.RankedTensorType.get(known.shape, kind.element_type, kind.encoding)

    with ir.InsertionPoint(op), op.location:
        operands = [cast_to(before_cast(value), in_shape(value.type)) for value in op.operands]
        attributes = {name: op.attributes[name] for name in op.attributes}
        new = ir.Operation.create(op.name, [in_shape(op.results[0].type)], operands, attributes).results[0]
        op.results[0].replace_all_uses_with(cast_to(new, op.results[0].type))
    op.erase()
