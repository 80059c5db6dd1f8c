"""Advice on memory: what does not fit, what crowds a few tiles, code that takes the place of data."""

from collections.abc import Iterator

from ipu_mlir.runtime.profile.compilation import Problem, Variable
from ipu_mlir.tools.report.advice.entry import Advice, Numbers
from ipu_mlir.tools.report.runs import mean, value_at
from ipu_mlir.tools.report.units import bytes_text, percent
from ipu_mlir.tools.report.verdict import NEARLY_FULL

_UNEVEN = 0.6
_CODE = ("vertex_code", "vertex_state", "exchange_code", "control_code")
_MUCH_CODE = 0.35
_PROBLEMS = {
    "tiles": "What lives",
    "one_tile": "What lives",
    "code": "Code",
    "host_streams": "What waits in streams of the host",
    "remote": "What lies in remote memory",
}
"""What is too large, by the kind of problem."""
_NAMED = 3
"""The number of variables that a piece of advice names."""


def problems(numbers: Numbers) -> Iterator[Advice]:
    """The compiler's errors about what does not fit."""
    for problem in numbers.profile.compilation.problems:
        tried = " ".join(f"{text[0].upper()}{text[1:].rstrip('.')}." for text in problem.try_ if text)
        yield Advice(
            "memory",
            "Make it fit",
            _in_a_sentence(numbers, problem),
            tried or "Use more tiles, smaller sizes, or a lower availableMemoryProportion.",
            urgent=True,
            step=problem.step,
        )


def _in_a_sentence(numbers: Numbers, problem: Problem) -> str:
    """``What lives on tile 3 needs 12 KiB more than there is, in step 6, 'exchange'.``"""
    what, over = _PROBLEMS[problem.kind], bytes_text(problem.over_bytes)
    tile = "" if problem.tile is None else f" on tile {problem.tile:,}"
    step = numbers.steps.get(problem.step) if problem.step is not None else None
    return f"{what}{tile} needs {over} more than there is{f', in step {step.id}, {step.name!r}' if step else ''}."


def crowded_tiles(numbers: Numbers) -> Iterator[Advice]:
    """A few tiles that are nearly full beside others with room."""
    memory = numbers.profile.compilation.memory
    worst, tile = memory.worst_bytes, memory.worst_tile
    average = mean(memory.per_tile.peak)
    if worst <= NEARLY_FULL * memory.limit or average >= _UNEVEN * worst:
        return
    names = ", ".join(f"{item.name} ({bytes_text(item.bytes_worst_tile)})" for item in _largest(numbers, tile))
    yield Advice(
        "memory",
        f"Spread what lies on tile {tile:,}",
        f"It needs {bytes_text(worst)}, the average tile {bytes_text(average)}. The largest there: {names or 'code'}.",
        "Let these tensors lie on more tiles (a hint ipu.place), or cut the ops that read them so that each tile reads "
        "less.",
        urgent=worst > memory.limit,
    )


def much_code(numbers: Numbers) -> Iterator[Advice]:
    """Code that takes a large part of a nearly full tile."""
    memory = numbers.profile.compilation.memory
    tile, worst = memory.worst_tile, memory.worst_bytes
    parts = {name: value_at(getattr(memory.categories, name), tile) for name in _CODE}
    code = sum(parts.values())
    if worst <= NEARLY_FULL * memory.limit or code < _MUCH_CODE * worst:
        return
    largest = max(parts, key=lambda name: parts[name])
    yield Advice(
        "memory",
        f"Shrink the code on tile {tile:,}",
        f"Code and vertex state take {bytes_text(code)} there, {percent(code / worst)} of what it holds; most is "
        f"{largest.replace('_', ' ')} ({bytes_text(parts[largest])}).",
        "Let equal parts of the program share one copy of their code (loops, outlined functions), and exchange in "
        "fewer, larger steps.",
    )


def _largest(numbers: Numbers, tile: int) -> list[Variable]:
    """The largest variables that may lie on ``tile``."""
    there = [item for item in numbers.profile.compilation.variables if _may_lie_on(item, tile)]
    return sorted(there, key=lambda item: -item.bytes_worst_tile)[:_NAMED]


def _may_lie_on(variable: Variable, tile: int) -> bool:
    first, last, *_ = (*variable.tiles, 0, -1)
    return first <= tile <= last
