"""Random expressions with constants, on numbers at the limits of a type, compared bit by bit.

Ops with a constant are what simplification looks for: limits, neutral elements, chosen numbers, the sign of 0.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st
from support.random.steps import Argument, Sketch, SteppedProgram, Tensor, Values
from support.tensor_text import DTYPES, generic

Function = Callable[..., np.ndarray]
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 6.0, -6.0, 1e30, -1e-30, np.inf, -np.inf, np.nan)
TYPES = ("f32", "f32", "f64", "i8", "i16", "i32", "i64")
CONDITIONS = {
    "f": {"arith.cmpf olt": np.less, "arith.cmpf oge": np.greater_equal, "arith.cmpf une": np.not_equal},
    "i": {"arith.cmpi slt": np.less, "arith.cmpi sge": np.greater_equal, "arith.cmpi ne": np.not_equal},
}


def _extreme(ufunc: Function, of_zeros: Function) -> Function:
    """An extreme of floats; of two zeros, +0 is the larger one."""
    return lambda a, b: np.where((a == 0) & (b == 0), of_zeros(a, b), ufunc(a, b))


def _unsigned(function: Function) -> Function:
    return lambda a, b: function(a.view(f"u{a.itemsize}"), b.view(f"u{b.itemsize}")).view(a.dtype)


UNARY: dict[str, dict[str, Function]] = {
    "f": {"arith.negf": np.negative, "math.absf": np.abs, "math.floor": np.floor, "math.roundeven": np.rint},
    "i": {"math.absi": np.abs},
}
BINARY: dict[str, dict[str, Function]] = {
    "f": {
        "arith.addf": np.add,
        "arith.subf": np.subtract,
        "arith.mulf": np.multiply,
        "arith.divf": np.divide,
        "math.copysign": np.copysign,
        "arith.maximumf": _extreme(np.maximum, np.add),
        "arith.minimumf": _extreme(np.minimum, lambda a, b: -(-a - b)),
    },
    "i": {
        "arith.addi": np.add,
        "arith.subi": np.subtract,
        "arith.muli": np.multiply,
        "arith.andi": np.bitwise_and,
        "arith.ori": np.bitwise_or,
        "arith.xori": np.bitwise_xor,
        "arith.maxsi": np.maximum,
        "arith.minsi": np.minimum,
        "arith.maxui": _unsigned(np.maximum),
        "arith.minui": _unsigned(np.minimum),
    },
}


class LimitArgument(Argument):
    """An argument of numbers at which functions have steps, and at the ends of its type."""

    def draw(self, generator: np.random.Generator) -> np.ndarray:
        return generator.choice(numbers(self.tensor.element), self.tensor.shape)


def numbers(element: str) -> np.ndarray:
    """Numbers at the limits of a type."""
    dtype = DTYPES[element]
    if dtype.kind == "f":
        return np.array(FLOATS, dtype)
    ends = np.iinfo(dtype)
    return np.array((0, 1, -1, 2, 7, -8, ends.min, ends.min + 1, ends.max), dtype)


@st.composite
def expressions_at_limits(draw: st.DrawFn) -> SteppedProgram:
    """Two arguments, and several chains of few ops that mostly have a constant: the bits of their last values."""
    sketch = Sketch(draw)
    element = sketch.pick(TYPES)
    shape = (sketch.integer(20, 60),)
    arguments = [Tensor(f"%a{number}", shape, element) for number in range(2)]
    sketch.arguments += [LimitArgument(tensor, 0, 0) for tensor in arguments]
    for _ in range(sketch.integer(1, 8)):
        _add_chain(sketch, arguments)
    return replace(sketch.program(), returned=tuple(sketch.tensors))


def _add_chain(sketch: Sketch, arguments: Sequence[Tensor]) -> None:
    shape, element = arguments[0].shape, arguments[0].element
    chain = _Chain(sketch, element)
    for _ in range(sketch.integer(2, 5)):
        chain.lengthen()
    text, bits = chain.bits()
    made = Tensor(sketch.fresh(), shape, bits)
    ins = [(tensor.name, f"{tensor.short}[i]") for tensor in arguments]

    def evaluate(values: Values) -> list[np.ndarray]:
        last = chain.value([values[tensor.name] for tensor in arguments])
        return [np.where(last == last, last.view(DTYPES[bits]), DTYPES[bits].type(-1))]

    sketch.add([made], generic(made.name, "i", ins, f"{made.short}[i]", text), evaluate)


class _Chain:
    """Lines of a body on ``%x0`` and ``%x1``, each of which defines the next number, and what they give."""

    def __init__(self, sketch: Sketch, element: str) -> None:
        self.sketch = sketch
        self.element = element
        self.kind = DTYPES[element].kind
        self.lines: list[str] = []
        self.steps: list[Callable[[list[np.ndarray]], np.ndarray]] = []

    @property
    def last(self) -> int:
        return 1 + len(self.steps)

    def lengthen(self) -> None:
        """One op, mostly on the value before it, and mostly with a constant."""
        first = self.last if self.sketch.integer(0, 3) else self._any()
        what = self.sketch.pick(("unary", "binary", "binary", "choice"))
        if what == "unary":
            self._call(UNARY[self.kind], first)
        elif what == "binary":
            self._call(BINARY[self.kind], *self._in_some_order(first, self._other()))
        else:
            self._choose(*self._in_some_order(first, self._other()), *self._in_some_order(first, self._other()))

    def bits(self) -> tuple[str, str]:
        """The whole body, which gives the bits of the last value, and their type; those of NaN are all set."""
        bits = f"i{8 * DTYPES[self.element].itemsize}"
        last = [f"%none = arith.constant -1 : {bits}"]
        if self.kind == "f":
            last += [
                f"%nan = arith.cmpf uno, %x{self.last}, %x{self.last} : {self.element}",
                f"%bits = arith.bitcast %x{self.last} : {self.element} to {bits}",
                f"%y = arith.select %nan, %none, %bits : {bits}",
            ]
        else:
            last += [f"%y = arith.andi %x{self.last}, %none : {bits}"]
        return "\n    ".join(self.lines + last), bits

    def value(self, arguments: list[np.ndarray]) -> np.ndarray:
        known = list(arguments)
        for step in self.steps:
            known.append(np.broadcast_to(step(known), known[0].shape).astype(known[0].dtype))
        return known[-1]

    def _any(self) -> int:
        return self.sketch.integer(0, self.last)

    def _other(self) -> int:
        """Another value: mostly a new constant."""
        if not self.sketch.integer(0, 2):
            return self._any()
        constant = self.sketch.pick(list(numbers(self.element)))
        self._add(f"arith.constant {_written(constant)} : {self.element}", lambda known: constant)
        return self.last

    def _in_some_order(self, first: int, second: int) -> tuple[int, int]:
        return (first, second) if self.sketch.maybe() else (second, first)

    def _call(self, functions: Mapping[str, Function], *operands: int) -> None:
        name = self.sketch.pick(list(functions))
        text = f"{name} {', '.join(f'%x{each}' for each in operands)} : {self.element}"
        self._add(text, lambda known: functions[name](*(known[each] for each in operands)))

    def _choose(self, a: int, b: int, yes: int, no: int) -> None:
        name = self.sketch.pick(list(CONDITIONS[self.kind]))
        self.lines.append(f"%is{self.last + 1} = {name}, %x{a}, %x{b} : {self.element}")
        condition = CONDITIONS[self.kind][name]
        self._add(
            f"arith.select %is{self.last + 1}, %x{yes}, %x{no} : {self.element}",
            lambda known: np.where(condition(known[a], known[b]), known[yes], known[no]),
        )

    def _add(self, text: str, step: Callable[[list[np.ndarray]], np.ndarray]) -> None:
        self.lines.append(f"%x{self.last + 1} = {text}")
        self.steps.append(step)


def _written(value: np.generic) -> str:
    """A constant as MLIR reads it: floats that are no decimal numbers by their bits."""
    if value.dtype.kind == "i":
        return str(value)
    return f"0x{value.view(f'u{value.dtype.itemsize}'):0{2 * value.dtype.itemsize}X}"
