"""Pipelines: what ``ipu.pipeline`` says, and when each of its stages runs."""

from dataclasses import dataclass
from typing import Literal

from ipu_mlir.dialects.support.bindings import ir

ScheduleName = Literal["grouped", "interleaved", "sequential"]
SCHEDULES: tuple[ScheduleName, ...] = ("grouped", "interleaved", "sequential")

Reduction = Literal["sum", "mean", "running_mean"]
REDUCTIONS: tuple[Reduction, ...] = ("sum", "mean", "running_mean")
"""Of the gradients of micro-batches. The running mean is one of those so far, after each of them."""

Result = Literal["all", "sum", "last", "none"]
RESULTS: tuple[Result, ...] = ("all", "sum", "last", "none")
"""The part of a result of the last stage that a pipeline gives: one for each micro-batch, their sum, the last one."""

Offloaded = Literal["stored", "gradients", "parameters"]
OFFLOADED: tuple[Offloaded, ...] = ("stored", "gradients", "parameters")
"""The tensors that wait in remote memory: values for the backward stages, sums of gradients, parameters."""

Recompute = Literal["none", "elementwise", "inputs"]
RECOMPUTE: tuple[Recompute, ...] = ("none", "elementwise", "inputs")
"""How much of the forward code a backward stage runs again: what costs nothing; element-wise ops as well, where that
stores fewer bytes; everything."""

PIPELINE = "ipu.pipeline"
"""Name of the op; and the attribute of a declared function that runs one, with the name of that."""

MOST_AGAIN = "most_again"
"""Attribute of a pipeline."""

KEEP = "ipu.keep"
MICRO_BATCH = "ipu.micro_batch"


