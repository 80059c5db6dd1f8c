"""A pass with a bug: it changes the types of functions and forgets what they return."""

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_ops


class DropResults(Pass):
    """Give every function a type without results."""

    name = "test-drop-results"

    def run(self, module: ir.Operation) -> None:
        for function in list_ops(module, "func.func"):
            kind = function.attributes["function_type"].value
            function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(kind.inputs, []))
