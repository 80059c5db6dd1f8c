"""Calls of one form after another: the same as the first, whatever form they have."""

from collections import namedtuple
from copy import copy
from dataclasses import dataclass

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.compilation import function as function_module

X = np.arange(12, dtype=np.float32).reshape(3, 4)
SMALL = ipu.Target(tiles_per_ipu=3)
Pair = namedtuple("Pair", "first second")


@ipu.register_dataclass
@dataclass
class Layer:
    weights: np.ndarray
    rate: float = 0.5


FORMS = {
    "positions": ((X, X + 1), {}),
    "names": ((X,), {"b": X + 2}),
    "names in another order": ((), {"b": X + 3, "a": X}),
    "numbers": ((X, 2.5), {}),
    "a scalar of NumPy": ((X, np.float32(2.5)), {}),
    "a tuple": (((X, X + 1), 1), {}),
    "a list": (([X, X + 1], 1), {}),
    "a dict": (({"u": X, "v": X + 1}, 1), {}),
    "a named tuple": ((Pair(X, X + 1), 1), {}),
    "a dataclass": ((Layer(X), 1), {}),
    "another constant in it": ((Layer(X, 2.0), 1), {}),
    "a part of an array": ((X[::2], X[1]), {}),
}


def _sum(value):
    """Of everything in it, each with another weight."""
    if isinstance(value, Layer):
        return value.weights * value.rate
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    return sum((place + 2) * each for place, each in enumerate(value)) if isinstance(value, tuple | list) else value


def test_every_form_is_a_program_of_its_own():
    traced = []

    @ipu.function(target=SMALL)
    def program(a, b=1.0):
        traced.append(a)
        return _sum(a) - 3 * b

    for name, (args, kwargs) in [*FORMS.items(), *FORMS.items(), *reversed(FORMS.items())]:
        expected = program._python(*args, **kwargs)
        np.testing.assert_allclose(program(*args, **kwargs), expected, rtol=1e-6, err_msg=name)
    runs = len(FORMS) * 3
    assert len(traced) == runs + len(FORMS) - 2, "names and positions are one program"


def test_constants_that_are_equal_and_not_the_same():
    program = ipu.function(target=SMALL)(lambda x, number: np.copysign(x, number))
    for number in (0.0, -0.0, 0.0, -0.0):
        np.testing.assert_array_equal(np.signbit(program(X + 1, number)), np.signbit(np.full_like(X, number)))
    double = ipu.function(target=SMALL)(lambda x, flag: x + 1 if flag is True else x * 2)
    for flag in (1, True, 1.0, True, 1):
        np.testing.assert_array_equal(double(X, flag), X + 1 if flag is True else X * 2)


def test_a_constant_that_is_not_a_number_compiles_once():
    traced = []
    program = ipu.function(target=SMALL)(lambda x, number: (traced.append(number), x * number)[1])
    for number in (float("nan"), np.nan, float("nan")):
        assert np.isnan(program(X, number)).all()
    assert len(traced) == 1


def test_results_of_further_calls_are_fresh_and_nested():
    program = ipu.function(target=SMALL)(lambda x: {"a": x + 1, "b": (x * 2, None)})
    first, second, third = (program(X + number) for number in range(3))
    for number, found in enumerate((first, second, third)):
        np.testing.assert_array_equal(found["a"], X + number + 1)
        np.testing.assert_array_equal(found["b"][0], (X + number) * 2)
        assert found["b"][1] is None


def test_results_of_unsigned_integers_keep_their_type():
    program = ipu.function(target=SMALL)(lambda x: x + np.uint8(200))
    for _ in range(3):
        np.testing.assert_array_equal(program(np.full(3, 55, np.uint8)), np.full(3, 255, np.uint8), strict=True)


def test_complex_numbers_of_further_calls():
    program = ipu.function(target=SMALL)(lambda x, y: {"sum": x + y})
    for number in range(3):
        given = X[:, 1] + 1j * number, np.complex64(2 - 3j)
        np.testing.assert_array_equal(program(*given)["sum"], (given[0] + given[1]).astype(np.complex64))


