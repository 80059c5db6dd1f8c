"""``ipu-split-stages``: the gradient of a stage becomes its forward and its backward part."""

from math import prod

import numpy as np

from ipu_mlir.dialects.analysis.control_flow import control_op
from ipu_mlir.dialects.analysis.loop_nest import loop_nest
from ipu_mlir.dialects.analysis.matchers import defining_op, function_type, symbol_of, terminator
from ipu_mlir.dialects.analysis.pipelines import KEEP, PIPELINE, Pipeline, Recompute, pipeline_of
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.costs.classify import classify
from ipu_mlir.dialects.costs.family import cycles_of
from ipu_mlir.dialects.machine.machine import Machine, machine_of
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.autodiff.stored_values import is_pure
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.pipelining.minimum_cut import bounded_cut, minimum_cut
from ipu_mlir.passes.pipelining.stage_types import NUMBERED, gradient_name
from ipu_mlir.passes.support.clone import Known, clone_into, clone_slice, operands_from_outside
from ipu_mlir.passes.support.rewriting import list_ops

func = upstream("func")


class SplitStages(Pass):
    """Cut the gradient of each stage of a pipeline in two: a forward function, and a backward function.

    The forward function gives the results of the stage and, behind them, what the backward function takes first. That
    are the values of least bytes from which the rest can be computed again, as far as ``recompute`` of the pipeline
    allows it: views and constants, element-wise ops too, or everything; and in as many cycles as ``most_again`` says,
    by the work of the ops. Parameters are there in any case. Ops with effects happen once, in the forward function if
    they need no cotangent; what ``ipu.keep`` gives is not computed again.

    Needs:  the code of the gradients (``ipu-differentiate-stages``, ``ipu-autodiff``).
    Leaves: for each gradient ``@g`` of a stage ``@g_forward`` and ``@g_backward`` in its place.
    """

    name = "ipu-split-stages"

    def run(self, module: ir.Operation) -> None:
        functions = {symbol_of(op): op for op in list_ops(module, "func.func")}
        with module.context:
            for op in list_ops(module, PIPELINE):
                pipeline = pipeline_of(op)
                for number in range(len(pipeline.functions) if pipeline.training else 0):
                    joint = functions.pop(gradient_name(pipeline, number), None)
                    if joint is not None:
                        _split(joint, functions[pipeline.functions[number]], pipeline, number)


def _split(joint: ir.Operation, stage: ir.Operation, pipeline: Pipeline, number: int) -> None:
    block = joint.regions[0].blocks[0]
    kind = function_type(stage)
    arguments = list(block.arguments)
    if pipeline.gradients and NUMBERED in joint.attributes:  # it takes the number last, but stages before cotangents
        arguments.insert(len(kind.inputs) - 1, arguments.pop())
    inputs, cotangents = arguments[: len(kind.inputs)], arguments[len(kind.inputs) :]
    results = list(terminator(block).operands)
    later = computed_from(block, cotangents)
    parameters = inputs[: pipeline.parameters[number]]
    stored = _stored(block, inputs, parameters, results[len(kind.results) :], later, pipeline)
    effects = [op.operation for op in list(block.operations)[:-1] if not is_pure(op.operation)]
    after = [op for op in effects if any(value in later for value in operands_from_outside(op))]
    before = [op for op in effects if op not in after]
    name = symbol_of(joint)
    with ir.InsertionPoint(joint), joint.location:
        _function(f"{name}_forward", inputs, [*results[: len(kind.results)], *stored], before)
        _function(f"{name}_backward", [*parameters, *stored, *cotangents], results[len(kind.results) :], after)
    joint.erase()


def _function(name: str, arguments: list[ir.Value], results: list[ir.Value], effects: list[ir.Operation]) -> None:
    """A function that computes ``results`` of another function from ``arguments``, values of that, with ``effects``."""
    made = func.FuncOp(name, ([each.type for each in arguments], [each.type for each in results]), visibility="private")
    block = ir.Block.create_at_start(
        made.regions[0], [each.type for each in arguments], [made.location] * len(arguments)
    )
    known: Known = dict(zip(arguments, block.arguments, strict=True))
    with ir.InsertionPoint(block):
        for op in effects:
            for operand in operands_from_outside(op):
                clone_slice(operand, known, _is_computed)
            clone_into(op, known)
        func.ReturnOp([clone_slice(value, known, _is_computed) for value in results])


