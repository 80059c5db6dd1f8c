"""Random functions of indices and nested control flow: traced, both executors give what they give on arrays.

A few fixed ones are part of every test run; ``make test-slow`` draws more: ``IPU_RANDOM_PROGRAMS`` says how many.
"""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import ipu_mlir as ipu

SMALL = ipu.Target(tiles_per_ipu=3)
FEW = 10
HOWS = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}

State = dict[str, Any]
"""``x`` of shape (3, 4), ``v`` of shape (4,) and the number ``n``, all int32."""
Step = tuple[Any, ...]


def at(x: Any, key: Any, how: str, values: Any) -> Any:
    """``x.at[key]`` where ``x`` is traced, and what it means on arrays."""
    if isinstance(x, ipu.Tensor):
        return getattr(x.at[key], how)(values)
    found = np.array(x)
    if how == "set":
        found[key] = values
    else:
        HOWS[how].at(found, key, values)
    return found


def inside(numbers: Any, size: int) -> Any:
    """Integers as indices into a dimension, from the front and from the end."""
    return numbers % (2 * size) - size


def run(steps: tuple[Step, ...], state: State) -> State:
    """The state after all steps."""
    for kind, *details in steps:
        state = {name: np.asarray(value) if np.isscalar(value) else value for name, value in state.items()}
        state = {**state, **STEPS[kind](state, *details)}
    return state


def _while(s: State, rounds: int, body: tuple[Step, ...]) -> State:
    last = s["n"] % (rounds + 1)
    done = ipu.while_loop(lambda c: c[1] < last, lambda c: (run(body, c[0]), c[1] + np.int32(1)), (s, np.int32(0)))
    return done[0]


def _scan(s: State, reverse: bool, body: tuple[Step, ...]) -> State:
    def each(carry: State, row: Any) -> tuple[State, Any]:
        carry = run(body, {**carry, "v": carry["v"] + row})
        return carry, carry["v"] - row

    last, rows = ipu.scan(each, s, s["x"], reverse=reverse)
    return {**last, "x": last["x"] + rows}


def _batch(s: State, body: tuple[Step, ...]) -> State:
    """Two states at once, which take other ways; and what they come to together."""
    both = ipu.vmap(lambda more, row: run(body, {**s, "n": s["n"] + more, "v": row}))(
        np.arange(2, dtype=np.int32), s["x"][:2]
    )
    return {name: value[0] - 2 * value[1] for name, value in both.items()}


STEPS: dict[str, Callable[..., State]] = {
    "add": lambda s, k: {"x": s["x"] + s["v"] * np.int32(k)},
    "number": lambda s, k: {"n": (s["n"] * np.int32(k) + np.max(s["v"])) % np.int32(17)},
    "where": lambda s, k: {"v": np.where(s["v"] % 3 == k % 3, s["x"][k % 3], s["v"] - s["n"])},
    "row": lambda s, k: {"v": s["x"][inside(s["n"] + np.int32(k), 3)]},
    "element": lambda s, k: {"n": s["x"][inside(s["v"][k], 3), inside(s["n"], 4)] % np.int32(19)},
    "gather": lambda s, k: {"v": s["v"][inside(s["v"] + np.int32(k), 4)]},
    "rows": lambda s, k: {"x": s["x"][inside(s["v"][1:], 3), ::-1]},
    "along": lambda s, k: {"x": np.take_along_axis(s["x"], inside(s["x"], 4), 1)},
    "slice": lambda s, k: {
        "n": np.sum(ipu.dynamic_slice(s["x"], (s["n"] % 2, k), (2, 2)), dtype=np.int32) % np.int32(23)
    },
    "update": lambda s, k: {"x": ipu.dynamic_update_slice(s["x"], s["x"][:2, :3] * k, (s["n"] % 2, s["n"] % 2))},
    "write": lambda s, how: {"x": at(s["x"], inside(s["v"][:2], 3), how, s["v"])},
    "write columns": lambda s, how: {"x": at(s["x"], (slice(None), inside(s["v"], 4)), how, s["n"])},
    "write one": lambda s, how: {"v": at(s["v"], inside(s["n"], 4), how, s["x"][0, 0])},
    "prefixes": lambda s, k: {"x": ipu.associative_scan(np.add, s["x"], axis=k % 2, reverse=k > 1)},
    "map": lambda s, k: {"v": s["v"] * ipu.map(lambda row: np.max(row), s["x"])[k % 3]},
    "cond": lambda s, yes, no: ipu.cond(s["n"] % 2 == 0, lambda s: run(yes, s), lambda s: run(no, s), s),
    "switch": lambda s, *bodies: ipu.switch(s["n"] % 4, [lambda s, b=body: run(b, s) for body in bodies], s),
    "for": lambda s, k, body: ipu.fori_loop(0, k, lambda i, c: run(body, {**c, "n": c["n"] + i}), s),
    "for to n": lambda s, body: ipu.fori_loop(0, s["n"] % 3, lambda i, c: run(body, c), s),
    "while": _while,
    "scan": _scan,
    "batch": _batch,
}
PLAIN = ["add", "number", "where", "row", "element", "gather", "rows", "along", "slice", "update", "prefixes", "map"]
WRITES = ["write", "write columns", "write one"]


def steps(depth: int) -> st.SearchStrategy[tuple[Step, ...]]:
    """One to three steps, with bodies of up to ``depth`` levels."""
    plain = st.tuples(st.sampled_from(PLAIN), st.integers(0, 3))
    plain |= st.tuples(st.sampled_from(WRITES), st.sampled_from(["set", *HOWS]))
    if depth == 0:
        return st.lists(plain, min_size=1, max_size=2).map(tuple)
    body = steps(depth - 1)
    nested = st.one_of(
        st.tuples(st.just("cond"), body, body),
        st.tuples(st.just("switch"), body, body, body),
        st.tuples(st.just("for"), st.integers(1, 3), body),
        st.tuples(st.just("for to n"), body),
        st.tuples(st.just("while"), st.integers(1, 3), body),
        st.tuples(st.just("scan"), st.booleans(), body),
        st.tuples(st.just("batch"), body),
    )
    return st.lists(st.one_of(plain, nested, nested), min_size=1, max_size=3).map(tuple)


def _check(program: tuple[Step, ...], number: int) -> None:
    rng = np.random.default_rng(number)
    state = {"x": rng.integers(-9, 9, (3, 4)), "v": rng.integers(-9, 9, 4), "n": rng.integers(0, 9)}
    state = {name: np.asarray(value).astype(np.int32) for name, value in state.items()}
    with np.errstate(all="ignore"):
        expected = run(program, state)
    exe = ipu.compile(lambda state: run(program, state), args=[state], target=SMALL)
    inputs = [state[name] for name in ("x", "v", "n")]
    for results in (exe.run(inputs), exe.run_per_tile(inputs)):
        for name, found in zip(("x", "v", "n"), results, strict=True):
            np.testing.assert_array_equal(found, expected[name], err_msg=name, strict=True)


PROGRAMS = st.integers(0, 2).flatmap(steps)


def _settings(count: int) -> settings:
    return settings(
        max_examples=count, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )


@_settings(FEW)
@given(PROGRAMS, st.integers(0, 99))
def test_random_functions(program, number):
    _check(program, number)


@pytest.mark.slow
@seed(int(os.environ.get("IPU_RANDOM_SEED", "0")))
@settings(_settings(int(os.environ.get("IPU_RANDOM_PROGRAMS", "1000"))), derandomize=False)
@given(PROGRAMS, st.integers(0, 99))
def test_many_random_functions(program, number):
    _check(program, number)
