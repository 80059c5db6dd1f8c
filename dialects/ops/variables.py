"""``ipu.variable``, ``ipu.read``, ``ipu.assign``, ``ipu.assigned``: memory of the device that lives from run to run."""

from typing import Any

from ipu_mlir.dialects.analysis.effects import Effects
from ipu_mlir.dialects.analysis.matchers import function_type
from ipu_mlir.dialects.attributes.dialect import Ipu
from ipu_mlir.dialects.support.bindings import ext, ir
from ipu_mlir.dialects.support.diagnostics import fail
from ipu_mlir.dialects.support.verifiers import verifier


class VariableOp(Ipu.Operation, name="variable"):
    """A tensor that all functions of the module share, and that keeps its value between runs.

        "ipu.variable"() {sym_name = "w", type = tensor<4xf32>, init = dense<0.0> : tensor<4xf32>} : () -> ()

    Stands in the module, and has a ranked type of static shape. ``init`` is its value before the first run; without it
    somebody has to give it one first. ``ipu.map`` is where it lies in all functions: a wish, and after
    ``ipu-partition`` the decision. With ``offload`` it lies in remote memory (``ipu-offload-variables``), and
    with ``partition`` each replica keeps a part of it there.
    """

    sym_name: ir.StringAttr
    type: ir.TypeAttr

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        operation, tensor = op.operation, op.attributes["type"].value
        if operation.parent is None or operation.parent.operation.name != "builtin.module":
            return fail(op, "stands inside a function; a variable belongs to the module")
        if not isinstance(tensor, ir.RankedTensorType) or not tensor.has_static_shape or tensor.encoding is not None:
            return fail(op, f"is of type {tensor}; a variable is a ranked tensor of static shape, without encoding")
        init = operation.attributes.get("init", None)
        if init is not None and not isinstance(init, ir.DenseElementsAttr):
            return fail(op, f"begins with {init}; give it dense<...>, or none for a value that comes from the host")
        if init is not None and init.type != tensor:
            return fail(op, f"begins with {init.type}, but is of type {tensor}")
        if "offload" in operation.attributes and init is None:
            return fail(op, "has no value to begin with; what is offloaded needs one: give it init = dense<...>")
        if "partition" in operation.attributes and "offload" not in operation.attributes:
            return fail(op, "is cut for replicas, but lies on their tiles; give it offload as well")
        if "offload" in operation.attributes and "ipu.map" in operation.attributes:
            return fail(op, "lies on tiles and in remote memory; leave out ipu.map or offload")
        return True


class ReadOp(Ipu.Operation, name="read"):
    """The value of a variable at this point of the program.

        %w = "ipu.read"() {variable = @w} : () -> tensor<4xf32>

    Stands in a function, or in loops and branches there.
    """

    variable: ir.FlatSymbolRefAttr
    value: ext.Result[Any]


class AssignOp(Ipu.Operation, name="assign"):
    """Give a variable a value, which every ``ipu.read`` after it reads, in this run and the next.

    "ipu.assign"(%w) {variable = @w} : (tensor<4xf32>) -> ()
    """

    variable: ir.FlatSymbolRefAttr
    value: ext.Operand[Any]


class AssignedOp(Ipu.Operation, name="assigned"):
    """Say that an argument which is a variable has, behind this place, the value that the program gives it.

        "ipu.assigned"() {argument = 1 : i64} : () -> ()

    ``ipu-mark-assignments`` puts it where a block that assigns the variable ends: ops that write to the memory of the
    variable stand before it. It takes no tensor, so that bufferization leaves it where it is.
    """

    argument: ir.IntegerAttr
    effects = Effects(ordered=True)

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        around = op.operation.parent.operation
        while around.name != "func.func" and around.parent is not None:
            around = around.parent.operation
        number = ir.IntegerAttr(op.operation.attributes["argument"]).value
        if around.name != "func.func":
            return fail(op, "stands outside of functions; a function assigns its variables")
        count = len(function_type(around).inputs)
        if not 0 <= number < count:
            return fail(op, f"is about argument {number} of a function with {count} arguments")
        return True
