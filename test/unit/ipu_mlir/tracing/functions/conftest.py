"""What the tests of NumPy's functions share: the inputs of their expressions, and the comparison with NumPy."""

import re
import warnings

import numpy as np
import pytest

import ipu_mlir as ipu

SMALL = ipu.Target(tiles_per_ipu=4)
RNG = np.random.default_rng(416)
INPUTS: dict[str, np.ndarray] = {
    "x": RNG.uniform(-2, 2, (3, 4)).astype(np.float32),
    "y": RNG.uniform(0.25, 3, (3, 4)).astype(np.float32),
    "z": RNG.uniform(-0.9, 0.9, (3, 4)).astype(np.float32),
    "n": np.array([[1, np.nan, -2, 0], [0.5, 3, -1, 7], [np.nan, 2, 2, -0.5]], np.float32),
    "g": np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.5, -2.5], np.float32),
    "v": np.array([3, -1, 2, -1, 0.5], np.float32),
    "w": np.array([0.5, 2, -1, 4, 1], np.float32),
    "s": RNG.uniform(-1, 1, (3, 3)).astype(np.float32) + 2 * np.eye(3, dtype=np.float32),
    "p": RNG.uniform(-2, 2, (2, 3, 4)).astype(np.float32),
    "i": RNG.integers(-5, 9, (3, 4)).astype(np.int32),
    "j": np.array([2, 0, 1, 2], np.int32),
    "u": RNG.integers(0, 255, (3, 4)).astype(np.uint8),
    "b": RNG.integers(0, 2, (3, 4)).astype(np.bool_),
    "d": RNG.uniform(-2, 2, (3, 4)),
}


@pytest.fixture(scope="session")
def assert_calls_agree():
    return _assert_calls_agree


def _assert_calls_agree(calls):
    """All expressions of ``INPUTS`` are one program: each result has NumPy's values, type and shape."""
    used = [name for name in INPUTS if any(re.search(rf"\b{name}\b", call) for call in calls)]
    known: dict[str, object] = {}

    def program(*arrays):
        found = {}
        for call in calls:
            for place, each in enumerate(_flat(eval(call, {"np": np, **dict(zip(used, arrays, strict=True))}))):
                (found if isinstance(each, ipu.Tensor) else known)[f"{call}[{place}]"] = each
        return found

    with warnings.catch_warnings(action="ignore"):
        expected = {
            f"{call}[{place}]": each
            for call in calls
            for place, each in enumerate(_flat(eval(call, {"np": np, **INPUTS})))
        }
    arrays = [INPUTS[name] for name in used]
    with ipu.x64():
        executable = ipu.compile(ipu.function(program), args=arrays, target=SMALL)
    call = executable._call
    assert call is not None
    for results in (executable(*arrays), call.unflatten(executable.run_per_tile(call.flatten(arrays, {})))):
        assert {*results, *known} == {*expected}
        for name, found in (results | known).items():
            _assert_agrees(name, found, expected[name])


def _flat(value):
    return [leaf for each in value for leaf in _flat(each)] if isinstance(value, list | tuple) else [value]


def _assert_agrees(name, found, expected):
    if not isinstance(expected, np.ndarray | np.generic):
        assert found == expected, name
        return
    expected = np.asarray(expected)
    assert (np.shape(found), np.asarray(found).dtype) == (expected.shape, expected.dtype), name
    tolerance = 0.0 if expected.dtype.kind != "f" else 64 * float(np.finfo(expected.dtype).eps)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance, err_msg=name)
