"""``ipu-restore-library-calls``: calls of library codelets as structured ops, to be placed as those are."""

from ipu_mlir.dialects import linalg
from ipu_mlir.dialects.ops.library_call import LibraryCallOp
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.linalg_builders import zero
from ipu_mlir.passes.support.rewriting import list_ops, replace_op


class RestoreLibraryCalls(Pass):
    """Write each ipu.library_call as the linalg.generic that it was.

    Needs:  tensors.
    Leaves: no ``ipu.library_call``; each is a ``linalg.generic`` with a ``library_call``, whose body uses what the
            codelet updates and says nothing else.
    """

    name = "ipu-restore-library-calls"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in list_ops(module, LibraryCallOp.OPERATION_NAME):
                _restore(op)


def _restore(op: ir.Operation) -> None:
    attributes = dict(op.attributes)
    inputs = ir.IntegerAttr(attributes.pop("inputs")).value
    updated = [ir.BoolAttr(each).value for each in attributes.pop("updated")]
    attributes["library_call"] = attributes.pop("codelet")
    attributes.pop("resultSegmentSizes")
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([inputs, len(updated)])
    with ir.InsertionPoint(op), op.location:
        types = [result.type for result in op.results]
        generic = ir.Operation.create("linalg.generic", types, list(op.operands), attributes, regions=1)
        scalars = [getattr(value.type, "element_type", value.type) for value in op.operands]
        block = generic.regions[0].blocks.append(*scalars, arg_locs=[op.location] * len(scalars))
        with ir.InsertionPoint(block):
            outputs = list(block.arguments)[inputs:]
            given = [_of(output) if used else zero(output.type) for output, used in zip(outputs, updated, strict=True)]
            linalg.YieldOp(given)
    replace_op(op, generic.results)


def _of(output: ir.Value) -> ir.Value:
    """A number made of ``output``, which nothing takes for a copy of it and folds."""
    name = "arith.addf" if isinstance(output.type, ir.FloatType) else "arith.addi"
    return ir.Operation.create(name, [output.type], [output, output]).result
