"""``pipeline``: a function in stages, each on an IPU of its own, that work on several micro-batches at once."""

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects.analysis.pipelines import OFFLOADED, RECOMPUTE, REDUCTIONS, SCHEDULES, Schedule, ScheduleName
from ipu_mlir.dialects.ipu import KeepOp, MicroBatchOp
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.frontends.calls import stages_of
from ipu_mlir.specs.tensor_types import is_made_of_floats
from ipu_mlir.stages.pipeline_run import Options, Run
from ipu_mlir.tracing.control.gradients import on_leaves
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.graph import own_trace, supported_dtype


class pipeline:
    """A function in stages that runs on several micro-batches at once.

        pipe = ipu.pipeline([encode, decode], count=8)
        losses, (de, dd) = pipe.value_and_grad([e, d], [x, y])

    A stage takes its parameters, what the stage before returns (the first one nothing), and its data, if it has any. A
    list of functions in the place of a stage is one stage whose functions run at the same time, each on an IPU of its
    own: its parameters, data and devices are lists too, and it gives a tuple of what they return.

    Args:
        stages: functions, two at least, traced or jitted by JAX; or a ``torch.nn.Sequential``, whose children they are.
        count: micro-batches; a multiple of those that are on their way at once: of a grouped pipeline that trains 2 for
            each stage. None if a call says it.
        schedule: ``grouped``, each IPU does the forward and the backward part of its stage in every time slot;
            ``interleaved``, one of the two, with half of the stored values; ``sequential``, one stage after the other.
        devices: the IPU of each stage; 0, 1, 2 ... if not given.
        reduction: of the gradients of micro-batches: ``sum``, ``mean``, or ``running_mean``, which is the mean of those
            so far after each of them, and cannot overflow.
        recompute: how much of the forward code the backward part runs again: ``none``; ``elementwise`` ops, where that
            stores fewer bytes; or all of it, from the ``inputs`` of the stage. A number is in how many cycles at most,
            as a share of those of the forward part: 0.2 stores the fewest bytes with which that is enough.
        offload: a list of what waits in remote memory: ``stored`` values, ``gradients`` while they are added up,
            ``parameters``; True for stored values.
        results: a word for all tensors that the last stage returns, or a list with one for each: ``all`` micro-batches
            along a new first axis, their ``sum``, the ``last`` one, or ``none``, which gives None.
        accumulate: the element type in which gradients are added up; that of the parameters if not given.
        serialized: micro-batches that each stage of a sequential pipeline works on before the next one begins.
        loss: from what the last stage returns, and its data, to what the pipeline returns, if that is not the same.

    Raises:
        TypeError, ValueError: an argument is none of those; names the values that it can have.
    """

    def __init__(
        self,
        stages: Iterable[Callable[..., Any] | Sequence[Callable[..., Any]]],
        count: int | None,
        schedule: str = "grouped",
        devices: Sequence[Any] | None = None,
        reduction: str = "sum",
        recompute: str | float = "none",
        offload: bool | Sequence[str] = False,
        results: str | Sequence[str] = "all",
        accumulate: Any = None,
        serialized: int = 1,
        loss: Callable[..., Any] | None = None,
    ) -> None:
        if loss is not None and not callable(loss):
            raise TraceTypeError(f"a pipeline with loss={loss!r}; it is a function of what the last stage returns")
        if isinstance(stages, str | dict) or not isinstance(stages, Iterable):
            raise TraceTypeError(f"a pipeline with stages={stages!r}; it is a list of functions")
        stages = list(stages)
        for stage in stages:
            if not callable(stage) and not (isinstance(stage, list | tuple) and all(map(callable, stage))):
                raise TraceTypeError(f"a pipeline with the stage {stage!r}; a stage is a function, or a list of them")
        nested = [[stage] if callable(stage) else list(stage) for stage in stages_of(stages, loss)]
        functions = [each for group in nested for each in group]
        groups = [stage for stage, group in enumerate(nested) for _ in group]
        if isinstance(recompute, str):
            most_again = None
        elif isinstance(recompute, int | float | np.number) and not isinstance(recompute, bool) and recompute >= 0:
            most_again = float(recompute)
        else:
            raise TraceValueError(
                f"a pipeline with recompute={recompute!r}; it is one of {', '.join(RECOMPUTE)}, or a number from 0 on"
            )
        words = {
            "schedule": schedule,
            "reduction": reduction,
            "recompute": recompute if isinstance(recompute, str) else "inputs",
        }
        if len(nested) < 2 or not all(nested):
            raise TraceValueError(
                f"a pipeline of {len(nested)} stages; it takes two at least, of a function or more each"
            )
        if devices is not None and not isinstance(devices, Iterable):
            raise TraceTypeError(f"a pipeline with devices={devices!r}; it is a list of numbers of IPUs")
        places = _checked_devices(range(len(functions)) if devices is None else devices)
        if len(places) != len(functions):
            raise TraceValueError(f"each stage has an IPU: {len(places)} devices for {len(functions)} stages")
        if schedule == "interleaved" and len({*places}) < len(places):
            raise TraceValueError(
                f"an interleaved pipeline has an IPU for each stage, got devices={places}; schedule='grouped' or "
                "'sequential' takes these"
            )
        for (name, word), known in zip(words.items(), (SCHEDULES, REDUCTIONS, RECOMPUTE), strict=True):
            if not isinstance(word, str) or word not in known:
                raise TraceValueError(f"a pipeline with {name}={word!r}; it is one of {', '.join(known)}")
        waiting = ["stored"] if offload is True else [] if offload is None or offload is False else offload
        if not isinstance(waiting, list | tuple) or any(each not in OFFLOADED for each in waiting):
            raise TraceValueError(f"a pipeline with offload={offload!r}; it is a list of {', '.join(OFFLOADED)}")
        kind = None if accumulate is None else supported_dtype(accumulate)
        if kind is not None and not is_made_of_floats(kind):
            raise TraceTypeError(f"a pipeline with accumulate={kind}; gradients are added up in a float type")
        count = None if count is None else _whole(count, "count")
        serialized = _whole(serialized, "serialized")
        self._options = Options(
            functions, groups, places, words, count, tuple(waiting), results, kind, serialized, most_again
        )
        if serialized != 1 and (schedule != "sequential" or count is None or serialized < 1 or count % serialized):
            raise TraceValueError(
                f"a pipeline with serialized={serialized}, schedule={schedule!r} and count={count}; it takes the "
                "schedule sequential, and a count that is a multiple of it"
            )

    def __call__(self, parameters: Sequence[Any], data: Sequence[Any] = (), count: Any = None) -> Any:
        """What the last stage returns for each micro-batch, along a new first axis, or as ``results`` says.

        Args:
            parameters: for each stage, nested as they like.
            data: for each stage, with a first axis of micro-batches; None for a stage without data. The data of the
                first stages alone may be given.
            count: micro-batches, of a pipeline that has no number of its own: one that is known when the program runs.
        """
        return Run(self._options, self.checked(False), parameters, data, count).results()[0]

    def value_and_grad(
        self, parameters: Sequence[Any], data: Sequence[Any] = (), count: Any = None
    ) -> tuple[Any, list[Any]]:
        """As the call, and the gradients of the loss by the parameters of each stage.

        The loss is the first tensor that the last stage returns: one float.
        """
        return Run(self._options, self.checked(True), parameters, data, count).results()

    def checked(self, training: bool) -> Schedule:
        """Its schedule.

        Raises:
            TraceValueError: it does not take that number of micro-batches.
        """
        names: dict[str, ScheduleName] = {name: name for name in SCHEDULES}
        schedule = Schedule(names[self._options.words["schedule"]], self._options.groups[-1] + 1, training)
        broken = schedule.broken_count(self._options.count) if self._options.count is not None else None
        if broken is not None:
            raise TraceValueError(f"the pipeline {broken}")
        return schedule


