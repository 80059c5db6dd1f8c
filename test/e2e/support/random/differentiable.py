"""Random functions that have derivatives: from a square matrix and a second one to a square matrix.

A step keeps the shape, so that steps nest in loops and branches in any order. Values stay in -1 to 1 where functions
have small domains, and numbers at which there is no derivative are met with probability 0.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

import ipu_mlir as ipu

SIZE = 3
Function = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Language:
    """The names in which a function is written.

    Attributes:
        np: the functions of NumPy.
        others: ``softmax``, ``dynamic_slice``, ``cond``, ``fori_loop``, ``while_loop``, ``scan``; ``outlined`` and
            ``checkpoint``, which wrap functions; ``update``, from an operation on elements, its operand, and whether
            their indices are different ones, to what the operation gives.
    """

    np: Any
    others: Any


def ours() -> Language:
    """Our own."""
    names = ("dynamic_slice", "cond", "fori_loop", "while_loop", "scan", "outlined", "checkpoint")
    others = {name: getattr(ipu, name) for name in names}
    return Language(
        np, SimpleNamespace(softmax=ipu.nn.softmax, update=lambda operation, by, _: operation(by), **others)
    )


def of_jax() -> Language:
    """That of JAX."""
    import jax
    from jax import lax

    def while_loop(condition: Any, body: Any, start: Any, most: int) -> Any:
        """JAX has no gradient of its own: nothing changes after the last iteration."""
        return lax.fori_loop(0, most, lambda _, c: lax.cond(condition(c), body, lambda c: c, c), start)

    names = ("dynamic_slice", "cond", "fori_loop", "scan")
    others = {name: getattr(lax, name) for name in names}
    return Language(
        jax.numpy,
        SimpleNamespace(
            softmax=jax.nn.softmax,
            outlined=jax.jit,
            checkpoint=jax.checkpoint,
            while_loop=while_loop,
            update=lambda operation, by, differ: operation(by, unique_indices=differ),
            **others,
        ),
    )


@dataclass(frozen=True)
class Draw:
    """Where a function is drawn from; the same numbers give the same function in any language."""

    rng: np.random.Generator
    language: Language

    def one_of(self, names: Iterable[str]) -> str:
        return str(self.rng.choice(list(names)))

    def below(self, end: int, first: int = 0) -> int:
        return int(self.rng.integers(first, end))


@dataclass(frozen=True)
class Step:
    """A function of what is computed so far and of the other argument.

    Attributes:
        text: the step, for whoever reads about a failure.
    """

    text: str
    apply: Function

    def __call__(self, c: Any, w: Any) -> Any:
        return self.apply(c, w)


def elementwise(language: Language) -> dict[str, Callable[[Any], Any]]:
    """Functions of a matrix, element by element."""
    np = language.np
    return {
        "tanh": np.tanh,
        "sin": np.sin,
        "cos": np.cos,
        "exp": lambda c: np.exp(np.sin(c)),
        "expm1": lambda c: np.expm1(np.sin(c)),
        "log": lambda c: np.log(c * c + 1),
        "log1p": lambda c: np.log1p(c * c),
        "sqrt": lambda c: np.sqrt(c * c + 0.5),
        "cbrt": lambda c: np.cbrt(c * c + 0.5),
        "square": lambda c: np.sin(c) ** 2,
        "cube": lambda c: np.sin(c) ** 3,
        "arctan": np.arctan,
        "arcsin": lambda c: np.arcsin(0.5 * np.sin(c)),
        "arcsinh": np.arcsinh,
        "arctanh": lambda c: np.arctanh(0.5 * np.sin(c)),
        "abs": np.abs,
        "relu": lambda c: np.maximum(c, 0.1),
        "clip": lambda c: np.clip(c, -0.7, 0.8),
    }


def binary(language: Language) -> dict[str, Function]:
    """Functions of two matrices."""
    np = language.np
    return {
        "add": lambda c, w: c + w,
        "sub": lambda c, w: w - c,
        "mul": lambda c, w: c * w,
        "div": lambda c, w: c / (w * w + 1),
        "maximum": np.maximum,
        "minimum": np.minimum,
        "where": lambda c, w: np.where(c > w, c * w, w),
        "hypot": lambda c, w: np.hypot(c, w + 3),
        "arctan2": lambda c, w: np.arctan2(c, w * w + 1),
        "power": lambda c, w: (c * c + 0.5) ** np.sin(w),
        "product": lambda c, w: np.tanh(c @ w),
        "transposed product": lambda c, w: np.tanh(w @ c.T),
        "row": lambda c, w: c * w[1],
        "column": lambda c, w: c + w[:, :1],
        "solve": lambda c, w: np.linalg.solve(np.tanh(c) + 5 * np.eye(SIZE), w),
    }


def reductions(language: Language) -> dict[str, Callable[[Any, int], Any]]:
    """Reductions of a matrix over an axis, which stays."""
    np = language.np
    return {
        "sum": lambda c, axis: np.sum(c, axis=axis, keepdims=True),
        "mean": lambda c, axis: np.mean(c, axis=axis, keepdims=True),
        "max": lambda c, axis: np.max(c, axis=axis, keepdims=True),
        "min": lambda c, axis: np.min(c, axis=axis, keepdims=True),
        "prod": lambda c, axis: np.prod(np.sin(c), axis=axis, keepdims=True),
        "var": lambda c, axis: np.var(c, axis=axis, keepdims=True),
    }


def along(language: Language) -> dict[str, Callable[[Any, int], Any]]:
    """Functions of a matrix along an axis."""
    np = language.np
    return {
        "cumsum": lambda c, axis: np.cumsum(c, axis=axis),
        "cumprod": lambda c, axis: np.cumprod(np.sin(c), axis=axis),
        "sort": lambda c, axis: np.sort(c, axis=axis),
        "softmax": lambda c, axis: language.others.softmax(c if axis else c.T),
        "roll": lambda c, axis: np.roll(c, 1, axis=axis),
        "flip": np.flip,
    }


def _elementwise(draw: Draw, depth: int) -> Step:
    known = elementwise(draw.language)
    name = draw.one_of(known)
    return Step(name, lambda c, w: known[name](c))


def _binary(draw: Draw, depth: int) -> Step:
    known = binary(draw.language)
    name = draw.one_of(known)
    return Step(name, known[name])


def _reduction(draw: Draw, depth: int) -> Step:
    known, sin = reductions(draw.language), draw.language.np.sin
    name, axis = draw.one_of(known), draw.below(2)
    return Step(f"{name}({axis})", lambda c, w: sin(c + known[name](c, axis)))


def _along(draw: Draw, depth: int) -> Step:
    known = along(draw.language)
    name, axis = draw.one_of(known), draw.below(2)
    return Step(f"{name}({axis})", lambda c, w: known[name](c, axis))


def _slice(draw: Draw, depth: int) -> Step:
    start, count, pad = draw.below(2), draw.below(SIZE, 1), draw.language.np.pad
    after = SIZE - start - count
    if after < 0:
        start, after = 0, SIZE - count
    return Step(
        f"pad(c[{start}:{start + count}])",
        lambda c, w: pad(c[start : start + count], ((start, after), (0, 0))) * w + c,
    )


def _gather(draw: Draw, depth: int) -> Step:
    rows = draw.rng.integers(0, SIZE, SIZE)
    return Step(f"c[{rows}]", lambda c, w: c[rows] * w)


def _scatter(draw: Draw, depth: int) -> Step:
    rows, how = draw.rng.integers(0, SIZE, 2), draw.one_of(["add", "set", "multiply"])
    rows = draw.rng.permutation(SIZE)[:2] if how != "add" else rows
    update = draw.language.others.update
    return Step(f"c.at[{rows}].{how}(w)", lambda c, w: update(getattr(c.at[rows], how), w[:2], how != "add"))


def _run_time_slice(draw: Draw, depth: int) -> Step:
    sliced = draw.language.others.dynamic_slice
    return Step(
        "dynamic_slice",
        lambda c, w: c + sliced(c, ((w[0, 0] > 0).astype(np.int32), np.int32(0)), (2, SIZE))[1],
    )


def _loop(draw: Draw, depth: int) -> Step:
    first, count, body = draw.below(2), draw.below(4), sequence(draw, depth - 1)
    reads, loop = bool(draw.below(2)), draw.language.others.fori_loop

    def apply(c: Any, w: Any) -> Any:
        def step(i: Any, each: Any) -> Any:
            found = body(each, w)
            return found * w[i % SIZE] + c[i % SIZE] if reads else found

        return loop(first, first + count, step, c)

    return Step(f"for {first}..{first + count}{' rows' if reads else ''} {{{body.text}}}", apply)


def _while(draw: Draw, depth: int) -> Step:
    most, limit, body = draw.below(5), draw.below(12, 2), sequence(draw, depth - 1)
    others = draw.language.others

    def apply(c: Any, w: Any) -> Any:
        return others.while_loop(lambda c: (c * c).sum() < limit, lambda c: 1.4 * body(c, w), c, most)

    return Step(f"while sum(c^2) < {limit}, {most} times {{{body.text}}}", apply)


def _branch(draw: Draw, depth: int) -> Step:
    yes, no, cond = sequence(draw, depth - 1), sequence(draw, depth - 1), draw.language.others.cond
    return Step(
        f"if {{{yes.text}}} else {{{no.text}}}",
        lambda c, w: cond(c[0, 1] > w[1, 0], lambda: yes(c, w), lambda: no(c, w)),
    )


def _scan(draw: Draw, depth: int) -> Step:
    body, scan, tanh = sequence(draw, depth - 1), draw.language.others.scan, draw.language.np.tanh

    def apply(c: Any, w: Any) -> Any:
        def step(carried: Any, row: Any) -> Any:
            found = body(carried, w) + row
            return found, found[0] * row

        last, rows = scan(step, w, c)
        return tanh(last) + rows

    return Step(f"scan {{{body.text}}}", apply)


def _wrapped(draw: Draw, depth: int) -> Step:
    body = sequence(draw, depth - 1)
    how = ("outlined", "checkpoint")[draw.below(2)]
    wrap = getattr(draw.language.others, how)
    return Step(f"{how} {{{body.text}}}", lambda c, w: wrap(body.apply)(c, w))


_PLAIN = (_elementwise, _elementwise, _binary, _binary, _reduction, _along, _slice, _gather, _scatter, _run_time_slice)
_NESTED = (_loop, _loop, _while, _branch, _scan, _wrapped)


def sequence(draw: Draw, depth: int) -> Step:
    """One to three steps after each other, of which some have steps inside, at most ``depth`` deep."""
    steps = []
    for _ in range(draw.below(4, 1)):
        kinds = _NESTED if depth and draw.rng.random() < 0.4 else _PLAIN
        steps.append(kinds[draw.below(len(kinds))](draw, depth))

    def apply(c: Any, w: Any) -> Any:
        for step in steps:
            c = step(c, w)
        return c

    return Step("; ".join(step.text for step in steps), apply)


def random_function(seed: int, depth: int, language: Language) -> Step:
    """The function of a seed, the same in every language."""
    return sequence(Draw(np.random.default_rng(seed), language), depth)
