"""``ipu-autodiff``: functions that are declared as gradients get their code."""

from dataclasses import dataclass

from ipu_mlir.dialects.analysis.matchers import symbol_of, terminator
from ipu_mlir.dialects.analysis.outlined_calls import OUTLINED, callee_of
from ipu_mlir.dialects.support.bindings import ir, passmanager, upstream
from ipu_mlir.passes.autodiff.activity import active_values, is_differentiable
from ipu_mlir.passes.autodiff.backward import Backward, NotDifferentiable, Rule
from ipu_mlir.passes.autodiff.control_rules import CONTROL_RULES
from ipu_mlir.passes.autodiff.program_rules import PROGRAM_RULES
from ipu_mlir.passes.autodiff.scalar_rules import SCALAR_RULES
from ipu_mlir.passes.autodiff.structured_rules import STRUCTURED_RULES
from ipu_mlir.passes.autodiff.view_rules import VIEW_RULES
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.support.clone import Known, clone_into
from ipu_mlir.passes.support.rewriting import list_ops, replace_op
from ipu_mlir.passes.support.value_attributes import set_function_type

GRADIENT = "ipu.gradient"
"""Attribute of a declared function: ``{of = @f, by = array<i64: 0, 2>}``."""

_PREPARE = "func.func(convert-elementwise-to-linalg,linalg-generalize-named-ops)"


def _scalar(op: ir.Operation, back: Backward) -> None:
    """The rule of an op on single numbers outside of structured ops."""
    cotangent = back.of(op.results[0])
    assert cotangent is not None
    given = SCALAR_RULES[op.name](list(op.operands), op.results[0], cotangent)
    for operand, each in zip(op.operands, given, strict=True):
        back.add(operand, each)


RULES: dict[str, Rule] = {
    **dict.fromkeys(SCALAR_RULES, _scalar),
    **VIEW_RULES,
    **STRUCTURED_RULES,
    **CONTROL_RULES,
    **PROGRAM_RULES,
}
"""The rules of all ops that have a derivative, by the name of the op."""


@dataclass(frozen=True)
class _Gradient:
    """A gradient that is asked for.

    Attributes:
        function: its declaration.
        of: the name of the function that is differentiated.
        by: the numbers of its arguments by which it is.
    """

    function: ir.Operation
    of: str
    by: tuple[int, ...]


class Autodiff(Pass):
    """Give functions that are declared as gradients their code: reverse-mode differentiation.

        func.func private @df(%x: tensor<4xf32>, %ct: tensor<f32>) -> (tensor<f32>, tensor<4xf32>)
            attributes {ipu.gradient = {of = @f, by = array<i64: 0>}}

    computes what ``@f`` does and, from a cotangent for each of its results that is a float, those of the arguments
    ``by``: their products with the Jacobian. Arguments are those of ``@f``, then the cotangents; results those of
    ``@f``, then the cotangents of the arguments. A gradient of a gradient is one of second order.

    Calls are inlined, but for those that are marked ``ipu.outlined``: their backward code is a function as well, which
    runs the forward code again.

    Needs:  linalg on tensors of static shape.
    Leaves: no function with ``ipu.gradient``.
    """

    name = "ipu-autodiff"

    def run(self, module: ir.Operation) -> None:
        if not any(GRADIENT in op.attributes for op in list_ops(module, "func.func")):
            return
        with module.context, Refusals() as refuse:
            _Module(module, refuse).run()


