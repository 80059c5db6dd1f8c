"""``ipu-inline-scalar-ops``: structured ops on scalars wrapped in tensors become scalar ops."""

from math import prod

from ipu_mlir.dialects.analysis.loop_nest import num_outputs, reads_operand
from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.clone import clone_into
from ipu_mlir.passes.support.rewriting import list_ops


class InlineScalarOps(Pass):
    """Run ops on rank-0 tensors that only wrap scalars on the scalars themselves.

    Loops that were scalar before a front end wrapped their values are recognised as such again
    (``ipu-raise-loops``).

    Needs:  linalg on tensors.
    Leaves: no ``linalg.generic`` without loops whose operands are all ``tensor.from_elements`` or scalars, of one
            element each; its results are ``tensor.from_elements``, which ``canonicalize`` folds into
            ``tensor.extract``.
    """

    name = "ipu-inline-scalar-ops"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in list_ops(module, "linalg.generic"):
                if not len(op.attributes["iterator_types"]) and "library_call" not in op.attributes:
                    _inline(op)


def _inline(op: ir.Operation) -> None:
    inputs = len(op.operands) - num_outputs(op)
    scalars = [_scalar_in(value) for value in list(op.operands)[:inputs]]
    outputs_matter = any(reads_operand(op, number) for number in range(inputs, len(op.operands)))
    is_larger = any(prod(result.type.shape) != 1 for result in op.results)  # and only one element of it is written
    if not scalars or outputs_matter or is_larger or any(scalar is None for scalar in scalars):
        return
    block = op.regions[0].blocks[0]
    known = dict(zip(list(block.arguments)[:inputs], scalars, strict=True))
    with ir.InsertionPoint(op), op.location:
        *body, terminator = block.operations
        for inner in body:
            clone_into(inner.operation, known)
        for result, value in zip(op.results, terminator.operands, strict=True):
            wrapped = upstream("tensor").FromElementsOp(result.type, [known.get(value, value)]).result
            result.replace_all_uses_with(wrapped)
    op.erase()


def _scalar_in(value: ir.Value) -> ir.Value | None:
    """The scalar that ``value`` is or wraps; None for a tensor of several elements, of which one is read."""
    if not isinstance(value.type, ir.ShapedType):
        return value
    made = defining_op(value, "tensor.from_elements")
    return made.operands[0] if made is not None and len(made.operands) == 1 else None
