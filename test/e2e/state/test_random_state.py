"""Random programs on variables: traced, on both executors, against Python that runs them statement by statement."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu

F32 = np.float32
NAMES = ("a", "b", "c")
PROGRAMS, SEED = int(os.environ.get("IPU_RANDOM_PROGRAMS", "12")), int(os.environ.get("IPU_RANDOM_SEED", "0"))


@dataclass(frozen=True)
class Assign:
    """``to = operation(one, other)``, on matrices of small whole numbers."""

    to: str
    operation: str
    one: str
    other: str


@dataclass(frozen=True)
class Count:
    """The counter grows by one."""


@dataclass(frozen=True)
class Hand:
    """A matrix goes to the outfeed."""

    name: str


@dataclass(frozen=True)
class Take:
    """A matrix becomes the next one of the infeed."""

    name: str


@dataclass(frozen=True)
class Loop:
    rounds: int
    body: tuple[Any, ...]


@dataclass(frozen=True)
class If:
    """Whether the counter is even decides."""

    yes: tuple[Any, ...]
    no: tuple[Any, ...]


@dataclass(frozen=True)
class While:
    """Until the counter has grown by ``rounds``; the body ends with a count."""

    rounds: int
    body: tuple[Any, ...]


OPERATIONS = {
    "sum": lambda x, y: x + y,
    "half": lambda x, y: x - y,
    "own": lambda x, y: x + F32(1),
    "turn": lambda x, y: x.T + y,
    "product": lambda x, y: x @ y,
    "rows": lambda x, y: x + y.sum(axis=0),
    "shift": lambda x, y: np.concatenate([x[1:], y[:1]]),
    "same": lambda x, y: y,
    "fresh": lambda x, y: np.zeros((4, 4), F32) + F32(2),
}


def statements(rng: np.random.Generator, depth: int) -> tuple[Any, ...]:
    """A random block."""
    found: list[Any] = []
    for _ in range(int(rng.integers(1, 5))):
        kind = rng.choice(["assign", "assign", "assign", "count", "hand", "take", "loop", "if", "while"])
        names = [str(name) for name in rng.choice(NAMES, 3)]
        if kind == "count":
            found.append(Count())
        elif kind == "hand":
            found.append(Hand(names[0]))
        elif kind == "take":
            found.append(Take(names[0]))
        elif kind == "assign" or depth == 0:
            found.append(Assign(names[0], str(rng.choice(list(OPERATIONS))), names[1], names[2]))
        elif kind == "loop":
            found.append(Loop(int(rng.integers(0, 4)), statements(rng, depth - 1)))
        elif kind == "if":
            found.append(If(statements(rng, depth - 1), statements(rng, depth - 1) if rng.integers(2) else ()))
        else:
            found.append(While(int(rng.integers(0, 3)), (*statements(rng, depth - 1), Count())))
    return tuple(found)


def bounded(x: Any) -> Any:
    """Whole numbers small enough that all sums and products of them are exact."""
    return np.clip(x, F32(-9), F32(9))


def interpret(block: tuple[Any, ...], values: dict[str, Any], feed: list[np.ndarray], out: list[np.ndarray]) -> None:
    """Run ``block`` with NumPy."""
    for each in block:
        match each:
            case Assign():
                values[each.to] = bounded(OPERATIONS[each.operation](values[each.one], values[each.other]))
            case Count():
                values["n"] = np.int32(values["n"] + 1)
            case Hand():
                out.append(values[each.name].copy())
            case Take():
                values[each.name] = feed.pop(0)
            case Loop():
                for _ in range(each.rounds):
                    interpret(each.body, values, feed, out)
            case If():
                interpret(each.yes if values["n"] % 2 == 0 else each.no, values, feed, out)
            case While():
                end = values["n"] + each.rounds
                while values["n"] < end:
                    interpret(each.body, values, feed, out)


def trace(block: tuple[Any, ...], variables: dict[str, ipu.Variable], feed: ipu.Infeed, out: ipu.Outfeed) -> None:
    """Become the program of ``block``."""

    def body_of(inner: tuple[Any, ...]) -> Any:
        def body(*carried: Any) -> Any:
            trace(inner, variables, feed, out)
            return carried[-1] if carried else None

        return body

    for each in block:
        match each:
            case Assign():
                one, other = variables[each.one].value, variables[each.other].value
                variables[each.to].assign(bounded(OPERATIONS[each.operation](one, other)))
            case Count():
                variables["n"].assign(variables["n"].value + np.int32(1))
            case Hand():
                out.enqueue(variables[each.name].value)
            case Take():
                variables[each.name].assign(feed.dequeue())
            case Loop():
                ipu.fori_loop(0, each.rounds, body_of(each.body), ())
            case If():
                ipu.cond(variables["n"].value % 2 == 0, body_of(each.yes), body_of(each.no))
            case While():
                end = variables["n"].value + np.int32(each.rounds)
                ipu.while_loop(lambda _, end=end: variables["n"].value < end, body_of(each.body), ())


@pytest.mark.parametrize("seed", range(SEED, SEED + PROGRAMS))
def test_random_programs_on_variables(seed: int) -> None:
    rng = np.random.default_rng(seed)
    block = statements(rng, 3)
    first = {name: rng.integers(-3, 4, (4, 4)).astype(F32) for name in NAMES} | {"n": np.int32(rng.integers(0, 3))}
    data = [rng.integers(-3, 4, (4, 4)).astype(F32) for _ in range(400)]
    variables = {name: ipu.Variable(value, name=name) for name, value in first.items()}
    feed, out = ipu.Infeed(data, name="feed"), ipu.Outfeed(name="out")

    def program() -> None:
        variables["a"].value  # noqa: B018  every program has a variable
        trace(block, variables, feed, out)

    executable = ipu.compile(program, args=(), target=ipu.Target(tiles_per_ipu=int(rng.choice([1, 3, 8]))))
    values, waiting, handed = dict(first), list(data), []
    for run in (executable.run, executable.run_per_tile, executable.run):
        interpret(block, values, waiting, handed)
        run([])
        for name, variable in variables.items():
            np.testing.assert_array_equal(variable.value, values[name], err_msg=f"{name} of {block}")
    if handed:
        np.testing.assert_array_equal(out.read(), np.stack(handed))
