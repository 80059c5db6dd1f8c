"""Functions of f64, and those of f32 that are computed in f64: errors, edges, and the same bits however computed."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from ipu_mlir.runtime.engine.native import machine_code
from ipu_mlir.runtime.translator.kernels.kernel_function import Function
from ipu_mlir.runtime.translator.kernels.module import KernelText, module_text
from ipu_mlir.runtime.translator.kernels.scalar.arithmetic import F32, F64
from ipu_mlir.runtime.translator.kernels.scalar.code import LANES
from ipu_mlir.runtime.translator.kernels.scalar.numpy_functions import apply_call
from ipu_mlir.runtime.translator.kernels.scalar.wide_functions import FUNCTIONS_BY_F64, FUNCTIONS_OF_F64

MOST_ULP_F32 = 0.51
MOST_ULP_F64 = {"exp": 1.1, "exp2": 1.1, "expm1": 1.9, "log": 1.1, "log1p": 1.6, "log2": 1.7, "tanh": 2.6}
EDGES = [0.0, -0.0, 1, -1, 0.5, -0.5, 2, 3, -3, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e-38, 89, -104, 3e38, -3e38]
EDGES += [2.0**24, 2.0**24 + 2, -(2.0**24) - 2, 1e10, 2.0**45, 1e20, 1e30, -1e35]


def kernel_of(name: str, dtype: np.dtype, arguments: int, lanes: int, level: int = 1) -> Callable[..., np.ndarray]:
    """The function ``name`` on arrays, by numbers or by vectors."""
    function = Function({})
    for number in range(arguments + 1):
        function.code.head += [
            f"    %d{number} = llvm.getelementptr %array{number}[16] : (!llvm.ptr) -> !llvm.ptr, i8",
            f"    %x{number} = llvm.load %d{number} : !llvm.ptr -> !llvm.ptr",
        ]
    with function.loop("%count", lanes) as number:
        values = [function.load(f"%x{each}", number, dtype, lanes) for each in range(arguments)]
        function.store(f"%x{arguments}", number, apply_call(function.ops, name, dtype, values))
    arrays = ", ".join(f"%array{each}: !llvm.ptr" for each in range(arguments + 1))
    text = function.code.text(name, f"%count: i64, {arrays}")
    run = machine_code(module_text([KernelText(name, 1, arguments + 1, text)]), level)[name].run

    def computed(*given: np.ndarray) -> np.ndarray:
        size = len(given[0])
        padded = [np.append(each, np.ones(-size % LANES, dtype)) for each in given]
        out = np.empty_like(padded[0])
        run(len(out), *padded, out)
        return out[:size]

    return computed


def ulp_of(got: np.ndarray, exact: Sequence[float] | np.ndarray, dtype: np.dtype) -> np.ndarray:
    """How far ``got`` is from ``exact``, in the distance of numbers of ``dtype`` around it."""
    exact = np.asarray(exact)
    least = np.finfo(dtype).smallest_subnormal
    with np.errstate(over="ignore", invalid="ignore"):
        step = np.maximum(np.spacing(np.abs(exact).astype(dtype)), least).astype(np.longdouble)
        off = np.abs(got.astype(np.longdouble) - exact) / step
        return np.where(np.isfinite(exact.astype(dtype)) & np.isfinite(got), off, 0)


def samples(rng: np.random.Generator) -> np.ndarray:
    bits = rng.integers(0, 1 << 32, 60_000, dtype=np.uint32).view(np.float32)
    return np.concatenate([np.float32(EDGES), bits, rng.normal(0, 3, 60_000).astype(np.float32)])


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS_BY_F64) - {"power", "arctan2"}))
def test_functions_of_f32_are_nearly_rounded_right(name: str) -> None:
    x = samples(np.random.default_rng(0))
    got = kernel_of(name, F32, 1, LANES)(x)
    with np.errstate(all="ignore"):
        exact = getattr(np, name)(x.astype(np.float64))
        rounded = exact.astype(np.float32)
    assert ulp_of(got, exact, F32).max() < MOST_ULP_F32
    edge = ~np.isfinite(rounded) | (rounded == 0)
    np.testing.assert_array_equal(got[edge], rounded[edge])
    np.testing.assert_array_equal(np.signbit(got[rounded == 0]), np.signbit(rounded[rounded == 0]))
    np.testing.assert_array_equal(kernel_of(name, F32, 1, 1, level=0)(x[:3000]), got[:3000])


def test_angles_of_any_size_are_right() -> None:
    """Beside ``math.sin``, whose library takes all of pi: f32 near multiples of pi / 2, where most is taken away."""
    near = [k * math.pi / 2 for k in (1, 2, 3, 355, 10**5, 10**9)]
    x = np.float32([*near, 16367173 * 2.0**72, -16367173 * 2.0**72, 1e22, 2.0**45 * 1.5, 2.0**127, 3.4e38, 1e15])
    for name, function in (("sin", math.sin), ("cos", math.cos)):
        exact = np.array([function(float(each)) for each in x])
        assert ulp_of(kernel_of(name, F32, 1, LANES)(x), exact, F32).max() < MOST_ULP_F32


@pytest.mark.parametrize("name", ["power", "arctan2"])
def test_functions_of_two_are_nearly_rounded_right_and_have_the_edges_of_c(name: str) -> None:
    rng = np.random.default_rng(1)
    edges = np.float32(EDGES)
    x = np.concatenate([np.repeat(edges, len(edges)), np.exp(rng.normal(0, 8, 60_000)).astype(np.float32)])
    y = np.concatenate([np.tile(edges, len(edges)), rng.normal(0, 8, 60_000).astype(np.float32)])
    got = kernel_of(name, F32, 2, LANES)(x, y)
    with np.errstate(all="ignore"):
        exact = getattr(np, name)(x.astype(np.float64), y.astype(np.float64))
        rounded = exact.astype(np.float32)
    assert ulp_of(got, exact, F32).max() < MOST_ULP_F32
    edge = ~np.isfinite(rounded) | (rounded == 0)
    np.testing.assert_array_equal(got[edge], rounded[edge])
    np.testing.assert_array_equal(np.signbit(got[edge & (rounded == 0)]), np.signbit(rounded[edge & (rounded == 0)]))
    np.testing.assert_array_equal(kernel_of(name, F32, 2, 1, level=0)(x[:3000], y[:3000]), got[:3000])


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="no float is longer than f64 to compare with")
@pytest.mark.parametrize("name", sorted(FUNCTIONS_OF_F64))
def test_functions_of_f64(name: str) -> None:
    rng = np.random.default_rng(2)
    bits = rng.integers(0, 1 << 63, 60_000, dtype=np.uint64).view(np.float64)
    x = np.concatenate([np.float64(EDGES), [5e-324, 1e-310, 709.7, -745, 1e300], bits, -bits, rng.normal(0, 3, 60_000)])
    got = kernel_of(name, F64, 1, LANES)(x)
    with np.errstate(all="ignore"):
        exact = getattr(np, name)(x.astype(np.longdouble))
        rounded = exact.astype(np.float64)
    assert ulp_of(got, exact, F64).max() < MOST_ULP_F64[name]
    edge = ~np.isfinite(rounded) | (rounded == 0)
    np.testing.assert_array_equal(got[edge], rounded[edge])
    np.testing.assert_array_equal(np.signbit(got[rounded == 0]), np.signbit(rounded[rounded == 0]))
    np.testing.assert_array_equal(kernel_of(name, F64, 1, 1, level=0)(x[:3000]), got[:3000])
