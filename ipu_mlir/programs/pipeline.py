"""``pipeline``: a function in stages, each on an IPU of its own, that work on several micro-batches at once."""

from collections.abc import Callable, Sequence
from typing import Any

from ipu_mlir.dialects.analysis.pipelines import RECOMPUTE, REDUCTIONS, SCHEDULES, Schedule, ScheduleName
from ipu_mlir.dialects.ipu import PipelineOp
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.specs.specs import TensorSpec
from ipu_mlir.specs.tensor_types import is_made_of_floats
from ipu_mlir.tracing.control.bodies import Tree, spec_of_leaf, tree, values_of
from ipu_mlir.tracing.control.private_functions import new_name, private_function
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.graph import current_trace
from ipu_mlir.tracing.structure import Branch

func = upstream("func")


class pipeline:
    """A function in stages that runs on several micro-batches at once.

        pipe = ipu.pipeline([encode, decode], count=8)
        losses, (de, dd) = pipe.value_and_grad([e, d], [x, y])

    A stage takes its parameters, what the stage before returns (the first one nothing), and its data, if it has any.

    Args:
        stages: functions; two at least.
        count: micro-batches; a multiple of those that are on their way at once: of a grouped pipeline that trains 2 for
            each stage.
        schedule: ``grouped``, each IPU does the forward and the backward part of its stage in every time slot;
            ``interleaved``, one of the two, with half of the stored values; ``sequential``, one stage after the other.
        devices: the IPU of each stage; 0, 1, 2 ... if not given.
        reduction: of the gradients of micro-batches: ``sum`` or ``mean``.
        recompute: how much of the forward code the backward part runs again: ``none``; ``elementwise`` ops, where that
            stores fewer bytes; or all of it, from the ``inputs`` of the stage.
        offload: whether stored values wait for the backward part in remote memory.

    Raises:
        TypeError, ValueError: an argument is none of those; names the values that it can have.
    """

    def __init__(
        self,
        stages: Sequence[Callable[..., Any]],
        count: int,
        schedule: str = "grouped",
        devices: Sequence[int] | None = None,
        reduction: str = "sum",
        recompute: str = "none",
        offload: bool = False,
    ) -> None:
        self._stages = list(stages)
        self._devices = list(range(len(self._stages)) if devices is None else devices)
        self._words = {"schedule": schedule, "reduction": reduction, "recompute": recompute}
        self._count, self._offload = count, offload
        if len(self._stages) < 2:
            raise TraceValueError(f"a pipeline of {len(self._stages)} stages; it takes two at least")
        if len(self._devices) != len(self._stages):
            raise TraceValueError(f"each stage has an IPU: {len(self._devices)} devices for {len(self._stages)} stages")
        for (name, word), known in zip(self._words.items(), (SCHEDULES, REDUCTIONS, RECOMPUTE), strict=True):
            if word not in known:
                raise TraceValueError(f"a pipeline with {name}={word!r}; it is one of {', '.join(known)}")

    def __call__(self, parameters: Sequence[Any], data: Sequence[Any]) -> Any:
        """What the last stage returns for each micro-batch, along a new first axis.

        Args:
            parameters: for each stage, nested as they like.
            data: for each stage, with a first axis of micro-batches; None for a stage without data. The data of the
                first stages alone may be given.
        """
        return _Run(self, parameters, data, False).results()[0]

    def value_and_grad(self, parameters: Sequence[Any], data: Sequence[Any]) -> tuple[Any, list[Any]]:
        """As the call, and the gradients of the loss by the parameters of each stage.

        The loss is the first tensor that the last stage returns: one float.
        """
        return _Run(self, parameters, data, True).results()

    def checked(self, training: bool) -> Schedule:
        """Its schedule.

        Raises:
            TraceValueError: it does not take that number of micro-batches.
        """
        names: dict[str, ScheduleName] = {name: name for name in SCHEDULES}
        schedule = Schedule(names[self._words["schedule"]], len(self._stages), training)
        broken = schedule.broken_count(self._count)
        if broken is not None:
            raise TraceValueError(f"the pipeline {broken}")
        return schedule


