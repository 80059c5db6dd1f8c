"""``cut``: layers as the stages of a pipeline."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from ipu_mlir.dialects.analysis.pipelines import RECOMPUTE, SCHEDULES, Schedule, ScheduleName
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.frontends.calls import stages_of
from ipu_mlir.layers.layer import Layer, Sequential
from ipu_mlir.specs.specs import spec_of
from ipu_mlir.stages.cuts import best_cuts, boundaries
from ipu_mlir.stages.layer_costs import LayerCost, LayerFunction, layer_costs
from ipu_mlir.tracing.trees import tree_map

_PROPORTION = 0.9
"""Of the memory of an IPU that a stage is planned for: tiles are not filled evenly."""


@dataclass(frozen=True)
class Cut:
    """Layers in stages. It prints as a table of the stages, with the reason of its cuts.

    Attributes:
        layers: functions of parameters and of what the layer before gives.
        costs: of each layer.
        cuts: the layers that stages begin with, the first stage aside.
        target: whose IPUs the stages are for.
        schedule: of the pipeline.
        copies: of the parameters in memory: themselves, gradients, state of the optimizer.
    """

    layers: tuple[LayerFunction, ...]
    costs: tuple[LayerCost, ...]
    cuts: tuple[int, ...]
    target: Target
    schedule: Schedule
    copies: int

    @property
    def stages(self) -> list[Callable[..., Any]]:
        """A function for each stage, for ``ipu.pipeline``; its parameters are a list with those of its layers."""
        return [_stage(self.layers[first:last]) for first, last in boundaries(self.cuts, len(self.layers))]

    def split(self, parameters: Sequence[Any]) -> list[list[Any]]:
        """A list, which has an entry for each layer, as a list of one list for each stage."""
        if len(parameters) != len(self.layers):
            raise CompileError(f"{len(self.layers)} layers have parameters, got those of {len(parameters)}")
        return [list(parameters[first:last]) for first, last in boundaries(self.cuts, len(self.layers))]

    def at(self, cuts: Sequence[int]) -> "Cut":
        """The same layers, cut elsewhere: ``cut.at([3, 6, 10])`` has stages that begin with these layers, and with 0.

        Raises:
            CompileError: they are not increasing, or not inside the row of layers.
        """
        whole = [0, *cuts, len(self.layers)]
        if any(one >= other for one, other in pairwise(whole)):
            raise CompileError(
                f"cuts at {list(cuts)} of {len(self.layers)} layers: give increasing numbers from 1 to "
                f"{len(self.layers) - 1}"
            )
        schedule = Schedule(self.schedule.name, len(cuts) + 1, self.schedule.training)
        return replace(self, cuts=tuple(cuts), schedule=schedule)

    def cycles(self) -> list[int]:
        """Of each stage for one micro-batch, forward and backward."""
        return [sum(each.cycles for each in self.costs[first:last]) for first, last in self._bounds]

    def bytes(self) -> list[int]:
        """Of each stage: copies of parameters, what waits for the backward part, and what its largest layer needs."""
        given = self.costs, self.schedule, self.copies
        return [stage_bytes(*given, stage, *pair) for stage, pair in enumerate(self._bounds)]

    @property
    def _bounds(self) -> list[tuple[int, int]]:
        return boundaries(self.cuts, len(self.layers))

    def __str__(self) -> str:
        cycles, sizes = self.cycles(), self.bytes()
        mean, memory = sum(cycles) / len(cycles), _memory(self.target)
        lines = ["stage  layers         cycles  of mean          bytes  of memory"]
        for stage, (first, last) in enumerate(self._bounds):
            lines.append(
                f"{stage:5d}  {f'{first} .. {last - 1}':9s}{cycles[stage]:12,d}  {cycles[stage] / mean:7.3f}"
                f"{sizes[stage]:15,d}  {sizes[stage] / memory:8.1%}"
            )
        slowest = max(range(len(cycles)), key=cycles.__getitem__)
        lines.append(f"stage {slowest} is the slowest, {cycles[slowest] / mean:.3f} of the mean{self._why(slowest)}")
        return "\n".join(lines)

    def _why(self, slowest: int) -> str:
        """The share of each neighbour of the slowest stage, if that handed its layer there over."""
        first, last = self._bounds[slowest]
        moves = []
        if last - first > 1:
            if slowest > 0:
                moves.append((first, slowest - 1, self._moved(slowest - 1, 1)))
            if slowest < len(self.cuts):
                moves.append((last - 1, slowest + 1, self._moved(slowest, -1)))
        told = []
        mean = sum(self.cycles()) / len(self._bounds)
        for layer, stage, other in moves:
            share = other.cycles()[stage] / mean
            told.append(f"; with its layer {layer}, {self.costs[layer].name}, stage {stage} would be {share:.3f}")
        return "".join(told)

    def _moved(self, cut: int, by: int) -> "Cut":
        return self.at([each + (by if place == cut else 0) for place, each in enumerate(self.cuts)])


def cut(
    layers: Any,
    parameters: Sequence[Any],
    x: Any,
    stages: int,
    *,
    target: Target | None = None,
    schedule: str = "grouped",
    recompute: str = "none",
    copies: int = 4,
) -> Cut:
    """Cut layers into stages, so that each fits its IPU and the slowest one takes the fewest cycles.

        parts = ipu.cut(net, parameters, x, stages=4, target=target)
        print(parts)
        pipe = ipu.pipeline(parts.stages, count=16, loss=loss)

    Each layer is compiled for one IPU, forwards and backwards, and its cycles and bytes are those of its profile.

    Args:
        layers: an ``ipu.layers.Sequential``, as it is in inference, a ``torch.nn.Sequential``, or functions of
            parameters and of what the layer before gives, of Python or JAX.
        parameters: of each layer, arrays or specs.
        x: what the first layer takes for one micro-batch, an array or a spec, nested as it likes.
        stages: how many there are to be.
        target: whose IPUs they are for; its number of IPUs does not matter.
        schedule: of the pipeline, which says how many micro-batches wait for the backward part of a stage.
        recompute: of the pipeline, which says what of each of them is stored.
        copies: of the parameters in memory: 4 for those of Adam, their gradients and two states; 2 for plain descent.

    Raises:
        CompileError: there are fewer layers than stages, or no stages that fit; says how much is missing. Or a layer
            has running means.
    """
    functions = _functions(layers)
    if isinstance(layers, Sequential) and layers.state() != ():
        kept = [_name(each, each) for each in layers.layers if isinstance(each, Layer) and each.state() != ()]
        raise CompileError(
            f"stages that are cut have no state, and {', '.join(kept)} has running means; write the stages as "
            "functions that call net.train with the state in an ipu.Variable, or take LayerNorm or GroupNorm"
        )
    if not 1 < stages <= len(functions):
        raise CompileError(f"{len(functions)} layers cannot be cut into {stages} stages; give 2 to {len(functions)}")
    if len(parameters) != len(functions):
        raise CompileError(f"{len(functions)} layers have parameters, got those of {len(parameters)}")
    words: dict[str, ScheduleName] = {name: name for name in SCHEDULES}
    if schedule not in words:
        raise CompileError(f"schedule={schedule!r}; it is one of {', '.join(words)}")
    if recompute not in RECOMPUTE:
        raise CompileError(f"recompute={recompute!r}; it is one of {', '.join(RECOMPUTE)}")
    order = Schedule(words[schedule], stages, training=True)
    target = target or Target()
    names = [_name(each, function) for each, function in zip(_children(layers), functions, strict=True)]
    costs = tuple(layer_costs(functions, names, parameters, tree_map(spec_of, x), target, recompute))
    memory = _memory(target)

    def fits(stage: int, first: int, last: int) -> bool:
        return stage_bytes(costs, order, copies, stage, first, last) <= _PROPORTION * memory

    found = best_cuts([each.cycles for each in costs], stages, fits)
    whole = Cut(tuple(functions), costs, (), target, order, copies)
    if found is None:
        sizes = [stage_bytes(costs, order, copies, 0, place, place + 1) for place in range(len(costs))]
        nearest = whole.at(best_cuts(sizes, stages) or ())
        raise CompileError(
            f"no cut of {len(costs)} layers into {stages} stages fits {_PROPORTION:.0%} of the {memory:,} B of an IPU; "
            "take more stages, a smaller micro-batch or recompute='inputs'. The bytes would be most even so:\n"
            f"{nearest}"
        )
    return whole.at(found)


def stage_bytes(costs: Sequence[LayerCost], schedule: Schedule, copies: int, stage: int, first: int, last: int) -> int:
    """Bytes of a stage of the layers from ``first`` to before ``last``, by those of its layers alone."""
    own = costs[first:last]
    waiting = schedule.stash_depth(stage) * sum(each.stored_bytes for each in own)
    return copies * sum(each.parameter_bytes for each in own) + waiting + max(each.working_bytes for each in own)


def _memory(target: Target) -> int:
    return target.tiles_per_ipu * target.bytes_per_tile


def _children(layers: Any) -> list[Any]:
    return list(layers.layers) if isinstance(layers, Sequential) else list(layers)


def _functions(layers: Any) -> list[LayerFunction]:
    """Each layer as a function of its parameters and of what the one before gives."""
    if isinstance(layers, Sequential):
        return [_one(layers[place : place + 1]) for place in range(len(layers))]
    return stages_of(layers)


def _one(net: Sequential) -> LayerFunction:
    return lambda parameters, x: net([parameters], x)


def _stage(layers: Sequence[LayerFunction]) -> Callable[..., Any]:
    def stage(parameters: Any, x: Any) -> Any:
        for layer, own in zip(layers, parameters, strict=True):
            x = layer(own, x)
        return x

    return stage


def _name(layer: Any, function: LayerFunction) -> str:
    """Of a layer, its class; of a function, its name."""
    if isinstance(layer, type) or not hasattr(layer, "__name__"):
        return type(layer).__name__
    return layer.__name__
