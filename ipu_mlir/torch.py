"""``torch.compile(model, backend=ipu_mlir.torch.backend)``: PyTorch programs, trained or not, on a simulated IPU."""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.callback import callback_handler
from torch._dynamo.utils import counters
from torch._functorch._aot_autograd.utils import make_boxed_func
from torch.utils import _pytree as pytree

from ipu_mlir.compilation.compiler import compile_made, for_the_user
from ipu_mlir.compilation.executable import Executable
from ipu_mlir.compilation.how import How
from ipu_mlir.compilation.sources import load_module
from ipu_mlir.dialects.support.errors import CompileError, IpuError
from ipu_mlir.frontends.aten.program import decompositions
from ipu_mlir.frontends.aten.random_numbers import draw_anew
from ipu_mlir.frontends.from_torch import import_graph
from ipu_mlir.frontends.of_torch.tracing import trace_plainly
from ipu_mlir.programs.session import Session
from ipu_mlir.torch_training import TrainingStep, training_step

__all__ = ["Report", "TrainingStep", "backend", "graph_breaks", "report", "training_step"]

_OPTIONS = ("target",)
_LOG = logging.getLogger("ipu_mlir.torch")


@dataclass
class _Counts:
    """What this backend has done in this process."""

    graphs: int = 0
    programs: int = 0
    runs: int = 0


_COUNTS = _Counts()
_TOLD: set[str] = set()
"""The reasons of graph breaks that are in the log."""
_WAYS_OUT = {"RNN, GRU, or LSTM": "set torch._dynamo.config.allow_rnn = True, and it runs on the device"}
"""By words in the reason of a graph break, how a program is for the device all the same."""


@dataclass(frozen=True)
class Report:
    """What ran on the device in this process, and what ``torch.compile`` left to Python; prints as lines.

    Attributes:
        graphs: that ``torch.compile`` has handed to this backend, gradients among them.
        programs: that were made of them, for the shapes of their calls.
        runs: of programs.
        frames: Python functions that ``torch.compile`` has looked at.
        frames_on_host: those of them that it left to Python as a whole.
        graph_breaks: by reason, how often it has left a program for Python; of all backends of the process.
    """

    graphs: int
    programs: int
    runs: int
    frames: int
    frames_on_host: int
    graph_breaks: Mapping[str, int]

    def __str__(self) -> str:
        lines = [
            f"{self.programs} programs of {self.graphs} graphs ran {self.runs} times on the device",
            f"{self.frames_on_host} of {self.frames} Python functions stayed on the host",
            *(f"left for Python {count} times: {reason}" for reason, count in self.graph_breaks.items()),
        ]
        return "\n".join(lines)


class _Program:
    """A graph of ``torch.compile``, compiled for the shapes and numbers of each call when they come first."""

    def __init__(self, graph: torch.fx.GraphModule, options: Mapping[str, Any]) -> None:
        self._graph, self._options = graph, options
        self._compiled: dict[Any, Any] = {}
        output, inputs = graph.graph.output_node(), graph.graph.find_nodes(op="placeholder")
        returned: Any = output.args[0]
        self._given = {place: inputs.index(each) for place, each in enumerate(returned) if each in inputs}
        """By the number of a result that is an argument, the number of that: gradients of gradients know it again."""
        self._count = len(returned)
        rest = [each for place, each in enumerate(returned) if place not in self._given]
        output.args = (rest,)
        graph.recompile()
        self._layouts = _Layouts([each.meta.get("val") if isinstance(each, torch.fx.Node) else None for each in rest])

    def __call__(self, *args: Any) -> Any:
        results = iter(self._run(args) if len(self._given) < self._count else ())
        return [args[self._given[place]] if place in self._given else next(results) for place in range(self._count)]

    def _run(self, args: Sequence[Any]) -> Sequence[Any]:
        key = tuple((each.shape, each.dtype) if isinstance(each, torch.Tensor) else each for each in args)
        if key not in self._compiled:
            try:
                with torch.no_grad():
                    plain = pytree.tree_map_only(torch.Tensor, torch.Tensor.detach, list(args))
                    imported = import_graph(self._graph, plain)
                how = How(self._options.get("target"))
                program = compile_made(load_module(imported.program), None, how, imported.call)
                self._compiled[key] = program.session() if isinstance(program, Executable) else program
                _COUNTS.programs += 1
            except IpuError as error:
                raise for_the_user(error, self._graph) from error.__cause__
        program = self._compiled[key]
        if isinstance(program, Session):
            draw_anew(program)
        _COUNTS.runs += 1
        return self._layouts.of(program(*args))


