"""Errors of tracing name the user's line, what was found there, and the way out."""

import inspect
import pickle
import traceback

import numpy as np
import pytest

import ipu_mlir as ipu

X = ipu.TensorSpec((4, 6), np.float32)
I = ipu.TensorSpec((4,), np.int32)  # noqa: E741
U = np.zeros(3, np.uint8)


def _truth(x):
    return 1 if x > 0 else 2


def _assign(x):
    x[0] = 1


def _assign_augmented(x):
    x[0] += 1


def _add_into_an_array(x):
    total = np.zeros((4, 6))
    total += x


CASES = [
    (lambda x: x + np.ones(5, np.float32), X, ValueError, r"\(4, 6\) and \(5,\) do not broadcast.*\[..., None\]"),
    (lambda x: x @ x, X, ValueError, r"float32\[4, 6\] and float32\[4, 6\]: the inner sizes 6 and 4 differ.*x\.mT"),
    (lambda x: x @ 3, X, ValueError, "cannot be multiplied as a matrix"),
    (lambda x: np.einsum("ij,jk->ik", x, x), X, ValueError, "dimension 'j' has the sizes 6 and 4"),
    (lambda x: np.einsum("ii->i", x), X, ValueError, "'i' has the sizes 4 and 6"),
    (lambda x: np.einsum("...ijk->i", x), X, ValueError, "names 3 dimensions of float32"),
    (lambda x: np.einsum("i->i", x), X, ValueError, "names 1 dimension of float32"),
    (lambda x: np.einsum("ij,jk->ik", x), X, ValueError, "subscripts for 2 operands, got 1"),
    (lambda x: np.einsum("ij->ijk", x), X, ValueError, "'k', which no operand has"),
    (lambda x: x.reshape(5, 5), X, ValueError, r"cannot reshape \(4, 6\) with 24 elements to \(5, 5\)"),
    (lambda x: x.sum(axis=2), X, IndexError, "axis 2 is out of range for a tensor of 2 dimensions; use -2 .. 1"),
    (lambda x: x.sum().sum(axis=0), X, IndexError, "axis 0 is out of range for a tensor of 0 dimensions; leave the"),
    (lambda x: x.sum(axis=(0, 0)), X, ValueError, "name one axis twice"),
    (lambda x: x.transpose(0), X, ValueError, "not each of its 2 axes once"),
    (lambda x: np.squeeze(x, 0), X, ValueError, "axis 0 has size 4, not 1"),
    (lambda x: np.broadcast_to(x, (4, 5)), X, ValueError, r"does not broadcast to \(4, 5\)"),
    (lambda x: np.concatenate([x, x[0]]), X, ValueError, r"float32\[4, 6\] and float32\[6\].*have to be equal"),
    (lambda x: np.split(x, 5), X, ValueError, "does not divide into 5"),
    (lambda x: np.pad(x, -1), X, ValueError, "not negative"),
    (lambda x: np.pad(x, 1, "reflect", reflect_type="odd"), X, TypeError, "reflect_type='odd' is not supported; 'con"),
    (lambda x: x[4], X, IndexError, "4 is out of range for axis 0 with size 4"),
    (lambda x: x[0, 0, 0], X, IndexError, "3 indices for 2 dimensions"),
    (lambda x: x[1.5], X, TypeError, "float 1.5 is no index"),
    (lambda x: x[x > 0], X, TypeError, "bool.*not known while tracing.*np.where"),
    (lambda x: x[x.sum() :], X, TypeError, "not known while tracing; use ipu.dynamic_slice"),
    (lambda x: x & 1, X, TypeError, r"bitwise_and is not defined for float32\[4, 6\] and 1.*astype"),
    (lambda x: (x > 0) - (x < 0), X, TypeError, "subtract is not defined for bool"),
    (lambda i: i**-1, I, ValueError, "negative power -1.*astype"),
    (lambda i: i.astype(np.int8) + 300, I, ValueError, "300 does not fit into int8"),
    (lambda x: x * "a", X, TypeError, r"np.multiply of float32\[4, 6\] and the str 'a': give a number or a tensor"),
    (lambda x: None - x, X, TypeError, "and the NoneType None: give a number or a tensor"),
    (lambda x: x + np.datetime64(1, "s"), X, TypeError, "element type datetime64.* is not supported; use bool, int8"),
    (lambda x: x.flatten(kind="F"), X, TypeError, r"\.flatten while tracing: .*unexpected keyword argument 'kind'"),
    (lambda x: x.sum(axis="a"), X, ValueError, r"sum of float32\[4, 6\]: invalid literal for int"),
    (lambda x: np.round(x, {}), X, TypeError, "np.round while tracing: .*not supported between"),
    (lambda x: np.tensordot(x.sum(), x, 1), X, IndexError, "they do not both have 1 axes"),
    (lambda x: np.sum(x, dtype=np.clongdouble), X, TypeError, "complex256 is not supported; use bool, int8"),
    (lambda x: np.zeros_like(x, "S3"), X, TypeError, "is not supported; use bool, int8"),
    (lambda x: np.tril(x.sum()), X, TypeError, "np.tril while tracing: tri"),
    (lambda x: x.sort(), X, AttributeError, r"has no sort while tracing; x stays as it is; np.sort\(x\) gives"),
    (lambda x: x.cumsums, X, AttributeError, r"float32\[4, 6\] has no cumsums while .* similar name there are cumsum"),
    (lambda x: x.no_such_thing, X, AttributeError, "compute it outside of the traced function, on arrays$"),
    (lambda x: np.unique(x), X, TypeError, "its shape would depend on values"),
    (lambda x: np.roll(x, (1, 2), (0, 1, 0)), X, ValueError, r"the shifts \(1, 2\) do not go with the axes"),
    (lambda x: np.einsum(x, [0, 99]), X, TypeError, "einsum takes text.*a list of numbers from 0 to 51"),
    (lambda x: np.einsum(x), X, TypeError, "einsum takes text"),
    (lambda x: np.sum(x, words=2), X, TypeError, "unexpected keyword argument 'words'"),
    (
        lambda x: np.sum(x, 0, None, None, None, None, None, 7),
        X,
        TypeError,
        r"sum\(\) takes from 1 to 7 .*8 were given",
    ),
    (lambda x: np.split(x, 0), X, ValueError, "np.split while tracing: integer modulo by zero"),
    (lambda x: np.repeat(x, -1), X, ValueError, "a tensor cannot have the shape"),
    (lambda x: np.select(3, x), X, TypeError, "'int' object is not iterable"),
    (lambda x: np.frexp(x * 1j), X, TypeError, "complex64.*: the function is one of real numbers; use x.real"),
    (lambda x: np.triu_indices_from([x, x]), X, TypeError, "'list' object has no attribute 'ndim'"),
    (lambda x: np.add(x), X, TypeError, r"add\(\) takes from 2 to 3 positional arguments but 1 was given"),
    (lambda x: np.zeros(x.sum()), X, TypeError, r"got '<traced float32\[\]>'"),
    (lambda x: np.sum(x, out=np.zeros(())), X, TypeError, r"nothing is written in place \(out=\); write y = np.sum"),
    (lambda x: np.quantile(x, 0.5, weights=x), X, TypeError, "got an unexpected keyword argument 'weights'"),
    (lambda x: np.add(x, 1, out=x), X, TypeError, "nothing is written in place.*write y = y"),
    (lambda x: np.add(x, 1, where=x > 0), X, TypeError, "np.add while tracing: where= leaves elements without a value"),
    (lambda x: np.add(x, 1, subok=False), X, TypeError, "np.add while tracing: subok= is not supported"),
    (_add_into_an_array, X, TypeError, "nothing is written in place"),
    (lambda x: np.subtract.accumulate(x), X, TypeError, "np.subtract.accumulate is not supported.*others need a loop"),
    (lambda x: np.add.at(x, [0], 1), X, TypeError, "np.add.at while tracing: .* write x = x.at\\[i\\].add\\(y\\)"),
    (lambda x: np.sin.at(x, [0]), X, TypeError, "np.sin.at while tracing: .* write a loop"),
    (lambda x: np.subtract.reduce(x), X, TypeError, "np.subtract.reduce is not supported while tracing; those of sum"),
    (lambda x: np.add.reduceat(x, [0, 1]), X, TypeError, "np.add.reduceat is not supported.*with np.where, or a loop"),
    (lambda x: np.gcd(x, 2), X, TypeError, "np.gcd of float32: give integers"),
    (lambda x: np.isnat(x), X, TypeError, "np.isnat is not supported while tracing; supported are absolute"),
    (lambda x: np.where(x), X, TypeError, "np.where while tracing: missing a required argument: 'x'"),
    (_truth, X, TypeError, "truth value of bool.*np.where.*ipu.cond.*ipu.while_loop instead of while"),
    (lambda x: [x for _ in range(np.argmax(x))], X, TypeError, r"use ipu.fori_loop\(0, n, f, x\) instead of for"),
    (lambda x: float(x.sum()), X, TypeError, "is no number while tracing"),
    (lambda x: f"{x.sum():.3f}", X, TypeError, "has no digits while tracing, so the format '.3f' does not apply"),
    (lambda x: x.item(), X, TypeError, "is no number while tracing"),
    (lambda x: pickle.dumps(x), X, TypeError, "cannot be pickled while tracing"),
    (lambda x: np.asarray(x), X, TypeError, "becomes no array while tracing"),
    (lambda x: np.eye(3)[x.astype(np.int32)], X, TypeError, r"np.take\(table, x, axis=0\) is table\[x\]"),
    (_assign, X, TypeError, "cannot be assigned to in place; use x = x.at"),
    (_assign_augmented, X, TypeError, "cannot be assigned to in place"),
    (lambda x: 1 in x, X, TypeError, r"np.any\(x == value\)"),
    (lambda x: list(x.sum()), X, TypeError, "no dimension to iterate over"),
    (lambda x: len(x.sum()), X, TypeError, "has no length"),
    (lambda x: {1, 2}, X, TypeError, "returns a set; return tensors"),
    (lambda x: ipu.nn.one_hot(x, 3), X, TypeError, "labels have to be integers; use astype"),
    (lambda x: ipu.nn.cross_entropy(x, np.zeros((4, 2))), X, ValueError, r"labels of shape \(4, 2\) are neither"),
    (lambda x: ipu.place(x, tile=1, tiles=range(3)), X, TypeError, "exactly one of mapping, tile= and tiles="),
    (lambda x: ipu.place(x, tiles=range(0, 8, 2)), X, ValueError, "consecutive tiles"),
    (lambda x: ipu.place(x, ipu.Mapping(3)), X, ValueError, "is for 3 elements, the tensor has 24"),
    (lambda x: ipu.place(U, tile=1), X, TypeError, "takes a traced tensor, got ndarray"),
]


