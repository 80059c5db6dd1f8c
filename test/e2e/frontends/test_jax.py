"""Programs of JAX: their results are those of JAX, in its structures and arrays."""

import math
import pickle
from functools import partial

import numpy as np
import pytest

import ipu_mlir as ipu

jax = pytest.importorskip("jax")
jnp = jax.numpy
io_callback = pytest.importorskip("jax.experimental").io_callback
TARGET = ipu.Target(tiles_per_ipu=16)


def assert_same(found, expected, atol: float = 1e-5) -> None:
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert isinstance(one, jax.Array) and one.dtype == other.dtype and one.shape == other.shape
        if jnp.issubdtype(one.dtype, jax.dtypes.prng_key):
            one, other = jax.random.key_data(one), jax.random.key_data(other)
        if jnp.issubdtype(one.dtype, jnp.inexact):
            np.testing.assert_allclose(one, other, atol=atol, rtol=1e-5)
        else:
            np.testing.assert_array_equal(one, other)


def check(function, *args, atol: float = 1e-5, **kwargs) -> ipu.Executable:
    exe = ipu.compile(function, args=args, kwargs=kwargs, target=TARGET)
    assert_same(exe(*args, **kwargs), function(*args, **kwargs), atol)
    return exe


def test_arguments_and_results_are_pytrees():
    def f(params, xs):
        return {"sum": params["w"] @ xs[0] + params["b"], "rest": (xs[1] * 2, None)}

    params = {"w": jnp.arange(12.0).reshape(3, 4), "b": jnp.ones((3, 5))}
    exe = check(f, params, [jnp.ones((4, 5)), jnp.arange(3)])
    assert exe.placements()  # names every result
    with pytest.raises(ipu.RunError, match="the program was compiled for"):
        exe(params, [jnp.ones((4, 5))])
    with pytest.raises(ipu.RunError, match=r"argument args\[1\]\[1\] has dtype float32, expected int32"):
        exe(params, [jnp.ones((4, 5)), jnp.ones(2)])


def test_static_arguments_are_part_of_the_program():
    @partial(jax.jit, static_argnums=1, static_argnames="mode")
    def f(x, n, *, mode="plain", unused=None):
        return x**n if mode == "plain" else -(x**n)

    exe = check(f, jnp.arange(4.0), 3, mode="turned", unused=jnp.ones(2))
    with pytest.raises(ipu.RunError, match="static argument 1 is 2, the program was compiled for 3"):
        exe(jnp.arange(4.0), 2, mode="turned", unused=jnp.ones(2))
    exe = ipu.compile(f.__wrapped__, args=[jnp.arange(4.0), 3], static_argnums=1, target=TARGET)
    assert_same(exe(jnp.arange(4.0), 3), f(jnp.arange(4.0), 3))
    with pytest.raises(ipu.RunError, match="static argument 1 is 2, the program was compiled for 3"):
        exe(jnp.arange(4.0), 2)


def test_shapes_are_enough_to_compile():
    exe = ipu.compile(lambda x: x + 1, args=[jax.ShapeDtypeStruct((3,), jnp.int32)], target=TARGET)
    assert_same(exe(jnp.arange(3)), jnp.arange(3) + 1)
    exe = ipu.compile(jax.jit(lambda x: x + 1), args=[ipu.TensorSpec((3,), "int32")], target=TARGET)
    assert_same(exe(jnp.arange(3)), jnp.arange(3) + 1)


def test_arrays_of_64_bits_are_narrowed_as_jax_does_it():
    wide = [np.ones(3), np.arange(3), np.ones(3, complex)]
    double = jax.jit(lambda given, kept: ([x * 2 for x in given], kept + 1))
    exe = ipu.compile(double, args=[wide, jnp.ones(3)], target=TARGET)
    for given in (wide, list(map(jnp.asarray, wide))):
        assert_same(exe(given, jnp.ones(3)), double(given, jnp.ones(3)))
    with pytest.raises(ipu.RunError, match="int64, expected int32"):
        exe([wide[0], wide[1] + 2**40, wide[2]], jnp.ones(3))
    with pytest.raises(ipu.RunError, match="float64, expected float32"):
        exe(wide, np.ones(3))


