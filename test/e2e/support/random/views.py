"""Random chains of ops that rename or move elements, between ops that compute: reshapes, slices, pads, concats."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from support.tensor_text import function, generic, short_type

ELEMENT = "i32"
MOST_ELEMENTS = 600

Evaluate = Callable[[dict[str, np.ndarray]], np.ndarray]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Step:
    """One op: the value that it defines, its text, and what it makes of the values before."""

    name: str
    shape: Shape
    text: str = field(repr=False)
    evaluate: Evaluate = field(repr=False)


@dataclass(frozen=True)
class Chain:
    """Steps in order, and which of their values the program returns."""

    arguments: tuple[Shape, ...]
    steps: tuple[Step, ...]
    returned: tuple[str, ...]
    is_exact: bool = True

    @property
    def text(self) -> str:
        shapes = {step.name: step.shape for step in self.steps}
        lines = [step.text for step in self.steps]
        results = []
        for place, name in enumerate(self.returned):
            kind = _tensor(shapes[name])
            lines.append(f"  %r{place} = tensor.cast {name} : {kind} to {kind}")
            results.append(short_type(shapes[name], ELEMENT))
        return function([short_type(shape, ELEMENT) for shape in self.arguments], results, "\n".join(lines))

    def inputs(self) -> list[np.ndarray]:
        """Different numbers everywhere, so that an element that goes astray shows."""
        return [
            np.arange(1000 * place, 1000 * place + prod(shape), dtype=np.int32).reshape(shape)
            for place, shape in enumerate(self.arguments)
        ]

    def evaluate(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        values = {f"%a{place}": array for place, array in enumerate(inputs)}
        for step in self.steps:
            values[step.name] = np.asarray(step.evaluate(values))
        return [values[name] for name in self.returned]


def _tensor(shape: Shape) -> str:
    return f"tensor<{short_type(shape, ELEMENT)}>"


def _use(shape: Shape, loops: str = "abcdefgh") -> str:
    return f"{short_type(shape, ELEMENT)}[{', '.join(loops[: len(shape)])}]"


def _groups(rank: int, first: int) -> str:
    """The reassociation of ``rank`` dimensions in which ``first`` and the one after it are one."""
    groups = [[d] for d in range(first)] + [[first, first + 1]] + [[d] for d in range(first + 2, rank)]
    return str(groups)


def _box(offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int]) -> tuple[slice, ...]:
    return tuple(slice(o, o + (n - 1) * s + 1, s) for o, n, s in zip(offsets, sizes, strides, strict=True))


class _Builder:
    """Draws a chain step by step; ``value`` is the one that the next step starts from, of the shape ``shape``."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.shape: Shape = draw(st.lists(st.integers(1, 7), min_size=1, max_size=3).map(tuple))
        self.value = "%a0"
        self.arguments = [self.shape]
        self.steps: list[Step] = []

    def argument(self, shape: Shape) -> str:
        self.arguments.append(shape)
        return f"%a{len(self.arguments) - 1}"

    def add(self, shape: Shape, op: str, numpy: Callable[[np.ndarray], np.ndarray]) -> None:
        """A step whose text is ``op`` after the name of its value, and that only reads the value before."""
        self.add_of_all(shape, f"  %v{len(self.steps)} = {op}", lambda values, v=self.value: numpy(values[v]))

    def add_of_all(self, shape: Shape, text: str, evaluate: Evaluate) -> None:
        assume(prod(shape) <= MOST_ELEMENTS)
        self.value, self.shape = f"%v{len(self.steps)}", tuple(shape)
        self.steps.append(Step(self.value, self.shape, text, evaluate))

    def collapse(self) -> None:
        assume(len(self.shape) >= 2)
        first = self.draw(st.integers(0, len(self.shape) - 2))
        shape = (*self.shape[:first], self.shape[first] * self.shape[first + 1], *self.shape[first + 2 :])
        groups = _groups(len(self.shape), first)
        types = f"{_tensor(self.shape)} into {_tensor(shape)}"
        self.add(shape, f"tensor.collapse_shape {self.value} {groups} : {types}", lambda x: x.reshape(shape))

    def expand(self) -> None:
        assume(1 <= len(self.shape) <= 3)
        at = self.draw(st.integers(0, len(self.shape) - 1))
        size = self.shape[at]
        outer = self.draw(st.sampled_from([n for n in range(1, size + 1) if size % n == 0]))
        shape = (*self.shape[:at], outer, size // outer, *self.shape[at + 1 :])
        groups = _groups(len(shape), at)
        types = f"{_tensor(self.shape)} into {_tensor(shape)}"
        op = f"tensor.expand_shape {self.value} {groups} output_shape {list(shape)} : {types}"
        self.add(shape, op, lambda x: x.reshape(shape))

    def transpose(self) -> None:
        assume(self.shape)  # MLIR's parser cannot read a transpose of rank 0: it ends the process
        order = self.draw(st.permutations(range(len(self.shape))))
        shape = tuple(self.shape[d] for d in order)
        name, empty = f"%v{len(self.steps)}", f"%e{len(self.steps)}"
        text = (
            f"  {empty} = tensor.empty() : {_tensor(shape)}\n  {name} = linalg.transpose "
            f"ins({self.value} : {_tensor(self.shape)}) outs({empty} : {_tensor(shape)}) permutation = {list(order)}"
        )
        self.add_of_all(shape, text, lambda values, v=self.value: values[v].transpose(order))

    def slice(self) -> None:
        sizes = [self.draw(st.integers(1, size)) for size in self.shape]
        strides = [
            self.draw(st.integers(1, max(1, (size - 1) // max(1, n - 1)) if n > 1 else 2))
            for size, n in zip(self.shape, sizes, strict=True)
        ]
        offsets = [
            self.draw(st.integers(0, size - 1 - (n - 1) * s))
            for size, n, s in zip(self.shape, sizes, strides, strict=True)
        ]
        types = f"{_tensor(self.shape)} to {_tensor(tuple(sizes))}"
        op = f"tensor.extract_slice {self.value}{offsets} {sizes} {strides} : {types}"
        self.add(tuple(sizes), op, lambda x: x[_box(offsets, sizes, strides)])

    def insert(self) -> None:
        low = [self.draw(st.integers(0, 2)) for _ in self.shape]
        high = [self.draw(st.integers(0, 2)) for _ in self.shape]
        shape = tuple(a + n + b for a, n, b in zip(low, self.shape, high, strict=True))
        ones, sizes, dest = [1] * len(shape), list(self.shape), self.argument(shape)
        types = f"{_tensor(self.shape)} into {_tensor(shape)}"

        def evaluate(values: dict[str, np.ndarray], value: str = self.value) -> np.ndarray:
            result = values[dest].copy()
            result[_box(low, sizes, ones)] = values[value]
            return result

        name = f"%v{len(self.steps)}"
        text = f"  {name} = tensor.insert_slice {self.value} into {dest}{low} {sizes} {ones} : {types}"
        self.add_of_all(shape, text, evaluate)

    def pad(self) -> None:
        assume(self.shape)
        low = [self.draw(st.integers(0, 2)) for _ in self.shape]
        high = [self.draw(st.integers(0, 2)) for _ in self.shape]
        shape = tuple(a + n + b for a, n, b in zip(low, self.shape, high, strict=True))
        number, indices = len(self.steps), ", ".join(f"%i{d}: index" for d in range(len(shape)))
        text = (
            f"  %p{number} = arith.constant -5 : {ELEMENT}\n"
            f"  %v{number} = tensor.pad {self.value} low{low} high{high} {{\n  ^bb0({indices}):\n"
            f"    tensor.yield %p{number} : {ELEMENT}\n  }} : {_tensor(self.shape)} to {_tensor(shape)}"
        )
        widths = list(zip(low, high, strict=True))
        self.add_of_all(shape, text, lambda values, v=self.value: np.pad(values[v], widths, constant_values=-5))

    def concat(self) -> None:
        assume(self.shape)
        axis = self.draw(st.integers(0, len(self.shape) - 1))
        more = (*self.shape[:axis], self.draw(st.integers(1, 4)), *self.shape[axis + 1 :])
        shape = (*self.shape[:axis], self.shape[axis] + more[axis], *self.shape[axis + 1 :])
        other, value = self.argument(more), self.value
        types = f"({_tensor(self.shape)}, {_tensor(more)}) -> {_tensor(shape)}"
        text = f"  %v{len(self.steps)} = tensor.concat dim({axis}) {value}, {other} : {types}"
        self.add_of_all(shape, text, lambda values: np.concatenate([values[value], values[other]], axis))

    def double(self) -> None:
        use = _use(self.shape)
        loops = " ".join("abcdefgh"[: len(self.shape)])
        name = f"%v{len(self.steps)}"
        text = generic(name, loops, [(self.value, use)], use, f"arith.addi %x0, %x0 : {ELEMENT}")
        self.add_of_all(self.shape, text, lambda values, v=self.value: 2 * values[v])

    def combine(self) -> None:
        """With any value of the same shape, an earlier one if there is one."""
        same = [step.name for step in self.steps if step.shape == self.shape and step.name != self.value]
        other = self.draw(st.sampled_from(same)) if same else self.argument(self.shape)
        use, value = _use(self.shape), self.value
        loops = " ".join("abcdefgh"[: len(self.shape)])
        text = generic(
            f"%v{len(self.steps)}", loops, [(value, use), (other, use)], use, f"arith.subi %x0, %x1 : {ELEMENT}"
        )
        self.add_of_all(self.shape, text, lambda values: values[value] - values[other])

    def sum(self) -> None:
        assume(self.shape)
        names = "abcdefgh"[: len(self.shape)]
        axis = self.draw(st.integers(0, len(self.shape) - 1))
        shape = (*self.shape[:axis], *self.shape[axis + 1 :])
        out = _use(shape, names[:axis] + names[axis + 1 :])
        body = f"arith.addi %acc, %x0 : {ELEMENT}"
        name = f"%v{len(self.steps)}"
        text = generic(
            name, " ".join(names), [(self.value, _use(self.shape))], out, body, reduced=names[axis], init="0"
        )
        self.add_of_all(shape, text, lambda values, v=self.value: values[v].sum(axis, dtype=np.int32))


_STEPS = (
    _Builder.collapse,
    _Builder.expand,
    _Builder.transpose,
    _Builder.slice,
    _Builder.insert,
    _Builder.pad,
    _Builder.concat,
    _Builder.double,
    _Builder.combine,
    _Builder.sum,
)


@st.composite
def view_chains(draw: st.DrawFn) -> Chain:
    """One to six steps; the last value is returned, and some of those before."""
    builder = _Builder(draw)
    for _ in range(draw(st.integers(1, 6))):
        draw(st.sampled_from(_STEPS))(builder)
    names = [step.name for step in builder.steps]
    returned = [name for name in names[:-1] if draw(st.integers(0, 3)) == 0]
    return Chain(tuple(builder.arguments), tuple(builder.steps), (*returned, names[-1]))
