"""The functions of a module that are gradients of others, and their code."""

from collections.abc import Collection
from dataclasses import dataclass

from ipu_mlir.dialects.analysis.matchers import function_type, symbol_of, terminator
from ipu_mlir.dialects.analysis.outlined_calls import OUTLINED, callee_of
from ipu_mlir.dialects.analysis.pipelines import PIPELINE
from ipu_mlir.dialects.support.bindings import ir, passmanager, upstream
from ipu_mlir.dialects.support.dictionaries import entries_of
from ipu_mlir.passes.autodiff.activity import active_values, is_differentiable
from ipu_mlir.passes.autodiff.backward import Backward, NotDifferentiable
from ipu_mlir.passes.autodiff.counted_whiles import count_whiles
from ipu_mlir.passes.autodiff.rules import RULES
from ipu_mlir.passes.core.base import Refusals
from ipu_mlir.passes.support.calls import inline_call
from ipu_mlir.passes.support.rewriting import list_ops, replace_op
from ipu_mlir.passes.support.value_attributes import set_function_type

func = upstream("func")

GRADIENT = "ipu.gradient"
"""Attribute of a declared function: ``{of = @f, by = array<i64: 0, 2>}``; with ``entry`` it is no private one."""

DERIVATIVE = "ipu.derivative"
"""Attribute of a function: ``{forward = @f, backward = @g}``; of a call of ``@f`` in its place, that."""

_PREPARE = "any(convert-elementwise-to-linalg,linalg-generalize-named-ops)"


@dataclass(frozen=True)
class _Gradient:
    """A gradient that is asked for.

    Attributes:
        function: its declaration.
        of: the name of the function that is differentiated.
        by: the numbers of its arguments by which it is.
        is_entry: whether others than the functions of the module call it.
    """

    function: ir.Operation
    of: str
    by: tuple[int, ...]
    is_entry: bool