@pytest.mark.parametrize(("function", "spec", "kind", "message"), CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_the_error_names_the_line_and_the_way_out(function, spec, kind, message):
    with pytest.raises(kind, match=message) as caught:
        ipu.function(function).trace(spec)
    assert isinstance(caught.value, ipu.CompileError)
    first = inspect.getsourcelines(function)[1]
    assert caught.value.place.file == __file__
    assert caught.value.place.line in range(first, first + 3)
    assert str(caught.value).startswith(f"{__file__}:{caught.value.place.line}: ")


def test_the_traceback_ends_at_the_users_line():
    def program(x):
        return helper(x)

    def helper(x):
        return x @ x

    with pytest.raises(ipu.CompileError) as caught:
        ipu.function(program).trace(X)
    assert [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)][-2:] == ["program", "helper"]


def test_an_environment_variable_shows_all_frames(monkeypatch):
    monkeypatch.setenv("IPU_MLIR_FULL_TRACEBACK", "1")
    with pytest.raises(ipu.CompileError) as caught:
        ipu.function(lambda x: x @ x).trace(X)
    assert "contractions.py" in traceback.extract_tb(caught.value.__traceback__)[-1].filename


def test_a_tensor_of_another_call_is_refused():
    kept = []

    @ipu.function
    def keeps(x):
        kept.append(x)
        return x

    keeps.trace(X)
    with pytest.raises(ValueError, match="used after its function has ended"):
        ipu.function(lambda x: x + kept[0]).trace(X)
    with pytest.raises(TypeError, match="of another traced call"):
        ipu.function(lambda x: kept[0]).trace(X)


