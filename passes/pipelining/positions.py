"""The positions of a pipeline: what a micro-batch goes through, one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ipu_mlir.dialects.analysis.pipelines import Pipeline
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.pipelining.rows import is_float, many
from ipu_mlir.passes.pipelining.stage_types import (
    NUMBERED,
    Functions,
    differentiated,
    function_type,
    gradient_name,
    results_of,
    stage_type,
)


def run_type(pipeline: Pipeline, functions: Functions) -> ir.FunctionType:
    """The type of a function that runs ``pipeline``."""
    numbers = range(len(pipeline.functions))
    kinds = [stage_type(pipeline, number, functions) for number in numbers]
    parameters = [each for n in numbers for each in list(kinds[n].inputs)[: pipeline.parameters[n]]]
    data = [many(each, pipeline.count or 0) for n in numbers for each in _data(kinds[n].inputs, pipeline.data[n])]
    counted = [] if pipeline.count is not None else [ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))]
    last = results_of(pipeline, pipeline.schedule.stages - 1, functions)
    words = pipeline.results or ("all",) * len(last)
    results = [
        many(each, pipeline.count or 0) if word == "all" else each
        for word, each in zip(words, last, strict=True)
        if word != "none"
    ]
    if pipeline.training:
        results += gradient_types(pipeline, functions)
    return ir.FunctionType.get([*parameters, *data, *counted], results)


def gradient_types(pipeline: Pipeline, functions: Functions) -> list[ir.Type]:
    """The types in which gradients are added up."""
    own = [
        kind.inputs[place]
        for number in range(len(pipeline.functions))
        for kind in [stage_type(pipeline, number, functions)]
        for place in differentiated(pipeline, number, kind)
        if place < pipeline.parameters[number]
    ]
    elements = pipeline.accumulators or [each.element_type for each in own]
    return [ir.RankedTensorType.get(list(each.shape), element) for each, element in zip(own, elements, strict=True)]


def _data(inputs: Sequence[ir.Type], count: int) -> list[ir.Type]:
    return list(inputs)[len(inputs) - count :]


@dataclass(frozen=True)
class Part:
    """A function of a stage, forwards or backwards.

    Attributes:
        number: of the function among all of the pipeline.
        callee: the function that does it.
        device: its IPU.
        is_numbered: whether it takes the number of the micro-batch last.
        taken: the part that it takes of the values that are yielded to its position: all, or its cotangents.
        results: types of the values that it yields.
        stored: types of the values that it stores for its backward part; of a backward part, those that it takes.
        gradients: types of the gradients of parameters that it gives.
    """

    number: int
    callee: str
    device: int
    is_numbered: bool
    taken: slice
    results: list[ir.Type]
    stored: list[ir.Type] = field(default_factory=list)
    gradients: list[ir.Type] = field(default_factory=list)


@dataclass(frozen=True)
class Position:
    """A stage, forwards or backwards.

    Attributes:
        backward: whether it is the backward part.
        parts: its functions, which run at the same time.
    """

    backward: bool
    parts: tuple[Part, ...]


def positions_of(pipeline: Pipeline, functions: Functions) -> list[Position]:
    """The forward stages and, in training, the backward stages, the last one first."""
    forward, backward = [], []
    for stage in range(pipeline.schedule.stages):
        there, back, cotangents = [], [], 0
        for number in pipeline.functions_of(stage):
            kind, device = stage_type(pipeline, number, functions), pipeline.devices[number]
            is_numbered = NUMBERED in functions[pipeline.functions[number]].attributes
            if not pipeline.training:
                name = pipeline.functions[number]
                there.append(Part(number, name, device, is_numbered, slice(None), list(kind.results)))
                continue
            name = gradient_name(pipeline, number)
            results = list(function_type(functions[f"{name}_forward"]).results)
            stored = results[len(kind.results) :]
            there.append(Part(number, f"{name}_forward", device, is_numbered, slice(None), list(kind.results), stored))
            given = list(function_type(functions[f"{name}_backward"]).results)
            own = sum(place < pipeline.parameters[number] for place in differentiated(pipeline, number, kind))
            first, cotangents = cotangents, cotangents + sum(map(is_float, kind.results))
            taken = slice(first, cotangents)
            back.append(Part(number, f"{name}_backward", device, False, taken, given[own:], stored, given[:own]))
        forward.append(Position(False, tuple(there)))
        backward.append(Position(True, tuple(back)))
    return [*forward, *(reversed(backward) if pipeline.training else ())]