class _Layouts:
    """Strides of results, and memory that they share, as PyTorch has traced them: programs give new arrays.

    Args:
        traced: tensors without values for the results, in their order; None for others.
    """

    def __init__(self, traced: Sequence[Any]) -> None:
        self._traced = traced
        self._memories: list[list[int]] = []
        by_memory: dict[Any, list[int]] = {}
        for place, each in enumerate(traced):
            if isinstance(each, torch.Tensor) and each.layout == torch.strided and _is_of_known_size(each):
                by_memory.setdefault((each.untyped_storage()._cdata, each.dtype), []).append(place)
        for places in by_memory.values():
            if len(places) > 1 or not traced[places[0]].is_contiguous():
                self._memories.append(places)

    def of(self, results: Sequence[Any]) -> Sequence[Any]:
        """``results`` in memory as PyTorch would have them."""
        found = list(results)
        for places in self._memories:
            like = [self._traced[place] for place in places]
            memory = torch.empty(like[0].untyped_storage().nbytes() // like[0].itemsize, dtype=like[0].dtype)
            for place, each in zip(places, like, strict=True):
                once = [slice(1) if stride == 0 else slice(None) for stride in each.stride()]
                found[place] = memory.as_strided(each.shape, each.stride(), each.storage_offset())
                found[place][tuple(once)].copy_(results[place][tuple(once)])
        return found


def _is_of_known_size(tensor: torch.Tensor) -> bool:
    return all(isinstance(each, int) for each in (*tensor.shape, *tensor.stride(), tensor.storage_offset()))


def backend(
    graph: torch.fx.GraphModule, examples: Sequence[Any], *, options: Mapping[str, Any] | None = None
) -> Callable[..., Any]:
    """What ``torch.compile`` calls for each graph that it has traced; gradients become programs of their own.

    Args:
        options: those of ``torch.compile``; ``target`` is the machine.

    Raises:
        CompileError: an option is unknown. What cannot be imported is refused when the graph runs first.
    """
    unknown = [name for name in options or {} if name not in _OPTIONS]
    if unknown:
        raise CompileError(f"torch.compile has option {unknown[0]!r}; those of this backend are: {', '.join(_OPTIONS)}")

    def compiler(traced: torch.fx.GraphModule, _: Sequence[Any]) -> Callable[..., Any]:
        _COUNTS.graphs += 1
        return make_boxed_func(torch._dynamo.disable(_Program(traced, options or {})))

    with ExitStack() as settings:
        trace_plainly(settings)
        made = aot_autograd(fw_compiler=compiler, decompositions=decompositions())
        return made(graph, examples)


def graph_breaks() -> dict[str, int]:
    """The number of times that ``torch.compile`` has left a program for Python in this process, by reason."""
    found: dict[str, int] = {}
    for reason, count in counters["graph_break"].items():
        line = reason.partition("\n")[0]
        found[line] = found.get(line, 0) + count
    return found


def report() -> Report:
    """What ran on the device so far, and what stayed on the host, and why."""
    frames = counters["frames"]
    total = frames["total"]
    return Report(
        _COUNTS.graphs, _COUNTS.programs, _COUNTS.runs, total, total - min(total, frames["ok"]), graph_breaks()
    )


def _tell(_: Any) -> None:
    """Log each reason for which a program was left for Python, once."""
    for reason in graph_breaks().keys() - _TOLD:
        _TOLD.add(reason)
        way_out = next((f"; {way}" for word, way in _WAYS_OUT.items() if word in reason), "")
        _LOG.warning(
            "torch.compile leaves a program for Python: %s%s; ipu_mlir.torch.report() counts what ran", reason, way_out
        )


def _listen(clear: Callable[[], None]) -> Callable[[], None]:
    """Tell from now on, also after ``torch._dynamo.reset``, which clears who listens."""

    def cleared() -> None:
        clear()
        callback_handler.register_end_callback(_tell)

    callback_handler.register_end_callback(_tell)
    return cleared


callback_handler.clear = _listen(callback_handler.clear)
