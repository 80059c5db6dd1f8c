"""Random functions of JAX with control flow: nested loops, branches and scans that hand on views of small arrays."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

DEEPEST = 2
SHAPES = ((), (1,), (3,), (1, 1), (2, 3), (1, 3), (3, 1), (2, 1, 2), (0,), (3, 0))
TYPES = ("float32", "float32", "int32", "int8", "bool")

Array = Any


class _Block:
    """Values that a block sees, and the steps that it takes; ``random`` draws the same for each tracing."""

    def __init__(self, random: Random, values: Sequence[Array], depth: int) -> None:
        self.random, self.values, self.depth = random, list(values), depth

    def steps(self, number: int) -> None:
        for _ in range(number):
            source = self.random.choice(self.values[-6:])
            is_control = self.depth < DEEPEST and self.random.random() < 0.4
            made = self.random.choice(CONTROL if is_control else STEPS)(self, source)
            self.values += [each for each in made if each.size <= 200]

    def inner(self, seed: float, values: Sequence[Array], like: Sequence[Array]) -> tuple[Array, ...]:
        """What a block inside makes of ``values``: something of the shape and the type of each of ``like``."""
        random = Random(seed)
        block = _Block(random, [*self.values[:3], *values], self.depth + 1)
        block.steps(random.randint(0, 3))
        found = []
        for wanted in like:
            fitting = [each for each in block.values if each.shape == wanted.shape]
            kinds = [lambda f=fitting: random.choice(f[-4:])] * bool(fitting) + [lambda w=wanted: block.view(w.shape)]
            found.append(random.choice(kinds)().astype(wanted.dtype))
        return tuple(found)

    def view(self, shape: tuple[int, ...]) -> Array:
        """A part of a larger array, at a place that is known or not, without dimensions of size 1."""
        sizes = list(shape)
        for _ in range(self.random.randint(0, 2)):
            sizes.insert(self.random.randint(0, len(sizes)), 1)
        more = [self.random.choice((0, 0, 1, 2)) for _ in sizes]
        if not sizes:
            return self.first()
        whole = tuple(size + extra for size, extra in zip(sizes, more, strict=True))
        counted = lax.iota(jnp.int32, int(np.prod(whole))).reshape(whole)
        places = [self.place(extra) for extra in more]
        part = lax.dynamic_slice(counted + self.first(), places, sizes)
        return part.reshape(shape)

    def first(self) -> Array:
        """The first element of a value, as an integer."""
        value = self.any()
        return value.reshape(-1)[0].astype(jnp.int32) if value.size else jnp.int32(7)

    def place(self, last: int) -> Array:
        """A number from 0 to ``last``, or one outside, which means the nearest."""
        numbers = [each for each in self.values if each.shape == () and each.dtype == jnp.int32]
        if numbers and self.random.random() < 0.7:
            return self.random.choice(numbers)
        return jnp.int32(self.random.randint(-1, last + 1))

    def carried(self) -> tuple[Array, ...]:
        """One to three values, some of them twice or of one type, so that they may change places."""
        first = self.random.choice(self.values)
        found = [first]
        for _ in range(self.random.randint(0, 2)):
            kind = self.random.random()
            found.append(first if kind < 0.3 else first[::-1] if kind < 0.5 and first.ndim else self.any())
        return tuple(found)

    def any(self) -> Array:
        return self.random.choice(self.values)

    def condition(self) -> Array:
        return self.place(2) > self.random.randint(0, 1)


def _arithmetic(block: _Block, x: Array) -> list[Array]:
    other = block.random.choice([each for each in block.values if each.shape in (x.shape, ())] or [x])
    if x.dtype == bool:
        return [x ^ other.astype(bool)]
    operation = block.random.choice((lax.add, lax.sub, lax.max, lax.min))
    return [operation(x, jnp.broadcast_to(other.astype(x.dtype), x.shape))]


def _cast(block: _Block, x: Array) -> list[Array]:
    return [(x.astype(jnp.float32) % 100).astype(block.random.choice(TYPES))]


def _cut(block: _Block, x: Array) -> list[Array]:
    sizes = [block.random.randint(min(1, size), size) for size in x.shape]
    if not sizes:
        return [x]
    return [lax.dynamic_slice(x, [block.place(size) for size in x.shape], sizes)]


def _update(block: _Block, x: Array) -> list[Array]:
    (part,) = _cut(block, x)
    if not x.ndim:
        return [part]
    return [lax.dynamic_update_slice(x, part, [block.place(size) for size in x.shape])]


def _turned(block: _Block, x: Array) -> list[Array]:
    return [block.random.choice((x.T, x.reshape(-1), x.reshape((*x.shape, 1)), jnp.flip(x), x[None]))]


def _joined(block: _Block, x: Array) -> list[Array]:
    if not x.ndim:
        return []
    axis = block.random.randrange(x.ndim)
    return [jnp.concatenate([x, x[:1] if axis == 0 else x], axis), jnp.roll(x, block.random.randint(-2, 2), axis)]


def _reduced(block: _Block, x: Array) -> list[Array]:
    axis = block.random.randrange(x.ndim) if x.ndim else None
    return [jnp.any(x, axis) if x.dtype == bool else jnp.sum(x, axis, dtype=x.dtype)]


STEPS = (_arithmetic, _arithmetic, _cast, _cut, _cut, _update, _update, _turned, _joined, _reduced)


def _for(block: _Block, x: Array) -> list[Array]:
    seed, starts = block.random.random(), block.carried()
    end = block.random.choice((0, 1, 3, jnp.clip(block.place(3), 0, 3)))
    swaps = block.random.random() < 0.4

    def body(i: Array, carried: tuple[Array, ...]) -> tuple[Array, ...]:
        found = list(block.inner(seed, [*carried, jnp.int32(i)], carried))
        if swaps and len(found) > 1 and (carried[0].shape, carried[0].dtype) == (carried[1].shape, carried[1].dtype):
            found[0], found[1] = carried[1], carried[0]
        return tuple(found)

    return list(lax.fori_loop(0, end, body, starts))


def _while(block: _Block, x: Array) -> list[Array]:
    seed, starts, most = block.random.random(), block.carried(), block.random.choice((0, 1, 3))

    def body(carried: tuple[Array, ...]) -> tuple[Array, ...]:
        return (carried[0] + 1, *block.inner(seed, carried[1:], carried[1:]))

    return list(lax.while_loop(lambda carried: carried[0] < most, body, (jnp.int32(0), *starts)))


def _branches(block: _Block, number: int) -> tuple[tuple[Array, ...], list[Callable[[Any], Any]]]:
    starts, seeds = block.carried(), [block.random.random() for _ in range(number)]
    bodies = [lambda given, seed=seed: block.inner(seed, given, starts) for seed in seeds]
    return starts, [*bodies[:-1], block.random.choice((bodies[-1], lambda given: given))]


def _if(block: _Block, x: Array) -> list[Array]:
    starts, bodies = _branches(block, 2)
    return list(lax.cond(block.condition(), *bodies, starts))


def _switch(block: _Block, x: Array) -> list[Array]:
    starts, bodies = _branches(block, 3)
    return list(lax.switch(block.place(3), bodies, starts))


def _scan(block: _Block, x: Array) -> list[Array]:
    if not x.ndim or x.shape[0] not in range(1, 5):
        return []
    seed, starts, is_reversed = block.random.random(), block.carried(), block.random.random() < 0.4

    def body(carried: tuple[Array, ...], row: Array) -> tuple[tuple[Array, ...], tuple[Array, Array]]:
        *left, given = block.inner(seed, [*carried, row], [*carried, row])
        return tuple(left), (given, carried[0])

    left, rows = lax.scan(body, starts, x, reverse=is_reversed)
    return [*left, *rows]


CONTROL = (_for, _for, _while, _if, _if, _switch, _scan)


def program(seed: int) -> tuple[Callable[..., tuple[Array, ...]], list[np.ndarray]]:
    """A function of JAX and its arguments, whole numbers."""
    random, rng = Random(seed), np.random.default_rng(seed)
    arguments = [np.asarray(rng.integers(0, 5, random.choice(SHAPES))).astype(random.choice(TYPES)) for _ in range(3)]
    arguments.append(np.asarray(rng.integers(-1, 4), np.int32))
    inner, number = random.random(), random.randint(2, 5)

    def function(*arrays: Array) -> tuple[Array, ...]:
        block = _Block(Random(inner), [jnp.asarray(each) for each in arrays], 0)
        block.steps(1)
        block.values += CONTROL[seed % len(CONTROL)](block, block.any())
        block.steps(number)
        return tuple(block.values[len(arrays) :][-5:])

    return jax.jit(function, keep_unused=True), arguments
