"""Random programs step by step: what the kinds that know loops, windows and tables are made of.

A step is text and what NumPy does instead. Steps see the tensors and scalars of their block and of those around it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from math import prod
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from support.random.bodies import Combiner, ScalarOp
from support.tensor_text import DTYPES, function, generic, short_type

LARGEST_WHOLE_NUMBER = 2**24
"""Up to here f32 holds all whole numbers."""
MOST_ELEMENTS = 600
LOOPS = "ijklmnop"

Values = dict[str, Any]
Evaluate = Callable[[Values], None]
Shape = tuple[int, ...]


class Rounds(Exception):
    """A float is so large that not every order of computing gives it."""


@dataclass(frozen=True)
class Tensor:
    name: str
    shape: Shape
    element: str

    @property
    def short(self) -> str:
        return short_type(self.shape, self.element)

    @property
    def type(self) -> str:
        return f"tensor<{self.short}>"


@dataclass(frozen=True)
class Scalar:
    """A scalar of the function, which control flow and offsets depend on."""

    name: str
    element: str

    @property
    def type(self) -> str:
        return self.element


@dataclass(frozen=True)
class Argument:
    """An argument of whole numbers from ``low`` to ``high``."""

    tensor: Tensor
    low: int
    high: int

    def draw(self, generator: np.random.Generator) -> np.ndarray:
        low, high = (0, 1) if self.tensor.element == "i1" else (self.low, self.high)
        drawn = generator.integers(low, high + 1, self.tensor.shape)
        return np.asarray(drawn).astype(DTYPES[self.tensor.element])


@dataclass(frozen=True)
class Step:
    """Text that defines values, and the function that puts what they are into a dictionary by name."""

    text: str
    evaluate: Evaluate


def run(steps: Sequence[Step], values: Values) -> None:
    for step in steps:
        step.evaluate(values)


@dataclass(frozen=True)
class SteppedProgram:
    """A function of steps, with one seed for all arguments."""

    arguments: tuple[Argument, ...]
    steps: tuple[Step, ...]
    returned: tuple[Tensor, ...]
    seed: int
    is_exact: bool = True
    tolerance: tuple[float, float] | None = None
    """Relative and absolute, where those of the type of a result would be wrong."""

    def __repr__(self) -> str:
        return f"SteppedProgram(seed={self.seed}, text=\n{self.text}\n)"

    @property
    def text(self) -> str:
        body = "\n".join(step.text for step in self.steps)
        takes = [argument.tensor.short for argument in self.arguments]
        names = [tensor.name for tensor in self.returned]
        return function(takes, [tensor.short for tensor in self.returned], body, returned=names)

    def inputs(self) -> list[np.ndarray]:
        generator = np.random.default_rng(self.seed)
        return [argument.draw(generator) for argument in self.arguments]

    def evaluate(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """What NumPy makes of ``inputs``.

        Raises:
            Rounds: a float on the way is too large to be a whole number for sure.
        """
        values: Values = {arg.tensor.name: array for arg, array in zip(self.arguments, inputs, strict=True)}
        with np.errstate(all="ignore"):
            run(self.steps, values)
        return [values[tensor.name] for tensor in self.returned]


class Sketch:
    """Draws the steps of one block; ``inside`` makes a sketch of a block within it."""

    def __init__(
        self, draw: st.DrawFn, around: "Sketch | None" = None, is_exact: bool = True, is_inside: bool = True
    ) -> None:
        self.draw = draw
        self.is_exact = is_exact  # whether floats have to stay whole numbers
        self.is_inside: bool = around.is_inside if around else is_inside  # whether every index is in its dimension
        self.steps: list[Step] = []
        self.arguments: list[Argument] = around.arguments if around else []
        self.numbers: Iterator[int] = around.numbers if around else count()
        self.tensors: list[Tensor] = list(around.tensors) if around else []
        self.scalars: list[Scalar] = list(around.scalars) if around else []
        self.depth: int = around.depth + 1 if around else 0
        self.most_elements: int = around.most_elements if around else MOST_ELEMENTS  # of a tensor
        self.kinds: Sequence[str] = around.kinds if around else ()  # of steps in the bodies of control flow

    def inside(self) -> "Sketch":
        return Sketch(self.draw, self)

    def pick(self, values: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(values))

    def maybe(self) -> bool:
        return self.draw(st.booleans())

    def misses(self) -> bool:
        """Whether an index may be outside of its dimension this time."""
        return not self.is_inside and self.maybe()

    def integer(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def shape(self, least_rank: int = 1, most_rank: int = 3, largest: int = 7) -> Shape:
        return tuple(self.integer(1, largest) for _ in range(self.integer(least_rank, most_rank)))

    def fresh(self) -> str:
        return f"%v{next(self.numbers)}"

    def argument(self, shape: Sequence[int], element: str, low: int = -3, high: int = 3) -> Tensor:
        """A new argument; every block sees it, but only this one and those inside it choose it."""
        assume(prod(shape) <= self.most_elements)
        tensor = Tensor(f"%a{len(self.arguments)}", tuple(shape), element)
        self.arguments.append(Argument(tensor, low, high))
        self.tensors.append(tensor)
        return tensor

    def existing(self, shape: Sequence[int], element: str) -> list[Tensor]:
        """The newest first."""
        return [x for x in reversed(self.tensors) if x.shape == tuple(shape) and x.element == element]

    def some(self, shape: Sequence[int], element: str) -> Tensor:
        """A tensor of that type: one that exists, or a new argument."""
        found = self.existing(shape, element)
        return self.pick(found) if found and self.maybe() else self.argument(shape, element)

    def add(self, results: Sequence[Tensor | Scalar], text: str, evaluate: Callable[[Values], Sequence[Any]]) -> None:
        """A step that defines ``results``; ``evaluate`` gives an array for each."""

        def define(values: Values) -> None:
            found = evaluate(values)
            for result, array in zip(results, found, strict=True):
                values[result.name] = _checked(np.asarray(array), result, self.is_exact)

        for result in results:
            (self.tensors if isinstance(result, Tensor) else self.scalars).append(result)  # type: ignore[arg-type]
            assume(isinstance(result, Scalar) or prod(result.shape) <= self.most_elements)
        self.steps.append(Step(text, define))

    def structured(
        self,
        loops: dict[str, int],
        uses: Sequence[tuple[Tensor, str]],
        kept: str,
        op: ScalarOp,
        combiner: Combiner | None = None,
        initial: Tensor | None = None,
    ) -> Tensor:
        """A ``linalg.generic`` of ``op``.

        Args:
            loops: extents by name, the outermost first.
            uses: operands with their indices, such as ``"i * 2 + k, j"``.
            kept: the loops of the result, such as ``"ji"``; the others are combined.
            initial: what the result starts from, if not from the neutral element of ``combiner``.
        """
        element = op.gives if combiner is None else combiner.element
        result = Tensor(self.fresh(), tuple(loops[loop] for loop in kept), element)
        reduced = [loop for loop in loops if loop not in kept]
        start = None if combiner is None else initial.name if initial else combiner.start
        text = generic(
            result.name,
            " ".join(loops),
            [(tensor.name, f"{tensor.short}[{indices}]") for tensor, indices in uses],
            f"{result.short}[{', '.join(kept)}]",
            _body(op, combiner),
            reduced=" ".join(reduced),
            init=start,
        )

        def evaluate(values: Values) -> list[np.ndarray]:
            grid = dict(zip(loops, np.indices(tuple(loops.values())), strict=True))
            found = op.evaluate(*(values[tensor.name][points(indices, grid)] for tensor, indices in uses))
            found = np.broadcast_to(found, tuple(loops.values()))
            if combiner is not None:
                axes = tuple(list(loops).index(loop) for loop in reduced)
                found = combiner.ufunc.reduce(found, axes, dtype=found.dtype) if axes else found
            left = [loop for loop in loops if loop in kept]
            found = np.transpose(found, [left.index(loop) for loop in kept])
            return [combiner.ufunc(found, values[initial.name]) if combiner and initial else found]

        self.add([result], text, evaluate)
        return result

    def program(self, *, fewest: int = 1) -> SteppedProgram:
        """What was drawn; it returns the last tensor and some of the others."""
        own = {argument.tensor for argument in self.arguments}
        defined = [tensor for tensor in self.tensors if tensor not in own and tensor.element in DTYPES]
        assume(len(defined) >= fewest)
        chosen = [tensor for tensor in defined[:-1] if self.integer(0, 2) == 0]
        program = SteppedProgram(
            tuple(self.arguments), tuple(self.steps), (*chosen, defined[-1]), self.integer(0, 1000)
        )
        try:
            program.evaluate(program.inputs())
        except Rounds:
            assume(False)
        return program


def points(indices: str, grid: dict[str, np.ndarray]) -> tuple[np.ndarray, ...]:
    """The places that ``indices`` names at each point of the loops.

    >>> points("i * 2 + k", {"i": np.array([0, 1]), "k": np.array([5, 6])})
    (array([5, 8]),)
    """
    return tuple(eval(index, {}, dict(grid)) for index in indices.split(",") if index.strip())


def _body(op: ScalarOp, combiner: Combiner | None) -> str:
    if combiner is None:
        return op.text
    if not op.text:
        return f"%y = {combiner.text().replace('%e', '%x0')}"
    return f"%e = {op.text}\n    %y = {combiner.text()}"


def _checked(array: np.ndarray, result: Tensor | Scalar, is_exact: bool) -> np.ndarray:
    assert array.dtype == DTYPES.get(result.element, np.dtype(np.float32)), f"{result} is {array.dtype}"
    assert isinstance(result, Scalar) or array.shape == result.shape, f"{result} has {array.shape}"
    if is_exact and array.dtype.kind == "f" and not (np.abs(array) < LARGEST_WHOLE_NUMBER).all():
        raise Rounds
    return array
