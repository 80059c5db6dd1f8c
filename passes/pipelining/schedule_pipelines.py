"""``ipu-schedule-pipelines``: a pipeline becomes a loop over time slots."""

from ipu_mlir.dialects.analysis.matchers import symbol_of
from ipu_mlir.dialects.analysis.outlined_calls import callee_of
from ipu_mlir.dialects.analysis.pipelines import PIPELINE, pipeline_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.pipelining.pipeline_loop import PipelineLoop
from ipu_mlir.passes.pipelining.positions import positions_of, run_type
from ipu_mlir.passes.support.calls import inline_call
from ipu_mlir.passes.support.rewriting import list_ops


class SchedulePipelines(Pass):
    """Give the functions that run pipelines their code.

    It is a loop over time slots (of the schedule sequential: over micro-batches). In each slot every stage that has a
    micro-batch works on it, one after the other in the text and at the same time on its IPU; behind them the results
    move to the IPUs of the next stages, for the next slot. What a forward stage stores for its backward stage waits in
    a ring that the loop carries, or with ``offload`` in an ``ipu.fifo`` in remote memory. Each stage is one outlined
    function, which the loop calls once, whatever the number of micro-batches. Gradients are added up as the loop goes
    on.

    Needs:  stages that train are split (``ipu-split-stages``).
    Leaves: no ``ipu.pipeline``; ``ipu.shard`` on the calls of stages; the loop in the place of calls of its function.
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
                positions = positions_of(pipeline, functions)
                wanted = run_type(pipeline, functions)
                found = ir.TypeAttr(function.attributes["function_type"]).value
                if found != wanted:
                    refuse(function, f"has the type {found}, and runs a pipeline of type {wanted}")
                    continue
                with function.location:
                    PipelineLoop(pipeline, positions, function).fill()
            if refuse.diagnostics:
                return
            for op in pipelines.values():
                op.erase()
            for call in list_ops(module, "func.call"):  # upstream's inliner leaves fifos alone
                if callee_of(call) in running:
                    inline_call(call, functions[callee_of(call)])
