"""Random scatters as frontends write them: nests of loops that put single elements or rows where data say."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from support.random.casts import to_narrow
from support.random.steps import Argument, Rounds, Sketch, SteppedProgram, Tensor, Values
from support.tensor_text import DTYPES, constant, generic

INDEX_TYPES = ("i32", "i64", "index")
Place = Callable[[Values, dict[str, int]], int]


@dataclass(frozen=True)
class Combine:
    """What becomes of the old element, as text on ``%old`` and ``%new`` and in NumPy."""

    op: str
    numpy: Callable[[Any, Any], Any]


_ON_FLOATS = (
    Combine("arith.addf %old, %new", np.add),
    Combine("arith.addf %new, %old", np.add),
    Combine("arith.mulf %old, %new", np.multiply),
    Combine("arith.maximumf %old, %new", np.maximum),
    Combine("arith.minimumf %old, %new", np.minimum),
    Combine("arith.subf %old, %new", np.subtract),
)
_ON_INTEGERS = (
    Combine("arith.addi %old, %new", np.add),
    Combine("arith.muli %old, %new", np.multiply),
    Combine("arith.maxsi %old, %new", np.maximum),
    Combine("arith.minsi %new, %old", np.minimum),
    Combine("arith.xori %old, %new", np.bitwise_xor),
)


@dataclass(frozen=True)
class Fractions(Argument):
    """Numbers of f32 from -2 to 2 that lie between those of any narrower type."""

    def draw(self, generator: np.random.Generator) -> np.ndarray:
        return generator.uniform(-2, 2, self.tensor.shape).astype(np.float32)


class _Nest:
    """Loops around one update: the text of their body, and where its indices point."""

    def __init__(self, sketch: Sketch) -> None:
        self.sketch = sketch
        self.mark = sketch.fresh()
        self.loops = {f"{self.mark}l{n}": sketch.integer(1, 5) for n in range(sketch.integer(1, 3))}
        self.lines: list[str] = []
        self.guards: list[str] = []

    def line(self, text: str) -> str:
        name = f"{self.mark}n{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def element_at_loops(self, tensor: Tensor, axes: list[str]) -> str:
        return self.line(f"tensor.extract {tensor.name}[{', '.join(axes)}] : {tensor.type}")

    def index(self, size: int) -> tuple[str, Place]:
        """An index into a dimension; where it may lie outside, a guard often goes with it."""
        kind = self.sketch.pick(("data", "data", "loop", "constant"))
        if kind == "loop":
            loop = self.sketch.pick(list(self.loops))
            if self.loops[loop] > size and not self.sketch.misses():
                self.guard(loop, size)
            return loop, lambda _, at: at[loop]
        if kind == "constant":
            at = self.sketch.integer(0, size - 1)
            return self.line(f"arith.constant {at} : index"), lambda _, __: at
        element, is_guarded = self.sketch.pick(INDEX_TYPES), self.sketch.maybe()
        axes = [loop for loop in self.loops if self.sketch.maybe()]
        low, high = (-1, size) if is_guarded or self.sketch.misses() else (0, size - 1)
        table = self.sketch.argument([self.loops[axis] for axis in axes], element, low, high)
        name = self.element_at_loops(table, axes)
        if element != "index":
            name = self.line(f"arith.index_cast {name} : {element} to index")
        shift = self.sketch.pick((0, 0, 1))
        if shift:
            one = self.line("arith.constant 1 : index")
            name, is_guarded = self.line(f"arith.addi {name}, {one} : index"), not self.sketch.misses()
        if is_guarded:
            self.guard(name, size)
        return name, lambda values, at: int(values[table.name][tuple(at[axis] for axis in axes)]) + shift

    def guard(self, index: str, size: int) -> None:
        limit = self.line(f"arith.constant {size} : index")
        self.guards.append(self.line(f"arith.cmpi ult, {index}, {limit} : index"))

    def guard_of_all(self) -> str | None:
        if not self.guards:
            return None
        found, *others = self.guards
        for other in others:
            found = self.line(f"arith.andi {found}, {other} : i1")
        return found


def scatter(sketch: Sketch) -> None:
    """Single elements that are set or combined with those that are there."""
    element = sketch.pick(("f32", "f32", "f64", "i32", "i8"))
    combines = (None, *(_ON_FLOATS if element.startswith("f") else _ON_INTEGERS))
    dest = _dest(sketch, sketch.shape(1, 3, 5), element)
    _scatter(sketch, dest, combines, lambda shape: sketch.some(shape, element), _whole_number)


def _whole_number(_: Any, result: Any) -> Any:
    if abs(float(result)) > 2**24:
        raise Rounds
    return result


def _scatter(
    sketch: Sketch,
    dest: Tensor,
    combines: Sequence[Combine | None],
    source: Callable[[list[int]], Tensor],
    kept: Callable[[Combine | None, Any], Any],
) -> Tensor:
    """``kept`` is what becomes of an element that ``combine`` gives."""
    element = dest.element
    nest = _Nest(sketch)
    indices = [nest.index(size) for size in dest.shape]
    guard = nest.guard_of_all()
    axes = [loop for loop in nest.loops if sketch.integer(0, 3)]
    update = source([nest.loops[axis] for axis in axes])
    combine = sketch.pick(combines)
    names, innermost = ", ".join(name for name, _ in indices), f"{nest.mark}t{len(nest.loops) - 1}"
    inner = [f"{nest.mark}new = tensor.extract {update.name}[{', '.join(axes)}] : {update.type}"]
    value = f"{nest.mark}new"
    if combine is not None:
        old, value = f"{nest.mark}old", f"{nest.mark}sum"
        inner.append(f"{old} = tensor.extract {innermost}[{names}] : {dest.type}")
        inner.append(f"{value} = {combine.op} : {element}".replace("%old", old).replace("%new", f"{nest.mark}new"))
    inner.append(f"{nest.mark}w = tensor.insert {value} into {innermost}[{names}] : {dest.type}")

    def evaluate(values: Values) -> list[np.ndarray]:
        found = values[dest.name].copy()
        for point in np.ndindex(*nest.loops.values()):
            at = dict(zip(nest.loops, point, strict=True))
            place = tuple(index(values, at) for _, index in indices)
            if all(0 <= p < n for p, n in zip(place, dest.shape, strict=True)):
                new = values[update.name][tuple(at[axis] for axis in axes)]
                found[place] = kept(combine, new if combine is None else combine.numpy(found[place], new))
        return [found]

    result = Tensor(sketch.fresh(), dest.shape, element)
    sketch.add([result], _text(nest, dest, result, guard, inner), evaluate)
    return result


def rows(sketch: Sketch) -> None:
    """Rows of a matrix that go where a vector of indices says, as inserted slices."""
    element = sketch.pick(("f32", "f64", "i32"))
    height, width, count = sketch.integer(1, 6), sketch.integer(1, 5), sketch.integer(1, 5)
    dest, source = _dest(sketch, (height, width), element), sketch.some((count, width), element)
    index_type = sketch.pick(INDEX_TYPES)
    places = sketch.argument((count,), index_type, *((-2, height + 1) if sketch.misses() else (0, height - 1)))
    nest = _Nest(sketch)
    nest.loops = {f"{nest.mark}l0": count}
    loop = next(iter(nest.loops))
    at = nest.element_at_loops(places, [loop])
    if index_type != "index":
        at = nest.line(f"arith.index_cast {at} : {index_type} to index")
    row, kind = f"{nest.mark}r", f"tensor<1x{width}x{element}>"
    inner = [
        f"{row} = tensor.extract_slice {source.name}[{loop}, 0] [1, {width}] [1, 1] : {source.type} to {kind}",
        f"{nest.mark}w = tensor.insert_slice {row} into {nest.mark}t0[{at}, 0] [1, {width}] [1, 1] : "
        f"{kind} into {dest.type}",
    ]

    def evaluate(values: Values) -> list[np.ndarray]:
        found = values[dest.name].copy()
        for number, place in enumerate(values[places.name]):
            found[np.clip(place, 0, height - 1)] = values[source.name][number]
        return [found]

    result = Tensor(sketch.fresh(), dest.shape, element)
    sketch.add([result], _text(nest, dest, result, None, inner), evaluate)


def _dest(sketch: Sketch, shape: tuple[int, ...], element: str) -> Tensor:
    """What is written to: a tensor that exists, an argument, or one full of zeros."""
    if sketch.maybe():
        return sketch.some(shape, element)
    result, name = Tensor(sketch.fresh(), shape, element), sketch.fresh()
    zero = "0.0" if element.startswith("f") else "0"
    sketch.add(
        [result],
        f"  {name}c = {constant(zero, element)}\n  {name} = tensor.empty() : {result.type}\n  {result.name} = "
        f"linalg.fill ins({name}c : {element}) outs({name} : {result.type}) -> {result.type}",
        lambda _: [np.zeros(shape, DTYPES[element])],
    )
    return result


def _text(nest: _Nest, dest: Tensor, result: Tensor, guard: str | None, inner: list[str]) -> str:
    """The nest of loops; the innermost holds the lines of ``nest`` and, under the guard, those of ``inner``."""
    mark, kind, count = nest.mark, dest.type, len(nest.loops)
    bounds = [f"  {mark}zero = arith.constant 0 : index", f"  {mark}one = arith.constant 1 : index"]
    opening, closing, before = [], [], dest.name
    for number, (loop, extent) in enumerate(nest.loops.items()):
        bounds.append(f"  {mark}e{number} = arith.constant {extent} : index")
        name = result.name if number == 0 else f"{mark}o{number}"
        opening.append(
            f"  {name} = scf.for {loop} = {mark}zero to {mark}e{number} step {mark}one "
            f"iter_args({mark}t{number} = {before}) -> ({kind}) {{"
        )
        before = f"{mark}t{number}"
        given = f"{mark}u" if number == count - 1 else f"{mark}o{number + 1}"
        closing.insert(0, f"  scf.yield {given} : {kind}\n  }}")
    lines = [f"  {line}" for line in nest.lines]
    if guard is None:
        lines += [f"  {line}" for line in inner[:-1]] + [f"  {inner[-1]}".replace(f"{mark}w =", f"{mark}u =")]
    else:
        lines += [f"  {mark}u = scf.if {guard} -> ({kind}) {{", *(f"  {line}" for line in inner)]
        lines += [f"  scf.yield {mark}w : {kind}\n  }} else {{\n  scf.yield {before} : {kind}\n  }}"]
    return "\n".join([*bounds, *opening, *lines, *closing])


@st.composite
def scatters(draw: st.DrawFn, is_inside: bool = True) -> SteppedProgram:
    """One or two nests."""
    sketch = Sketch(draw, is_inside=is_inside)
    for _ in range(draw(st.integers(1, 2))):
        draw(st.sampled_from((scatter, scatter, rows)))(sketch)
    return sketch.program()


NARROW_TYPES = {"f16": 2.0**-10, "bf16": 2.0**-7}
"""The distance of 1 to the next number."""


@st.composite
def narrow_scatters(draw: st.DrawFn) -> SteppedProgram:
    """One nest on fractions of 16 bits, which come from f32 and go there. Sums may be rounded once or after each step.

    Values of narrow types are held in f32 here, and sums are not rounded: the tolerance is half a step of the largest
    number on the way, for each of them.
    """
    sketch = Sketch(draw, is_exact=False)
    element = sketch.pick(list(NARROW_TYPES))
    off: list[float] = [0.0]

    def narrow(shape: Sequence[int]) -> Tensor:
        wide = Tensor(f"%a{len(sketch.arguments)}", tuple(shape), "f32")
        sketch.arguments.append(Fractions(wide, 0, 0))
        return _cast(sketch, wide, element)

    def counted(combine: Combine | None, value: Any) -> Any:
        if combine is not None and combine.op.startswith(("arith.addf", "arith.subf")):
            off[0] += abs(float(value)) * NARROW_TYPES[element] / 2
        return value

    dest = narrow(sketch.shape(1, 3, 5))
    combines = (None, *(combine for combine in _ON_FLOATS if not combine.op.startswith("arith.mulf")))
    result = _scatter(sketch, dest, combines, narrow, counted)
    _cast(sketch, result, "f32")
    program = replace(sketch.program(), is_exact=False)
    return replace(program, tolerance=(NARROW_TYPES[element], off[0]))


def _cast(sketch: Sketch, source: Tensor, element: str) -> Tensor:
    result = Tensor(sketch.fresh(), source.shape, element)
    loops = " ".join("ijk"[: len(source.shape)])
    use = f"[{', '.join(loops.split())}]"
    op = "arith.extf" if element == "f32" else "arith.truncf"
    body = f"{op} %x0 : {source.element} to {element}"
    text = generic(result.name, loops, [(source.name, source.short + use)], result.short + use, body)

    def evaluate(values: Values) -> list[np.ndarray]:
        x = values[source.name]
        if element == "f32":
            return [x.astype(np.float32)]
        return [x.astype(np.float16) if element == "f16" else to_narrow(element, x)]

    sketch.add([result], text, evaluate)
    return result