class _Run:
    """A call of a pipeline in a function that is being traced."""

    def __init__(self, of: pipeline, parameters: Sequence[Any], data: Sequence[Any], training: bool) -> None:
        trace = current_trace()
        if trace is None:
            raise TraceValueError("a pipeline runs in a function that is compiled: @ipu.function, ipu.compile")
        of.checked(training)
        self._trace, self._of, self._training = trace, of, training
        stages = len(of._stages)
        if len(parameters) != stages or len(data) > stages:
            raise TraceTypeError(
                f"a pipeline of {stages} stages takes parameters of each, and data of so many at the most; "
                f"got lists of {len(parameters)} and {len(data)}"
            )
        self._parameters = [tree(each, f"parameters[{stage}]") for stage, each in enumerate(parameters)]
        whole = [None] * (stages - len(data))
        self._data = [
            None if each is None else tree(each, f"data[{stage}]") for stage, each in enumerate([*data, *whole])
        ]
        for part in self._data:
            for leaf, path in zip(part.leaves, part.paths, strict=True) if part is not None else ():
                if spec_of_leaf(leaf).shape[:1] != (of._count,):
                    raise TraceValueError(
                        f"{path} is {spec_of_leaf(leaf)}; its first axis is that of {of._count} micro-batches"
                    )
        self._result = Tree(Branch(tuple, (), ()), ())
        self._names = [self._traced(stage) for stage in range(stages)]

    def _traced(self, stage: int) -> str:
        """The name of the function that a stage becomes."""
        parameters, data, function = self._parameters[stage], self._data[stage], self._of._stages[stage]
        before, name = self._result, getattr(function, "__name__", f"stage_{stage}")
        own = [spec_of_leaf(leaf) for leaf in parameters.leaves]
        given = [spec_of_leaf(leaf) for leaf in before.leaves]
        rows = [_row(spec_of_leaf(leaf)) for leaf in data.leaves] if data is not None else []

        def give(symbols: list[Any]) -> Sequence[Any]:
            each = iter(symbols)
            arguments = [parameters.nested([next(each) for _ in own])]
            if stage:
                arguments.append(before.nested([next(each) for _ in given]))
            if data is not None:
                arguments.append(data.nested([next(each) for _ in rows]))
            self._result = tree(function(*arguments), f"the result of stage {stage}")
            return self._result.leaves

        made = private_function(self._trace, name, [*own, *given, *rows], give)
        if made.captured:
            raise TraceTypeError(
                f"stage {stage}, {name}, uses traced tensors from around it; make them parameters or data"
            )
        self._specs = made.specs
        return made.name

    def results(self) -> tuple[Any, list[Any]]:
        """What the last stage gives, and the gradients."""
        trace, count = self._trace, self._of._count
        leaves = [leaf for part in [*self._parameters, *self._data] if part is not None for leaf in part.leaves]
        values = values_of(trace, leaves, [spec_of_leaf(leaf) for leaf in leaves])
        wanted = [TensorSpec((count, *spec.shape), spec.dtype) for spec in self._specs]
        slopes = [spec_of_leaf(leaf) for part in self._parameters for leaf in part.leaves]
        slopes = [spec for spec in slopes if is_made_of_floats(spec.dtype)] if self._training else []
        with trace.emit("pipeline"):
            name = new_name(trace.module, "pipeline")
            types = [trace.tensor_type(spec.shape, spec.dtype) for spec in (*wanted, *slopes)]
            with ir.InsertionPoint.at_block_begin(trace.module.body):
                self._declare(name)
            with ir.InsertionPoint(trace.module.body):
                run = func.FuncOp(f"{name}_run", ([v.type for v in values], types), visibility="private")
            run.operation.attributes["ipu.pipeline"] = ir.FlatSymbolRefAttr.get(name)
            found = list(func.CallOp(types, f"{name}_run", values).operation.results)
            given = iter(
                [trace.wrap(v, spec.shape, spec.dtype) for v, spec in zip(found, (*wanted, *slopes), strict=True)]
            )
        result = self._result.nested([next(given) for _ in wanted])
        gradients = [
            part.nested([next(given) if is_made_of_floats(spec_of_leaf(leaf).dtype) else None for leaf in part.leaves])
            for part in (self._parameters if self._training else ())
        ]
        return result, gradients

    def _declare(self, name: str) -> None:
        of = self._of
        op = PipelineOp(
            sym_name=ir.StringAttr.get(name),
            stages=ir.ArrayAttr.get([ir.FlatSymbolRefAttr.get(each) for each in self._names]),
            count=ir.IntegerAttr.get(ir.IntegerType.get_signless(64), of._count),
            schedule=ir.StringAttr.get(of._words["schedule"]),
        )
        counts = {
            "devices": of._devices,
            "parameters": [len(each.leaves) for each in self._parameters],
            "data": [len(each.leaves) if each is not None else 0 for each in self._data],
        }
        for key, numbers in counts.items():
            op.operation.attributes[key] = ir.DenseI64ArrayAttr.get(numbers)
        for key in ("reduction", "recompute"):
            op.operation.attributes[key] = ir.StringAttr.get(of._words[key])
        for key, is_set in (("training", self._training), ("offload", of._offload)):
            if is_set:
                op.operation.attributes[key] = ir.UnitAttr.get()


def _row(spec: TensorSpec) -> TensorSpec:
    return TensorSpec(spec.shape[1:], spec.dtype)
