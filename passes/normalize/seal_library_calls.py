"""``ipu-seal-library-calls``: calls of library codelets as ops that no pass takes apart."""

from ipu_mlir.dialects.analysis.loop_nest import loop_nest, num_outputs, reads_operand
from ipu_mlir.dialects.codelets.library import broken_call
from ipu_mlir.dialects.ops.library_call import MOST_OPERANDS, MOST_RESULTS, LibraryCallOp, segments
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.support.rewriting import list_ops, replace_op


class SealLibraryCalls(Pass):
    """Write each linalg.generic that calls a library codelet as ipu.library_call, which has no body.

    Passes that fuse, fold and reshape take the body of a ``linalg.generic`` for its meaning, and may give it operands
    of other shapes. A codelet means what its declaration says, for operands as they are.

    Needs:  linalg on tensors, static shapes.
    Leaves: no ``library_call`` on a ``linalg.generic``. A call of what is no library codelet, or with operands that it
            does not take, is refused.
    """

    name = "ipu-seal-library-calls"

    def run(self, module: ir.Operation) -> None:
        with module.context, Refusals() as refuse:
            for op in list_ops(module, "linalg.generic"):
                if "library_call" not in op.attributes or not len(op.results):
                    continue
                nest = loop_nest(op)
                if nest is None:
                    refuse(op, "calls a library codelet with tensors of unknown sizes; give the program fixed sizes")
                elif broken := broken_call(op, nest.num_inputs):
                    refuse(op, broken)
                elif len(op.operands) > MOST_OPERANDS or len(op.results) > MOST_RESULTS:
                    refuse(op, f"has more than {MOST_OPERANDS} operands or {MOST_RESULTS} results; call it with fewer")
                else:
                    _seal(op)


def _seal(op: ir.Operation) -> None:
    inputs = len(op.operands) - num_outputs(op)
    number = ir.IntegerType.get_signless(64)
    attributes = dict(op.attributes)
    attributes["codelet"] = attributes.pop("library_call")
    attributes["inputs"] = ir.IntegerAttr.get(number, inputs)
    updated = (reads_operand(op, output) for output in range(inputs, len(op.operands)))
    attributes["updated"] = ir.ArrayAttr.get([ir.BoolAttr.get(each) for each in updated])
    attributes["operandSegmentSizes"] = segments(len(op.operands), MOST_OPERANDS)
    attributes["resultSegmentSizes"] = segments(len(op.results), MOST_RESULTS)
    with ir.InsertionPoint(op), op.location:
        types = [result.type for result in op.results]
        sealed = ir.Operation.create(LibraryCallOp.OPERATION_NAME, types, list(op.operands), attributes)
    replace_op(op, sealed.results)
