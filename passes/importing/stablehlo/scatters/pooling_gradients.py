"""``select_and_scatter`` that is the gradient of a maximum or minimum over windows, as the gradient of that pooling."""

from itertools import count

from ipu_mlir.dialects.analysis.matchers import defining_op, module_around
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.importing.stablehlo.builders import full, stablehlo_op

_POOLINGS = {"GE": ("stablehlo.maximum", float("-inf")), "LE": ("stablehlo.minimum", float("inf"))}
"""By the comparison that keeps the first of the best elements, the op that finds their value, and its initial value."""


def pooling_gradient(op: ir.Operation) -> list[ir.Value] | None:
    """The result of a ``stablehlo.select_and_scatter``, by a call of a declared gradient of a pooling.

    ``ipu-autodiff`` writes the gradient. None if ``op`` is none: it must keep the first of the largest or smallest
    floats of each window, and add up. A NaN, or a window of infinities alone, gives its cotangent to no element.
    """
    operand, source, start = op.operands
    pooling = _POOLINGS.get(_comparison(op.regions[0]) or "")
    begin = defining_op(start, "stablehlo.constant")
    if (
        pooling is None
        or begin is None
        or not _adds(op.regions[1])
        or not isinstance(operand.type.element_type, ir.FloatType)
    ):
        return None
    value = ir.DenseElementsAttr(begin.attributes["value"])
    if not value.is_splat or float(value.get_splat_value().value) != 0:
        return None
    func, module = upstream("func"), module_around(op)
    symbols = ir.SymbolTable(module)
    name = next(name for name in map("pooling_{}".format, count()) if name not in symbols)
    types = [operand.type, source.type]
    with ir.InsertionPoint(module.regions[0].blocks[0]):
        function = func.FuncOp(name, ir.FunctionType.get(types[:1], types[1:]), visibility="private")
        gradient = func.FuncOp(f"{name}_gradient", ir.FunctionType.get(types, types[::-1]), visibility="private")
    by = ir.DenseI64ArrayAttr.get([0])
    gradient.attributes["ipu.gradient"] = ir.DictAttr.get({"of": ir.FlatSymbolRefAttr.get(name), "by": by})
    with ir.InsertionPoint(function.add_entry_block()):
        func.ReturnOp([_pooled(op, function.arguments[0], source.type, *pooling)])
    return [func.CallOp(gradient, [operand, source]).results[1]]


def _comparison(region: ir.Region) -> str | None:
    """The direction of the comparison that a region of two numbers is; None if it is anything else."""
    arguments, ops = _only_ops(region)
    if len(ops) != 2 or ops[0].name != "stablehlo.compare" or list(ops[0].operands) != arguments:
        return None
    return str(ops[0].attributes["comparison_direction"]).rstrip(">").rpartition(" ")[2]


def _adds(region: ir.Region) -> bool:
    arguments, ops = _only_ops(region)
    return len(ops) == 2 and ops[0].name == "stablehlo.add" and set(ops[0].operands) == set(arguments)


def _only_ops(region: ir.Region) -> tuple[list[ir.Value], list[ir.Operation]]:
    (block,) = region.blocks
    return list(block.arguments), [each.operation for each in block.operations]


def _pooled(op: ir.Operation, operand: ir.Value, result: ir.Type, extreme: str, begin: float) -> ir.Value:
    """The extremes of the windows of ``op``."""
    number = ir.RankedTensorType.get([], operand.type.element_type)
    rank = len(operand.type.shape)
    windows = ("window_dimensions", "window_strides", "padding")
    kept = {name: op.attributes[name] for name in windows if name in op.attributes}
    kept.setdefault("window_dimensions", ir.DenseI64ArrayAttr.get([1] * rank))
    made = ir.Operation.create("stablehlo.reduce_window", [result], [operand, full(number, begin)], kept, regions=1)
    block = made.regions[0].blocks.append(number, number)
    with ir.InsertionPoint(block):
        ir.Operation.create("stablehlo.return", [], [stablehlo_op(extreme, number, list(block.arguments))])
    return made.results[0]
