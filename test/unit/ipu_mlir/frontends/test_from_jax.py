"""Calls of functions of JAX whose arguments are arrays of just the types that the program takes."""

import pickle
from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu

jax = pytest.importorskip("jax")


@pytest.fixture(scope="module")
def scaled() -> Any:
    """A program of two arguments."""
    x = np.zeros(4, np.float32)
    return ipu.compile(jax.jit(lambda x, y: x * 2 - y), args=[x, x], target=ipu.Target(tiles_per_ipu=1))


def numbers(first: int) -> np.ndarray:
    return np.arange(first, first + 4, dtype=np.float32)


def test_equal_results_for_arrays_of_numpy_and_of_jax_in_any_mix(scaled: Any) -> None:
    x, y = numbers(1), numbers(5)
    for given in ((x, y), (jax.numpy.asarray(x), y), (jax.numpy.asarray(x), jax.numpy.asarray(y))):
        result = scaled(*given)
        assert isinstance(result, jax.Array) and result.dtype == np.float32
        np.testing.assert_array_equal(result, x * 2 - y)


def test_each_call_reads_its_own_arguments(scaled: Any) -> None:
    first, second = (jax.numpy.asarray(numbers(start)) for start in (1, 7))
    for x, y in ((first, second), (first, second), (second, first), (first, first)):
        np.testing.assert_array_equal(scaled(x, y), np.asarray(x) * 2 - np.asarray(y))
    changed = numbers(0)
    before = scaled(changed, changed)
    changed[:] = 3
    np.testing.assert_array_equal(scaled(changed, changed), changed)
    np.testing.assert_array_equal(before, numbers(0))


def test_results_outlive_later_calls() -> None:
    x = np.ones((512, 512), np.float32)  # large enough that its memory is used again
    compiled: Any = ipu.compile(jax.jit(lambda x: x + 1), args=[x], target=ipu.Target(tiles_per_ipu=4))
    results = [compiled(x * number) for number in range(8)]
    assert [float(each[0, 0]) for each in results] == [float(each.max()) for each in results] == list(range(1, 9))


def test_deleted_array_is_refused_also_when_the_last_call_read_it(scaled: Any) -> None:
    x, y = (jax.numpy.asarray(numbers(start)) for start in (1, 7))
    scaled(x, y)
    x.delete()
    with pytest.raises(Exception, match="deleted"):
        scaled(x, y)


def test_other_types_shapes_and_counts_are_refused_as_before(scaled: Any) -> None:
    x = numbers(1)
    with pytest.raises(ipu.RunError, match=r"argument args\[1\] has dtype int32, expected float32"):
        scaled(x, x.astype(np.int32))
    with pytest.raises(ipu.RunError, match=r"argument args\[0\] has shape \(2,\), expected \(4,\)"):
        scaled(x[:2], x)
    with pytest.raises(ipu.RunError, match="the program was compiled for"):
        scaled(x)


def test_results_go_where_new_arrays_go(scaled: Any) -> None:
    device = jax.devices()[0]
    with jax.default_device(device):
        assert scaled(numbers(1), numbers(2)).devices() == {device}


def test_program_that_was_called_can_be_pickled(scaled: Any) -> None:
    x = jax.numpy.asarray(numbers(1))
    expected = scaled(x, x)
    again = pickle.loads(pickle.dumps(scaled))
    np.testing.assert_array_equal(again(x, x), expected)


def test_arguments_that_nobody_reads_and_nested_ones() -> None:
    x = numbers(1)

    def tree(unused: Any, values: dict[str, Any]) -> dict[str, Any]:
        return {"sum": values["a"] + values["b"], "a": values["a"] * 3}

    given = x, {"a": x, "b": x + 1}
    compiled: Any = ipu.compile(jax.jit(tree), args=given, target=ipu.Target(tiles_per_ipu=1))
    for each in (given, jax.tree.map(jax.numpy.asarray, given)):
        found = compiled(*each)
        np.testing.assert_array_equal(found["sum"], x + x + 1)
        np.testing.assert_array_equal(found["a"], x * 3)
