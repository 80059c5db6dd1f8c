"""``ipu.debug``: values are shown and checked while programs run, and outside of them."""

import numpy as np
import pytest

import ipu_mlir as ipu

SMALL = ipu.Target(tiles_per_ipu=2)
X = np.array([1.5, 2], np.float32)


def shows(x):
    ipu.debug.print("x = {} at most {most}", x, most=np.max(x))
    ipu.debug.print("{n}", n=x.astype(np.uint8))
    ipu.debug.print("{}", x + np.complex64(1j))
    return x + 1


def test_values_are_shown_each_time(capfd):
    program = ipu.jit(target=SMALL)(shows)
    assert program(X).tolist() == program(X).tolist() == [2.5, 3]
    one = "x: [1.5 2. ]\nat most: 2.\nn: [1 2]\nvalue: "
    assert capfd.readouterr().err.count(one) == 2
    shows(X)
    assert capfd.readouterr().err.startswith("x: [1.5 2. ]\nat most: 2.")


@pytest.mark.parametrize(
    ("form", "values", "message"),
    [
        ("{} {}", (X,), "has more fields than the 1 values"),
        ("{}", (X, X), "has fewer fields than there are values"),
        ("{:.3f}", (X,), "a field is {} or {name}"),
        ("{y}", (X,), "a field is {} or {name}"),
        ("{} after", (X,), "text after the last field"),
    ],
)
def test_a_form_that_does_not_fit_is_refused(form, values, message):
    with pytest.raises(TypeError, match=message):
        ipu.debug.print(form, *values)
    with pytest.raises(TypeError, match=message):
        ipu.compile(lambda *xs: (ipu.debug.print(form, *xs), xs[0] + 1)[1], args=values, target=SMALL)


def checked(x):
    ipu.debug.check(x < 5, "x is small")
    ipu.debug.check_finite({"a": (x, np.arange(2))}, "state")
    return x * 2


@pytest.mark.parametrize("run", [checked, ipu.function(target=SMALL)(checked)], ids=["eager", "traced"])
def test_a_check_that_fails_ends_the_run(run):
    assert run(X).tolist() == [3, 4]
    with pytest.raises(ipu.RunError, match="x is small"):
        run(X * 10)
    with pytest.raises(ipu.RunError, match=r"state.*'a'.*is not finite"):
        run(np.array([-np.inf, 0], np.float32))


def test_both_executors_check():
    exe = ipu.compile(checked, args=[X], target=SMALL)
    with pytest.raises(ipu.RunError, match="x is small"):
        exe.run_per_tile([X * 10])