def test_exports_are_programs_too(tmp_path):
    exported = jax.export.export(jax.jit(lambda x: (jnp.sin(x), x.sum())))(jnp.ones((4,)))
    x = jnp.arange(4.0)
    exe = ipu.compile(exported, target=TARGET)
    assert_same(exe(x), (jnp.sin(x), x.sum()))
    artifact = ipu.compile(exported.mlir_module_serialized, target=TARGET)
    np.testing.assert_allclose(artifact(x)[0], np.sin(x), atol=1e-6)
    text = jax.jit(lambda x: (jnp.sin(x), x.sum())).lower(x).as_text()
    np.testing.assert_allclose(ipu.compile(text, target=TARGET)(x)[0], np.sin(x), atol=1e-6)


def test_an_executable_can_be_pickled():
    exe = ipu.compile(jnp.cumsum, args=[jnp.ones(5)], target=TARGET)
    assert_same(pickle.loads(pickle.dumps(exe))(jnp.arange(5.0)), jnp.cumsum(jnp.arange(5.0)))


def test_random_numbers_are_those_of_jax():
    def f(key):
        first, second = jax.random.split(key)
        return (
            second,
            jax.random.bits(first, (5,)),
            jax.random.normal(second, (3, 3)),
            jax.random.randint(second, (4,), -5, 5),
        )

    check(f, jax.random.key(7))


@pytest.mark.parametrize("mode", ["drop", "clip", "promise_in_bounds"])
@pytest.mark.parametrize("update", ["set", "add", "multiply", "min", "max"])
def test_updates_at_indices(update: str, mode: str):
    x, rows = jnp.arange(20.0).reshape(5, 4), jnp.array([1, 0, 4] if mode.startswith("promise") else [1, -7, 9])
    check(lambda x, i, v: getattr(x.at[i], update)(v, mode=mode), x, rows, jnp.full((3, 4), 2.5))
    check(lambda x, i, v: getattr(x.at[i, 1:3], update)(v, mode=mode), x, rows, jnp.full((3, 2), 2.5))
    check(lambda x, i, v: getattr(x.at[0, 2], update)(v, mode=mode), x, rows, 7.5)


@pytest.mark.parametrize("mode", ["fill", "clip"])
def test_elements_at_indices(mode: str):
    check(lambda x, i: x.at[i].get(mode=mode), jnp.arange(20.0).reshape(5, 4), jnp.array([3, -1, 9]))
    check(lambda x, i: jnp.take_along_axis(x, i, 1, mode=mode), jnp.arange(20.0).reshape(5, 4), jnp.ones((5, 2), int))


def test_control_flow():
    def f(x, n):
        x = jax.lax.fori_loop(0, n, lambda i, x: x + i, x)
        x = jax.lax.cond(n > 2, lambda x: x * 2, lambda x: -x, x)
        x = jax.lax.switch(n, [jnp.sin, jnp.cos, jnp.tanh], x)
        return jax.lax.scan(lambda c, y: (c + y, c * y), x, jnp.arange(4.0))

    for n in (1, 3):
        check(f, jnp.float32(0.5), n)


def test_sorts_of_several_operands():
    x = jnp.array([[3.0, 1.0, 2.0, 1.0, jnp.nan], [0.0, -0.0, 5.0, 4.0, -1.0]])
    check(lambda x: (jnp.sort(x), jnp.argsort(x, descending=True), jax.lax.top_k(x, 2), jnp.unique(x, size=4)), x)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int32", "uint8", "bool"])
def test_the_largest_elements_and_their_places(dtype):
    numbers = np.array([[0.0, -0.0, np.inf, 7, -np.inf, 1, 7], [1, 1, 0, -0.0, 1, 2, 1]], np.float32)
    x = jnp.array(numbers if "float" in dtype else np.nan_to_num(numbers, posinf=200, neginf=3), dtype)
    check(lambda x: jax.lax.top_k(x, 4), x)


def test_the_largest_of_the_largest_of_parts():
    """Of rows that are cut several times, many of whose elements are equal."""
    x = np.random.default_rng(0).integers(0, 900, (2, 4000), np.int32)
    exe = ipu.compile(lambda x: jax.lax.top_k(x, 30), args=(x,), target=ipu.Target(tiles_per_ipu=256))
    assert exe.mlir("l2").count('library_call = "top_k"') > 2
    for found in (exe(x), exe.run_per_tile([x])):
        np.testing.assert_array_equal(found[1], np.argsort(-x, -1, "stable")[:, :30])