def test_ops_carry_the_users_line_and_a_name():
    def program(x):
        y = x + 1
        return np.tanh(y)

    first = inspect.getsourcelines(program)[1]
    text = ipu.function(program).trace(X).operation.get_asm(enable_debug_info=True)
    assert f'"{__file__}":{first + 1}:13' in text
    assert f'"{__file__}":{first + 2}:16' in text
    assert 'loc("np.tanh"' in text


def test_an_argument_of_an_unsupported_type_is_refused():
    with pytest.raises(TypeError, match=r"test_errors.py:\d+: element type object is not supported; give an array"):
        ipu.function(lambda x: x).trace(np.array([None]))


def test_a_tensor_that_outlives_its_function():
    kept = []
    ipu.function(lambda x: (kept.append(x), x)[1]).trace(X)
    (x,) = kept
    for use in (lambda: x + 1, lambda: np.exp(x), lambda: x[0], lambda: x.sum(), lambda: ipu.nn.relu(x)):
        with pytest.raises(ValueError, match="used after its function has ended"):
            use()


def test_an_attribute_that_arrays_have_can_be_asked_for():
    seen = []
    ipu.function(lambda x: (seen.append((hasattr(x, "cumsum"), getattr(x, "sort", None))), x)[1]).trace(X)
    assert seen == [(True, None)]