def test_an_executable_that_is_called_again():
    """In several forms, by a copy, and with what it was not compiled for."""
    program = ipu.compile(lambda a, p: (a * p["w"], a), args=[X, {"w": X}], target=SMALL)
    for exe in (program, copy(program), program):
        for number in range(3):
            calls = (exe(X, {"w": X + number}), exe(p={"w": X + number}, a=X), exe(X, p={"w": X + number}))
            for found in calls:
                np.testing.assert_array_equal(found[0], X * (X + number))
                np.testing.assert_array_equal(found[1], X)
        with pytest.raises(ipu.RunError, match="compile the program for this shape"):
            exe(X[:2], {"w": X})
        with pytest.raises(ipu.IpuError, match="cannot be part of a program"):
            exe(X, {"w": {1}})


def test_a_default_that_is_an_array():
    program = ipu.function(target=SMALL)(lambda x, w=X: x @ w.T)
    for _ in range(3):
        np.testing.assert_allclose(program(X), X @ X.T)
    np.testing.assert_allclose(program(X, X + 1), X @ (X + 1).T)


def test_arrays_from_outside_are_taken_by_value():
    outside = np.ones(4, np.float32)
    program = ipu.function(target=SMALL)(lambda x: x + outside)
    np.testing.assert_array_equal(program(X), X + 1)
    outside[:] = 5
    np.testing.assert_array_equal(program(X), X + 1)


@pytest.mark.parametrize("names", ["axis", ["axis", "how"]], ids=str)
def test_static_arguments(names):
    traced = []

    @ipu.function(target=SMALL, static_argnames=names)
    def reduced(x, axis, how="sum", *, scale=1.0):
        traced.append(axis)
        return getattr(np, how)(x, axis=axis) * scale

    for _ in range(2):
        np.testing.assert_allclose(reduced(X, 0), X.sum(0))
        np.testing.assert_allclose(reduced(X, axis=1), X.sum(1))
        np.testing.assert_allclose(reduced(X, np.int64(1), how="max"), X.max(1))
        np.testing.assert_allclose(reduced(X, axis=(0, 1), scale=np.float32(3)), X.sum() * 3, rtol=1e-6)
    assert len(traced) == 4
    exe = ipu.compile(reduced, args=[X, np.int64(1)], target=SMALL)
    np.testing.assert_allclose(exe(X, np.int64(1)), X.sum(1))
    with pytest.raises(ipu.RunError, match="argument axis: the program was compiled for the constant"):
        exe(X, 0)


def test_static_arguments_of_methods():
    class Scaled:
        def __init__(self, factor):
            self.factor = factor

        @ipu.function(target=SMALL, static_argnames="power")
        def run(self, x, power):
            return self.factor * x**power

    two, three = Scaled(2), Scaled(3)
    for layer in (two, three, two, three):
        np.testing.assert_allclose(layer.run(X, 2), layer.factor * X**2)
        np.testing.assert_allclose(layer.run(X, power=1), layer.factor * X)


BAD = [
    (lambda: ipu.function(lambda x: x, static_argnames="y"), "has no parameter 'y' to be static; it takes"),
    (lambda: ipu.function(static_argnames="n")(lambda x, n: x)(X, [1]), "n is static and a list, which cannot be"),
    (lambda: ipu.function(static_argnames="n")(lambda x, n: x)(X, X), "n is static and a ndarray"),
    (
        lambda: ipu.function(lambda x: ipu.function(static_argnames="n")(lambda x, n: x)(x, x)).trace(X),
        r"n is static, and float32\[3, 4\] is known only when the program runs",
    ),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_static_arguments_that_cannot_be(number):
    make, message = BAD[number]
    with pytest.raises(TypeError, match=message) as caught:
        make()
    assert isinstance(caught.value, ipu.IpuError)


def test_the_oldest_of_many_programs_goes(monkeypatch):
    monkeypatch.setattr(function_module, "_MOST_PROGRAMS", 3)
    traced = []
    program = ipu.function(target=SMALL)(lambda x, n: (traced.append(n), x * n)[1])
    for n in (1, 2, 3, 1, 4, 3, 1):
        np.testing.assert_array_equal(program(X, n), X * n)
    assert traced == [1, 2, 3, 4, 1]
