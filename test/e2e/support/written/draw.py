"""Random programs as people write them: a line for each call of a library, on arguments and on what came before."""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

Value = Any
"""An array, or a tensor."""
SIDES = (1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 33, 64, 100)
_MOST_ELEMENTS, _MOST_OF_INPUTS, _LARGEST = 40_000, 10_000, 1e4
_TRIES = 300


def kind_of(value: Value) -> str:
    """``f``, ``i`` or ``b``."""
    name = str(value.dtype)
    return "f" if "float" in name else "b" if "bool" in name else "i"


def size_of(value: Value) -> int:
    return prod(value.shape)


@dataclass
class Writer:
    """Writes expressions of the values so far.

    Attributes:
        rng: what it draws from.
        values: the arguments, and what lines gave, by name.
    """

    rng: random.Random
    values: dict[str, Value] = field(default_factory=dict)

    def name(self, test: Callable[[Value], bool]) -> str:
        """A value that fits ``test``.

        Raises:
            IndexError: there is none.
        """
        return self.rng.choice([name for name, value in self.values.items() if test(value)])

    def of_kind(self, kinds: str, least_rank: int = 0, most: int = _MOST_ELEMENTS) -> tuple[str, Value]:
        """A value with elements of one of the kinds."""
        name = self.name(lambda v: kind_of(v) in kinds and len(v.shape) >= least_rank and 0 < size_of(v) <= most)
        return name, self.values[name]

    def beside(self, value: Value, kinds: str = "fib") -> tuple[str, Value]:
        """A value that broadcasts with another one."""
        name = self.name(lambda v: kind_of(v) in kinds and broadcasts(v.shape, value.shape))
        return name, self.values[name]

    def axis(self, value: Value) -> int:
        """A dimension, counted from the first or from the last."""
        axis = self.rng.randrange(len(value.shape))
        return axis - len(value.shape) if self.rng.random() < 0.5 else axis

    def axes(self, value: Value) -> tuple[int, ...]:
        rank = len(value.shape)
        return tuple(self.rng.sample(range(rank), self.rng.randint(1, rank)))

    def order(self, value: Value) -> tuple[int, ...]:
        return tuple(self.rng.sample(range(len(value.shape)), len(value.shape)))

    def part(self, size: int) -> str:
        """A slice of a dimension of ``size``, not empty."""
        first = self.rng.randrange(size)
        return f"{first}:{self.rng.randint(first + 1, size)}:{self.rng.choice((1, 1, 2, 3))}"

    def shape_of(self, elements: int) -> tuple[int, ...]:
        """A shape of so many elements, now and then with one size left open."""
        rest, factors = elements, []
        for prime in (2, 3, 5, 7, 11, 13, 17, 31):
            while rest % prime == 0:
                factors.append(prime)
                rest //= prime
        shape = [1] * self.rng.randint(1, 3)
        for each in [*factors, rest]:
            shape[self.rng.randrange(len(shape))] *= each
        if self.rng.random() < 0.3:
            shape[self.rng.randrange(len(shape))] = -1
        return tuple(shape)


def broadcasts(one: Sequence[int], other: Sequence[int]) -> bool:
    try:
        return prod(np.broadcast_shapes(tuple(one), tuple(other))) <= _MOST_ELEMENTS
    except ValueError:
        return False


Family = Callable[[Writer], str]
"""Writes an expression of its kind; an IndexError says that nothing fits."""


@dataclass(frozen=True)
class Program:
    """Lines that each give a value.

    Attributes:
        inputs: the arguments ``a0``, ``a1``, ...
        lines: names and expressions.
    """

    inputs: tuple[np.ndarray, ...]
    lines: tuple[tuple[str, str], ...]

    @property
    def results(self) -> list[str]:
        """What no other line reads."""
        read = {name for _, text in self.lines for name in re.findall(r"\b[av]\d+\b", text)}
        return [name for name, _ in self.lines if name not in read]

    @property
    def source(self) -> str:
        arguments = ", ".join(f"a{n}" for n in range(len(self.inputs)))
        lines = "".join(f"    {name} = {text}\n" for name, text in self.lines)
        return f"def f({arguments}):\n{lines}    return {''.join(f'{name}, ' for name in self.results)}\n"


def draw(seed: int, families: Sequence[Family], names: dict[str, Any], take: Callable[[np.ndarray], Value]) -> Program:
    """The program of a seed.

    Args:
        families: of what its lines are.
        names: what expressions may use.
        take: makes an argument of an array.
    """
    rng = random.Random(seed)
    numbers = np.random.default_rng(seed)
    inputs = tuple(_input(rng, numbers, "f" if n == 0 else rng.choice("fffib")) for n in range(rng.randint(1, 4)))
    everything = {f"a{n}": take(array) for n, array in enumerate(inputs)}
    lines: list[tuple[str, str]] = []
    count = rng.randint(3, 16)
    for _ in range(_TRIES):
        if len(lines) == count:
            break
        near = dict(list(everything.items())[-5:]) if rng.random() < 0.5 else everything
        try:
            text = rng.choice(families)(Writer(rng, near))
            value = eval(text, {**names, **everything})  # bodies of lambdas see globals alone
        except Exception:  # of any kind: the library does not take it
            continue
        if _is_fit(value):
            name = f"v{len(lines)}"
            lines.append((name, text))
            everything[name] = value
    return Program(inputs, tuple(lines))


def _input(rng: random.Random, numbers: np.random.Generator, kind: str) -> np.ndarray:
    shape = tuple(rng.choice(SIDES) for _ in range(rng.choice((1, 1, 2, 2, 2, 3, 3, 4))))
    while prod(shape) > _MOST_OF_INPUTS:
        shape = shape[1:]
    drawn = numbers.standard_normal(shape)
    if kind == "f":
        return np.round(drawn, 3).astype(np.float32)
    return np.round(drawn * 5).astype(np.int32) if kind == "i" else drawn > 0


def _is_fit(value: Value) -> bool:
    if not hasattr(value, "dtype") or not 0 < size_of(value) <= _MOST_ELEMENTS or len(value.shape) > 5:
        return False
    array = np.asarray(value)
    return array.dtype.kind == "b" or bool((np.abs(array.astype(np.float64)) <= _LARGEST).all())
