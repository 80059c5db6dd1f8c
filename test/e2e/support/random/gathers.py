"""Random gathers: elements of tables at places that other tensors say, clamped, known to be inside or not."""

from collections.abc import Sequence
from math import prod

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from support.random.bodies import EXACT_OPS, ScalarOp
from support.random.steps import MOST_ELEMENTS, Sketch, SteppedProgram, Tensor, Values
from support.tensor_text import generic

INDEX_TYPES = ("i32", "i64", "index")
TABLE_TYPES = ("f32", "f32", "f64", "i32", "i8", "i1")


class _Body:
    """The body of one gather: lines of text, and what each scalar is at every point of the loops."""

    def __init__(self, sketch: Sketch, loops: dict[str, int], operands: list[tuple[Tensor, str]]) -> None:
        self.sketch, self.loops, self.operands = sketch, loops, operands
        self.lines: list[str] = []

    def line(self, text: str) -> str:
        name = f"%n{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def index(self, size: int) -> tuple[str, "_Place"]:
        """An index into a dimension: an element of an operand, a loop, or a constant; the nearest of 0 .. size - 1."""
        kind = self.sketch.pick(("operand", "operand", "loop", "constant"))
        fitting = [loop for loop, extent in self.loops.items() if extent <= size or self.sketch.misses()]
        if kind == "loop" and fitting:
            loop = self.sketch.pick(fitting)
            reverse = self.sketch.maybe()
            name = self.line(f"linalg.index {list(self.loops).index(loop)} : index")
            if reverse:
                last = self.line(f"arith.constant {size - 1} : index")
                name = self.line(f"arith.subi {last}, {name} : index")
            return name, _Place(loop=loop, reversed_from=size - 1 if reverse else None, last=size - 1)
        if kind == "constant":
            at = self.sketch.pick((-1, size)) if self.sketch.misses() else self.sketch.integer(0, size - 1)
            return self.line(f"arith.constant {at} : index"), _Place(constant=at, last=size - 1)
        return self.operand_index(size)

    def operand_index(self, size: int) -> tuple[str, "_Place"]:
        element = self.sketch.pick(INDEX_TYPES)
        axes = [loop for loop in self.loops if self.sketch.maybe()]
        shape = [self.loops[axis] for axis in axes]
        is_clamped = self.sketch.maybe()
        low, high = (-3, size + 2) if is_clamped or self.sketch.misses() else (0, size - 1)
        operand = self.sketch.argument(shape, element, low, high)
        number = len(self.operands)
        self.operands.append((operand, ", ".join(axes)))
        name = f"%x{number}"
        if is_clamped:
            zero = self.line(f"arith.constant 0 : {element}")
            last = self.line(f"arith.constant {size - 1} : {element}")
            name = self.line(f"arith.maxsi {name}, {zero} : {element}")
            name = self.line(f"arith.minsi {name}, {last} : {element}")
        if element != "index":
            name = self.line(f"arith.index_cast {name} : {element} to index")
        return name, _Place(operand=number, last=size - 1)


class _Place:
    """Where an index points at every point of the loops."""

    def __init__(
        self,
        *,
        loop: str = "",
        reversed_from: int | None = None,
        constant: int | None = None,
        operand: int | None = None,
        last: int = 0,
    ) -> None:
        self.loop, self.reversed_from, self.constant, self.operand, self.last = (
            loop, reversed_from, constant, operand, last,
        )  # fmt: skip

    def points(self, grid: dict[str, np.ndarray], operands: Sequence[np.ndarray]) -> np.ndarray:
        if self.operand is not None:
            return np.clip(operands[self.operand], 0, self.last).astype(np.int64)
        if self.constant is not None:
            return np.full(next(iter(grid.values())).shape, np.clip(self.constant, 0, self.last))
        found = grid[self.loop]
        return np.clip(found if self.reversed_from is None else self.reversed_from - found, 0, self.last)


def gather(sketch: Sketch) -> Tensor:
    """One generic that loads one or two elements per point and may compute with them."""
    loops = {loop: sketch.integer(1, 6) for loop in "ijk"[: sketch.integer(1, 3)]}
    assume(prod(loops.values()) <= MOST_ELEMENTS)
    operands: list[tuple[Tensor, str]] = []
    body = _Body(sketch, loops, operands)
    element = sketch.pick(TABLE_TYPES)
    loads: list[tuple[Tensor, list[_Place]]] = []
    names = []
    for _ in range(sketch.integer(1, 2)):
        table = _table(sketch, element)
        indices = [body.index(size) for size in table.shape]
        loads.append((table, [place for _, place in indices]))
        at = ", ".join(name for name, _ in indices)
        names.append(body.line(f"tensor.extract {table.name}[{at}] : {table.type}"))
    op = _combine(sketch, element, len(names))
    text = "%y = " + op.text
    for number in range(len(names)):
        text = text.replace(f"%x{number}", names[number])
    kept = sketch.draw(st.permutations(list(loops)))
    result = Tensor(sketch.fresh(), tuple(loops[loop] for loop in kept), op.gives)
    lines = "\n    ".join([*body.lines, text])
    uses = [(tensor.name, f"{tensor.short}[{at}]") for tensor, at in operands]
    use = f"{result.short}[{', '.join(kept)}]"

    def evaluate(values: Values) -> list[np.ndarray]:
        grid = dict(zip(loops, np.indices(tuple(loops.values())), strict=True))
        read = [
            np.broadcast_to(values[tensor.name][tuple(grid[a.strip()] for a in at.split(",") if a.strip())], _of(grid))
            for tensor, at in operands
        ]
        found = [values[table.name][tuple(place.points(grid, read) for place in places)] for table, places in loads]
        computed = np.broadcast_to(op.evaluate(*found), _of(grid))
        return [np.transpose(computed, [list(loops).index(loop) for loop in kept])]

    sketch.add([result], generic(result.name, " ".join(loops), uses, use, lines), evaluate)
    return result


def _of(grid: dict[str, np.ndarray]) -> tuple[int, ...]:
    return next(iter(grid.values())).shape


def _table(sketch: Sketch, element: str) -> Tensor:
    """A result before, or an argument."""
    found = [tensor for tensor in sketch.tensors if tensor.element == element and tensor.shape]
    return sketch.pick(found) if found and sketch.maybe() else sketch.argument(sketch.shape(), element)


def _combine(sketch: Sketch, element: str, count: int) -> ScalarOp:
    if count == 2:
        return sketch.pick([op for op in EXACT_OPS if op.takes == (element, element)])
    casts = [op for op in EXACT_OPS if op.takes == (element,)]
    return sketch.pick(casts) if casts and sketch.maybe() else _copy(element)


def _copy(element: str) -> ScalarOp:
    """The element itself, as an op: a body that only loads."""
    if element == "i1":
        return ScalarOp("arith.ori %x0, %x0 : i1", (element,), element, lambda x: x)
    if element.startswith("f"):
        return ScalarOp(f"arith.addf %x0, %x0 : {element}", (element,), element, lambda x: x + x)
    return ScalarOp(f"arith.ori %x0, %x0 : {element}", (element,), element, lambda x: x)


@st.composite
def gathers(draw: st.DrawFn, is_inside: bool = True) -> SteppedProgram:
    """One to three gathers, from arguments and from each other."""
    sketch = Sketch(draw, is_inside=is_inside)
    for _ in range(draw(st.integers(1, 3))):
        gather(sketch)
    return sketch.program()
