"""The types of the stages of a pipeline, and how they fit together."""

from ipu_mlir.dialects.analysis.matchers import function_type, symbol_of
from ipu_mlir.dialects.analysis.pipelines import Pipeline
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.pipelining.rows import is_float

Functions = dict[str, ir.Operation]
"""The functions of a module by their names."""

NUMBERED = "ipu.numbered"
"""Attribute of a stage that takes the number of its micro-batch as its last argument."""


def stage_type(pipeline: Pipeline, number: int, functions: Functions) -> ir.FunctionType:
    """The type of a function of a stage, but for the number of its micro-batch."""
    function = functions[pipeline.functions[number]]
    kind = function_type(function)
    return ir.FunctionType.get(list(kind.inputs)[:-1], kind.results) if NUMBERED in function.attributes else kind


def results_of(pipeline: Pipeline, stage: int, functions: Functions) -> list[ir.Type]:
    """The types of what a stage gives: the results of its functions, one after the other."""
    return [each for number in pipeline.functions_of(stage) for each in stage_type(pipeline, number, functions).results]


def broken_stages(pipeline: Pipeline, functions: Functions) -> str | None:
    """The error in the stages of a pipeline, as the end of a sentence."""
    for name in pipeline.functions:
        if name not in functions or len(functions[name].regions[0].blocks) != 1:
            return f"has the stage @{name}, which is no function of one block in this module"
    given: list[ir.Type] = []
    for stage in range(pipeline.schedule.stages):
        for number in pipeline.functions_of(stage):
            broken = _broken_stage(pipeline, number, given, stage_type(pipeline, number, functions))
            if broken is not None:
                return broken
        given = results_of(pipeline, stage, functions)
    if pipeline.training and not (given and is_float(given[0]) and not ir.RankedTensorType(given[0]).rank):
        return (
            f"trains, and its last stage gives ({', '.join(map(str, given))}); the first result is the loss, one float"
        )
    if pipeline.results and len(pipeline.results) != len(given):
        return f"has {len(pipeline.results)} results, {list(pipeline.results)}; its last stage gives {len(given)}"
    for word, each in zip(pipeline.results, given, strict=False):
        if word == "sum" and each.element_type == ir.IntegerType.get_signless(1):
            return f"adds up {each}, a result of its last stage; it adds up numbers"
    gradients = sum(_gradients(pipeline, number, functions) for number in range(len(pipeline.functions)))
    if pipeline.accumulators and (not pipeline.training or len(pipeline.accumulators) != gradients):
        has = f"{gradients} gradients" if pipeline.training else "no gradients, because it does not train"
        return f"has {len(pipeline.accumulators)} accumulators; there is one for each gradient, and it has {has}"
    return None


def _broken_stage(pipeline: Pipeline, number: int, given: list[ir.Type], kind: ir.FunctionType) -> str | None:
    """The error in a function of a stage that is ``given`` what the stage before gives."""
    name, first, data = pipeline.functions[number], pipeline.parameters[number], pipeline.data[number]
    own = list(kind.inputs)[first : len(kind.inputs) - data]
    if first + len(given) + data != len(kind.inputs) or own != given:
        return (
            f"has the stage @{name} of type {kind}; it takes {first} parameters, then "
            f"({', '.join(map(str, given))}), then {data} tensors of data"
        )
    if not all(isinstance(each, ir.RankedTensorType) and each.has_static_shape for each in kind.inputs):
        return f"has the stage @{name} of type {kind}; stages take tensors of static shape"
    return None


def gradient_name(pipeline: Pipeline, number: int) -> str:
    """The name of the gradient of a function of a stage."""
    if pipeline.gradients:
        return pipeline.gradients[number]
    return f"{pipeline.name}_{pipeline.functions[number]}_gradient"


def differentiated(pipeline: Pipeline, number: int, kind: ir.FunctionType) -> list[int]:
    """The arguments of a function of a stage by which it is differentiated: all floats but data."""
    last = len(kind.inputs) - pipeline.data[number]
    return [place for place, each in enumerate(kind.inputs) if place < last and is_float(each)]


def gradient_type(pipeline: Pipeline, number: int, kind: ir.FunctionType) -> ir.FunctionType:
    """The type of the gradient of a function of type ``kind``.

    It takes what the function takes, and cotangents of the results that are floats; it gives what the function gives,
    and gradients by the arguments that are ``differentiated``.
    """
    by = [kind.inputs[place] for place in differentiated(pipeline, number, kind)]
    cotangents = [each for each in kind.results if is_float(each)]
    return ir.FunctionType.get([*kind.inputs, *cotangents], [*kind.results, *by])


def broken_gradients(pipeline: Pipeline, functions: Functions) -> str | None:
    """The error in the gradients that a pipeline names, as the end of a sentence."""
    for number, name in enumerate(pipeline.gradients):
        stage = functions[pipeline.functions[number]]
        if name not in functions:
            return f"has the gradient @{name}, which is no function in this module"
        wanted = gradient_type(pipeline, number, stage_type(pipeline, number, functions))
        if NUMBERED in stage.attributes:
            wanted = ir.FunctionType.get([*wanted.inputs, number_type()], wanted.results)
        found = function_type(functions[name])
        if found != wanted:
            return f"has the gradient @{name} of type {found}; that of @{symbol_of(stage)} is of type {wanted}"
    return None


def number_type() -> ir.Type:
    """The type of the number of a micro-batch."""
    return ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))


def _gradients(pipeline: Pipeline, number: int, functions: Functions) -> int:
    by = differentiated(pipeline, number, stage_type(pipeline, number, functions))
    return sum(place < pipeline.parameters[number] for place in by)
