"""``ipu-autodiff``: functions that are declared as gradients get their code."""

from dataclasses import dataclass

from ipu_mlir.dialects.analysis.matchers import function_type, symbol_of
from ipu_mlir.dialects.analysis.outlined_calls import OUTLINED
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.autodiff.activity import STOP_GRADIENT, is_differentiable
from ipu_mlir.passes.autodiff.gradient_functions import GRADIENT, GradientFunctions
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.support.rewriting import list_ops, replace_op


@dataclass(frozen=True)
class Autodiff(Pass):
    """Give functions that are declared as gradients their code: reverse-mode differentiation.

        func.func private @df(%x: tensor<4xf32>, %ct: tensor<f32>) -> (tensor<f32>, tensor<4xf32>)
            attributes {ipu.gradient = {of = @f, by = array<i64: 0>}}

    computes what ``@f`` does and, from a cotangent for each of its results that is a float, those of the arguments
    ``by``: their products with the Jacobian. Arguments are those of ``@f``, then the cotangents; results those of
    ``@f``, then the cotangents of the arguments. A gradient of a gradient is one of second order.

    Calls are inlined, but for those that are marked ``ipu.outlined``: their backward code is a function as well, which
    runs the forward code again. A function with ``ipu.derivative = {forward = @f, backward = @g}`` is differentiated
    as the two say: ``@f`` has its results and further ones, ``@g`` takes these and the cotangents of the results that
    are floats, and gives a cotangent for each argument that is one; by those ``without`` lists there is no derivative.

    Options: ``of`` names a function of which a gradient is made that nobody has declared, by its arguments ``by``: it
    is called like the function with ``_gradient`` behind it, and is an entry.

    Needs:  linalg on tensors of static shape.
    Leaves: no function with ``ipu.gradient``, no ``ipu.stop_gradient``, and no call that stays one but outlined ones.
    """

    name = "ipu-autodiff"

    of: str = ""
    by: tuple[int, ...] = ()

    def run(self, module: ir.Operation) -> None:
        with module.context, Refusals() as refuse:
            if self.of:
                self._declare(module, refuse)
            if any(GRADIENT in op.attributes for op in list_ops(module, "func.func")):
                GradientFunctions(module, refuse).fill()
        for op in list_ops(module, STOP_GRADIENT):
            replace_op(op, [op.operands[0]])
        for op in list_ops(module, "func.call"):  # of what has a derivative, which has waited for its gradients
            if "no_inline" in op.attributes and OUTLINED not in op.attributes:
                del op.attributes["no_inline"]

    def _declare(self, module: ir.Operation, refuse: Refusals) -> None:
        """Ask for the gradient that the options name."""
        functions = {symbol_of(op): op for op in list_ops(module, "func.func")}
        function = functions.get(self.of)
        if function is None:
            refuse(
                module, f"has no function @{self.of}; it has {', '.join(f'@{name}' for name in functions) or 'none'}"
            )
            return
        kind = function_type(function)
        cotangents = [each for each in kind.results if is_differentiable(each)]
        by = [kind.inputs[number] for number in self.by if number < len(kind.inputs)]
        with ir.InsertionPoint(module.regions[0].blocks[0]), function.location:
            made = upstream("func").FuncOp(
                f"{self.of}_gradient", ([*kind.inputs, *cotangents], [*kind.results, *by]), visibility="private"
            )
        asked = {"of": ir.FlatSymbolRefAttr.get(self.of), "by": ir.DenseI64ArrayAttr.get(list(self.by))}
        made.operation.attributes[GRADIENT] = ir.DictAttr.get({**asked, "entry": ir.UnitAttr.get()})
