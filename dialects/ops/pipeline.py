"""``ipu.pipeline``: stages on several IPUs that work on several micro-batches at once; ops of its stages."""

from collections.abc import Iterator
from typing import Any

from ipu_mlir.dialects.analysis.effects import NO_EFFECTS, Effects
from ipu_mlir.dialects.analysis.pipelines import (
    MOST_AGAIN,
    OFFLOADED,
    RECOMPUTE,
    REDUCTIONS,
    RESULTS,
    SCHEDULES,
    Pipeline,
    listed_words,
    pipeline_of,
)
from ipu_mlir.dialects.attributes.dialect import Ipu
from ipu_mlir.dialects.support.bindings import ext, ir
from ipu_mlir.dialects.support.diagnostics import fail
from ipu_mlir.dialects.support.verifiers import verifier

_NUMBERS = ("devices", "parameters", "data", "groups")
_WORDS = {"schedule": SCHEDULES, "reduction": REDUCTIONS, "recompute": RECOMPUTE}
_LISTS = {"results": RESULTS, "offload": OFFLOADED}
_COUNTS = ("count", "serialized")


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
    mean, running_mean) over the micro-batches, in the types of elements that ``accumulators`` lists.

    ``schedule`` is grouped, interleaved or sequential; ``recompute`` says how much of the forward code a backward stage
    runs again: none, elementwise, or all of it from its inputs, and ``most_again`` in how many cycles at most, as a
    share of those of the forward stage: ``0.2 : f64``. ``offload`` lists the tensors that wait in remote
    memory: stored values, gradients, parameters. ``results`` has a word for each result of the last stage: all of
    them, their sum, the last one, or none. Ops with effects in a stage, as ``ipu.dequeue``, happen once for each
    micro-batch.

    ``gradients`` names a function for each stage that differentiates it: from its arguments and the cotangents of its
    results that are floats to its results and the gradients of its arguments that are floats, but for data. Without it
    the stages are differentiated.

    Without ``count`` the function takes the number of micro-batches as its last argument, a ``tensor<i32>``; then data
    come from queues. Functions with one number in ``groups`` are one stage: they are given the same values, run at the
    same time, and their results stand one after the other. With ``serialized``, the stages of a sequential pipeline
    work on so many micro-batches each before the next one begins.
    """

    sym_name: ir.StringAttr
    stages: ir.ArrayAttr
    schedule: ir.StringAttr

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        if op.operation.parent is None or op.operation.parent.operation.name != "builtin.module":
            return fail(op, "stands inside a function; a pipeline belongs to the module")
        if not all(fail(op, broken) for broken in _broken_fields(op.operation)):
            return False
        return all(fail(op, broken) for broken in _broken_whole(pipeline_of(op.operation)))


def _broken_fields(op: ir.Operation) -> Iterator[str]:
    """The errors of attributes by themselves, as ends of sentences."""
    given = op.attributes
    if "gradients" in given and len(given["gradients"]) != len(given["stages"]):
        yield f"has gradients = {given['gradients']}; it names one for each of its stages, or none"
    for name in _NUMBERS:
        if name == "groups" and name not in given:
            continue
        numbers: Any = given.get(name, None)
        if not isinstance(numbers, ir.DenseI64ArrayAttr) or len(numbers) != len(given["stages"]):
            yield f"has {name} = {numbers}; it takes array<i64: ...> with one for each of its stages"
        elif any(number < 0 for number in numbers):
            yield f"has {name} = {numbers}; they are counted from 0"
    for name, words in _WORDS.items():
        if name in given and str(given[name]).strip('"') not in words:
            yield f"has {name} = {given[name]}; it is one of {', '.join(words)}"
    for name, words in _LISTS.items():
        if name in given and not set(listed_words(given[name])) <= {*words}:
            yield f"has {name} = {given[name]}; it is a list of {', '.join(words)}"
    for name in _COUNTS:
        if name in given and not (isinstance(given[name], ir.IntegerAttr) and given[name].value > 0):
            yield f"has {name} = {given[name]}; it is a number above 0"
    share = given.get(MOST_AGAIN, None)
    if share is not None and not (isinstance(share, ir.FloatAttr) and share.value >= 0):
        yield f"has {MOST_AGAIN} = {share}; it is a float from 0 on"
    types = given.get("accumulators", None)
    if types is not None and not (isinstance(types, ir.ArrayAttr) and all(_is_float_type(each) for each in types)):
        yield f"has accumulators = {types}; it is a list of types of floats"


def _is_float_type(attribute: ir.Attribute) -> bool:
    return isinstance(attribute, ir.TypeAttr) and isinstance(attribute.value, ir.FloatType)


def _broken_whole(pipeline: Pipeline) -> Iterator[str]:
    """The errors of attributes together, as ends of sentences."""
    schedule, groups = pipeline.schedule, pipeline.groups
    if list(groups) != sorted(groups) or {*groups} != {*range(schedule.stages)}:
        yield f"has groups = {list(groups)}; they count the stages from 0, in their order"
    if schedule.stages < 2:
        names = ", ".join(f"@{name}" for name in pipeline.functions)
        yield f"has stages = [{names}]; a pipeline takes two stages at least"
    broken = schedule.broken_count(pipeline.count) if pipeline.count is not None else None
    if broken is not None:
        yield broken
    if pipeline.count is None and any(pipeline.data):
        yield f"has data = {list(pipeline.data)} and no count; data of so many micro-batches come from an ipu.infeed"
    if pipeline.count is None and (not pipeline.results or "all" in pipeline.results):
        yield "has no count and gives all results; give results = [...] with sum, last or none for each of them"
    if schedule.name == "interleaved" and len({*pipeline.devices}) < len(pipeline.devices):
        yield f"has two stages on one IPU, {list(pipeline.devices)}; the schedule grouped takes that"
    if pipeline.serialized > 1 and schedule.name != "sequential":
        yield f"has serialized = {pipeline.serialized}, which the schedule {schedule.name} has not; sequential has it"
    if pipeline.serialized > 1 and (pipeline.count is None or pipeline.count % pipeline.serialized):
        yield f"has serialized = {pipeline.serialized}, of which {pipeline.count} micro-batches are no multiple"


class MicroBatchOp(Ipu.Operation, name="micro_batch"):
    """The number of the micro-batch that a stage of a pipeline works on: 0, 1, 2 ... in each run of the pipeline.

    %n = "ipu.micro_batch"() : () -> tensor<i32>
    """

    number: ext.Result[Any]
    effects = Effects(ordered=True)

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        kind = op.number.type
        is_number = isinstance(kind, ir.RankedTensorType) and str(kind) == "tensor<i32>"
        return is_number or fail(op, f"gives {kind}; the number of a micro-batch is a tensor<i32>")


class KeepOp(Ipu.Operation, name="keep", traits=[ext.Pure]):
    """The same value, which a stage of a pipeline stores for its backward part and does not compute again.

    %y = "ipu.keep"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    """

    source: ext.Operand[Any]
    kept: ext.Result[Any]
    effects = NO_EFFECTS

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        source, kept = op.source.type, op.kept.type
        return source == kept or fail(op, f"gives {kept} for {source}; it keeps the type")
