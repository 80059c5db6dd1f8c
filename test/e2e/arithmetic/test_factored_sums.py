"""Random sums of products, before and after ``ipu-factor-sums``: both executors give what NumPy gives."""

import random
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from support.tensor_text import DTYPES, one_generic

import ipu_mlir as ipu
from ipu_mlir.dialects import ipu as dialect
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.normalize.factor_sums import FactorSums
from ipu_mlir.passes.support.rewriting import list_ops

Dimension = dict[int, int]
"""How far each loop moves the index of a dimension."""


@dataclass(frozen=True)
class Product:
    """``2 + sum of a * b`` over loops ``i0, i1, ...``.

    Attributes:
        factors: the dimensions of both operands.
        summed: per loop, whether it is summed.
    """

    extents: tuple[int, ...]
    summed: tuple[bool, ...]
    factors: tuple[tuple[Dimension, ...], tuple[Dimension, ...]]
    element: str

    @cached_property
    def kept(self) -> tuple[Dimension, ...]:
        return tuple({loop: 1} for loop, summed in enumerate(self.summed) if not summed)

    def shape(self, operand: tuple[Dimension, ...]) -> tuple[int, ...]:
        return tuple(1 + sum(c * (self.extents[loop] - 1) for loop, c in each.items()) for each in operand)

    def text(self) -> str:
        every = tuple({loop: 1} for loop in range(len(self.extents)))
        a, b, _, out = (self._use(operand) for operand in (*self.factors, every, self.kept))
        letter, start = ("f", "2.0") if self.element[0] == "f" else ("i", "2")
        body = f"%m = arith.mul{letter} %x0, %x1 : {self.element}\n    %y = arith.add{letter} %acc, %m : {self.element}"
        names = [f"i{loop}" for loop in range(len(self.extents))]
        reduced = " ".join(name for name, summed in zip(names, self.summed, strict=True) if summed)
        return one_generic(" ".join(names), [a, b, self._use(every)], out, body, reduced=reduced, init=start)

    def inputs(self, seed: int) -> list[np.ndarray]:
        generator = np.random.default_rng(seed)
        shapes = [*map(self.shape, self.factors), self.extents]
        return [generator.integers(-3, 4, shape).astype(DTYPES[self.element]) for shape in shapes]

    def expected(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        found = np.full(self.shape(self.kept), 2, np.int64)
        for point in np.ndindex(*self.extents):
            x, y, out = (
                tuple(sum(c * point[loop] for loop, c in each.items()) for each in operand)
                for operand in (*self.factors, self.kept)
            )
            found[out] += int(a[x]) * int(b[y])
        return found.astype(DTYPES[self.element])

    def _use(self, operand: tuple[Dimension, ...]) -> str:
        sizes = "".join(f"{size}x" for size in self.shape(operand))
        indices = ", ".join(" + ".join(f"i{loop} * {c}" for loop, c in each.items()) for each in operand)
        return f"{sizes}{self.element}[{indices}]"


def product(seed: int) -> Product:
    """One with at least one loop that is summed."""
    choose = random.Random(seed)
    loops = choose.randint(2, 5)

    def operand() -> tuple[Dimension, ...]:
        rest = [loop for loop in range(loops) if choose.random() < 0.6]
        choose.shuffle(rest)
        dimensions: list[Dimension] = []
        while rest:
            dimensions.append(
                {rest.pop(): choose.choice([1, 1, 2]) for _ in range(min(len(rest), choose.choice([1, 1, 2])))}
            )
        return tuple(dimensions)

    return Product(
        tuple(choose.randint(1, 4) for _ in range(loops)),
        (*(choose.random() < 0.5 for _ in range(loops - 1)), True),
        (operand(), operand()),
        choose.choice(["f32", "f32", "i32", "i8", "f64"]),
    )


def factored(text: str) -> tuple[str, int]:
    """The module after the pass, and how many ops it has more."""
    with dialect.context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        before = len(list_ops(module.operation, "linalg.generic"))
        FactorSums(always=True).run(module.operation)
        return str(module), len(list_ops(module.operation, "linalg.generic")) - before


@pytest.mark.parametrize("seed", range(8))
def test_random_sums_of_products(seed: int) -> None:
    changed = 0
    for number in range(4 * seed, 4 * seed + 4):
        sums = product(number)
        text, more = factored(sums.text())
        changed += more
        inputs = sums.inputs(number)
        executable = ipu.compile(text, target=ipu.Target(tiles_per_ipu=4))
        for run in (executable.run, executable.run_per_tile):
            np.testing.assert_array_equal(run(inputs)[0], sums.expected(*inputs[:2]), err_msg=sums.text())
    assert changed


def test_rounding_is_no_worse() -> None:
    """The errors of 200,000 sums of 72 products each, against f64: their largest is not larger by a half."""
    text = one_generic(
        "i u k n", ["500x9x8xf32[i, u, k]", "8x400xf32[k, n]"], "500x400xf32[i, n]",
        "%m = arith.mulf %x0, %x1 : f32\n    %y = arith.addf %acc, %m : f32", reduced="u k", init="0.0",
    )  # fmt: skip
    generator = np.random.default_rng(3)
    a, b = generator.normal(size=(500, 9, 8)).astype(np.float32), generator.normal(size=(8, 400)).astype(np.float32)
    exact = np.einsum("iuk,kn->in", a.astype(np.float64), b.astype(np.float64))
    errors = []
    for each in (text, factored(text)[0]):
        (found,) = ipu.compile(each, target=ipu.Target(tiles_per_ipu=4)).run([a, b])
        errors.append(np.abs(found - exact).max())
    assert errors[1] < 1.5 * errors[0]