@pytest.mark.parametrize("stride", [(2, 2), (1, 3)])
def test_transposed_convolutions_and_gradients_of_strided_ones(stride):
    def f(x, w):
        strided = jax.vjp(lambda x: jax.lax.conv_general_dilated(x, w, stride, "SAME"), x)
        return strided[1](strided[0]), jax.lax.conv_general_dilated(x, w, (1, 1), [(1, 2), (0, 3)], lhs_dilation=stride)

    keys = jax.random.split(jax.random.key(0), 2)
    check(f, jax.random.normal(keys[0], (2, 3, 5, 6)), jax.random.normal(keys[1], (4, 3, 3, 2)))


def test_a_training_step():
    def loss(params, x, labels):
        h = jax.nn.gelu(x @ params["w1"] + params["b1"])
        h = h / jnp.linalg.norm(h, axis=-1, keepdims=True)
        logits = jax.nn.log_softmax(h @ params["w2"])
        return -jnp.take_along_axis(logits, labels[:, None], 1).mean()

    def step(params, x, labels):
        value, grads = jax.value_and_grad(loss)(params, x, labels)
        return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    keys = jax.random.split(jax.random.key(0), 3)
    params = {
        "w1": jax.random.normal(keys[0], (6, 8)),
        "b1": jnp.zeros(8),
        "w2": jax.random.normal(keys[1], (8, 3)),
    }
    check(step, params, jax.random.normal(keys[2], (10, 6)), jnp.arange(10) % 3)


def test_what_cannot_be_imported_is_said():
    def f(x):
        return jax.scipy.linalg.schur(x)

    with pytest.raises(ipu.CompileError) as error:
        ipu.compile(f, args=[jnp.eye(4)], target=TARGET)
    assert 'calls "lapack_sgees_ffi", which only the framework' in str(error.value)


def calls_back(x, numbers, seen):
    def in_python(function, kind, *args):
        return jax.pure_callback(function, jax.ShapeDtypeStruct(args[0].shape, kind), *args)

    def note(i):
        seen.append(int(i))

    def body(i, total):
        jax.debug.print("{} of {:.1f}", i, total, ordered=True)
        io_callback(note, None, i, ordered=True)
        return jax.lax.cond(
            i % 2 == 0, lambda: total + in_python(lambda i: np.float32(10 * i), jnp.float32, i), lambda: total
        )

    sine, narrow = in_python(np.sin, x.dtype, x), in_python(np.negative, jnp.bfloat16, x.astype(jnp.bfloat16))
    more = in_python(lambda a: a + 1, numbers.dtype, numbers)
    return (
        jax.lax.fori_loop(0, numbers[0].astype(int), body, jnp.sum(sine)),
        more,
        narrow,
        in_python(np.logical_not, bool, x > 1),
    )


def test_calls_of_python(capsys):
    args = jnp.arange(3.0), jnp.array([4, 2**32 - 1], jnp.uint32)
    wanted: list[int] = []
    expected = jax.jit(partial(calls_back, seen=wanted))(*args)
    jax.effects_barrier()
    shown = capsys.readouterr().out
    seen: list[int] = []
    exe = ipu.compile(jax.jit(partial(calls_back, seen=seen)), args=args, target=TARGET)
    for run in (exe, exe.session()):
        assert_same(run(*args), expected)
        assert seen == wanted and capsys.readouterr().out == shown
        seen.clear()
    assert_same(ipu.compile(jax.jit(partial(calls_back, seen=seen)).lower(*args), target=TARGET)(*args), expected)


def test_calls_of_python_in_gradients_and_batches():
    def loss(x):
        jax.debug.callback(seen.append, x)
        return jnp.sum(x**2)

    def total(row):
        kind = jax.ShapeDtypeStruct((), row.dtype)
        return jax.pure_callback(lambda a: np.sum(a, -1), kind, row, vmap_method="expand_dims")

    seen: list[jax.Array] = []
    check(jax.grad(loss), jnp.arange(3.0))
    assert [np.asarray(each).tolist() for each in seen] == [[0, 1, 2]] * 2
    check(jax.vmap(total), jnp.ones((3, 5)))


