"""Random programs whose blocks say on which IPU they run, with sizes of their own by which vertices are found."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

import ipu_mlir as ipu
from ipu_mlir.dialects.attributes.attributes import parts_from_attr
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.support.rewriting import list_ops

SIDE = 4
VALUES = 3
_PRIMES = (11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113)


@dataclass(frozen=True)
class Block:
    """Value ``to`` becomes something of ``of`` and ``other`` on ``shard``; tensors of ``size`` are in no other."""

    to: int
    of: int
    other: int
    shard: int | None
    size: int


@dataclass(frozen=True)
class Control:
    """A loop, a branch or an outlined function around ``bodies``, perhaps itself in a block of ``shard``.

    ``order`` says which value each iteration leaves as which.
    """

    kind: str
    bodies: tuple["Statements", ...]
    shard: int | None
    order: tuple[int, ...]


Statements = tuple[Block | Control, ...]


@dataclass
class _Drawing:
    random: Random
    ipus: int
    sizes: list[int] = field(default_factory=lambda: list(_PRIMES))

    def statements(self, depth: int) -> Statements:
        found: list[Block | Control] = []
        for _ in range(self.random.randint(1, 3)):
            if depth and self.random.random() < 0.5:
                found.append(self.control(depth))
            elif self.sizes:
                of, other, to = (self.random.randrange(VALUES) for _ in range(3))
                found.append(Block(to, of, other, self.shard(0.8), self.sizes.pop(0)))
        return tuple(found)

    def control(self, depth: int) -> Control:
        kind = self.random.choice(("for", "for", "while", "if", "switch", "call"))
        bodies = tuple(self.statements(depth - 1) for _ in range({"if": 2, "switch": 3}.get(kind, 1)))
        order = list(range(VALUES))
        if self.random.random() < 0.5:
            self.random.shuffle(order)
        return Control(kind, bodies, self.shard(0.3), tuple(order))

    def shard(self, how_often: float) -> int | None:
        return self.random.randrange(self.ipus) if self.random.random() < how_often else None


def draw(seed: int, ipus: int) -> Statements:
    """The program of ``seed``."""
    return _Drawing(Random(seed), ipus).statements(2)


def blocks_of(statements: Statements, shard: int | None = None) -> list[tuple[Block, int | None]]:
    """The blocks of a program with the shard that counts for each: its own, or that of the nearest block around."""
    found: list[tuple[Block, int | None]] = []
    for each in statements:
        around = shard if each.shard is None else each.shard
        if isinstance(each, Block):
            found.append((each, around))
        else:
            found += [inner for body in each.bodies for inner in blocks_of(body, around)]
    return found


def _on(shard: int | None, is_traced: bool) -> AbstractContextManager[None]:
    return nullcontext() if shard is None or not is_traced else ipu.shard(shard)


def function_of(statements: Statements, is_traced: bool) -> Callable[..., Any]:
    """The program as a function of a number, of the values, and of two matrices for each block."""
    sizes = [block.size for block, _ in blocks_of(statements)]

    def main(n: Any, values: Any, weights: Any) -> Any:
        return tuple(_run(statements, n, list(values), dict(zip(sizes, weights, strict=True)), is_traced))

    return main


def _run(statements: Statements, n: Any, values: list[Any], weights: dict[int, Any], is_traced: bool) -> list[Any]:
    for each in statements:
        with _on(each.shard, is_traced):
            if isinstance(each, Block):
                first, second = weights[each.size]
                made = (np.tanh(values[each.of] @ first) + np.float32(0.5)) @ second - values[each.other]
                values = [made if place == each.to else value for place, value in enumerate(values)]
            else:
                values = list(_controlled(each, n, values, weights, is_traced))
    return values


def _controlled(each: Control, n: Any, values: list[Any], weights: dict[int, Any], is_traced: bool) -> Any:
    def body_of(number: int) -> Callable[[Any], Any]:
        def body(carried: Any) -> Any:
            left = _run(each.bodies[number], n, list(carried), weights, is_traced)
            return tuple(left[place] for place in each.order)

        return body

    if each.kind == "for":
        return ipu.fori_loop(0, 2, lambda i, carried: body_of(0)(carried), tuple(values))
    if each.kind == "while":
        test, run = (lambda c: c[0] < n), body_of(0)
        return ipu.while_loop(test, lambda c: (c[0] + 1, run(c[1])), (n - n, tuple(values)))[1]
    if each.kind == "if":
        return ipu.cond(n > 1, body_of(0), body_of(1), tuple(values))
    if each.kind == "switch":
        return ipu.switch(n, [body_of(number) for number in range(3)], tuple(values))
    return ipu.outlined(body_of(0))(tuple(values))


def inputs_of(statements: Statements, seed: int) -> tuple[Any, Any, Any]:
    """A number from 0 to 2, the values, and the matrices."""
    rng = np.random.default_rng(seed)
    values = tuple((rng.integers(-2, 3, (SIDE, SIDE)) / 4).astype(np.float32) for _ in range(VALUES))
    weights = [
        tuple(
            (rng.integers(-2, 3, shape) / 16).astype(np.float32) for shape in ((SIDE, block.size), (block.size, SIDE))
        )
        for block, _ in blocks_of(statements)
    ]
    return np.int32(seed % 3), values, weights


def ipus_by_size(supersteps: ir.Operation, tiles_per_ipu: int) -> dict[int, set[int]]:
    """The IPUs of all vertices that read or write tensors with a dimension of a size, by that size."""
    found: dict[int, set[int]] = {}
    for op in list_ops(supersteps, "ipu.vertices"):
        parts = parts_from_attr(op.attributes["parts"])
        ipus = {parts.min_tile // tiles_per_ipu, parts.max_tile // tiles_per_ipu}
        for inner in list_ops(op):
            for value in inner.operands:
                if isinstance(value.type, ir.MemRefType):
                    for size in value.type.shape:
                        found.setdefault(size, set()).update(ipus)
    return found