@dataclass(frozen=True)
class Schedule:
    """When the stages of a pipeline run, in time slots.

    A micro-batch goes through *positions*: the forward stages, and in training the backward stages, the last one first.

    Attributes:
        name: grouped, interleaved or sequential.
        stages: the number of forward stages.
        training: whether there are backward stages.
    """

    name: ScheduleName
    stages: int
    training: bool

    @property
    def positions(self) -> int:
        return 2 * self.stages if self.training else self.stages

    @property
    def stride(self) -> int:
        """Slots from the begin of one micro-batch to that of the next.

        >>> Schedule("grouped", 3, True).stride, Schedule("interleaved", 3, True).stride
        (1, 2)
        """
        if self.name == "sequential":
            return self.positions
        return 2 if self.name == "interleaved" and self.training else 1

    @property
    def overlap(self) -> int:
        """Micro-batches that are on their way at once; their number in one update is a multiple of it."""
        return self.positions // self.stride

    def slots(self, count: int) -> int:
        """Time slots from the first stage of the first of ``count`` micro-batches to the last one of the last.

        >>> Schedule("grouped", 2, False).slots(8), Schedule("interleaved", 2, True).slots(8)
        (9, 18)
        """
        return self.stride * (count - 1) + self.positions

    def bubble(self, count: int) -> float:
        """The share of the slots in which an IPU has nothing to do.

        >>> Schedule("grouped", 4, False).bubble(12), Schedule("sequential", 4, False).bubble(12)
        (0.2, 0.75)
        """
        if self.name == "sequential":
            return 1 - 1 / self.stages
        return (self.slots(count) - self.stride * count) / self.slots(count)

    def stash_depth(self, stage: int) -> int:
        """Micro-batches that wait between a forward stage and its backward stage, besides the one that is passed on.

        >>> [Schedule("grouped", 3, True).stash_depth(stage) for stage in range(3)]
        [4, 2, 0]
        >>> [Schedule("interleaved", 3, True).stash_depth(stage) for stage in range(3)]
        [2, 1, 0]
        """
        if self.name == "sequential":
            return 0
        return (2 * (self.stages - 1 - stage)) // self.stride

    def broken_count(self, count: int) -> str | None:
        """The error of a number of micro-batches, as the end of a sentence.

        >>> Schedule("grouped", 2, True).broken_count(6)
        'has 6 micro-batches; the schedule grouped of 2 stages takes a multiple of 4: 4 or 8'
        """
        if count > 0 and count % self.overlap == 0:
            return None
        below = max(0, count // self.overlap * self.overlap)
        valid = f"{below} or {below + self.overlap}" if below else f"{self.overlap}"
        return (
            f"has {count} micro-batches; the schedule {self.name} of {self.stages} stages takes a multiple of "
            f"{self.overlap}: {valid}"
        )

    def phases(self) -> tuple[str, str, str]:
        """The slots of the ramp-up, of the steady state and of the ramp-down, a letter for each stage that runs.

        Each micro-batch on its way has a column; forward stages are small letters, backward stages capital ones.

        >>> Schedule("grouped", 4, False).phases()
        ('a...|ba..|cba.|dcba', 'adcb|badc|cbad|dcba', '.dcb|..dc|...d|....')
        >>> Schedule("interleaved", 3, True).phases()
        ('a..|b..|ca.|Db.|Eca|FDb', 'aEc|bFD|caE|DbF|Eca|FDb', '.Ec|.FD|..E|..F|...|...')
        """
        letters = [chr(ord("a") + k) for k in range(self.stages)]
        letters += [chr(ord("A") + self.stages + k) for k in range(self.positions - self.stages)]
        up, steady, down = [], [], []
        for slot in range(self.positions):
            starts = [self.stride * row for row in range(self.overlap)]
            now = [letters[(slot - start) % self.positions] for start in starts]
            up.append("".join(each if slot >= start else "." for each, start in zip(now, starts, strict=True)))
            steady.append("".join(now))
            down.append("".join("." if slot >= start else each for each, start in zip(now, starts, strict=True)))
        return "|".join(up), "|".join(steady), "|".join(down)


@dataclass(frozen=True)
class Pipeline:
    """The fields of an ``ipu.pipeline``.

    Attributes:
        name: its symbol.
        functions: the functions that are its stages, one stage after the other.
        groups: for each function the stage that it belongs to; functions of one stage run at the same time.
        devices: for each function its IPU.
        parameters: for each function how many parameters it takes.
        data: for each function how many tensors of data it takes.
        count: micro-batches; None if that is known at run time only.
        schedule: when stages run.
        reduction: of the gradients.
        recompute: how much of the forward code runs again.
        most_again: the cycles in which it does so at most, as a share of those of the forward part; None if any.
        results: for each result of the last stage, the part that is given; empty for all of all of them.
        accumulators: for each gradient the type of elements in which it is added up; empty for those of the parameters.
        offload: the tensors that wait in remote memory.
        serialized: micro-batches that each stage works on before the next one begins.
        gradients: for each function the name of the one that differentiates it; empty if the pipeline names none.
    """

    name: str
    functions: tuple[str, ...]
    groups: tuple[int, ...]
    devices: tuple[int, ...]
    parameters: tuple[int, ...]
    data: tuple[int, ...]
    count: int | None
    schedule: Schedule
    reduction: Reduction
    recompute: Recompute
    most_again: float | None
    results: tuple[Result, ...]
    accumulators: tuple[ir.Type, ...]
    offload: frozenset[Offloaded]
    serialized: int
    gradients: tuple[str, ...]

    @property
    def training(self) -> bool:
        return self.schedule.training

    def functions_of(self, stage: int) -> list[int]:
        """The numbers of the functions of a stage."""
        return [number for number, group in enumerate(self.groups) if group == stage]


def pipeline_of(op: ir.Operation) -> Pipeline:
    """The fields of an ``ipu.pipeline`` that verifies."""
    given = op.attributes
    functions, gradients = (
        tuple(ir.FlatSymbolRefAttr(each).value for each in given[key]) if key in given else ()
        for key in ("stages", "gradients")
    )
    numbers = {name: tuple(ir.DenseI64ArrayAttr(given[name])) for name in ("devices", "parameters", "data")}
    groups = tuple(ir.DenseI64ArrayAttr(given["groups"])) if "groups" in given else tuple(range(len(functions)))
    words = {name: ir.StringAttr(given[name]).value for name in ("schedule", "reduction", "recompute") if name in given}
    lists = {name: listed_words(given[name]) for name in ("results", "offload") if name in given}
    schedule: ScheduleName = next(each for each in SCHEDULES if each == words["schedule"])
    return Pipeline(
        ir.StringAttr(given["sym_name"]).value,
        functions,
        groups,
        numbers["devices"],
        numbers["parameters"],
        numbers["data"],
        ir.IntegerAttr(given["count"]).value if "count" in given else None,
        Schedule(schedule, max(groups, default=-1) + 1, "training" in given),
        next(each for each in REDUCTIONS if each == words.get("reduction", "sum")),
        next(each for each in RECOMPUTE if each == words.get("recompute", "none")),
        ir.FloatAttr(given[MOST_AGAIN]).value if MOST_AGAIN in given else None,
        tuple(known for word in lists.get("results", []) for known in RESULTS if known == word),
        tuple(ir.TypeAttr(each).value for each in given["accumulators"]) if "accumulators" in given else (),
        frozenset(known for known in OFFLOADED if known in lists.get("offload", [])),
        ir.IntegerAttr(given["serialized"]).value if "serialized" in given else 1,
        gradients,
    )


def listed_words(attribute: ir.Attribute) -> list[str]:
    """The words of a list of strings; those of anything else are its text."""
    if not isinstance(attribute, ir.ArrayAttr):
        return [str(attribute)]
    return [each.value if isinstance(each, ir.StringAttr) else str(each) for each in attribute]
