"""Programs of PyTorch that keep tensors on the device from run to run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from torch.utils import _pytree as pytree

from ipu_mlir.dialects.ipu import AssignOp, ReadOp, VariableOp
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.frontends.torch_calls import TorchCall


def keep_first_arguments(module: ir.Module, names: Sequence[str]) -> None:
    """Make variables of the first arguments of ``main``, which its first results are assigned to."""
    function = ir.SymbolTable(module.operation)["main"].operation
    block = function.regions[0].blocks[0]
    last, count = block.operations[len(block.operations) - 1].operation, len(names)
    with module.context, function.location:
        for name, argument in zip(names, list(block.arguments)[:count], strict=True):
            with ir.InsertionPoint(function):
                VariableOp(sym_name=ir.StringAttr.get(name), type=ir.TypeAttr.get(argument.type))
            with ir.InsertionPoint.at_block_begin(block):
                read = ReadOp(value=argument.type, variable=ir.FlatSymbolRefAttr.get(name))
            argument.replace_all_uses_with(read.operation.result)
        with ir.InsertionPoint(last):
            for name, value in zip(names, list(last.operands)[:count], strict=True):
                AssignOp(variable=ir.FlatSymbolRefAttr.get(name), value=value)
            ir.Operation.create(last.name, operands=list(last.operands)[count:])
        last.erase()
        for _ in names:
            block.erase_argument(0)
        kind = function.attributes["function_type"].value
        kind = ir.FunctionType.get(kind.inputs[count:], kind.results[count:])
        function.attributes["function_type"] = ir.TypeAttr.get(kind)
        for each in ("arg_attrs", "res_attrs"):
            if each in function.attributes:
                function.attributes[each] = ir.ArrayAttr.get(list(function.attributes[each])[count:])


def call_of_the_rest(call: TorchCall, count: int) -> TorchCall:
    """How a function of ``(state, args, kwargs)``, which gives ``(state, result)``, is called without its state.

    Args:
        count: of the tensors of the state.
    """
    positional, _ = call.in_spec.children()
    args, kwargs = positional.children()[1:]
    return replace(
        call,
        in_spec=pytree.treespec_tuple([args, kwargs]),
        out_spec=call.out_spec.child(1),
        types=call.types[count:],
        known=_later(call.known, count),
        constants=_later(call.constants, count),
        made=_later(call.made, count),
    )


def _later(by_place: Mapping[int, Any], count: int) -> dict[int, Any]:
    return {place - count: each for place, each in by_place.items() if place >= count}
