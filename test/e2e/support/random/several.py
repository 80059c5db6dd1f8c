"""Random generics with several results: argmax and its kin, statistics, recurrences, pairs of element-wise results."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from support.random.bodies import EXACT_OPS
from support.random.steps import MOST_ELEMENTS, Sketch, SteppedProgram, Tensor, Values
from support.tensor_text import DTYPES, constant

Arrays = Sequence[np.ndarray]
Fold = Callable[[Arrays, Arrays, dict[str, np.ndarray]], Arrays]
"""From the inputs, the results so far and the counters of the loops to the results: arrays over the parallel loops."""


@dataclass(frozen=True)
class Output:
    """One result: its dimensions, its type, and the constant that it starts from, if that matters."""

    kept: str
    element: str
    start: str | None = None


def several(
    sketch: Sketch,
    loops: dict[str, int],
    uses: Sequence[tuple[Tensor, str]],
    outputs: Sequence[Output],
    lines: Sequence[str],
    yields: Sequence[str],
    fold: Fold,
) -> None:
    """A ``linalg.generic`` with ``outputs``, whose body is ``lines`` on ``%x0, ...`` and ``%acc0, ...``."""
    name = sketch.fresh()
    results = [
        Tensor(f"{name}#{place}", tuple(loops[loop] for loop in output.kept), output.element)
        for place, output in enumerate(outputs)
    ]
    reduced = [loop for loop in loops if loop not in outputs[0].kept]
    kinds = ", ".join('"reduction"' if loop in reduced else '"parallel"' for loop in loops)
    places = [*(use for _, use in uses), *(", ".join(output.kept) for output in outputs)]
    maps = ", ".join(f"affine_map<({', '.join(loops)}) -> ({place})>" for place in places)
    scalars = [f"%x{place}: {tensor.element}" for place, (tensor, _) in enumerate(uses)]
    scalars += [f"%acc{place}: {output.element}" for place, output in enumerate(outputs)]
    starts = [_start(f"{name}_{place}", *pair) for place, pair in enumerate(zip(outputs, results, strict=True))]
    types = ", ".join(result.type for result in results)
    body = "\n    ".join(lines)
    text = "".join(before for before, _ in starts) + (
        f"  {name}:{len(outputs)} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}\n"
        f"      ins({', '.join(x.name for x, _ in uses)} : {', '.join(x.type for x, _ in uses)}) "
        f"outs({', '.join(start for _, start in starts)} : {types}) {{\n  ^bb0({', '.join(scalars)}):\n    {body}\n"
        f"    linalg.yield {', '.join(yields)} : {', '.join(output.element for output in outputs)}\n"
        f"  }} -> ({types})"
    )

    def evaluate(values: Values) -> list[np.ndarray]:
        extents = tuple(loops.values())
        grid = dict(zip(loops, np.indices(extents), strict=True))
        inputs = [np.broadcast_to(values[x.name][tuple(grid[a] for a in _axes(use))], extents) for x, use in uses]
        parallel = [loop for loop in loops if loop not in reduced]
        shape = tuple(loops[loop] for loop in parallel)
        found: Any = [np.full(shape, _number(output), DTYPES[output.element]) for output in outputs]
        for point in np.ndindex(*(loops[loop] for loop in reduced)):
            here = dict(zip(reduced, point, strict=True))
            at = tuple(here.get(loop, slice(None)) for loop in loops)
            found = fold([array[at] for array in inputs], found, {loop: array[at] for loop, array in grid.items()})
        return [
            np.transpose(np.broadcast_to(array, shape), [parallel.index(loop) for loop in output.kept])
            for array, output in zip(found, outputs, strict=True)
        ]

    sketch.add(results, text, evaluate)


def _axes(use: str) -> list[str]:
    return [axis.strip() for axis in use.split(",") if axis.strip()]


def _number(output: Output) -> Any:
    special = {"0xFF800000": -np.inf, "0x7F800000": np.inf}
    return 0 if output.start is None else special.get(output.start, output.start)


def _start(name: str, output: Output, result: Tensor) -> tuple[str, str]:
    empty = f"  {name}e = tensor.empty() : {result.type}\n"
    if output.start is None:
        return empty, f"{name}e"
    return (
        f"  {name}c = {constant(output.start, output.element)}\n{empty}  {name} = linalg.fill ins({name}c : "
        f"{output.element}) outs({name}e : {result.type}) -> {result.type}\n",
        name,
    )


def _loops(sketch: Sketch) -> tuple[dict[str, int], str]:
    """Loops in any order, and those that the results keep, in any order."""
    names = sketch.draw(st.permutations("ijk"[: sketch.integer(1, 3)]))
    loops = {name: sketch.integer(1, 7) for name in names}
    assume(prod(loops.values()) <= MOST_ELEMENTS)
    kept = [name for name in names if sketch.maybe()]
    return loops, "".join(sketch.draw(st.permutations(kept)))


def _whole(sketch: Sketch, loops: dict[str, int], element: str) -> tuple[Tensor, str]:
    """An operand over all loops, its dimensions in any order."""
    axes = sketch.draw(st.permutations(list(loops)))
    return sketch.some([loops[axis] for axis in axes], element), ", ".join(axes)


def best(sketch: Sketch) -> None:
    """Value and place of the largest or smallest, the first or the last of several."""
    loops, kept = _loops(sketch)
    element, index = sketch.pick(("f32", "i32")), sketch.pick(("i32", "i64"))
    is_float = element == "f32"
    predicate, ufunc, start = sketch.pick(
        (
            ("gt", np.greater, "0xFF800000" if is_float else "-1000"),
            ("ge", np.greater_equal, "0xFF800000" if is_float else "-1000"),
            ("lt", np.less, "0x7F800000" if is_float else "1000"),
            ("le", np.less_equal, "0x7F800000" if is_float else "1000"),
        )
    )
    reduced = [loop for loop in loops if loop not in kept]
    counter = sketch.pick(reduced) if reduced else next(iter(loops))
    compare = f"arith.cmpf o{predicate}" if is_float else f"arith.cmpi s{predicate}"
    lines = [
        f"%n = linalg.index {list(loops).index(counter)} : index",
        f"%i = arith.index_cast %n : index to {index}",
        f"%c = {compare}, %x0, %acc0 : {element}",
        f"%v = arith.select %c, %x0, %acc0 : {element}",
        f"%w = arith.select %c, %i, %acc1 : {index}",
    ]

    def fold(inputs: Arrays, found: Arrays, grid: dict[str, np.ndarray]) -> Arrays:
        better = ufunc(inputs[0], found[0])
        at = np.where(better, grid[counter].astype(DTYPES[index]), found[1])
        return [np.where(better, inputs[0], found[0]), at]

    outputs = [Output(kept, element, start), Output(kept, index, sketch.pick(("0", "-1")))]
    several(sketch, loops, [_whole(sketch, loops, element)], outputs, lines, ["%v", "%w"], fold)


def statistics(sketch: Sketch) -> None:
    """Sum, sum of squares and largest at once."""
    loops, kept = _loops(sketch)
    e = sketch.pick(("f32", "f64"))
    lines = [
        f"%s = arith.addf %acc0, %x0 : {e}",
        f"%p = arith.mulf %x0, %x0 : {e}",
        f"%q = arith.addf %acc1, %p : {e}",
        f"%m = arith.maximumf %acc2, %x0 : {e}",
    ]

    def fold(inputs: Arrays, found: Arrays, _: dict[str, np.ndarray]) -> Arrays:
        x = inputs[0]
        return [found[0] + x, found[1] + x * x, np.maximum(found[2], x)]

    other = "".join(sketch.draw(st.permutations(kept)))
    outputs = [Output(kept, e, "0.0"), Output(other, e, "0.0"), Output(kept, e, "-9.0")]
    several(sketch, loops, [_whole(sketch, loops, e)], outputs, lines, ["%s", "%q", "%m"], fold)


def recurrence(sketch: Sketch) -> None:
    """A running mean of halves and a count: the order matters, and every step is exact."""
    loops, kept = _loops(sketch)
    assume(prod(loops[loop] for loop in loops if loop not in kept) <= 12)
    e = sketch.pick(("f32", "f64"))
    lines = [
        f"%h = arith.constant 0.5 : {e}",
        "%o = arith.constant 1 : i32",
        f"%d = arith.subf %x0, %acc0 : {e}",
        f"%p = arith.mulf %d, %h : {e}",
        f"%s = arith.addf %acc0, %p : {e}",
        "%n = arith.addi %acc1, %o : i32",
    ]

    def fold(inputs: Arrays, found: Arrays, _: dict[str, np.ndarray]) -> Arrays:
        half = inputs[0].dtype.type(0.5)
        return [found[0] + (inputs[0] - found[0]) * half, found[1] + np.int32(1)]

    outputs = [Output(kept, e, "0.0"), Output(kept, "i32", "0")]
    several(sketch, loops, [_whole(sketch, loops, e)], outputs, lines, ["%s", "%n"], fold)


def pair(sketch: Sketch) -> None:
    """Two element-wise ops on the same operands, whose results have their dimensions in different orders."""
    loops, _ = _loops(sketch)
    element = sketch.pick(("f32", "i32", "i8"))
    ops = [op for op in EXACT_OPS if op.takes == (element, element)]
    one, other = sketch.pick(ops), sketch.pick(ops)
    lines = [f"%u = {one.text}", f"%v = {other.text}"]
    orders = ["".join(sketch.draw(st.permutations(list(loops)))) for _ in range(2)]

    def fold(inputs: Arrays, _: Arrays, __: dict[str, np.ndarray]) -> Arrays:
        return [one.evaluate(*inputs), other.evaluate(*inputs)]

    outputs = [Output(orders[0], one.gives), Output(orders[1], other.gives)]
    uses = [_whole(sketch, loops, element), _whole(sketch, loops, element)]
    several(sketch, loops, uses, outputs, lines, ["%u", "%v"], fold)


@st.composite
def several_results(draw: st.DrawFn) -> SteppedProgram:
    """One to three generics; each may read what one before computed."""
    sketch = Sketch(draw)
    for _ in range(draw(st.integers(1, 3))):
        draw(st.sampled_from((best, best, statistics, recurrence, pair)))(sketch)
    return sketch.program()
