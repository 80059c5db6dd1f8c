"""Random generics with any indices that the op allows: sums, steps, constants, diagonals, quotients and remainders.

NumPy is too coarse a reference for these: the loops run in Python, one iteration after the other.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from support.random.steps import MOST_ELEMENTS, Sketch, Step, SteppedProgram, Tensor, Values
from support.tensor_text import DTYPES, constant

MOST_ITERATIONS = 150
Points = tuple[int, ...]


@dataclass(frozen=True)
class Use:
    """An operand: how each dimension is indexed, as MLIR's text, and its sizes."""

    indices: tuple[str, ...]
    shape: tuple[int, ...]

    def at(self, loops: dict[str, int]) -> Points:
        return tuple(value_of(index, loops) for index in self.indices)


@dataclass(frozen=True)
class Update:
    """What becomes of an element of a result, as lines that define ``%y<n>`` and in NumPy.

    ``numpy`` takes the elements of the operands, those of the results, and the counter of a loop.
    """

    lines: tuple[str, ...]
    numpy: Callable[[Sequence[Any], Sequence[Any], Any], Any]
    reads: frozenset[int]


def value_of(index: str, loops: dict[str, int]) -> int:
    """What an index is at a point of the loops.

    >>> value_of("(i + j) floordiv 2", {"i": 3, "j": 4}), value_of("i ceildiv 2", {"i": 3})
    (3, 2)
    """
    text = re.sub(r"(\w+) ceildiv (\d+)", r"-(-\1 // \2)", index)
    return eval(text.replace("floordiv", "//").replace("mod", "%"), {}, dict(loops))


def _index(sketch: Sketch, loops: dict[str, int]) -> str:
    one, *others = sketch.draw(st.permutations(list(loops)))
    by, more = sketch.integer(2, 3), sketch.integer(0, 2)
    kinds = [one, one, one, f"{one} * {by} + {more}", f"{one} + {more + 1}", f"{more}"]
    kinds += [f"{one} floordiv {by}", f"{one} mod {by}", f"{one} ceildiv {by}", f"{one} * -1 + {loops[one] - 1 + more}"]
    for other in others[:1]:
        kinds += [f"{one} + {other}", f"{one} * {by} + {other}", f"({one} + {other}) floordiv {by}"]
    return sketch.pick(kinds)


def _use(sketch: Sketch, loops: dict[str, int], indices: Sequence[str], points: Sequence[dict[str, int]]) -> Use:
    """With sizes that hold all points, and more now and then."""
    shape = []
    for index in indices:
        reach = max(value_of(index, point) for point in points) + 1
        shape.append(reach if index in loops else reach + sketch.pick((0, 0, 1, 2)))
    assume(prod(shape) <= MOST_ELEMENTS)
    return Use(tuple(indices), tuple(shape))


def _counts(outputs: Sequence[Use], loops: dict[str, int], points: Sequence[dict[str, int]]) -> list[str]:
    """The loops that may be parallel: no two iterations of them write one element."""
    free = set(loops)
    for use in outputs:
        first: dict[Points, dict[str, int]] = {}
        for point in points:
            known = first.setdefault(use.at(point), point)
            free -= {loop for loop in loops if known[loop] != point[loop]}
    return [loop for loop in loops if loop in free]


def _update(sketch: Sketch, number: int, elements: Sequence[str], operands: Sequence[str], counter: str) -> Update:
    """The result ``number``: of operands, its own old element, and now and then that of another result."""
    e = elements[number]
    is_float = e.startswith("f")
    xs = [place for place, element in enumerate(operands) if element == e]
    accs = [place for place, element in enumerate(elements) if element == e and place != number]
    lines: list[str] = []
    if xs and sketch.integer(0, 4):
        x = sketch.pick(xs)
        term, numpy = f"%x{x}", lambda inputs, _, __: inputs[x]
    else:
        lines = [f"%t{number} = arith.index_cast {counter} : index to i32"]
        if e != "i32":
            cast = "arith.sitofp" if is_float else "arith.trunci"
            lines.append(f"%u{number} = {cast} %t{number} : i32 to {e}")
        term, numpy = lines[-1].split()[0], lambda _, __, at: DTYPES[e].type(at)
    of_other = accs and sketch.integer(0, 2) == 0
    reads = frozenset({sketch.pick(accs)} if of_other else ())
    old = next(iter(reads), number)
    kind = sketch.pick(("set", "add", "add", "largest", "from", "mixed"))
    if kind == "set" and not of_other:
        text = f"%y{number} = arith.add{'f' if is_float else 'i'} {term}, {term} : {e}"
        return Update((*lines, text), lambda i, a, at: numpy(i, a, at) + numpy(i, a, at), frozenset())
    reads |= {old}
    f = "f" if is_float else "i"
    if kind == "largest":
        op = "arith.maximumf" if is_float else "arith.maxsi"
        text = f"%y{number} = {op} %acc{old}, {term} : {e}"
        return Update((*lines, text), lambda i, a, at: np.maximum(a[old], numpy(i, a, at)), reads)
    if kind == "from":
        text = f"%y{number} = arith.sub{f} {term}, %acc{old} : {e}"
        return Update((*lines, text), lambda i, a, at: numpy(i, a, at) - a[old], reads)
    if kind == "mixed" and not is_float:  # wraps round, and tells every order from every other
        lines.append(f"%m{number} = arith.muli %acc{old}, %acc{old} : {e}")
        text = f"%y{number} = arith.addi %m{number}, {term} : {e}"
        return Update((*lines, text), lambda i, a, at: a[old] * a[old] + numpy(i, a, at), reads)
    order = sketch.pick((f"%acc{old}, {term}", f"{term}, %acc{old}"))
    text = f"%y{number} = arith.add{f} {order} : {e}"
    return Update((*lines, text), lambda i, a, at: a[old] + numpy(i, a, at), reads)


