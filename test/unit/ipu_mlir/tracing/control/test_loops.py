"""Loops on traced values: as on arrays, in both executors."""

import traceback
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import ipu_mlir as ipu

X = np.arange(12, dtype=np.float32).reshape(3, 4) / 8
N = np.int32(27)
F32, I32 = np.dtype(np.float32), np.dtype(np.int32)
State = namedtuple("State", "value steps")


@ipu.register_dataclass
@dataclass
class Momentum:
    """What a loop carries in these tests."""

    weights: np.ndarray
    speed: np.ndarray
    name: str = "sgd"


def _collatz(n):
    state = ipu.while_loop(
        lambda s: s.value != 1,
        lambda s: State(np.where(s.value % 2 == 0, s.value // 2, 3 * s.value + 1), s.steps + np.int32(1)),
        State(n, np.int32(0)),
    )
    return state.steps


def _descent(x):
    def step(i, state):
        gradient = 2 * state.weights - 1
        speed = state.speed * np.float32(0.5) - gradient * np.float32(0.1)
        return Momentum(state.weights + speed, speed)

    done = ipu.fori_loop(0, 5, step, Momentum(x, np.zeros_like(x)))
    assert done.name == "sgd"
    return [done.weights, done.speed]


def _uses_outer_values(x):
    y = x * 2

    def body(i, c):
        z = y + i.astype(np.float32)
        return ipu.fori_loop(0, 3, lambda j, d: d + z * j.astype(np.float32), c) * np.float32(0.5)

    return ipu.fori_loop(1, 4, body, x)


def _carries_a_dict(x):
    start = {"a": x, "b": (x[0], None), "n": 0}
    done = ipu.fori_loop(0, 3, lambda i, c: {"n": c["n"] + i, "b": (c["a"][1], None), "a": c["a"] + c["b"][0]}, start)
    return [done["a"], done["b"][0], done["n"].astype(np.int32)]


PROGRAMS = {
    "while over numbers": (_collatz, (N,)),
    "while over tensors": (lambda x: ipu.while_loop(lambda c: np.max(c) < 100, lambda c: c * 3 + 1, x), (X,)),
    "while that never runs": (lambda x: ipu.while_loop(lambda c: np.sum(c) > 1e6, lambda c: c + 1, x), (X,)),
    "while on a float": (lambda x: ipu.while_loop(lambda c: c, lambda c: c - 1, x), (np.float32(3),)),
    "while of at most so many iterations": (
        lambda x, n: (
            ipu.while_loop(lambda c: np.max(c) < 100, lambda c: c * 3 + 1, x, maximum_iterations=2),
            ipu.while_loop(lambda c: c < 5, lambda c: c + 1, n, maximum_iterations=n),
            ipu.while_loop(lambda c: c < 5, lambda c: c + 1, n, 7),
            ipu.while_loop(lambda c: c < 5, lambda c: c + 1, n, 0),
        ),
        (X, np.int32(1)),
    ),
    "fori": (lambda x: ipu.fori_loop(0, 4, lambda i, c: c * 2 + i.astype(np.float32), x), (X,)),
    "fori between traced bounds": (
        lambda x, n: ipu.fori_loop(n - 2, n, lambda i, c: c + i.astype(np.float32), x),
        (X, np.int32(5)),
    ),
    "fori that never runs": (lambda x, n: ipu.fori_loop(n, 2, lambda i, c: c + 1, x), (X, np.int32(5))),
    "fori with a dataclass": (_descent, (X,)),
    "nested, with values from outside": (_uses_outer_values, (X,)),
    "a dict with None and a number": (_carries_a_dict, (X,)),
    "up to an unsigned bound": (lambda n: ipu.fori_loop(0, n, lambda i, c: c + i, 0), (np.uint64(5),)),
    "rows at the counter": (lambda x: ipu.fori_loop(0, 3, lambda i, c: c + x[i] * x[2 - i], x[0]), (X,)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_on_arrays(agrees, name):
    function, arrays = PROGRAMS[name]
    agrees(function, *arrays, tolerance=1e-6, per_tile=True)


def test_a_counted_loop_is_a_for():
    text = str(ipu.function(lambda x: ipu.fori_loop(0, 3, lambda i, c: c + 1, x)).trace(X))
    assert "scf.for" in text and "scf.while" not in text and "execute_region" not in text


def test_a_counter_is_an_index_as_it_is():
    """What begins at 0 need not be counted from the end."""
    text = str(ipu.function(lambda x: ipu.fori_loop(0, 3, lambda i, c: c + x[i], x[0])).trace(X))
    assert "tensor.extract_slice" in text and "arith.select" not in text
    assert "arith.select" in str(ipu.function(lambda x: ipu.fori_loop(-1, 2, lambda i, c: c + x[i], x[0])).trace(X))


def test_what_follows_from_counters_stays_outside_of_tensors():
    """No vertex computes it, and no tile has to hand it to the control flow."""
    text = str(ipu.function(lambda x: ipu.fori_loop(0, 3, lambda i, c: c + x[(2 * i + 1) % 3], x[0])).trace(X))
    assert text.count("linalg.generic") == 1 and "tensor.extract %" not in text


def test_a_python_number_gets_the_type_that_the_body_gives():
    def types(start, update):
        text = ipu.function(lambda x: ipu.fori_loop(0, 3, lambda i, c: update(c, x), start)).trace(X)
        return text.body.operations[0].type.results[0]

    assert str(types(0.0, lambda c, x: c + np.sum(x))) == "tensor<f32>"
    assert str(types(0, lambda c, x: c + np.sum(x))) == "tensor<f32>"
    assert str(types(0, lambda c, x: c + 1)) == "tensor<i32>"
    assert str(types(0, lambda c, x: c + np.argmax(x))) == "tensor<i64>"
    assert str(types(0j, lambda c, x: c + np.sum(x))) == "tensor<2xf32>", "a pair of real and imaginary part"
    bf16 = np.dtype("bfloat16")
    assert str(types(0, lambda c, x: c + np.sum(x.astype(bf16)))) == "tensor<bf16>"
    assert str(types(False, lambda c, x: c | np.any(x > 0))) == "tensor<i1>"


def _closes_over(kept):
    def body(i, c):
        kept.append(c)
        return c + 1

    return body


BAD = {
    "type": (
        lambda x: ipu.fori_loop(0, 3, lambda i, c: {"w": c["w"].astype(np.float64) * i}, {"w": x}),
        TypeError,
        r"fori_loop: the carried value\['w'\] comes in as float32\[3, 4\] and the body gives float64\[3, 4\]; "
        r"use .astype\(np.float32\) in it",
    ),
    "shape": (
        lambda x: ipu.fori_loop(0, 3, lambda i, c: (c[0][:2],), (x,)),
        ValueError,
        r"the carried value\[0\] comes in as float32\[3, 4\] and the body gives float32\[2, 4\]; all iterations",
    ),
    "structure": (
        lambda x: ipu.fori_loop(0, 3, lambda i, c: [c[0]], (x, x)),
        TypeError,
        "the carried value was a tuple of 2, and becomes a list of 1; give the same",
    ),
    "nothing": (
        lambda x: ipu.fori_loop(0, 3, lambda i, c: None, x),
        TypeError,
        "the carried value was a tensor, and becomes None; give a tensor",
    ),
    "constant": (
        lambda x: ipu.fori_loop(0, 3, lambda i, c: (c[0], "b"), (x, "a")),
        TypeError,
        r"the carried value\[1\] was 'a', and becomes the constant 'b'; give the same",
    ),
    "bound": (
        lambda x: ipu.fori_loop(0, x, lambda i, c: c, x),
        TypeError,
        r"a bound is one integer, got float32\[3, 4\]",
    ),
    "rounds": (
        lambda x: ipu.while_loop(lambda c: False, lambda c: c, x, maximum_iterations=2.5),
        TypeError,
        "while_loop of at most 2.5 rounds: a bound is one integer, got 2.5",
    ),
    "condition": (
        lambda x: ipu.while_loop(lambda c: c > 0, lambda c: c - 1, x),
        TypeError,
        r"cond_fun gives <traced bool\[3, 4\]>, and one bool or number is needed; use np.any, np.all",
    ),
    "spec": (
        lambda x: ipu.fori_loop(0, 3, lambda i, c: c, ipu.TensorSpec(3)),
        TypeError,
        "is a spec; loops and branches",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_refused(name):
    function, kind, message = BAD[name]
    with pytest.raises(kind, match=message) as caught:
        ipu.function(function).trace(X)
    assert isinstance(caught.value, ipu.IpuError) and caught.value.place.file == __file__


def test_an_error_in_a_body_ends_at_its_line():
    def program(x):
        return ipu.fori_loop(0, 3, body, x)

    def body(i, c):
        return ipu.cond(i > 1, lambda: inner(c), lambda: c)

    def inner(c):
        return c @ c

    with pytest.raises(ValueError, match=r"matmul of float32\[3, 4\]") as caught:
        ipu.function(program).trace(X)
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names[-4:] == ["program", "body", "<lambda>", "inner"]


@pytest.mark.parametrize(
    "program",
    [
        lambda x: ipu.fori_loop(0, 3, lambda c: c, x),
        lambda x: ipu.cond(x[0, 0] > 0, lambda a: a, lambda: x),
        lambda x: ipu.vmap(lambda a, b: a)(x),
        lambda x: ipu.vmap(lambda a, b, c: a)(x, c=x),
        lambda x: ipu.scan(lambda c: c, x[0], x),
        lambda x: ipu.associative_scan(lambda c: c, x),
        lambda x: ipu.while_loop(lambda: True, lambda c: c, x),
    ],
)
def test_a_function_that_takes_other_arguments(program):
    with pytest.raises(
        TypeError, match=r"calls .* with \d arguments?: (too many positional|missing a required)"
    ) as caught:
        ipu.function(program).trace(X)
    assert isinstance(caught.value, ipu.IpuError) and caught.value.place.file == __file__


@pytest.mark.parametrize(
    "use",
    [
        lambda c, x: c + x,
        lambda c, x: ipu.fori_loop(0, 3, lambda i, d: c, x),
        lambda c, x: ipu.cond(x[0, 0] > 0, lambda: c, lambda: x),
        lambda c, x: ipu.scan(lambda d, r: (d, c), x, x)[1],
        lambda c, x: ipu.vmap(lambda r: r)(c),
    ],
)
def test_a_value_of_a_body_does_not_leave_it(use):
    def program(x):
        kept = []
        ipu.fori_loop(0, 3, _closes_over(kept), x)
        return use(kept[0], x)

    with pytest.raises(ValueError, match="used after its function has ended"):
        ipu.function(program).trace(X)


def test_a_body_that_failed_leaves_nothing_behind():
    def program(x):
        try:
            ipu.fori_loop(0, 3, lambda i, c: c @ c, x)
        except ValueError:
            return x + 1

    exe = ipu.compile(ipu.function(program), args=[X], target=ipu.Target(tiles_per_ipu=3))
    np.testing.assert_array_equal(exe(X), X + 1)


def test_a_dataclass_that_cannot_be_registered():
    with pytest.raises(TypeError, match="takes a dataclass, got"):
        ipu.register_dataclass(int)