class _Module:
    """The functions of a module, some of which are gradients without code."""

    def __init__(self, module: ir.Operation, refuse: Refusals) -> None:
        self._module, self._refuse = module, refuse
        self._functions = {symbol_of(op): op for op in list_ops(module, "func.func")}
        self._waiting: set[str] = set()

    def run(self) -> None:
        for name in list(self._functions):
            self._fill(name)

    def _fill(self, name: str) -> None:
        """Give the function its code if it is a gradient that has none, after the gradients that it is made of."""
        declared = self._functions[name]
        if GRADIENT not in declared.attributes:
            return
        gradient = self._asked(declared)
        if gradient is None:
            del declared.attributes[GRADIENT]
            return
        self._waiting.add(name)
        self._inlined_calls_are_filled(gradient.of)
        self._waiting.discard(name)
        if not self._refuse.diagnostics:
            self._functions[name] = self._made(gradient)

    def _inlined_calls_are_filled(self, name: str) -> None:
        for call in list_ops(self._functions[name], "func.call"):
            callee = callee_of(call)
            if callee in self._waiting:
                self._refuse(call, f"makes @{name} call itself by way of its own gradient; a gradient has to end")
            elif callee in self._functions:
                self._fill(callee)
                self._inlined_calls_are_filled(callee)

    def _asked(self, declared: ir.Operation) -> _Gradient | None:
        """The gradient that ``declared`` asks for; None, and an error, if there can be none such."""
        said = declared.attributes[GRADIENT]
        given = {each.name: each.attr for each in said} if isinstance(said, ir.DictAttr) else {}
        of, by = given.get("of"), given.get("by")
        if not isinstance(of, ir.FlatSymbolRefAttr) or not isinstance(by, ir.DenseI64ArrayAttr) or len(given) != 2:
            self._refuse(declared, f"has {GRADIENT} = {said}; write {{of = @function, by = array<i64: 0>}}")
            return None
        function = self._functions.get(of.value)
        if function is None or len(function.regions[0].blocks) != 1 and GRADIENT not in function.attributes:
            self._refuse(declared, f"is the gradient of @{of.value}, which is no function of one block in this module")
            return None
        kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
        numbers = tuple(by)
        broken = _broken_arguments(numbers, kind)
        if broken is not None:
            self._refuse(declared, broken)
            return None
        cotangents = [each for each in kind.results if is_differentiable(each)]
        wanted = ir.FunctionType.get([*kind.inputs, *cotangents], [*kind.results, *(kind.inputs[n] for n in numbers)])
        found = ir.TypeAttr(declared.attributes["function_type"]).value
        if found != wanted:
            self._refuse(declared, f"has the type {found}, and the gradient of @{of.value} has {wanted}")
            return None
        return _Gradient(declared, of.value, numbers)

    def _made(self, gradient: _Gradient) -> ir.Operation:
        """The function with code in the place of the declaration."""
        name, place = symbol_of(gradient.function), gradient.function.location
        with ir.InsertionPoint(gradient.function):
            made = self._functions[gradient.of].clone()
        made.attributes["sym_name"] = ir.StringAttr.get(name)
        made.attributes["sym_visibility"] = ir.StringAttr.get("private")
        for which in ("arg_attrs", "res_attrs"):
            if which in made.attributes:
                del made.attributes[which]
        gradient.function.erase()
        self._inline_calls(made)
        passmanager.PassManager.parse(f"any({_PREPARE.removeprefix('func.func(').removesuffix(')')})").run(made)
        block = made.regions[0].blocks[0]
        end = terminator(block)
        arguments = list(block.arguments)
        results = [(number, value) for number, value in enumerate(end.operands) if is_differentiable(value.type)]
        ops = [op.operation for op in block.operations][:-1]
        seeds = [arguments[number] for number in gradient.by]
        back = Backward(RULES, active_values(ops, seeds))
        try:
            with ir.InsertionPoint(end), place:
                for _, value in results:
                    back.add(value, block.add_argument(value.type, place))
                back.run(ops)
                found = [back.of_or_zeros(seed) for seed in seeds]
                upstream("func").ReturnOp([*end.operands, *found])
        except NotDifferentiable as error:
            self._refuse(
                error.op, f"{error.reason} (in the gradient of @{gradient.of}); ipu.stop_gradient keeps it out of that"
            )
            return made
        end.erase()
        set_function_type(made)
        return made

    def _inline_calls(self, function: ir.Operation) -> None:
        while calls := [op for op in list_ops(function, "func.call") if OUTLINED not in op.attributes]:
            for call in calls:
                callee = self._functions.get(callee_of(call))
                if callee is None or len(callee.regions[0].blocks) != 1:
                    self._refuse(call, f"calls @{callee_of(call)}, whose code is not here, so it has no derivative")
                    call.attributes[OUTLINED] = ir.UnitAttr.get()
                    continue
                block = callee.regions[0].blocks[0]
                known: Known = dict(zip(block.arguments, call.operands, strict=True))
                with ir.InsertionPoint(call):
                    for op in list(block.operations)[:-1]:
                        clone_into(op.operation, known)
                replace_op(call, [known.get(value, value) for value in terminator(block).operands])


def _broken_arguments(numbers: tuple[int, ...], kind: ir.FunctionType) -> str | None:
    for number in numbers:
        if not 0 <= number < len(kind.inputs):
            return f"differentiates by argument {number} of a function that has {len(kind.inputs)}"
        if not is_differentiable(kind.inputs[number]):
            return f"differentiates by argument {number}, {kind.inputs[number]}; only floats have derivatives"
    return None
