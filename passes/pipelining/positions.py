"""The positions of a pipeline: what a micro-batch goes through, one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ipu_mlir.dialects.analysis.pipelines import Pipeline
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.pipelining.differentiate_stages import differentiated, gradient_name, stage_type
from ipu_mlir.passes.pipelining.rows import many


def run_type(pipeline: Pipeline, functions: dict[str, ir.Operation]) -> ir.FunctionType:
    """The type of a function that runs ``pipeline``."""
    stages = range(len(pipeline.stages))
    kinds = [stage_type(pipeline, stage, functions) for stage in stages]
    parameters = [each for s in stages for each in list(kinds[s].inputs)[: pipeline.parameters[s]]]
    data = [many(each, pipeline.count) for s in stages for each in _data(kinds[s].inputs, pipeline.data[s])]
    results = [many(each, pipeline.count) for each in kinds[-1].results]
    if pipeline.training:
        by = [(s, number) for s in stages for number in differentiated(pipeline, s, kinds[s])]
        results += [kinds[s].inputs[number] for s, number in by if number < pipeline.parameters[s]]
    return ir.FunctionType.get([*parameters, *data], results)


def _data(inputs: Sequence[ir.Type], count: int) -> list[ir.Type]:
    return list(inputs)[len(inputs) - count :]


@dataclass(frozen=True)
class Position:
    """A stage, forwards or backwards.

    Attributes:
        callee: the function that does it.
        device: its IPU.
        stage: its number.
        backward: whether it is the backward part.
        parameters: how many it takes first.
        data: how many tensors of data it takes last.
        results: types of what it hands on.
        stored: types of what it stores for its backward part; of a backward part, of what it takes of that.
        gradients: types of the gradients of parameters that it gives.
    """

    callee: str
    device: int
    stage: int
    backward: bool
    parameters: int
    data: int
    results: list[ir.Type]
    stored: list[ir.Type] = field(default_factory=list)
    gradients: list[ir.Type] = field(default_factory=list)


def positions_of(pipeline: Pipeline, functions: dict[str, ir.Operation]) -> list[Position]:
    """The forward stages and, in training, the backward stages, the last one first."""
    forward, backward = [], []
    for stage, name in enumerate(pipeline.stages):
        kind, device = stage_type(pipeline, stage, functions), pipeline.devices[stage]
        own = pipeline.parameters[stage], pipeline.data[stage]
        if not pipeline.training:
            forward.append(Position(name, device, stage, False, *own, list(kind.results)))
            continue
        split = gradient_name(pipeline, stage)
        there = ir.FunctionType(ir.TypeAttr(functions[f"{split}_forward"].attributes["function_type"]).value)
        stored = list(there.results)[len(kind.results) :]
        forward.append(Position(f"{split}_forward", device, stage, False, *own, list(kind.results), stored))
        by = differentiated(pipeline, stage, kind)
        back = ir.FunctionType(ir.TypeAttr(functions[f"{split}_backward"].attributes["function_type"]).value)
        count = sum(number < own[0] for number in by)
        gradients, handed = list(back.results)[:count], list(back.results)[count:]
        backward.append(Position(f"{split}_backward", device, stage, True, own[0], 0, handed, stored, gradients))
    return [*forward, *reversed(backward)]
