"""``ipu-split-stages``: the gradient of a stage becomes its forward and its backward part."""

from math import prod

from ipu_mlir.dialects.analysis.loop_nest import loop_nest
from ipu_mlir.dialects.analysis.matchers import defining_op, symbol_of, terminator
from ipu_mlir.dialects.analysis.pipelines import PIPELINE, Pipeline, Recompute, pipeline_of
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.autodiff.stored_values import is_pure
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.pipelining.differentiate_stages import gradient_name
from ipu_mlir.passes.pipelining.minimum_cut import minimum_cut
from ipu_mlir.passes.support.clone import Known, clone_slice, operands_from_outside
from ipu_mlir.passes.support.rewriting import list_ops

func = upstream("func")


class SplitStages(Pass):
    """Cut the gradient of each stage of a pipeline in two: a forward function, and a backward function.

    The forward function gives the results of the stage and, behind them, what the backward function takes first. That
    are the values of least bytes from which the rest can be computed again, as far as ``recompute`` of the pipeline
    allows it: views and constants, element-wise ops too, or everything. Parameters are there in any case.

    Needs:  the code of the gradients (``ipu-differentiate-stages``, ``ipu-autodiff``).
    Leaves: for each gradient ``@g`` of a stage ``@g_forward`` and ``@g_backward`` in its place.
    """

    name = "ipu-split-stages"

    def run(self, module: ir.Operation) -> None:
        functions = {symbol_of(op): op for op in list_ops(module, "func.func")}
        with module.context:
            for op in list_ops(module, PIPELINE):
                pipeline = pipeline_of(op)
                for stage in range(len(pipeline.stages) if pipeline.training else 0):
                    name = gradient_name(pipeline, stage)
                    if name in functions:
                        _split(functions[name], functions[pipeline.stages[stage]], pipeline, stage)


def _split(joint: ir.Operation, stage: ir.Operation, pipeline: Pipeline, number: int) -> None:
    block = joint.regions[0].blocks[0]
    kind = ir.FunctionType(ir.TypeAttr(stage.attributes["function_type"]).value)
    inputs, cotangents = list(block.arguments)[: len(kind.inputs)], list(block.arguments)[len(kind.inputs) :]
    results = list(terminator(block).operands)
    later = _computed_from(block, cotangents)
    parameters = inputs[: pipeline.parameters[number]]
    stored = _stored(block, inputs, parameters, results[len(kind.results) :], later, pipeline.recompute)
    name = symbol_of(joint)
    with ir.InsertionPoint(joint), joint.location:
        _function(f"{name}_forward", inputs, [*results[: len(kind.results)], *stored])
        _function(f"{name}_backward", [*parameters, *stored, *cotangents], results[len(kind.results) :])
    joint.erase()


def _function(name: str, arguments: list[ir.Value], results: list[ir.Value]) -> None:
    """A function that computes ``results`` of another function from ``arguments``, values of that."""
    made = func.FuncOp(name, ([each.type for each in arguments], [each.type for each in results]), visibility="private")
    block = ir.Block.create_at_start(
        made.regions[0], [each.type for each in arguments], [made.location] * len(arguments)
    )
    known: Known = dict(zip(arguments, block.arguments, strict=True))
    with ir.InsertionPoint(block):
        func.ReturnOp([clone_slice(value, known, lambda each: defining_op(each) is not None) for value in results])


def _computed_from(block: ir.Block, values: list[ir.Value]) -> set[ir.Value]:
    """``values``, and what the ops of ``block`` compute from them."""
    found = set(values)
    for op in (each.operation for each in block.operations):
        if any(value in found for value in operands_from_outside(op)):
            found.update(op.results)
    return found


def _stored(
    block: ir.Block,
    inputs: list[ir.Value],
    parameters: list[ir.Value],
    wanted: list[ir.Value],
    later: set[ir.Value],
    recompute: Recompute,
) -> list[ir.Value]:
    """The values that the forward part stores for the backward part."""
    needed = {value for value in wanted if value not in later}
    for op in (each.operation for each in block.operations):
        if op.name != "func.return" and any(result in later for result in op.results):
            needed.update(value for value in operands_from_outside(op) if value not in later)
    sizes = {value: 0 if value in parameters else _bytes(value) for value in inputs}
    made_from: dict[ir.Value, list[ir.Value]] = {}
    for op in (each.operation for each in block.operations):
        for result in (each for each in op.results if each not in later):
            sizes[result] = _bytes(result)
            if _can_run_again(op, recompute):
                made_from[result] = operands_from_outside(op)
    cut = minimum_cut(sizes, made_from, inputs, [value for value in sizes if value in needed])
    return [value for value in cut if value not in parameters]


def _bytes(value: ir.Value) -> int:
    """Of a tensor; a large number for what cannot be stored."""
    kind = value.type
    if not isinstance(kind, ir.RankedTensorType):
        return 1 << 50
    element = kind.element_type
    bits = element.width if isinstance(element, ir.FloatType | ir.IntegerType) else 64
    return max(1, prod(kind.shape) * bits // 8)


_FREE = ("tensor.", "arith.constant", "arith.index_cast", "linalg.fill")


def _can_run_again(op: ir.Operation, recompute: Recompute) -> bool:
    if not is_pure(op):
        return False
    if op.name.startswith(_FREE) or not isinstance(op.results[0].type, ir.RankedTensorType):
        return True
    if op.name == "linalg.generic" and "library_call" not in op.attributes:
        nest = loop_nest(op)
        is_fill = not any(isinstance(each.type, ir.RankedTensorType) for each in list(op.operands)[:-1])
        if is_fill or (recompute == "elementwise" and nest is not None and all(nest.parallel)):
            return True
    return recompute == "inputs"
