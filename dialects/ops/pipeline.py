"""``ipu.pipeline``: stages on several IPUs that work on several micro-batches at once."""

from typing import Any

from ipu_mlir.dialects.analysis.pipelines import RECOMPUTE, REDUCTIONS, SCHEDULES, pipeline_of
from ipu_mlir.dialects.attributes.dialect import Ipu
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.diagnostics import fail
from ipu_mlir.dialects.support.verifiers import verifier

_NUMBERS = ("devices", "parameters", "data")
_WORDS = {"schedule": SCHEDULES, "reduction": REDUCTIONS, "recompute": RECOMPUTE}


class PipelineOp(Ipu.Operation, name="pipeline"):
    """A pipeline: its stages, the IPU of each, and the order in which micro-batches go through them.

        "ipu.pipeline"() {sym_name = "p", stages = [@first, @last], devices = array<i64: 0, 1>,
                          parameters = array<i64: 1, 1>, data = array<i64: 1, 0>, count = 8 : i64,
                          schedule = "grouped", training} : () -> ()

    Stands in the module. A stage is a function of its ``parameters``, of the results of the stage before, and of its
    ``data``. A function that is declared with ``ipu.pipeline = @p`` runs it for ``count`` micro-batches. It takes the
    parameters of all stages, then the data of all stages, which have one more first dimension, of micro-batches; it
    gives the results of the last stage with such a dimension. With ``training``, the first of them is the loss, one
    float, and the function gives the gradients of the parameters that are floats as well: their ``reduction`` (sum,
    mean) over the micro-batches.

    ``schedule`` is grouped, interleaved or sequential. ``recompute`` says how much of the forward code a backward stage
    runs again: none, elementwise, or all of it from its inputs. With ``offload``, values wait for their backward stage
    in remote memory.
    """

    sym_name: ir.StringAttr
    stages: ir.ArrayAttr
    count: ir.IntegerAttr
    schedule: ir.StringAttr

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        operation, given = op.operation, op.operation.attributes
        if operation.parent is None or operation.parent.operation.name != "builtin.module":
            return fail(op, "stands inside a function; a pipeline belongs to the module")
        if len(given["stages"]) < 2:
            return fail(op, f"has stages = {given['stages']}; a pipeline takes two stages at least")
        for name in _NUMBERS:
            numbers = given.get(name, None)
            if not isinstance(numbers, ir.DenseI64ArrayAttr) or len(numbers) != len(given["stages"]):
                return fail(op, f"has {name} = {numbers}; it takes array<i64: ...> with one for each of its stages")
            if any(number < 0 for number in numbers):
                return fail(op, f"has {name} = {numbers}; they are counted from 0")
        for name, words in _WORDS.items():
            if name in given and str(given[name]).strip('"') not in words:
                return fail(op, f"has {name} = {given[name]}; it is one of {', '.join(words)}")
        pipeline = pipeline_of(operation)
        broken = pipeline.schedule.broken_count(pipeline.count)
        if broken is not None:
            return fail(op, broken)
        if pipeline.schedule.name == "interleaved" and len(set(pipeline.devices)) < len(pipeline.devices):
            return fail(op, f"has two stages on one IPU, {list(pipeline.devices)}; the schedule grouped takes that")
        return True
