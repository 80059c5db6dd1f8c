"""Random programs of linalg ops: their text, their meaning in NumPy, and hypothesis strategies that draw them.

The loops of a program have one set of names, each with one extent. A value is a tensor whose dimensions are some of
these loops in any order; an op reads values as they are, so that its indexing maps permute and broadcast.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from support.random.bodies import COMBINERS, EXACT_OPS, PRODUCTS, SMOOTH_OPS, Combiner, ScalarOp, identity
from support.tensor_text import DTYPES, function, generic, short_type

LOOPS = "ijkl"
LARGEST_WHOLE_NUMBER = 2**24
"""Up to here f32 holds all whole numbers."""


@dataclass(frozen=True)
class Value:
    """A tensor of a program: an argument ``%a0, %a1, ...`` or the result ``%r0, %r1, ...`` of an op."""

    name: str
    axes: str
    element: str

    def use(self, extents: dict[str, int]) -> str:
        """Type and indices, as ``generic`` takes them."""
        return f"{self.short(extents)}[{', '.join(self.axes)}]"

    def short(self, extents: dict[str, int]) -> str:
        return short_type([extents[axis] for axis in self.axes], self.element)


@dataclass(frozen=True)
class Node:
    """One ``linalg.generic``: ``op`` of the operands, combined over the loops that the result does not have."""

    result: Value
    operands: tuple[Value, ...]
    loops: str
    op: ScalarOp
    combiner: Combiner | None = None

    @property
    def reduced(self) -> str:
        return "".join(loop for loop in self.loops if loop not in self.result.axes)

    def text(self, extents: dict[str, int]) -> str:
        body = self.op.text
        if self.combiner is not None:
            lines = f"%e = {body}\n    %y = {self.combiner.text()}"
            body = lines if body else f"%y = {self.combiner.text().replace('%e', '%x0')}"
        return generic(
            self.result.name,
            " ".join(self.loops),
            [(value.name, value.use(extents)) for value in self.operands],
            self.result.use(extents),
            body,
            reduced=" ".join(self.reduced),
            init=None if self.combiner is None else self.combiner.start,
        )

    def evaluate(self, arrays: dict[str, np.ndarray], extents: dict[str, int]) -> np.ndarray:
        shape = [extents[loop] for loop in self.loops]
        operands = [_aligned(arrays[value.name], value.axes, self.loops) for value in self.operands]
        result = np.broadcast_to(self.op.evaluate(*operands), shape)
        if self.combiner is not None:
            axes = tuple(self.loops.index(loop) for loop in self.reduced)
            result = self.combiner.ufunc.reduce(result, axes, dtype=result.dtype) if axes else result
        left = [loop for loop in self.loops if loop in self.result.axes]
        return np.transpose(result, [left.index(axis) for axis in self.result.axes]).copy()


@dataclass(frozen=True)
class Program:
    """Ops in order, with the extents of the loops and one seed for all arguments."""

    extents: dict[str, int]
    arguments: tuple[Value, ...]
    nodes: tuple[Node, ...]
    seed: int
    is_exact: bool

    def __repr__(self) -> str:
        return f"Program(seed={self.seed}, text=\n{self.text}\n)"

    @property
    def results(self) -> list[Value]:
        return [node.result for node in self.nodes]

    @property
    def text(self) -> str:
        """A module that returns what each op computes."""
        arguments = [value.short(self.extents) for value in self.arguments]
        results = [value.short(self.extents) for value in self.results]
        return function(arguments, results, "\n".join(node.text(self.extents) for node in self.nodes))

    def inputs(self) -> list[np.ndarray]:
        """Whole numbers from -3 to 3 for exact programs, floats from 0 to 2 for others."""
        generator = np.random.default_rng(self.seed)
        return [self._input(value, generator) for value in self.arguments]

    def _input(self, value: Value, generator: np.random.Generator) -> np.ndarray:
        shape, dtype = [self.extents[axis] for axis in value.axes], DTYPES[value.element]
        if dtype == np.bool_:
            return np.asarray(generator.integers(0, 2, shape)).astype(dtype)
        drawn = generator.integers(-3, 4, shape) if self.is_exact else generator.uniform(0, 2, shape)
        return np.asarray(drawn).astype(dtype)

    def evaluate(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """What NumPy makes of ``inputs``."""
        arrays = {value.name: array for value, array in zip(self.arguments, inputs, strict=True)}
        with np.errstate(all="ignore"):
            for node in self.nodes:
                arrays[node.result.name] = node.evaluate(arrays, self.extents)
        return [arrays[value.name] for value in self.results]


def _aligned(array: np.ndarray, axes: str, loops: str) -> np.ndarray:
    """``array`` with a dimension for each loop, of size 1 where it does not have that loop."""
    present = [loop for loop in loops if loop in axes]
    ordered = np.transpose(array, [axes.index(loop) for loop in present])
    return ordered.reshape([array.shape[axes.index(loop)] if loop in axes else 1 for loop in loops])


@st.composite
def _permutations(draw: st.DrawFn, axes: str) -> str:
    return "".join(draw(st.permutations(axes)))


class _Builder:
    """Draws a program op by op."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.extents = {loop: draw(st.integers(1, 9)) for loop in LOOPS}
        self.arguments: list[Value] = []
        self.nodes: list[Node] = []

    def operand(self, element: str, loops: str, *, needs: str = "") -> Value:
        """A value of that type over some of ``loops``, ``needs`` among them: one that exists, or a new argument."""
        existing = [
            value
            for value in (*self.arguments, *(node.result for node in self.nodes))
            if value.element == element and set(needs) <= set(value.axes) <= set(loops)
        ]
        if existing and self.draw(st.booleans()):
            return self.draw(st.sampled_from(existing[::-1]))
        optional = [loop for loop in loops if loop not in needs and self.draw(st.booleans())]
        axes = self.draw(_permutations("".join((*needs, *optional))))
        self.arguments.append(Value(f"%a{len(self.arguments)}", axes, element))
        return self.arguments[-1]

    def node(self, op: ScalarOp, operands: Sequence[Value], axes: str, combiner: Combiner | None = None) -> None:
        """An op whose result has the dimensions ``axes``, in any order, and whose loops are in any order."""
        loops = set(axes).union(*(value.axes for value in operands))
        order = self.draw(_permutations("".join(sorted(loops))))
        element = op.gives if combiner is None else combiner.element
        result = Value(f"%r{len(self.nodes)}", self.draw(_permutations(axes)), element)
        self.nodes.append(Node(result, tuple(operands), order, op, combiner))

    def elementwise(self, ops: Sequence[ScalarOp]) -> None:
        op = self.draw(st.sampled_from(ops))
        operands = [self.operand(element, LOOPS[:3]) for element in op.takes]
        axes = set().union(*(value.axes for value in operands))
        self.node(op, operands, "".join(sorted(axes)))

    def reduction(self) -> None:
        combiner = self.draw(st.sampled_from(COMBINERS))
        operand = self.operand(combiner.element, LOOPS[:3])
        kept = "".join(loop for loop in sorted(operand.axes) if self.draw(st.booleans()))
        self.node(identity(combiner.element), [operand], kept, combiner)

    def contraction(self) -> None:
        combiner = self.draw(st.sampled_from(COMBINERS))
        products = [op for op in PRODUCTS if op.gives == combiner.element]
        assume(products)
        first = self.operand(combiner.element, LOOPS)
        second = self.operand(combiner.element, LOOPS)
        loops = sorted({*first.axes, *second.axes})
        kept = "".join(loop for loop in loops if self.draw(st.booleans()))
        self.node(self.draw(st.sampled_from(products)), [first, second], kept, combiner)

    def program(self, is_exact: bool) -> Program:
        program = Program(
            self.extents, tuple(self.arguments), tuple(self.nodes), self.draw(st.integers(0, 1000)), is_exact
        )
        if is_exact:
            assume(all(map(_is_exact, program.evaluate(program.inputs()))))
        return program


def _is_exact(array: np.ndarray) -> bool:
    return array.dtype.kind != "f" or bool((np.abs(array) < LARGEST_WHOLE_NUMBER).all())


@st.composite
def smooth_chains(draw: st.DrawFn) -> Program:
    """Element-wise ops on floats of any value."""
    builder = _Builder(draw)
    for _ in range(draw(st.integers(1, 5))):
        builder.elementwise(SMOOTH_OPS)
    return builder.program(is_exact=False)


@st.composite
def exact_programs(draw: st.DrawFn, kinds: Sequence[str], most: int) -> Program:
    """Up to ``most`` ops of ``kinds``, of which there are ``elementwise``, ``reduction`` and ``contraction``."""
    builder = _Builder(draw)
    for _ in range(draw(st.integers(1, most))):
        add: Any = getattr(builder, draw(st.sampled_from(kinds)))
        add(EXACT_OPS) if add == builder.elementwise else add()
    return builder.program(is_exact=True)
