"""``@ipu.function``: structures in and out, constants that are compiled in, calls that compile once per shape."""

import gc
from collections import namedtuple
from functools import partial

import numpy as np
import pytest

import ipu_mlir as ipu

X = np.arange(12, dtype=np.float32).reshape(3, 4)
SMALL = ipu.Target(tiles_per_ipu=3)

Pair = namedtuple("Pair", "first second")


def test_arguments_and_results_keep_their_structure():
    @ipu.function(target=SMALL)
    def program(batch, params, *, scale=1.0):
        x, (y, z) = batch
        return {"sum": (x + y) * scale, "pair": Pair(z["a"], [params.first])}, None

    result, nothing = program((X, [X + 1, {"a": X + 2}]), Pair(X + 3, 4), scale=2.0)
    assert nothing is None
    assert isinstance(result["pair"], Pair) and isinstance(result["pair"].second, list)
    np.testing.assert_array_equal(result["sum"], (X + X + 1) * 2)
    np.testing.assert_array_equal(result["pair"].first, X + 2)
    np.testing.assert_array_equal(result["pair"].second[0], X + 3)


def test_a_call_is_compiled_once_per_shape_and_constant():
    traced = []

    @ipu.function(target=SMALL)
    def program(x, power=2):
        traced.append((x.shape, x.dtype, power))
        return x**power

    for x in (X, X + 1, X[:2], X.astype(np.int32), X):
        np.testing.assert_allclose(program(x), x**2)
    np.testing.assert_allclose(program(X, 3), X**3, rtol=1e-6)
    np.testing.assert_allclose(program(X, power=3), X**3, rtol=1e-6)
    f32, i32 = np.dtype(np.float32), np.dtype(np.int32)
    assert traced == [((3, 4), f32, 2), ((2, 4), f32, 2), ((3, 4), i32, 2), ((3, 4), f32, 3)]


def test_a_numpy_scalar_is_an_input_and_no_constant():
    traced = []

    @ipu.function(target=SMALL)
    def step(w, rate):
        traced.append(rate)
        return w - rate * w

    for rate in (0.5, 0.25):
        np.testing.assert_allclose(step(X, np.float32(rate)), X - rate * X)
    assert len(traced) == 1


def test_a_warning_says_why_a_function_is_compiled_again_and_again():
    scaled = ipu.function(target=SMALL)(lambda x, rate: x * rate)
    with pytest.warns(UserWarning, match="<lambda> was compiled 16 times.*pass numbers that change as NumPy scalars"):
        for place in range(16):
            scaled(X[0], float(place))


def test_functions_inside_functions_become_one_program():
    @ipu.function
    def inner(x, factor):
        return {"double": x * factor}

    @ipu.function
    def outer(x):
        return inner(inner(x, 2)["double"], factor=3)["double"]

    module = outer.trace(X)
    assert [op.operation.name for op in module.body.operations] == ["func.func"]
    np.testing.assert_allclose(ipu.compile(outer, args=[X], target=SMALL)(X), X * 6)


def test_constants_can_be_returned():
    exe = ipu.compile(ipu.function(lambda x: (x, X[0], 3, np.float32(1.5))), args=[X], target=SMALL)
    same, row, three, half = exe(X)
    np.testing.assert_array_equal(same, X)
    np.testing.assert_array_equal(row, X[0])
    assert (three.dtype, int(three), half.dtype, float(half)) == (np.int64, 3, np.float32, 1.5)


def test_varied_arguments():
    exe = ipu.compile(ipu.function(lambda first, *rest: first + sum(rest)), args=[X, X, X], target=SMALL)
    np.testing.assert_allclose(exe(X, X + 1, X + 2), 3 * X + 3)


def test_the_module_is_named_for_the_function_and_its_arguments():
    def forward(x, params):
        return x + params["bias"]

    traced = ipu.function(forward)
    assert (traced.__name__, traced.__doc__) == ("forward", None)
    text = traced.trace(X, {"bias": X}).operation.get_asm(enable_debug_info=True)
    assert "module @forward" in text
    assert "loc(\"params['bias']\")" in text


PROGRAM = ipu.function(lambda x, params, rate=0.5: x * params["w"] * rate)

BAD_CALLS = [
    (
        (X.astype(np.float64), {"w": X}),
        {},
        r"argument x has dtype float64, expected float32; convert it with .astype\('float32'\)",
    ),
    ((X, {"w": X[0]}), {}, r"argument params\['w'\] has shape \(4,\), expected \(3, 4\); reshape it, or compile"),
    ((X, {"v": X}), {}, "argument params: .* a dict with keys 'w', got a dict with keys 'v'"),
    ((X, {"w": 1.0}), {}, r"argument params\['w'\]: .* a tensor, got the constant 1.0"),
    ((X, {"w": X}), {"rate": 2.0}, "argument rate: .* the constant 0.5, got the constant 2.0"),
]


@pytest.mark.parametrize(("args", "kwargs", "message"), BAD_CALLS, ids=["dtype", "shape", "keys", "kind", "constant"])
def test_a_call_with_other_arguments_than_compiled_for_is_refused(args, kwargs, message):
    exe = ipu.compile(PROGRAM, args=[X, {"w": X}], target=SMALL)
    with pytest.raises(ipu.RunError, match=message):
        exe(*args, **kwargs)


