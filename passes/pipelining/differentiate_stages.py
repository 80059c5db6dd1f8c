"""``ipu-differentiate-stages``: the stages of pipelines that train have gradients."""

from ipu_mlir.dialects.analysis.matchers import symbol_of
from ipu_mlir.dialects.analysis.pipelines import PIPELINE, Pipeline, pipeline_of
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.pipelining.rows import is_float
from ipu_mlir.passes.support.rewriting import list_ops

func = upstream("func")


class DifferentiateStages(Pass):
    """Declare the gradient of each stage of a pipeline that trains, by its parameters and by what it is given.

    Needs:  nothing.
    Leaves: for each stage ``@f`` of a pipeline ``@p`` with ``training`` a function ``@p_f_gradient`` with
            ``ipu.gradient``.
    """

    name = "ipu-differentiate-stages"

    def run(self, module: ir.Operation) -> None:
        functions = {symbol_of(op): op for op in list_ops(module, "func.func")}
        with module.context, Refusals() as refuse:
            for op in list_ops(module, PIPELINE):
                pipeline = pipeline_of(op)
                broken = broken_stages(pipeline, functions)
                if broken is not None:
                    refuse(op, broken)
                elif pipeline.training:
                    for stage in range(len(pipeline.stages)):
                        _declare(pipeline, stage, functions)


def stage_type(pipeline: Pipeline, stage: int, functions: dict[str, ir.Operation]) -> ir.FunctionType:
    """The type of a stage."""
    return ir.FunctionType(ir.TypeAttr(functions[pipeline.stages[stage]].attributes["function_type"]).value)


def broken_stages(pipeline: Pipeline, functions: dict[str, ir.Operation]) -> str | None:
    """The error in the stages of a pipeline, as the end of a sentence."""
    for name in pipeline.stages:
        if name not in functions or len(functions[name].regions[0].blocks) != 1:
            return f"has the stage @{name}, which is no function of one block in this module"
    given: list[ir.Type] = []
    for stage, name in enumerate(pipeline.stages):
        kind = stage_type(pipeline, stage, functions)
        first = pipeline.parameters[stage]
        own = list(kind.inputs)[first : len(kind.inputs) - pipeline.data[stage]]
        if first + len(given) + pipeline.data[stage] != len(kind.inputs) or own != given:
            return (
                f"has the stage @{name} of type {kind}; it takes {first} parameters, then "
                f"({', '.join(map(str, given))}), then {pipeline.data[stage]} tensors of data"
            )
        if not all(isinstance(each, ir.RankedTensorType) and each.has_static_shape for each in kind.inputs):
            return f"has the stage @{name} of type {kind}; stages take tensors of static shape"
        given = list(kind.results)
    if pipeline.training and not (given and is_float(given[0]) and not ir.RankedTensorType(given[0]).rank):
        return (
            f"trains, and its last stage gives ({', '.join(map(str, given))}); the first result is the loss, one float"
        )
    return None


def gradient_name(pipeline: Pipeline, stage: int) -> str:
    """The name of the gradient of a stage."""
    return f"{pipeline.name}_{pipeline.stages[stage]}_gradient"


def differentiated(pipeline: Pipeline, stage: int, kind: ir.FunctionType) -> list[int]:
    """The arguments of a stage by which it is differentiated: all floats but data."""
    last = len(kind.inputs) - pipeline.data[stage]
    return [number for number, each in enumerate(kind.inputs) if number < last and is_float(each)]


def _declare(pipeline: Pipeline, stage: int, functions: dict[str, ir.Operation]) -> None:
    name, kind = gradient_name(pipeline, stage), stage_type(pipeline, stage, functions)
    if name in functions:
        return
    by = differentiated(pipeline, stage, kind)
    cotangents = [each for each in kind.results if is_float(each)]
    types = [*kind.inputs, *cotangents], [*kind.results, *(kind.inputs[number] for number in by)]
    stage_function = functions[pipeline.stages[stage]]
    with ir.InsertionPoint(stage_function), stage_function.location:
        made = func.FuncOp(name, types, visibility="private").operation
    asked = {"of": ir.FlatSymbolRefAttr.get(pipeline.stages[stage]), "by": ir.DenseI64ArrayAttr.get(by)}
    made.attributes["ipu.gradient"] = ir.DictAttr.get(asked)
    functions[name] = made