def _whole(number: Any, name: str) -> int:
    if isinstance(number, bool) or not hasattr(number, "__index__"):
        raise TraceTypeError(f"a pipeline with {name}={number!r}; it is a whole number")
    return operator.index(number)


def _checked_devices(devices: Iterable[Any]) -> list[int]:
    """The IPU of each function."""
    nested = [each if isinstance(each, list | tuple) else [each] for each in devices]
    flat = [_whole(each, "devices") for own in nested for each in own]
    if min(flat, default=0) < 0:
        raise TraceValueError(f"a pipeline with devices={devices!r}; IPUs are counted from 0")
    return flat


def micro_batch() -> Any:
    """The number of the micro-batch that a stage of a pipeline works on, from 0 on: a tensor of int32.

    Raises:
        TraceValueError: there is no program that is being traced.
    """
    trace = own_trace()
    if trace is None:
        raise TraceValueError("micro_batch is for stages of a pipeline, in a function that is compiled")
    with trace.emit("micro_batch"):
        number = MicroBatchOp(number=ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))).number
        return trace.wrap(number, (), np.dtype(np.int32))


def keep(x: Any) -> Any:
    """``x``, nested as it likes, which a stage of a pipeline stores for its backward part, and never computes again."""
    return on_leaves("keep", lambda value: KeepOp(source=value, kept=value.type).kept, x)
