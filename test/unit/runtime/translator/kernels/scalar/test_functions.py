"""The functions of kernels beside f64: their errors, their edges, and the same bits however they are computed."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from ipu_mlir.runtime.engine.native import machine_code
from ipu_mlir.runtime.translator.kernels.kernel_function import Function
from ipu_mlir.runtime.translator.kernels.module import KernelText, module_text
from ipu_mlir.runtime.translator.kernels.scalar.arithmetic import F32
from ipu_mlir.runtime.translator.kernels.scalar.code import LANES, Code, Value
from ipu_mlir.runtime.translator.kernels.scalar.functions import FUNCTIONS

MOST_ULP = {
    "exp": 1.1,
    "exp2": 1.1,
    "expm1": 1.6,
    "tanh": 2.4,
    "log": 0.9,
    "log1p": 1.6,
    "log2": 1.3,
    "erf": 1.1,
    "erfc": 5.6,
}
"""As ``docs/kernels.md`` says them, over all f32."""
IN_F64: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log1p": np.log1p,
    "log2": np.log2,
    "tanh": np.tanh,
    "log": np.log,
    "erf": np.vectorize(math.erf),
    "erfc": np.vectorize(math.erfc),
}
EDGES = np.float32([0.0, -0.0, 1, -1, 0.5, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e-38, 89, -104, 88.7, -87.3, 3e38])


def kernel_of(name: str, lanes: int, level: int = 1) -> Callable[[np.ndarray], np.ndarray]:
    """The function ``name`` on arrays, by numbers or by vectors."""
    function = Function({})
    code: Code = function.code
    code.head += [
        "    %d = llvm.getelementptr %array0[16] : (!llvm.ptr) -> !llvm.ptr, i8",
        "    %x = llvm.load %d : !llvm.ptr -> !llvm.ptr",
        "    %e = llvm.getelementptr %array1[16] : (!llvm.ptr) -> !llvm.ptr, i8",
        "    %y = llvm.load %e : !llvm.ptr -> !llvm.ptr",
    ]
    with function.loop("%count", lanes) as number:
        value: Value = FUNCTIONS[name](function.ops, function.load("%x", number, F32, lanes))
        function.store("%y", number, value)
    text = code.text(name, "%count: i64, %array0: !llvm.ptr, %array1: !llvm.ptr")
    run = machine_code(module_text([KernelText(name, 1, 2, text)]), level)[name].run

    def computed(x: np.ndarray) -> np.ndarray:
        whole = np.zeros(-(-len(x) // LANES) * LANES, np.float32)
        whole[: len(x)] = x
        y = np.empty_like(whole)
        run(len(whole), whole, y)
        return y[: len(x)]

    return computed


def ulp_of(got: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """How far ``got`` is from ``exact``, in the distance of f32 numbers around it."""
    with np.errstate(over="ignore"):
        step = np.maximum(np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64), 2.0**-149)
    step = np.where(np.isfinite(step), step, 2.0**104)
    return np.where(np.isfinite(exact) & np.isfinite(got), np.abs(got.astype(np.float64) - exact) / step, 0)


def worst(name: str, every: int) -> float:
    """The largest error over each ``every``-th f32."""
    run, most = kernel_of(name, LANES), 0.0
    for start in range(0, 2**32, 2**26):
        x = np.arange(start, start + 2**26, every).astype(np.uint32).view(np.float32)
        with np.errstate(all="ignore"):
            exact = IN_F64[name](x.astype(np.float64))
            got = run(x)
            assert np.array_equal(np.isnan(got), np.isnan(exact.astype(np.float32)))
            overflow = np.abs(exact) >= 2.0**128
            assert np.array_equal(got[overflow], exact[overflow].astype(np.float32))
            most = max(most, float(ulp_of(got, exact).max()))
    return most


@pytest.mark.parametrize("name", FUNCTIONS)
def test_error_on_a_sample(name: str) -> None:
    assert worst(name, 65521 if not name.startswith("erf") else 1048573) <= MOST_ULP[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_error_on_many(name: str) -> None:
    assert worst(name, 97 if not name.startswith("erf") else 6151) <= MOST_ULP[name]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_edges_are_those_of_numpy(name: str) -> None:
    with np.errstate(all="ignore"):
        want = IN_F64[name](EDGES.astype(np.float64)).astype(np.float32)
    got = kernel_of(name, LANES)(EDGES)
    special = ~np.isfinite(want) | (want == 0)
    np.testing.assert_array_equal(got[special], want[special])
    np.testing.assert_array_equal(
        np.signbit(got[special & ~np.isnan(want)]), np.signbit(want[special & ~np.isnan(want)])
    )
    np.testing.assert_allclose(got, want, rtol=4e-7)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_numbers_and_vectors_and_levels_have_the_same_bits(name: str) -> None:
    x = np.concatenate([EDGES, np.random.default_rng(0).normal(0, 10, 4096 - len(EDGES)).astype(np.float32)])
    want = kernel_of(name, LANES)(x).view(np.uint32)
    for lanes, level in ((1, 1), (LANES, 0), (1, 0), (LANES, 3)):
        np.testing.assert_array_equal(kernel_of(name, lanes, level)(x).view(np.uint32), want)
