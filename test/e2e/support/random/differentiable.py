"""Random functions that have derivatives: from a square matrix and a second one to a square matrix.

A step keeps the shape, so that steps nest in loops and branches in any order. Values stay in -1 to 1 where functions
have small domains, and numbers at which there is no derivative are met with probability 0.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import ipu_mlir as ipu

SIZE = 3
Function = Callable[[Any, Any], Any]


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


ELEMENTWISE: dict[str, Callable[[Any], Any]] = {
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
BINARY: dict[str, Function] = {
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
REDUCTIONS: dict[str, Callable[[Any, int], Any]] = {
    "sum": lambda c, axis: np.sum(c, axis=axis, keepdims=True),
    "mean": lambda c, axis: np.mean(c, axis=axis, keepdims=True),
    "max": lambda c, axis: np.max(c, axis=axis, keepdims=True),
    "min": lambda c, axis: np.min(c, axis=axis, keepdims=True),
    "prod": lambda c, axis: np.prod(np.sin(c), axis=axis, keepdims=True),
    "var": lambda c, axis: np.var(c, axis=axis, keepdims=True),
}
ALONG: dict[str, Callable[[Any, int], Any]] = {
    "cumsum": lambda c, axis: np.cumsum(c, axis=axis),
    "cumprod": lambda c, axis: np.cumprod(np.sin(c), axis=axis),
    "sort": lambda c, axis: np.sort(c, axis=axis),
    "softmax": lambda c, axis: ipu.nn.softmax(c if axis else c.T),
    "roll": lambda c, axis: np.roll(c, 1, axis=axis),
    "flip": np.flip,
}


def _elementwise(rng: np.random.Generator, depth: int) -> Step:
    name = str(rng.choice(list(ELEMENTWISE)))
    return Step(name, lambda c, w: ELEMENTWISE[name](c))


def _binary(rng: np.random.Generator, depth: int) -> Step:
    name = str(rng.choice(list(BINARY)))
    return Step(name, BINARY[name])


def _reduction(rng: np.random.Generator, depth: int) -> Step:
    name, axis = str(rng.choice(list(REDUCTIONS))), int(rng.integers(2))
    return Step(f"{name}({axis})", lambda c, w: np.sin(c + REDUCTIONS[name](c, axis)))


def _along(rng: np.random.Generator, depth: int) -> Step:
    name, axis = str(rng.choice(list(ALONG))), int(rng.integers(2))
    return Step(f"{name}({axis})", lambda c, w: ALONG[name](c, axis))


def _slice(rng: np.random.Generator, depth: int) -> Step:
    start, count = int(rng.integers(2)), int(rng.integers(1, SIZE))
    after = SIZE - start - count
    if after < 0:
        start, after = 0, SIZE - count
    return Step(
        f"pad(c[{start}:{start + count}])",
        lambda c, w: np.pad(c[start : start + count], ((start, after), (0, 0))) * w + c,
    )


def _gather(rng: np.random.Generator, depth: int) -> Step:
    rows = rng.integers(0, SIZE, SIZE)
    return Step(f"c[{rows}]", lambda c, w: c[rows] * w)


def _scatter(rng: np.random.Generator, depth: int) -> Step:
    rows, how = rng.integers(0, SIZE, 2), str(rng.choice(["add", "set", "multiply"]))
    rows = rng.permutation(SIZE)[:2] if how != "add" else rows
    return Step(f"c.at[{rows}].{how}(w)", lambda c, w: getattr(c.at[rows], how)(w[:2]))


def _run_time_slice(rng: np.random.Generator, depth: int) -> Step:
    return Step(
        "dynamic_slice", lambda c, w: c + ipu.dynamic_slice(c, ((w[0, 0] > 0).astype(np.int32), 0), (2, SIZE))[1]
    )


def _loop(rng: np.random.Generator, depth: int) -> Step:
    first, count, body = int(rng.integers(2)), int(rng.integers(4)), sequence(rng, depth - 1)
    reads = bool(rng.integers(2))

    def apply(c: Any, w: Any) -> Any:
        def step(i: Any, each: Any) -> Any:
            found = body(each, w)
            return found * w[i % SIZE] + c[i % SIZE] if reads else found

        return ipu.fori_loop(first, first + count, step, c)

    return Step(f"for {first}..{first + count}{' rows' if reads else ''} {{{body.text}}}", apply)


def _branch(rng: np.random.Generator, depth: int) -> Step:
    yes, no = sequence(rng, depth - 1), sequence(rng, depth - 1)
    return Step(
        f"if {{{yes.text}}} else {{{no.text}}}",
        lambda c, w: ipu.cond(c[0, 1] > w[1, 0], lambda: yes(c, w), lambda: no(c, w)),
    )


def _scan(rng: np.random.Generator, depth: int) -> Step:
    body = sequence(rng, depth - 1)

    def apply(c: Any, w: Any) -> Any:
        def step(carried: Any, row: Any) -> Any:
            found = body(carried, w) + row
            return found, found[0] * row

        last, rows = ipu.scan(step, w, c)
        return np.tanh(last) + rows

    return Step(f"scan {{{body.text}}}", apply)


def _wrapped(rng: np.random.Generator, depth: int) -> Step:
    body = sequence(rng, depth - 1)
    how, wrap = (("outlined", ipu.outlined), ("checkpoint", ipu.checkpoint))[int(rng.integers(2))]
    return Step(f"{how} {{{body.text}}}", lambda c, w: wrap(body.apply)(c, w))


_PLAIN = (_elementwise, _elementwise, _binary, _binary, _reduction, _along, _slice, _gather, _scatter, _run_time_slice)
_NESTED = (_loop, _loop, _branch, _scan, _wrapped)


def sequence(rng: np.random.Generator, depth: int) -> Step:
    """One to three steps after each other, of which some have steps inside, at most ``depth`` deep."""
    steps = []
    for _ in range(rng.integers(1, 4)):
        kinds = _NESTED if depth and rng.random() < 0.4 else _PLAIN
        steps.append(kinds[rng.integers(len(kinds))](rng, depth))

    def apply(c: Any, w: Any) -> Any:
        for step in steps:
            c = step(c, w)
        return c

    return Step("; ".join(step.text for step in steps), apply)
