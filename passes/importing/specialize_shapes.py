"""``ipu-specialize-shapes``: a program for sizes that are known now."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ipu_mlir.dialects.analysis.matchers import terminator
from ipu_mlir.dialects.support.bindings import ir, passmanager, upstream
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.importing.dynamic_types import before_cast, dynamic_sizes
from ipu_mlir.passes.importing.infer_sizes import infer_sizes
from ipu_mlir.passes.importing.stablehlo.refine_shapes import (
    as_general,
    drop_assertions,
    failed_assertions,
    is_stablehlo,
    refine_shapes,
)
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.passes.support.value_attributes import set_function_type


@dataclass(frozen=True)
class SpecializeShapes(Pass):
    """Give the ``?`` sizes of a function's arguments their values.

    Options: ``function``, and ``sizes``, one for each ``?`` in the types of its arguments, in order.

    Needs:  linalg on tensors, or StableHLO.
    Leaves: static types, inferred from those of the arguments; no calls, whose functions serve tensors of other sizes;
            of StableHLO this function alone, without the assertions about sizes that hold.
    """

    name = "ipu-specialize-shapes"

    function: str = "main"
    sizes: tuple[int, ...] = ()

    def run(self, module: ir.Operation) -> None:
        with module.context, ir.Location.unknown(), Refusals() as refuse:
            symbols = ir.SymbolTable(module)
            if self.function not in symbols:
                refuse(module, f"has no function '{self.function}'; name one of its functions with function=")
                return
            function = symbols[self.function].operation
            if function.name != "func.func":
                refuse(function, "is no function; name one of the functions with function=")
                return
            unknown = sum(dynamic_sizes(each) for each in function.attributes["function_type"].value.inputs)
            if unknown != len(self.sizes):
                refuse(function, f"has {unknown} sizes that are not known, but {len(self.sizes)} are given")
                return
            if is_stablehlo(module):
                _set_arguments(function, self.sizes, as_general)
                for location, message in failed_assertions(module, self.function):
                    refuse.at(location, message)
                if not refuse.diagnostics:
                    refine_shapes(module, function)
                    drop_assertions(module)
                    set_function_type(function)
                return
            _set_arguments(function, self.sizes, _cast)
            passmanager.PassManager.parse("builtin.module(inline)", context=module.context).run(module)
            infer_sizes(module)
            _drop_casts_of_results(ir.SymbolTable(module)[self.function].operation)
            infer_sizes(module)
            for op in list_ops(ir.SymbolTable(module)[self.function].operation):
                if any(dynamic_sizes(result.type) for result in op.results):
                    refuse(op, f"still has a size that is not known: {op.results[0].type}; it depends on data")


def with_sizes(shaped: ir.Type, sizes: Sequence[int]) -> ir.Type:
    """A tensor type with ``sizes`` in place of its ``?``, in order."""
    given = iter(sizes)
    shape = [next(given) if shaped.is_dynamic_dim(d) else size for d, size in enumerate(shaped.shape)]
    return ir.RankedTensorType.get(shape, shaped.element_type, shaped.encoding)


def _cast(argument: ir.Value, general: ir.Type) -> ir.Value:
    return upstream("tensor").CastOp(general, argument).result


def _set_arguments(function: ir.Operation, sizes: Sequence[int], cast: Callable[[ir.Value, ir.Type], ir.Value]) -> None:
    block = function.regions[0].blocks[0]
    rest = list(sizes)
    for argument in block.arguments:
        count = dynamic_sizes(argument.type)
        if not count:
            continue
        general = argument.type
        argument.set_type(with_sizes(general, rest[:count]))
        rest = rest[count:]
        with ir.InsertionPoint.at_block_begin(block), function.location:
            same = cast(argument, general)
        argument.replace_all_uses_except(same, same.owner.operation)
    set_function_type(function)


def _drop_casts_of_results(function: ir.Operation) -> None:
    """Return the tensors themselves, not their casts to types with unknown sizes."""
    last = terminator(function.regions[0].blocks[0])
    for number, value in enumerate(last.operands):
        last.operands[number] = before_cast(value)
    set_function_type(function)
