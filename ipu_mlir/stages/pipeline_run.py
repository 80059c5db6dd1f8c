"""A call of a pipeline in a function that is being traced."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.dialects.analysis.pipelines import MOST_AGAIN, RESULTS, Schedule
from ipu_mlir.dialects.ipu import PipelineOp
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.counted import counted
from ipu_mlir.specs.specs import TensorSpec
from ipu_mlir.specs.tensor_types import is_made_of_floats
from ipu_mlir.tracing.control.bodies import Tree, call, spec_of_leaf, spread, tree, values_of
from ipu_mlir.tracing.control.private_functions import new_name, private_function
from ipu_mlir.tracing.elementwise import conjugated
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.graph import own_trace
from ipu_mlir.tracing.operands import tensor
from ipu_mlir.tracing.structure import Branch

func = upstream("func")


@dataclass(frozen=True)
class Options:
    """The arguments of ``pipeline``; of stages and devices one for each function.

    Attributes:
        groups: for each function the stage that it belongs to.
        words: the schedule, the reduction and what is computed again.
        most_again: in how many cycles, as a share of those of the forward part; None for any.
        count: None if a call says it.
        results: one word, or one for each tensor that the last stage returns.
    """

    functions: list[Callable[..., Any]]
    groups: list[int]
    devices: list[int]
    words: dict[str, str]
    count: int | None
    offload: tuple[str, ...]
    results: str | Sequence[str]
    accumulate: np.dtype[Any] | None
    serialized: int
    most_again: float | None


class Run:
    """A call of a pipeline in a function that is being traced."""

    def __init__(
        self, options: Options, schedule: Schedule, parameters: Sequence[Any], data: Sequence[Any], count: Any
    ) -> None:
        trace = own_trace()
        if trace is None:
            raise TraceValueError("a pipeline runs in a function that is compiled: @ipu.function, ipu.compile")
        self._trace, self._options, self._schedule, self._training = trace, options, schedule, schedule.training
        self._count = self._counted(count)
        stages = schedule.stages
        for name, given in (("parameters", parameters), ("data", data)):
            if not isinstance(given, list | tuple):
                raise TraceTypeError(f"a pipeline with {name}={given!r}; it is a list with those of each stage")
        if len(parameters) != stages or len(data) > stages:
            raise TraceTypeError(
                f"a pipeline of {stages} stages takes parameters of each, and data of so many at the most; "
                f"got lists of {len(parameters)} and {len(data)}"
            )
        self._parameters = [tree(each, f"parameters{path}") for each, path in self._each(parameters, "parameters")]
        whole = [*data, *[None] * (stages - len(data))]
        self._data = [None if each is None else tree(each, f"data{path}") for each, path in self._each(whole, "data")]
        for part in self._data:
            for leaf, path in zip(part.leaves, part.paths, strict=True) if part is not None else ():
                if options.count is None:
                    raise TraceValueError(f"{path} is given to a pipeline without a count; let its stages dequeue")
                if spec_of_leaf(leaf).shape[:1] != (options.count,):
                    raise TraceValueError(
                        f"{path} is {spec_of_leaf(leaf)}; its first axis is that of {options.count} micro-batches: "
                        f"reshape a batch, whose rows are a multiple of {options.count}, to ({options.count}, -1, ...)"
                    )
        self._names: list[str] = []
        self._result, self._specs = Tree(Branch(tuple, (), ()), ()), []
        for stage in range(stages):
            self._trace_stage(stage)
        self._kept = self._words_of_results()

    def _counted(self, count: Any) -> Any:
        """The number of micro-batches as a traced tensor, of a pipeline without one of its own."""
        if self._options.count is not None:
            if count is not None:
                raise TraceValueError(
                    f"the pipeline has {self._options.count} micro-batches; a call cannot say so as well"
                )
            return None
        if count is None:
            raise TraceValueError("the pipeline has no count; give one with the call")
        given = tensor(self._trace, count)
        if given.shape or not np.issubdtype(given.dtype, np.integer):
            raise TraceTypeError(f"the count of a pipeline is {given.dtype}{list(given.shape)}; it is one whole number")
        return given.astype(np.int32)

    def _each(self, values: Sequence[Any], name: str) -> list[tuple[Any, str]]:
        """By function what is given for stages, and where it stands: of a stage of several functions, it is a list."""
        found = []
        for stage, value in enumerate(values):
            functions = self._options.groups.count(stage)
            if functions == 1:
                found.append((value, f"[{stage}]"))
                continue
            several = [None] * functions if value is None else value
            if not isinstance(several, list | tuple) or len(several) != functions:
                raise TraceTypeError(
                    f"{name}[{stage}] is of a stage of {functions} functions; give a list, one for each"
                )
            found += [(each, f"[{stage}][{place}]") for place, each in enumerate(several)]
        return found

    def _trace_stage(self, stage: int) -> None:
        """Make the functions of a stage, and remember what they return."""
        numbers = [number for number, group in enumerate(self._options.groups) if group == stage]
        made = [self._traced(number, stage) for number in numbers]
        self._specs = [spec for _, specs in made for spec in specs]
        together = [result for result, _ in made]
        if len(made) == 1:
            self._result = together[0]
        else:
            structure = Branch(tuple, (), tuple(each.structure for each in together))
            self._result = Tree(structure, tuple(leaf for each in together for leaf in each.leaves))

    def _traced(self, number: int, stage: int) -> tuple[Tree, list[TensorSpec]]:
        """What a function of a stage returns, as a tree and as specs."""
        parameters, data, function = self._parameters[number], self._data[number], self._options.functions[number]
        before, name = self._result, getattr(function, "__name__", f"stage_{stage}")
        own = [spec_of_leaf(leaf) for leaf in parameters.leaves]
        given = self._specs
        rows = [_row(spec_of_leaf(leaf)) for leaf in data.leaves] if data is not None else []
        results: list[Tree] = []

        def give(symbols: list[Any]) -> Sequence[Any]:
            each = iter(symbols)
            arguments = [parameters.nested([next(each) for _ in own])]
            if stage:
                arguments.append(before.nested([next(each) for _ in given]))
            if data is not None:
                arguments = spread(function, [*arguments, data.nested([next(each) for _ in rows])])
            results.append(tree(call(f"stage {stage}", function, *arguments), f"the result of stage {stage}"))
            return results[0].leaves

        made = private_function(self._trace, name, [*own, *given, *rows], give)
        if made.captured:
            raise TraceTypeError(
                f"stage {stage}, {name}, uses traced tensors from around it; make them parameters or data"
            )
        self._names.append(made.name)
        return results[0], made.specs

    def _words_of_results(self) -> list[str]:
        """For each tensor that the last stage returns, the part of it that is given."""
        words = self._options.results
        listed: list[Any] = [*words] if isinstance(words, list | tuple) else [words] * len(self._specs)
        if len(listed) != len(self._specs) or any(each not in RESULTS for each in listed):
            raise TraceValueError(
                f"a pipeline with results={words!r}, whose last stage returns {counted(len(self._specs), 'tensor')}; "
                f"it is one of {', '.join(RESULTS)}, or a list with one for each tensor"
            )
        if self._options.count is None and "all" in listed:
            raise TraceValueError(
                "a pipeline without a count gives results='sum', 'last' or 'none', because all are of no known number"
            )
        return listed

    def results(self) -> tuple[Any, list[Any]]:
        """What the last stage gives, and the gradients."""
        trace, count = self._trace, self._options.count or 0
        leaves = [leaf for part in [*self._parameters, *self._data] if part is not None for leaf in part.leaves]
        leaves += [] if self._count is None else [self._count]
        values = values_of(trace, leaves, [spec_of_leaf(leaf) for leaf in leaves])
        wanted = [
            TensorSpec((count, *spec.shape), spec.dtype) if word == "all" else spec
            for spec, word in zip(self._specs, self._kept, strict=True)
            if word != "none"
        ]
        slopes = self._gradients()
        with trace.emit("pipeline"):
            name = new_name(trace.module, "pipeline")
            types = [trace.tensor_type(spec.shape, spec.dtype) for spec in (*wanted, *slopes)]
            with ir.InsertionPoint.at_block_begin(trace.module.body):
                self._declare(name, slopes)
            with ir.InsertionPoint(trace.module.body):
                run = func.FuncOp(f"{name}_run", ([v.type for v in values], types), visibility="private")
            run.operation.attributes["ipu.pipeline"] = ir.FlatSymbolRefAttr.get(name)
            found = list(func.CallOp(types, f"{name}_run", values).operation.results)
            given = iter(
                [trace.wrap(v, spec.shape, spec.dtype) for v, spec in zip(found, (*wanted, *slopes), strict=True)]
            )
        result = self._result.nested([None if word == "none" else next(given) for word in self._kept])
        gradients = [
            part.nested(
                [
                    conjugated(next(given)) if is_made_of_floats(spec_of_leaf(leaf).dtype) else None
                    for leaf in part.leaves
                ]
            )
            for part in (self._parameters if self._training else ())
        ]
        return result, self._by_stage(gradients)

    def _gradients(self) -> list[TensorSpec]:
        """The specs of the gradients."""
        if not self._training:
            return []
        slopes = [spec_of_leaf(leaf) for part in self._parameters for leaf in part.leaves]
        kind = self._options.accumulate
        return [
            spec if kind is None else TensorSpec(spec.shape, kind) for spec in slopes if is_made_of_floats(spec.dtype)
        ]

    def _by_stage(self, gradients: list[Any]) -> list[Any]:
        """Gradients as the parameters are given: of a stage of several functions, they are a list."""
        found: list[Any] = []
        for stage in range(self._schedule.stages if gradients else 0):
            own = [each for each, group in zip(gradients, self._options.groups, strict=True) if group == stage]
            found.append(own if len(own) > 1 else own[0])
        return found

    def _declare(self, name: str, slopes: Sequence[TensorSpec]) -> None:
        of = self._options
        op = PipelineOp(
            sym_name=ir.StringAttr.get(name),
            stages=ir.ArrayAttr.get([ir.FlatSymbolRefAttr.get(each) for each in self._names]),
            schedule=ir.StringAttr.get(of.words["schedule"]),
        )
        attributes, i64 = op.operation.attributes, ir.IntegerType.get_signless(64)
        counts = {
            "devices": of.devices,
            "parameters": [len(each.leaves) for each in self._parameters],
            "data": [len(each.leaves) if each is not None else 0 for each in self._data],
        }
        if len(of.functions) > self._schedule.stages:
            counts["groups"] = of.groups
        for key, numbers in counts.items():
            attributes[key] = ir.DenseI64ArrayAttr.get(numbers)
        for key in ("reduction", "recompute"):
            attributes[key] = ir.StringAttr.get(of.words[key])
        if of.most_again is not None:
            attributes[MOST_AGAIN] = ir.FloatAttr.get_f64(of.most_again)
        if self._training:
            attributes["training"] = ir.UnitAttr.get()
        if of.count is not None:
            attributes["count"] = ir.IntegerAttr.get(i64, of.count)
        if of.serialized > 1:
            attributes["serialized"] = ir.IntegerAttr.get(i64, of.serialized)
        for key, words in (("offload", of.offload), ("results", self._kept if {*self._kept} != {"all"} else ())):
            if words:
                attributes[key] = ir.ArrayAttr.get([ir.StringAttr.get(word) for word in words])
        if of.accumulate is not None and self._training:
            types = [self._trace.tensor_type((), spec.dtype).element_type for spec in slopes]
            attributes["accumulators"] = ir.ArrayAttr.get([ir.TypeAttr.get(each) for each in types])


def _row(spec: TensorSpec) -> TensorSpec:
    return TensorSpec(spec.shape[1:], spec.dtype)