def indexed_anyhow(sketch: Sketch) -> None:
    """One generic, one to three results."""
    names = sketch.draw(st.permutations("ijk"[: sketch.integer(1, 3)]))
    loops = {name: sketch.integer(1, 5) for name in names}
    assume(prod(loops.values()) <= MOST_ITERATIONS)
    points = [dict(zip(loops, point, strict=True)) for point in np.ndindex(*loops.values())]
    count = sketch.pick((1, 1, 1, 2, 2, 3))
    outputs = [_output(sketch, loops, points) for _ in range(count)]
    inputs = [
        _use(sketch, loops, [_index(sketch, loops) for _ in range(sketch.integer(0, 2))], points)
        for _ in range(sketch.integer(0, 2))
    ]
    plain = {index for use in (*inputs, *outputs) for index in use.indices}
    if missing := [loop for loop in loops if loop not in plain]:
        inputs.append(_use(sketch, loops, sketch.draw(st.permutations(missing)), points))
    free = _counts(outputs, loops, points)
    kinds = ['"parallel"' if loop in free and sketch.integer(0, 3) else '"reduction"' for loop in loops]
    element = sketch.pick(("f32", "i32", "i32", "i8"))
    elements = [sketch.pick((element, element, "i32")) for _ in outputs]
    operands = [sketch.some(use.shape, sketch.pick((element, element, "i32"))) for use in inputs]
    position = sketch.integer(0, len(loops) - 1)
    updates = [_update(sketch, n, elements, [x.element for x in operands], "%at") for n in range(count)]
    read = frozenset().union(*(update.reads for update in updates))
    starts = [
        _start(sketch, use, element, points, number in read)
        for number, (use, element) in enumerate(zip(outputs, elements, strict=True))
    ]
    name = sketch.fresh()
    results = [
        Tensor(f"{name}#{number}" if count > 1 else name, use.shape, element)
        for number, (use, element) in enumerate(zip(outputs, elements, strict=True))
    ]
    maps = ", ".join(f"affine_map<({', '.join(loops)}) -> ({', '.join(use.indices)})>" for use in (*inputs, *outputs))
    types = ", ".join(result.type for result in results)
    ins = f"ins({', '.join(x.name for x in operands)} : {', '.join(x.type for x in operands)}) " if operands else ""
    scalars = [f"%x{number}: {x.element}" for number, x in enumerate(operands)]
    scalars += [f"%acc{number}: {element}" for number, element in enumerate(elements)]
    body = "\n    ".join([f"%at = linalg.index {position} : index", *(line for u in updates for line in u.lines)])
    text = (
        f"  {name}{f':{count}' if count > 1 else ''} = linalg.generic {{indexing_maps = [{maps}], "
        f"iterator_types = [{', '.join(kinds)}]}}\n      {ins}"
        f"outs({', '.join(start.name for start in starts)} : {types}) {{\n  ^bb0({', '.join(scalars)}):\n    {body}\n"
        f"    linalg.yield {', '.join(f'%y{number}' for number in range(count))} : {', '.join(elements)}\n"
        f"  }} -> ({types})"
    )

    def evaluate(values: Values) -> list[np.ndarray]:
        found = [np.array(values[start.name]) for start in starts]
        for point in points:
            given = [values[x.name][use.at(point)] for x, use in zip(operands, inputs, strict=True)]
            old = [array[use.at(point)] for array, use in zip(found, outputs, strict=True)]
            new = [update.numpy(given, old, point[names[position]]) for update in updates]
            for array, use, number in zip(found, outputs, new, strict=True):
                array[use.at(point)] = number
        return found

    sketch.add(results, text, evaluate)


def _output(sketch: Sketch, loops: dict[str, int], points: Sequence[dict[str, int]]) -> Use:
    if sketch.integer(0, 2) == 0:
        kept = [loop for loop in sketch.draw(st.permutations(list(loops))) if sketch.integer(0, 2)]
        return _use(sketch, loops, kept, points)
    return _use(sketch, loops, [_index(sketch, loops) for _ in range(sketch.integer(0, 3))], points)


def _start(sketch: Sketch, use: Use, element: str, points: Sequence[dict[str, int]], is_read: bool) -> Tensor:
    """What a result starts from: a tensor that there is, one full of a constant, or an empty one that is filled."""
    whole = len({use.at(point) for point in points}) == prod(use.shape)
    kind = sketch.pick(("some", "some", "fill", "empty"))
    if kind == "some" or (kind == "empty" and (is_read or not whole)):
        return sketch.some(use.shape, element)
    result = Tensor(sketch.fresh(), use.shape, element)
    if kind == "empty":
        text = f"  {result.name} = tensor.empty() : {result.type}"
        sketch.steps.append(
            Step(text, lambda values: values.update({result.name: np.zeros(use.shape, DTYPES[element])}))
        )
        return result
    number = 2 if is_read else 0
    sketch.add(
        [result],
        f"  {result.name}c = {constant(f'{number}.0' if element.startswith('f') else str(number), element)}\n"
        f"  {result.name}e = tensor.empty() : {result.type}\n  {result.name} = linalg.fill ins({result.name}c : "
        f"{element}) outs({result.name}e : {result.type}) -> {result.type}",
        lambda _: [np.full(use.shape, number, DTYPES[element])],
    )
    return result


@st.composite
def any_indices(draw: st.DrawFn) -> SteppedProgram:
    """One or two generics; the second may read what the first computed."""
    sketch = Sketch(draw)
    for _ in range(draw(st.sampled_from((1, 1, 1, 2)))):
        indexed_anyhow(sketch)
    return sketch.program()