def test_errors_in_calls_of_python_are_raised():
    def fails(x):
        return jax.pure_callback(lambda a: 1 // 0, x, x)

    with pytest.raises(ZeroDivisionError):
        ipu.compile(fails, args=[jnp.ones(3)], target=TARGET)(jnp.ones(3))
    with pytest.raises(ipu.IpuError, match="fails calls back to Python, which only a program of its own does"):
        ipu.compile(ipu.imported(jax.jit(fails)), args=[np.ones(3, np.float32)], target=TARGET)


def test_fourier_transforms_of_no_elements():
    def f(stack, columns):
        return jnp.fft.fft2(stack), jnp.fft.rfft(columns, axis=0), jnp.fft.irfft(stack.astype(jnp.complex64))

    check(f, jnp.ones((0, 3, 4)), jnp.ones((5, 0)))


def test_complements_of_the_error_function_keep_their_name():
    x = jnp.linspace(-3, 9, 50)
    exe = ipu.compile(lambda x: (jax.nn.gelu(x, approximate=False), jax.lax.erfc(x)), args=[x])
    text = exe.mlir("l0")
    assert text.count("math.erfc") == 2 and "math.exp" not in text
    gelu, complement = exe(x)
    exact = np.vectorize(math.erfc)(np.float64(x))
    np.testing.assert_allclose(complement, exact, rtol=1e-6)
    np.testing.assert_allclose(gelu, x - x * np.vectorize(math.erfc)(np.float64(x) * math.sqrt(0.5)) / 2, atol=1e-6)


def test_approximate_top_k_is_exact():
    def f(x):
        values, places = jax.lax.approx_max_k(x, 2)
        return values, places, jax.lax.approx_min_k(x, 3, reduction_dimension=0)

    x = jax.random.normal(jax.random.key(0), (4, 6))
    check(f, x)
    check(jax.grad(lambda x: (f(x)[0] ** 2).sum()), x)


def test_a_key_is_folded_with_a_number_of_run_time():
    check(jax.jit(jax.random.fold_in), jax.random.key(3), jnp.int32(2))


def test_symbolic_sizes_come_with_the_arguments():
    n, m = jax.export.symbolic_shape("n, m")

    def f(x, y):
        total, partial_sums = jax.lax.scan(lambda carry, row: (carry + row, carry), jnp.zeros(x.shape[1]), x)
        bits = jax.random.bits(jax.random.key(3, impl="rbg"), (y.shape[0] + 1,))
        largest, where = jax.lax.top_k(x[:, 0], (x.shape[0] + 1) // 2)
        return total, partial_sums, jnp.cumsum(x, axis=0) @ y, jax.nn.gelu(y, approximate=False), bits, largest, where

    specs = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in ((n, m), (m, 3))]
    exported = jax.export.export(jax.jit(f))(*specs)
    program = pickle.loads(pickle.dumps(ipu.compile(exported, target=TARGET)))
    rng = np.random.default_rng(0)
    for rows, columns in ((1, 1), (5, 2)):
        x, y = (
            jnp.array(rng.normal(size=(rows, columns)), "float32"),
            jnp.array(rng.normal(size=(columns, 3)), "float32"),
        )
        assert_same(program(x, y), f(x, y))
    with pytest.raises(ipu.CompileError, match=r"args\[1\]\.shape\[0\] \(= 3\) and the specification 'm' \(= 2\)\n"):
        program(jnp.ones((2, 2)), jnp.ones((3, 3)))
    with pytest.raises(ipu.RunError, match=r"argument args\[1\] has shape \(2, 4\), expected \(\?, 3\); reshape"):
        program(jnp.ones((2, 2)), jnp.ones((2, 4)))


def test_functions_are_compiled_for_symbolic_sizes():
    (n,) = jax.export.symbolic_shape("n", constraints=["n >= 2"])
    program = ipu.compile(
        lambda x: {"rest": x[1:] + 1j}, args=[jax.ShapeDtypeStruct((n,), jnp.complex64)], target=TARGET
    )
    x = jnp.arange(4) * (1 - 2j)
    assert_same(program(x), {"rest": x[1:] + 1j})
    with pytest.raises(ipu.CompileError, match="n >= 2"):
        program(x[:1])


@pytest.mark.parametrize("dtype", ["uint8", "uint32", "complex64", "int16"])
def test_a_program_without_ops_has_arguments_of_any_type(dtype: str):
    x = jnp.arange(4).astype(dtype)
    check(lambda x: x, x)
    check(lambda x, y: (y, {"x": x}), x, jnp.ones(2))


def wrapped(numbers: np.ndarray, dtype: str) -> np.ndarray:
    """The lowest bits of integers, with their sign."""
    size = 2 ** int(dtype[-1])
    low = numbers % size
    return np.where(low < size // 2, low, low - size) if dtype.startswith("i") else low


@pytest.mark.parametrize("dtype", ["int4", pytest.param("uint2", marks=pytest.mark.slow)])
def test_integers_of_few_bits_are_those_of_wide_ones(dtype: str):
    numbers = wrapped(np.arange(2 ** int(dtype[-1])), dtype)
    x, y = (each.reshape(-1) for each in np.meshgrid(numbers, numbers[numbers != 0]))

    def computed(x, y, floats):
        bits = x + y, x * y, -x, x & ~y, jnp.maximum(x, y), jnp.sort(x)[::3]
        return *bits, jax.lax.div(x, y), jax.lax.rem(x, y), x < y, x.astype(jnp.float32), floats.astype(x.dtype)

    floats, few = np.linspace(-20, 20, 23, dtype=np.float32), (x.astype(dtype), y.astype(dtype))
    found = ipu.compile(jax.jit(computed), args=[*few, floats], target=TARGET)(*few, floats)
    for one, other in zip(found[:-1], computed(jnp.asarray(x), jnp.asarray(y), floats)[:-1], strict=True):
        expected = wrapped(np.asarray(other), dtype) if one.dtype == dtype else other
        np.testing.assert_array_equal(np.asarray(one).astype(float), expected)
    np.testing.assert_array_equal(
        np.asarray(found[-1]).astype(int), np.clip(np.trunc(floats), numbers.min(), numbers.max())
    )


def test_complex_elements_are_combined_by_any_function():
    def combined(c):
        places = jnp.array([1, 1, 3])
        return c.at[places].multiply(2 + 1j), c.at[1:4].divide(3 - 1j), jnp.max(c, 0), c.at[places].add(1j)

    check(
        combined,
        jnp.asarray(np.random.default_rng(0).standard_normal((5, 3, 2)), jnp.float32).view(jnp.complex64)[..., 0],
    )


def test_a_plain_function_may_return_an_array_of_jax():
    np.testing.assert_array_equal(
        ipu.compile(lambda: jnp.arange(3) * 2, target=ipu.Target(tiles_per_ipu=4))(), [0, 2, 4]
    )


def test_of_many_updates_of_an_element_the_last_one_stays():
    places = jnp.arange(1100) * 37 % 90 - 3  # some outside, each several times
    arrays = jnp.ones((80, 3)), jnp.arange(3300.0).reshape(1100, 3)

    def updated(x, rows):
        return x.at[places].set(rows), x.at[places, places // 40].set(rows[:, 1])

    exe = ipu.compile(updated, args=arrays, target=ipu.Target(tiles_per_ipu=16))
    assert exe.mlir("l2").count("scatter_max") >= 2 and "scatter_set" not in exe.mlir("l2")
    for found in (exe(*arrays), exe.run_per_tile([np.asarray(array) for array in arrays])):
        for one, other in zip(found, updated(*arrays), strict=True):
            np.testing.assert_array_equal(one, other)


def test_updates_of_boxes_are_updates_of_slices():
    boxes = [np.s_[1::3], np.s_[1:-1, 2:-2], np.s_[::2, 3], np.s_[::-1, ::2], np.s_[-1], np.s_[:, np.arange(3, 6)]]

    def updated(x):
        return [x.at[box].add(x[box] * 2) * x.at[box].set(1) for box in boxes]

    x = jnp.arange(9.0 * 7).reshape(9, 7)
    assert "scatter" not in check(updated, x).mlir("l2")
    assert "scatter" in check(lambda x: x.at[np.array([2, 2])].add(1), x).mlir("l2")


def test_calls_of_libraries_that_jax_does_not_export_are_named():
    from jax.experimental import sparse

    matrix = sparse.BCSR.fromdense(np.eye(3, dtype=np.float32))
    with pytest.raises(ipu.CompileError, match='calls "cpu_csr_sparse_dense_ffi", which only'):
        ipu.compile(lambda matrix, x: matrix @ x, args=[matrix, jnp.ones(3)])
