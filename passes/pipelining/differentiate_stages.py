"""``ipu-differentiate-stages``: the stages of pipelines that train have gradients."""

from collections.abc import Iterable

from ipu_mlir.dialects.analysis.matchers import symbol_of
from ipu_mlir.dialects.analysis.pipelines import MICRO_BATCH, PIPELINE, Pipeline, pipeline_of
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.pipelining.stage_types import (
    NUMBERED,
    Functions,
    broken_gradients,
    broken_stages,
    differentiated,
    function_type,
    gradient_name,
    gradient_type,
    number_type,
    stage_type,
)
from ipu_mlir.passes.support.rewriting import list_ops, replace_op

func = upstream("func")


class DifferentiateStages(Pass):
    """Declare the gradient of each stage of a pipeline that trains, by its parameters and by what it is given.

    A stage that asks for the number of its micro-batch takes it as a further argument, the last one, and so does the
    gradient that a pipeline names for it.

    Needs:  nothing.
    Leaves: for each stage ``@f`` of a pipeline ``@p`` with ``training`` a function ``@p_f_gradient`` with
            ``ipu.gradient``, unless the pipeline names its ``gradients``, which are there; no ``ipu.micro_batch``.
    """

    name = "ipu-differentiate-stages"

    def run(self, module: ir.Operation) -> None:
        functions = {symbol_of(op): op for op in list_ops(module, "func.func")}
        pipelines = [(op, pipeline_of(op)) for op in list_ops(module, PIPELINE)]
        with module.context, Refusals() as refuse:
            _take_numbers((pipeline for _, pipeline in pipelines), functions)
            for op in list_ops(module, MICRO_BATCH):
                refuse(op, "stands in no stage of a pipeline; only a stage works on micro-batches")
            for op, pipeline in pipelines:
                broken = broken_stages(pipeline, functions) or broken_gradients(pipeline, functions)
                if broken is not None:
                    refuse(op, broken)
                elif pipeline.training:
                    for number in range(len(pipeline.functions)):
                        _declare(pipeline, number, functions)


def _take_numbers(pipelines: Iterable[Pipeline], functions: Functions) -> None:
    """Let stages, and gradients that are there, take the number of the micro-batch if one of the two asks for it."""
    for pipeline in pipelines:
        for names in zip(pipeline.functions, pipeline.gradients or pipeline.functions, strict=True):
            own = [functions[name] for name in dict.fromkeys(names) if name in functions]
            if any(list_ops(function, MICRO_BATCH) for function in own):
                for function in own:
                    _take_number(function)


def _take_number(function: ir.Operation) -> None:
    """Let a function take the number of its micro-batch as its last argument."""
    kind, number = function_type(function), number_type()
    argument = function.regions[0].blocks[0].add_argument(number, function.location)
    for op in list_ops(function, MICRO_BATCH):
        replace_op(op, [argument])
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([*kind.inputs, number], kind.results))
    if "arg_attrs" in function.attributes:
        given = [*function.attributes["arg_attrs"], ir.DictAttr.get({})]
        function.attributes["arg_attrs"] = ir.ArrayAttr.get(given)
    function.attributes[NUMBERED] = ir.UnitAttr.get()


def _declare(pipeline: Pipeline, number: int, functions: Functions) -> None:
    """Ask for the gradient of a stage, which takes the number of the micro-batch, if at all, behind the arguments."""
    name, stage = gradient_name(pipeline, number), functions[pipeline.functions[number]]
    if name in functions:
        return
    own = stage_type(pipeline, number, functions)
    by, wanted = differentiated(pipeline, number, own), gradient_type(pipeline, number, own)
    counted = list(function_type(stage).inputs)[len(own.inputs) :]
    inputs = [*own.inputs, *counted, *list(wanted.inputs)[len(own.inputs) :]]
    with ir.InsertionPoint(stage), stage.location:
        made = func.FuncOp(name, (inputs, wanted.results), visibility="private").operation
    asked = {"of": ir.FlatSymbolRefAttr.get(symbol_of(stage)), "by": ir.DenseI64ArrayAttr.get(by)}
    made.attributes["ipu.gradient"] = ir.DictAttr.get(asked)
    functions[name] = made
