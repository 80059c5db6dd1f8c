"""Weights, other constants and the state of a PyTorch graph, as arguments of it that stand last."""

from collections.abc import Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.fx.passes.shape_prop import _extract_tensor_metadata

from ipu_mlir.dialects.ipu import AssignOp, ReadOp, VariableOp
from ipu_mlir.dialects.support.bindings import ir


def without_state(program: ExportedProgram) -> tuple[torch.fx.Graph, list[torch.Tensor]]:
    """The graph of ``program``, whose last arguments are its constants, and these. It takes and gives tensors only."""
    graph, values = program.graph, {}
    nodes = {node.name: node for node in graph.nodes if node.op == "placeholder"}
    for spec in program.graph_signature.input_specs:
        node = nodes[spec.arg.name]
        if spec.kind in (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR):
            held = program.constants if spec.target in program.constants else program.state_dict
            values[node] = held[spec.target]
        elif not node.users and not isinstance(node.meta.get("val"), torch.Tensor):
            graph.erase_node(node)  # its value is in the program
    output = graph.output_node()
    results: Any = output.args[0]
    output.args = (tuple(each for each in results if isinstance(each, torch.fx.Node)),)
    return graph, constants_last(graph, values)


def constants_last(graph: torch.fx.Graph, values: dict[torch.fx.Node, torch.Tensor]) -> list[torch.Tensor]:
    """Make arguments of the constants in ``graph``, which come after its others, and give them.

    Args:
        values: arguments that are constants.
    """
    for node in graph.nodes:
        if (value := _held(node)) is not None:
            values[node] = value
    inputs = [node for node in graph.nodes if node.op == "placeholder" and node not in values]
    last = inputs[-1] if inputs else None
    for node, value in values.items():
        with graph.inserting_after(last) if last else graph.inserting_before(next(iter(graph.nodes))):
            last = graph.placeholder(f"constant_{node.name}")
        last.meta = {
            "val": node.meta.get("val", value),
            "tensor_meta": node.meta.get("tensor_meta") or _extract_tensor_metadata(value),
        }
        node.replace_all_uses_with(last)
        graph.erase_node(node)
    return list(values.values())


def _held(node: torch.fx.Node) -> torch.Tensor | None:
    """The tensor that the graph holds and ``node`` names."""
    held = getattr(node.graph.owning_module, str(node.target), None) if node.op == "get_attr" else None
    return held if isinstance(held, torch.Tensor) else None


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
