"""``ipu-schedule-pipelines``: a pipeline becomes a loop over time slots."""

from ipu_mlir.dialects.analysis.matchers import function_type, symbol_of
from ipu_mlir.dialects.analysis.outlined_calls import callee_of
from ipu_mlir.dialects.analysis.pipelines import KEEP, PIPELINE, Pipeline, pipeline_of
from ipu_mlir.dialects.attributes.attributes import TARGET, module_target
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.pipelining.positions import gradient_types, positions_of, run_type
from ipu_mlir.passes.pipelining.sequential_loop import SequentialLoop
from ipu_mlir.passes.pipelining.slot_loop import SlotLoop
from ipu_mlir.passes.pipelining.stage_calls import StageCalls, begin
from ipu_mlir.passes.pipelining.stage_types import Functions
from ipu_mlir.passes.support.calls import inline_call
from ipu_mlir.passes.support.rewriting import list_ops, replace_op


class SchedulePipelines(Pass):
    """Give the functions that run pipelines their code.

    It is a loop over time slots (of the schedule sequential: over micro-batches). In each slot every stage that has a
    micro-batch works on it, one after the other in the text and at the same time on its IPU; behind them the results
    move to the IPUs of the next stages, for the next slot. What a forward stage stores for its backward stage waits in
    a ring that the loop carries, or with ``offload`` in an ``ipu.fifo`` in remote memory. Each stage is one outlined
    function, which the loop calls once, whatever the number of micro-batches. Gradients are added up as the loop goes
    on.

    Needs:  stages that train are split (``ipu-split-stages``).
    Leaves: no ``ipu.pipeline``, no ``ipu.keep``; ``ipu.shard`` on the calls of stages; the loop in the place of
            calls of its function.
    """

    name = "ipu-schedule-pipelines"

    def run(self, module: ir.Operation) -> None:
        pipelines = {symbol_of(op): op for op in list_ops(module, PIPELINE)}
        functions = {symbol_of(op): op for op in list_ops(module, "func.func")}
        running = {name for name, op in functions.items() if PIPELINE in op.attributes}
        with module.context, Refusals() as refuse:
            for function in functions.values():
                if PIPELINE not in function.attributes:
                    continue
                op = pipelines.get(ir.FlatSymbolRefAttr(function.attributes[PIPELINE]).value)
                if op is None:
                    refuse(function, f"runs {function.attributes[PIPELINE]}, and there is no such ipu.pipeline")
                    continue
                pipeline = pipeline_of(op)
                missing = _missing_ipu(pipeline, module)
                if missing is not None:
                    refuse(op, missing)
                    continue
                wanted, found = run_type(pipeline, functions), function_type(function)
                if found != wanted:
                    refuse(function, f"has the type {found}, and runs a pipeline of type {wanted}")
                    continue
                with function.location:
                    _fill(function, pipeline, functions)
            if refuse.diagnostics:
                return
            for op in pipelines.values():
                op.erase()
            for op in list_ops(module, KEEP):
                replace_op(op, [op.operands[0]])
            for call in list_ops(module, "func.call"):  # upstream's inliner leaves fifos alone
                if callee_of(call) in running:
                    inline_call(call, functions[callee_of(call)])


def _missing_ipu(pipeline: Pipeline, module: ir.Operation) -> str | None:
    """The error of a stage on an IPU that the target of ``module`` does not have, as the end of a sentence."""
    last = max(pipeline.devices)
    if TARGET not in module.attributes or last < (ipus := module_target(module).ipus):
        return None
    has = "1 IPU" if ipus == 1 else f"{ipus} IPUs"
    return (
        f"has a stage on IPU {last}, counted from 0, and the target has {has}; compile for {1 << last.bit_length()}, "
        "or let devices= name those that there are"
    )


def _fill(function: ir.Operation, pipeline: Pipeline, functions: Functions) -> None:
    """Give a function that runs ``pipeline`` its code."""
    positions, gradients = positions_of(pipeline, functions), []
    if pipeline.training:
        gradients = gradient_types(pipeline, functions)
    with ir.InsertionPoint(begin(function)):
        calls = StageCalls(pipeline, positions, gradients, function)
        if pipeline.schedule.name == "sequential":
            stages = pipeline.schedule.stages
            results, found = SequentialLoop(calls, positions, stages, pipeline.serialized).emit()
        else:
            results, found = SlotLoop(pipeline, positions, calls).emit()
        upstream("func").ReturnOp([*results, *calls.gradients.end(found)])