def _is_computed(value: ir.Value) -> bool:
    return defining_op(value) is not None


def computed_from(block: ir.Block, values: list[ir.Value]) -> set[ir.Value]:
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
    pipeline: Pipeline,
) -> list[ir.Value]:
    """The values that the forward part stores for the backward part."""
    needed = {value for value in wanted if value not in later}
    for op in (each.operation for each in block.operations):
        operands = operands_from_outside(op)
        if op.name != "func.return" and any(value in later for value in operands):
            needed.update(value for value in operands if value not in later)
    sizes = {value: 0 if value in parameters else bytes_of(value) for value in inputs}
    made_from: dict[ir.Value, list[ir.Value]] = {}
    for op in (each.operation for each in block.operations):
        for result in (each for each in op.results if each not in later):
            sizes[result] = bytes_of(result)
            if _can_run_again(op, pipeline.recompute):
                made_from[result] = operands_from_outside(op)
    used = [value for value in sizes if value in needed]
    if pipeline.most_again is None:
        cut = minimum_cut(sizes, made_from, inputs, used)
    else:
        cycles = _cycles(block, later)
        cut = bounded_cut(sizes, made_from, inputs, used, cycles, int(pipeline.most_again * sum(cycles.values())))
    return [value for value in cut if value not in parameters]


def _cycles(block: ir.Block, later: set[ir.Value]) -> dict[ir.Value, int]:
    """By the first result of each op that needs no cotangent, the cycles of one tile that does all of its work."""
    found: dict[ir.Value, int] = {}
    for op in (each.operation for each in list(block.operations)[:-1]):
        if op.results and op.results[0] not in later:
            found[op.results[0]] = work_of(op, machine_of(module_target(op)))
    return found


def work_of(op: ir.Operation, machine: Machine) -> int:
    """Cycles of the structured ops in ``op``, as often as loops run them; one for a loop whose length is not known."""
    if op.name == "linalg.generic":
        nest = loop_nest(op)
        return 0 if nest is None else int(cycles_of(classify(op, nest), np.array([nest.extents]), machine)[0])
    row = control_op(op)
    count = row.trip_count(op) if row is not None else None
    inner = [each.operation for region in op.regions for block in region.blocks for each in block.operations]
    return (1 if count is None else count) * sum(work_of(each, machine) for each in inner)


def bytes_of(value: ir.Value) -> int:
    """Of a tensor; a large number for what cannot be stored."""
    kind = value.type
    if not isinstance(kind, ir.RankedTensorType):
        return 1 << 50
    element = kind.element_type
    bits = element.width if isinstance(element, ir.FloatType | ir.IntegerType) else 64
    return max(1, prod(kind.shape) * bits // 8)


def is_fill(op: ir.Operation) -> bool:
    """True if ``op`` makes a tensor of no other tensor: a constant, a fill, or one without values."""
    tensors = [each for each in list(op.operands)[:-1] if isinstance(each.type, ir.RankedTensorType)]
    return op.name in ("linalg.generic", "linalg.fill", "tensor.empty", "arith.constant") and not tensors


_FREE = ("tensor.", "arith.constant", "arith.index_cast", "linalg.fill")


def _can_run_again(op: ir.Operation, recompute: Recompute) -> bool:
    if not is_pure(op) or op.name == KEEP:
        return False
    if op.name.startswith(_FREE) or not isinstance(op.results[0].type, ir.RankedTensorType):
        return True
    if op.name == "linalg.generic" and "library_call" not in op.attributes:
        nest = loop_nest(op)
        if is_fill(op) or (recompute == "elementwise" and nest is not None and all(nest.parallel)):
            return True
    return recompute == "inputs"