def test_a_missing_argument_is_pythons_error():
    with pytest.raises(TypeError, match="missing a required argument: 'params'"):
        PROGRAM(X)


class Layer:
    """Has a traced method; what it reads from ``self`` is part of the program."""

    def __init__(self, factor):
        self.factor = factor

    @ipu.function(target=SMALL)
    def __call__(self, x, power=1):
        return self.factor * x**power

    @staticmethod
    @ipu.function(target=SMALL)
    def double(x):
        return x * 2


def test_a_method_is_compiled_for_each_instance():
    two, three = Layer(2), Layer(3)
    for layer in (two, three, two):
        np.testing.assert_array_equal(layer(X), layer.factor * X)
        np.testing.assert_array_equal(layer(X, power=2), layer.factor * X**2)
    np.testing.assert_array_equal(two.double(X), Layer.double(X))
    np.testing.assert_array_equal(ipu.compile(three.__call__, args=[X], target=SMALL)(X), 3 * X)
    np.testing.assert_array_equal(ipu.compile(two, args=[X], target=SMALL)(X), 2 * X)


def test_programs_of_an_instance_go_with_it():
    layer, traced = Layer(2), Layer.__dict__["__call__"]
    layer(X)
    before = len(traced._programs_of)
    del layer
    gc.collect()
    assert len(traced._programs_of) == before - 1


def test_a_method_compiles_once():
    traced = []

    class Counting:
        @ipu.function(target=SMALL)
        def run(self, x):
            traced.append(x.shape)
            return x + 1

    counting = Counting()
    for _ in range(3):
        counting.run(X)
    assert traced == [(3, 4)]


@pytest.mark.parametrize(
    ("given", "args"),
    [
        (np.exp, (X[0],)),
        (np.sum, (X,)),
        (np.sum, (X, 1)),
        (np.add, (X, X)),
        (np.where, (X > 3, X, X + 1)),
        (partial(np.sum, axis=0), (X,)),
        (partial(lambda a, b: a + b, b=2.0), (X,)),
        (partial(lambda a, b: a + b, 2.0), (X,)),
        (lambda x, a=1, b=2, /: x + a * b, (X, 1, 3)),
        (lambda x, a=1, *more: x + a + sum(more), (X, 1, 3, 4)),
    ],
)
def test_functions_of_numpy_and_partial_ones(given, args):
    np.testing.assert_allclose(ipu.function(target=SMALL)(given)(*args), given(*args), rtol=1e-6)


def test_a_function_is_compiled_for_the_target_that_it_names():
    x = np.ones(4, np.float32)
    one, other = (ipu.function(lambda x: x + 1, target=ipu.Target(tiles_per_ipu=tiles)) for tiles in (2, 3))
    assert ipu.compile(one, args=[x]).profile().target.tiles_per_ipu == 2
    assert ipu.compile(one, args=[x], target=ipu.Target(tiles_per_ipu=5)).profile().target.tiles_per_ipu == 5
    with pytest.raises(ipu.CompileError, match="name different targets; pass target="):
        ipu.compile({"one": one, "other": other}, args={"one": [x], "other": [x]})


def test_static_arguments_are_named_by_their_numbers_too():
    def power(x, n, times=1):
        return x**n * times

    x = np.arange(3.0, dtype=np.float32)
    by_number = ipu.jit(power, target=ipu.Target(tiles_per_ipu=4), static_argnums=(1, -1), donate_argnums=0)
    assert by_number(x, 2, 3).tolist() == [0, 3, 12]
    with pytest.raises(TypeError, match="parameter 3 is to be static; the function has 3: x, n, times"):
        ipu.jit(static_argnums=3)(power)


def test_compile_takes_static_arguments_as_well():
    def scaled(x, how, n=1):
        return x * how["by"] * n if isinstance(how, Fixed) else x

    class Fixed(dict):
        def __hash__(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride] - unlike any other dict
            return id(self)

    x, how, target = np.arange(3.0, dtype=np.float32), Fixed(by=2), ipu.Target(tiles_per_ipu=4)
    exe = ipu.compile(scaled, args=[x, how], kwargs={"n": 3}, static_argnums=1, target=target)
    assert exe(x, how, n=3).tolist() == [0, 6, 12]
    with pytest.raises(ipu.RunError, match="argument how: the program was compiled for the constant"):
        exe(x, Fixed(by=3), n=3)
    with pytest.raises(TypeError, match="has no parameter 'why' to be static; it takes"):
        ipu.compile(scaled, args=[x, how], static_argnames="why")
    with pytest.raises(ipu.CompileError, match="are for one Python function; one with"):
        ipu.compile(ipu.function(scaled), args=[x, how], static_argnums=1)


def test_shapes_of_results_are_known_without_a_run():
    found = ipu.eval_shape(lambda x: {"y": x @ x.T, "n": 2}, ipu.TensorSpec((3, 2)))
    assert found == {"y": ipu.TensorSpec((3, 3)), "n": ipu.TensorSpec((), np.int64)}
    leaves, structure = ipu.tree.flatten({"a": [np.ones(2), 1]})
    assert ipu.tree.unflatten(structure, [leaves[0] + 1])["a"][0].tolist() == [2, 2] and ipu.tree.leaves(found)