@pytest.mark.parametrize("shape", [(-1,), (2, -3)], ids=str)
def test_a_size_below_zero(shape):
    with pytest.raises(ValueError, match=r"cannot have the shape.*give each size"):
        ipu.function(lambda x: x).trace(ipu.TensorSpec(shape))


def test_a_shape_that_is_no_number():
    with pytest.raises(ipu.IpuError, match="a shape is one whole number or several, got 'wide'"):
        ipu.TensorSpec("wide")


def test_an_argument_that_cannot_be_part_of_a_program():
    with pytest.raises(ipu.IpuError, match="names is a set, which cannot be part of a program"):
        ipu.function(lambda x, names: x)(U, {"a"})


def test_arguments_that_do_not_fit_the_parameters():
    for args, message in (
        ((X, X), "too many positional arguments; it takes"),
        ((), "missing a required argument: 'x'"),
    ):
        with pytest.raises(ipu.IpuError, match=message) as caught:
            ipu.function(lambda x: x).trace(*args)
        assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize(("given", "message"), [(3, "takes a Python function on tensors, got 3"), (max, "wrap it")])
def test_what_is_no_function(given, message):
    with pytest.raises(TypeError, match=message):
        ipu.function(given)


def test_what_the_users_code_raises_goes_through():
    def program(x):
        raise ValueError("mine")

    with pytest.raises(ValueError, match=r"^mine$") as caught:
        ipu.function(program).trace(X)
    assert not isinstance(caught.value, ipu.IpuError)


@pytest.mark.parametrize(
    ("package", "call", "way_out"),
    [
        ("jax", lambda jax, x: jax.numpy.sin(x), "compile jax.jit of the function"),
        ("jax", lambda jax, x: jax.nn.softmax(x), "compile jax.jit of the function"),
        ("jax", lambda jax, x: jax.nn.relu(x), "compile jax.jit of the function"),
        ("jax", lambda jax, x: jax.numpy.ones(3)[x.astype(np.int32)], "compile jax.jit of the function"),
        (
            "jax",
            lambda jax, x: jax.vmap(lambda row: row + x)(jax.numpy.ones((2, 3))),
            "compile jax.jit of the function",
        ),
        ("jax", lambda jax, x: jax.grad(lambda w: x @ w)(jax.numpy.ones(3)), "compile jax.jit of the function"),
        ("torch", lambda torch, x: torch.nn.functional.softmax(x, -1), "give tensors of PyTorch"),
        ("torch", lambda torch, x: torch.cat([x, x]), "give tensors of PyTorch"),
        ("torch", lambda torch, x: torch.sin(x), "give tensors of PyTorch"),
        ("tensorflow", lambda tf, x: tf.sin(x), "compile a tf.function"),
        ("scipy", lambda scipy, x: scipy.linalg.norm(x), r"those of jax.scipy as ipu.imported\(jax.jit\(function\)\)"),
        ("scipy", lambda scipy, x: scipy.special.expit(x), "those of jax.scipy as ipu.imported"),
        ("einops", lambda einops, x: einops.rearrange(x, "a -> a 1"), "use the functions of einops.array_api"),
    ],
)
def test_a_framework_that_is_called_with_traced_tensors(package, call, way_out):
    framework = pytest.importorskip(package)
    with pytest.raises(ipu.CompileError, match=f"test_errors.py:.*{package} does not take traced tensors.*{way_out}"):
        ipu.function(lambda x: call(framework, x)).trace(X)


@pytest.mark.parametrize(
    ("package", "constant"),
    [
        ("jax", lambda jax: jax.numpy.arange(3.0)),
        ("torch", lambda torch: torch.arange(3.0)),
        ("tensorflow", lambda tf: tf.range(3.0)),
        ("tensorflow", lambda tf: tf.Variable([0.0, 1.0, 2.0])),
    ],
)
def test_an_array_of_a_framework_whose_values_are_known(package, constant):
    known = constant(pytest.importorskip(package))
    x = np.array([0, 1, 5], np.float32)
    program = ipu.compile(
        lambda x: (x @ known, x + known, np.maximum(x, known), x == known, np.stack([x, known]), x[known > 1]), args=[x]
    )
    plain = np.arange(3, dtype=np.float32)
    expected = (x @ plain, x + plain, np.maximum(x, plain), x == plain, np.stack([x, plain]), x[2:])
    for one, other in zip(program(x), expected, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype


def test_a_mistake_within_a_framework_goes_through():
    jnp = pytest.importorskip("jax.numpy")
    with pytest.raises(TypeError, match="dot_general requires") as caught:
        ipu.compile(lambda x: x + jnp.dot(jnp.ones(2), jnp.ones(3)), args=[X])
    assert not isinstance(caught.value, ipu.IpuError)
