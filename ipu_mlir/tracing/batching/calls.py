"""Calls of functions of the program, and of their gradients, written for a batch."""

from collections.abc import Sequence
from dataclasses import dataclass

from ipu_mlir.dialects.analysis.matchers import function_type, symbol_of
from ipu_mlir.dialects.analysis.outlined_calls import callee_of
from ipu_mlir.dialects.analysis.pipelines import PIPELINE
from ipu_mlir.dialects.support.bindings import ir, passmanager, upstream
from ipu_mlir.dialects.support.dictionaries import entries_of
from ipu_mlir.passes.autodiff.gradient_functions import DERIVATIVE, GRADIENT
from ipu_mlir.passes.support.value_attributes import set_function_type
from ipu_mlir.tracing.batching.batcher import Batcher, New, Rule, acts
from ipu_mlir.tracing.batching.rules import not_for_batches
from ipu_mlir.tracing.control.private_functions import new_name

func = upstream("func")


@dataclass(frozen=True)
class _Function:
    """A function for a batch.

    Attributes:
        name: of the function.
        taken, given: which of its arguments and results differ from example to example.
        has_mask: whether its last argument says which examples come by.
    """

    name: str
    taken: tuple[bool, ...]
    given: tuple[bool, ...]
    has_mask: bool = False


class Calls:
    """The rule of calls, which makes one function for all calls with the same batched arguments.

    Args:
        size: of the batch.
        rules, otherwise: of the ops in functions, as ``Batcher`` takes them.
    """

    def __init__(self, module: ir.Module, size: int, rules: dict[str, Rule], otherwise: Rule) -> None:
        self._module, self._size = module, size
        self._rules, self._otherwise = {**rules, "func.call": self}, otherwise
        self._made: dict[tuple[str, tuple[bool, ...], bool, bool], _Function] = {}

    def batcher(self) -> Batcher:
        """One that knows calls as well."""
        return Batcher(self._size, self._rules, self._otherwise)

    def __call__(self, batcher: Batcher, op: ir.Operation) -> None:
        """Call the function for the batch, with the mask of those that come by where that matters."""
        operands = [batcher.new(value) for value in op.operands]
        mask = batcher.taking_part if acts(op) else None
        made = self._function(callee_of(op), tuple(each.batched for each in operands), has_mask=mask is not None)
        pairs = zip(operands, made.taken, strict=True)
        types = _types(batcher, [value.type for value in op.results], made.given)
        with op.location:
            values = [batcher.repeated(each) if flag else each.value for each, flag in pairs]
            values += [mask.value] if mask is not None and made.has_mask else []
            called = func.CallOp(types, made.name, values).operation
        for name in set(op.attributes) - {"callee"}:
            called.attributes[name] = op.attributes[name]
        for old, value, flag in zip(op.results, called.results, made.given, strict=True):
            batcher.note(old, value, flag)

    def _function(self, name: str, flags: tuple[bool, ...], whole: bool = False, has_mask: bool = False) -> _Function:
        """The function for a batch, of which the arguments with flags differ; with ``whole`` all results do.

        One that ``has_mask`` takes which examples come by, unless it has a gradient of its own.
        """
        key = name, flags, whole, has_mask
        if key not in self._made:
            function = self._named(name)
            with function.location, ir.InsertionPoint.at_block_begin(self._module.body):
                if GRADIENT in function.attributes:
                    self._made[key] = self._gradient(function, flags)
                elif DERIVATIVE in function.attributes:
                    self._made[key] = self._with_derivative(function)
                else:
                    self._made[key] = self._code(function, flags, whole, has_mask)
        return self._made[key]

    def _named(self, name: str) -> ir.Operation:
        functions = (op.operation for op in self._module.body.operations)
        return next(op for op in functions if symbol_of(op) == name)

    def _code(self, function: ir.Operation, flags: tuple[bool, ...], whole: bool, has_mask: bool = False) -> _Function:
        if not len(function.regions[0].blocks):
            is_pipeline = PIPELINE in function.attributes
            raise not_for_batches("a pipeline" if is_pipeline else f"@{symbol_of(function)}, whose code is not here,")
        function, batcher = function.clone(), self.batcher()
        passmanager.PassManager.parse("any(linalg-generalize-named-ops)").run(function)  # of other front ends
        old = function.regions[0].blocks[0]
        types = _types(batcher, [value.type for value in old.arguments], flags)
        types += [batcher.type(ir.IntegerType.get_signless(1))] if has_mask else []
        made = self._declared(function, types, [])
        block = made.regions[0].blocks.append(*types, arg_locs=[function.location] * len(types))
        for argument, value, flag in zip(old.arguments, list(block.arguments)[: len(flags)], flags, strict=True):
            batcher.note(argument, value, flag)
        if has_mask:
            batcher.taking_part = New(block.arguments[len(flags)], True)
        with ir.InsertionPoint(block):
            results = batcher.block(old)
            if whole:
                results = [New(batcher.repeated(each), True) for each in results]
            func.ReturnOp([each.value for each in results])
        set_function_type(made)
        function.erase()
        return _Function(symbol_of(made), flags, tuple(each.batched for each in results), has_mask)

    def _gradient(self, function: ir.Operation, flags: tuple[bool, ...]) -> _Function:
        """The gradient of the function for a batch: no example takes part in what another one gives."""
        asked = entries_of(function.attributes[GRADIENT])
        name, by = ir.FlatSymbolRefAttr(asked["of"]).value, [*ir.DenseI64ArrayAttr(asked["by"])]
        count = len(function_type(self._named(name)).inputs)
        own = tuple(flag or place in by for place, flag in enumerate(flags[:count]))
        of, kind, batcher = self._function(name, own, whole=True), function_type(function), self.batcher()
        taken, given = (*of.taken, *(True for _ in flags[count:])), tuple(True for _ in kind.results)
        made = self._declared(function, _types(batcher, kind.inputs, taken), _types(batcher, kind.results, given))
        made.attributes[GRADIENT] = ir.DictAttr.get({**asked, "of": ir.FlatSymbolRefAttr.get(of.name)})
        return _Function(symbol_of(made), taken, given)

    def _with_derivative(self, function: ir.Operation) -> _Function:
        """The function, and the two that its derivative is, with arguments that all differ: as their cotangents do."""
        symbols = {}
        for part, symbol in entries_of(function.attributes[DERIVATIVE]).items():
            name = ir.FlatSymbolRefAttr(symbol).value
            whole = self._function(name, tuple(True for _ in function_type(self._named(name)).inputs), whole=True)
            symbols[part] = ir.FlatSymbolRefAttr.get(whole.name)
        made = self._code(function, tuple(True for _ in function_type(function).inputs), whole=True)
        self._named(made.name).attributes[DERIVATIVE] = ir.DictAttr.get(symbols)
        return made

    def _declared(self, function: ir.Operation, taken: Sequence[ir.Type], given: Sequence[ir.Type]) -> ir.Operation:
        """A private function without code, called like ``function``."""
        name = new_name(self._module, symbol_of(function))
        return func.FuncOp(name, (list(taken), list(given)), visibility="private").operation


def _types(batcher: Batcher, types: Sequence[ir.Type], flags: Sequence[bool]) -> list[ir.Type]:
    return [batcher.type(each) if flag else each for each, flag in zip(types, flags, strict=True)]