class GradientFunctions:
    """The functions of ``module``, some of which are gradients without code."""

    def __init__(self, module: ir.Operation, refuse: Refusals) -> None:
        self._module, self._refuse = module, refuse
        self._functions = {symbol_of(op): op for op in list_ops(module, "func.func")}
        self._waiting: set[str] = set()
        self._taken_part: set[str] = set()
        self._of_calls: dict[tuple[str, tuple[int, ...]], str] = {}

    def fill(self) -> None:
        """Give all of them their code."""
        for name in list(self._functions):
            self._fill(name)
        if not self._refuse.diagnostics:
            self._inline_gradients()

    def _inline_gradients(self) -> None:
        """Inline the calls of gradients, and of what is differentiated: upstream leaves ops of ours alone."""
        for call in list_ops(self._module, "func.call"):
            callee = self._functions.get(callee_of(call))
            if callee_of(call) in self._taken_part and OUTLINED not in call.attributes and callee is not None:
                inline_call(call, callee)

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
            self._taken_part |= {name, gradient.of}

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
        given = entries_of(said) if isinstance(said, ir.DictAttr) else {}
        is_entry = "entry" in given
        of, by = given.get("of"), given.get("by")
        given.pop("entry", None)
        if of is None or by is None or len(given) != 2 or not _is_asked_well(of, by):
            self._refuse(declared, f"has {GRADIENT} = {said}; write {{of = @function, by = array<i64: 0>}}")
            return None
        of, by = ir.FlatSymbolRefAttr(of), ir.DenseI64ArrayAttr(by)
        function = self._functions.get(of.value)
        if function is None or (len(function.regions[0].blocks) != 1 and GRADIENT not in function.attributes):
            self._refuse(declared, f"is the gradient of @{of.value}, which is no function of one block in this module")
            return None
        kind = function_type(function)
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
        return _Gradient(declared, of.value, numbers, is_entry)

    def _made(self, gradient: _Gradient) -> ir.Operation:
        """The function with code in the place of the declaration."""
        name, place = symbol_of(gradient.function), gradient.function.location
        with ir.InsertionPoint(gradient.function):
            made = self._functions[gradient.of].clone()
        made.attributes["sym_name"] = ir.StringAttr.get(name)
        if not gradient.is_entry:
            made.attributes["sym_visibility"] = ir.StringAttr.get("private")
        elif "sym_visibility" in made.attributes:
            del made.attributes["sym_visibility"]
        for which in ("arg_attrs", "res_attrs"):
            if which in made.attributes:
                del made.attributes[which]
        gradient.function.erase()
        self._inline_calls(made)
        if self._refuse.diagnostics:
            return made
        passmanager.PassManager.parse(_PREPARE).run(made)
        count_whiles(made)
        block = made.regions[0].blocks[0]
        end = terminator(block)
        arguments = list(block.arguments)
        results = [(number, value) for number, value in enumerate(end.operands) if is_differentiable(value.type)]
        ops = [op.operation for op in block.operations][:-1]
        seeds = [arguments[number] for number in gradient.by]
        back = Backward({**RULES, "func.call": self._call}, active_values(ops, seeds))
        try:
            with ir.InsertionPoint(end), place:
                for _, value in results:
                    back.add(value, block.add_argument(value.type, place))
                back.run(ops)
                found = [back.of_or_zeros(seed) for seed in seeds]
                func.ReturnOp([*end.operands, *found])
        except NotDifferentiable as error:
            self._refuse(
                error.op, f"{error.reason} (in the gradient of @{gradient.of}); ipu.stop_gradient keeps it out of that"
            )
            return made
        end.erase()
        for call in list_ops(made, "func.call"):
            if DERIVATIVE in call.attributes:  # its code is differentiated in gradients of this one
                del call.attributes[DERIVATIVE]
        set_function_type(made)
        return made

    def _inline_calls(self, function: ir.Operation) -> None:
        """Inline the calls in ``function`` that its gradient looks into; others are outlined, or have a derivative."""
        while calls := [op for op in list_ops(function, "func.call") if not _KEPT & set(op.attributes)]:
            for call in calls:
                callee = self._functions.get(callee_of(call))
                if callee is None or len(callee.regions[0].blocks) != 1:
                    self._refuse(call, _missing_code(callee_of(call), callee))
                    call.attributes[OUTLINED] = ir.UnitAttr.get()
                elif DERIVATIVE in callee.attributes:
                    self._call_forward(call, callee)
                else:
                    inline_call(call, callee)

    def _call_forward(self, call: ir.Operation, callee: ir.Operation) -> None:
        """Call the forward function of the derivative that ``callee`` has, in the place of it."""
        said = entries_of(callee.attributes[DERIVATIVE])
        forward, backward = (self._functions.get(ir.FlatSymbolRefAttr(said[name]).value) for name in _PARTS)
        if forward is None or backward is None:
            self._refuse(callee, f"has {DERIVATIVE} = {callee.attributes[DERIVATIVE]}, and one of the two is not here")
            call.attributes[OUTLINED] = ir.UnitAttr.get()
            return
        kind = function_type(forward)
        with ir.InsertionPoint(call), call.location:
            made = func.CallOp(list(kind.results), symbol_of(forward), list(call.operands)).operation
        made.attributes[DERIVATIVE] = ir.ArrayAttr.get(
            [
                said["backward"],
                ir.IntegerAttr.get(ir.IntegerType.get_signless(64), len(call.results)),
                said.get("without", ir.DenseI64ArrayAttr.get([])),
            ]
        )
        self._taken_part |= {symbol_of(forward), symbol_of(backward)}
        replace_op(call, list(made.results)[: len(call.results)])

    def _call(self, op: ir.Operation, back: Backward) -> None:
        """The rule of calls: of a derivative that the user gives, or of an outlined function."""
        if DERIVATIVE in op.attributes:
            name, count, without = op.attributes[DERIVATIVE]
            for place in without:
                if back.wants(op.operands[place]):
                    raise NotDifferentiable(op, f"calls @{callee_of(op)}, which has no derivative by argument {place}")
            results, further = list(op.results)[: count.value], list(op.results)[count.value :]
            given = [back.of_or_zeros(result) for result in results if is_differentiable(result.type)]
            by = [value for value in op.operands if is_differentiable(value.type)]
            made = func.CallOp([value.type for value in by], name.value, [*further, *given]).operation
        else:
            by = [value for value in op.operands if back.wants(value)]
            numbers = tuple(number for number, value in enumerate(op.operands) if back.wants(value))
            given = [back.of_or_zeros(result) for result in op.results if is_differentiable(result.type)]
            types = [value.type for value in (*op.results, *by)]
            made = func.CallOp(types, self._gradient_of(callee_of(op), numbers), [*op.operands, *given]).operation
            made.attributes[OUTLINED] = ir.UnitAttr.get()
        for value, cotangent in zip(by, list(made.results)[-len(by) :] if by else [], strict=True):
            back.add(value, cotangent)

    def _gradient_of(self, of: str, by: tuple[int, ...]) -> str:
        """The name of the gradient of an outlined function, which is made if there is none."""
        if (of, by) not in self._of_calls:
            function = self._functions[of]
            kind = function_type(function)
            cotangents = [each for each in kind.results if is_differentiable(each)]
            types = [*kind.inputs, *cotangents], [*kind.results, *(kind.inputs[number] for number in by)]
            name = _free_name(f"{of}_gradient", self._functions)
            with ir.InsertionPoint(function):
                declared = func.FuncOp(name, types, visibility="private").operation
            asked = {"of": ir.FlatSymbolRefAttr.get(of), "by": ir.DenseI64ArrayAttr.get(list(by))}
            declared.attributes[GRADIENT] = ir.DictAttr.get(asked)
            self._functions[name] = declared
            self._of_calls[of, by] = name
            self._fill(name)
        return self._of_calls[of, by]


_KEPT = {OUTLINED, DERIVATIVE}
_PARTS = ("forward", "backward")


def _missing_code(name: str, callee: ir.Operation | None) -> str:
    """The error of a call of what has no code, as the end of a sentence."""
    if callee is not None and PIPELINE in callee.attributes:
        return "runs a pipeline, which has gradients of its own: ask its value_and_grad for them"
    return f"calls @{name}, whose code is not here, so it has no derivative"


def _free_name(wanted: str, taken: Collection[str]) -> str:
    return next(name for n in range(len(taken) + 1) if (name := f"{wanted}_{n}" if n else wanted) not in taken)


def _is_asked_well(of: ir.Attribute, by: ir.Attribute) -> bool:
    return isinstance(of, ir.FlatSymbolRefAttr) and isinstance(by, ir.DenseI64ArrayAttr)


def _broken_arguments(numbers: tuple[int, ...], kind: ir.FunctionType) -> str | None:
    for number in numbers:
        if not 0 <= number < len(kind.inputs):
            return f"differentiates by argument {number} of a function that has {len(kind.inputs)}"
        if not is_differentiable(kind.inputs[number]):
            return f"differentiates by argument {number}, {kind.inputs[number]}; only floats have derivatives"
    return None
