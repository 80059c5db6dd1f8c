"""Floats that become integers: the nearest that fits, whatever is in the way."""

from itertools import product

import numpy as np
import pytest

from ipu_mlir.runtime.numeric import function

TYPES = [f"{kind}{size}" for kind, size in product("iu", (1, 2, 4, 8))]
NUMBERS = [0.0, -0.5, 1.5, 127.5, -128.5, 255.5, 3e9, -3e9, 1e19, -1e19, np.inf, -np.inf, np.nan]


def nearest(number: float, dtype: str) -> int:
    limits = np.iinfo(dtype)
    if np.isnan(number):
        return 0
    return int(min(max(number, int(limits.min)), int(limits.max)))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("given", ["f4", "f8"])
def test_one_number_that_does_not_fit_among_many_that_do(given: str, dtype: str) -> None:
    for number in NUMBERS:
        numbers = np.ones(67, given)
        numbers[41] = number
        with np.errstate(all="ignore"):
            found = function("saturated_integer")(numbers, np.empty(67, dtype))
        assert found[41] == nearest(float(numbers[41]), dtype)
        assert np.delete(found, 41).tolist() == [1] * 66


@pytest.mark.parametrize("given", ["f4", "f8"])
def test_in_the_place_of_the_floats(given: str) -> None:
    numbers = np.array([1.5, np.nan, -7.5], given)
    found = numbers.view(given.replace("f", "i"))
    assert function("saturated_integer")(numbers, found).tolist() == [1, 0, -7]


def test_no_numbers() -> None:
    assert function("saturated_integer")(np.empty(0, np.float32), np.empty(0, np.int8)).size == 0
