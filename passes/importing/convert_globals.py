"""``ipu-convert-globals``: state that front ends keep in ``ml_program`` is variables."""

from ipu_mlir.dialects.ops.variables import AssignOp, ReadOp, VariableOp
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.support.rewriting import list_ops


class ConvertGlobals(Pass):
    """Write tensors of ``ml_program`` that functions load and store as ``ipu.variable``, read and assigned.

    So torch-mlir keeps the state of random numbers, ``global_seed``.

    Needs:  linalg on tensors.
    Leaves: no ``ml_program``; each variable begins as the global does.
    """

    name = "ipu-convert-globals"

    def run(self, module: ir.Operation) -> None:
        with module.context, Refusals() as refuse:
            for op in list_ops(module, "ml_program.global"):
                kind = op.attributes["type"].value
                init = op.attributes.get("value", None)
                if not isinstance(init, ir.DenseElementsAttr) or not isinstance(kind, ir.RankedTensorType):
                    refuse(op, f"has no value of {kind} to begin with; give it dense<...>")
                    continue
                with ir.InsertionPoint(op), op.location:
                    made = VariableOp(sym_name=op.attributes["sym_name"], type=op.attributes["type"])
                    made.operation.attributes["init"] = init
                op.erase()
            if refuse.diagnostics:
                return
            for op in list_ops(module, "ml_program.global_load", "ml_program.global_store"):
                with ir.InsertionPoint(op), op.location:
                    name = ir.FlatSymbolRefAttr.get(ir.SymbolRefAttr(op.attributes["global"]).value[-1])
                    if op.name == "ml_program.global_store":
                        AssignOp(variable=name, value=op.operands[0])
                    else:
                        op.results[0].replace_all_uses_with(ReadOp(variable=name, value=op.results[0].type).value)
                op.erase()
