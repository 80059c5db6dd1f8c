"""Random numbers: two forms that agree, on any number of tiles, and the statistics of what they give."""

import math
from statistics import NormalDist

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.dialects.codelets.codelet import CodeletCall
from ipu_mlir.dialects.codelets.library import codelet_named
from ipu_mlir.dialects.codelets.random_numbers import _block, normal_quantiles
from ipu_mlir.dialects.machine.machine import IPU2
from ipu_mlir.runtime.per_tile.executor import PerTileExecutor

NAMES = ("random_bits", "random_uniform", "random_normal", "random_truncated_normal")
KEYS = np.array([[1, 2, 3, 4], [-1, -7, -(2**31), -5]], np.int32)
MANY = 200_000


def drawn(name, key, count):
    out = np.empty((*np.shape(key)[:-1], count), np.int32 if name == "random_bits" else np.float32)
    return codelet_named(name).vectorised(np.asarray(key, np.int32), out)[0]


@pytest.mark.parametrize("name", NAMES)
def test_both_forms_give_the_same_numbers(name):
    places = [[np.arange(2), np.arange(4)], [np.arange(2), np.arange(3, 90)]]
    (exact,) = codelet_named(name).per_tile(places, KEYS)
    np.testing.assert_array_equal(exact, drawn(name, KEYS, 100)[:, 3:90])


def test_the_generator_is_that_of_numpy():
    for key, stream, count in ((0, 0, 1), (2**64 - 1, 5, 2**64 - 1), (3, 2**64 - 2, 7)):
        start = np.array([count - 1, stream, 0, 0], np.uint64)
        words = np.random.Philox(key=np.array([key, 0], np.uint64), counter=start).random_raw(4)
        assert _block(key, stream, count) == tuple(map(int, words))


def test_quantiles_are_those_of_the_standard_library():
    shares = np.concatenate([np.linspace(1e-4, 1 - 1e-4, 1001), [1e-16, 1e-300, 1 - 1e-16, 2.0**-53]])
    np.testing.assert_allclose(
        normal_quantiles(shares), list(map(NormalDist().inv_cdf, shares)), rtol=1e-12, atol=1e-14
    )


CALLS = "".join(
    f'  %{number} = stablehlo.custom_call @ipu.codelet(%k) {{mhlo.backend_config = {{name = "{name}"}}}} : '
    f"(tensor<4xi32>) -> tensor<37x{'i32' if name == 'random_bits' else 'f32'}>\n"
    for number, name in enumerate(NAMES)
)
TYPES = "tensor<37xi32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>"
PROGRAM = f"""
func.func @main(%k: tensor<4xi32>) -> ({TYPES}) {{
{CALLS}  return %0, %1, %2, %3 : {TYPES}
}}"""


@pytest.mark.parametrize("tiles", [1, 3, 16])
def test_numbers_are_the_same_on_both_executors_and_any_number_of_tiles(tiles):
    exe = ipu.compile(PROGRAM, target=ipu.Target(tiles_per_ipu=tiles))
    for found in (exe.run([KEYS[0]]), PerTileExecutor(exe.module()).run([KEYS[0]])):
        for name, each in zip(NAMES, found, strict=True):
            np.testing.assert_array_equal(each, drawn(name, KEYS[0], 37))


def test_moments():
    uniform, normal, short = (drawn(name, KEYS[0], MANY).astype(np.float64) for name in NAMES[1:])
    assert uniform.min() >= 0 and uniform.max() < 1 and np.abs(short).max() <= 2
    tolerance = 5 / math.sqrt(MANY)
    for power in range(1, 5):
        np.testing.assert_allclose(np.mean(uniform**power), 1 / (power + 1), atol=tolerance)
    for power, wanted, deviation in ((1, 0, 1), (2, 1, math.sqrt(2)), (3, 0, math.sqrt(15)), (4, 3, math.sqrt(96))):
        np.testing.assert_allclose(np.mean(normal**power), wanted, atol=tolerance * deviation)
    np.testing.assert_allclose([np.mean(short), np.var(short)], [0, 0.7737], atol=tolerance)


@pytest.mark.parametrize("name", NAMES)
def test_shares_of_equal_probability_have_as_many_numbers(name):
    """Chi-square with 255 degrees of freedom: mean 255, deviation 22.6."""
    numbers = drawn(name, KEYS[1], MANY).astype(np.float64)
    if name == "random_bits":
        shares = (numbers + 2**31) / 2**32
    elif name == "random_uniform":
        shares = numbers
    else:
        least = NormalDist().cdf(-2) if name.endswith("truncated_normal") else 0.0
        shares = (np.vectorize(NormalDist().cdf)(numbers) - least) / (1 - 2 * least)
    counts = np.bincount((shares * 256).astype(int).clip(0, 255), minlength=256)
    assert 150 < np.sum((counts - MANY / 256) ** 2) / (MANY / 256) < 360


def test_neighbours_and_streams_do_not_depend_on_each_other():
    """Correlations over lags, of bits, and between keys and streams that differ in one bit."""
    base = drawn("random_uniform", KEYS[0], MANY) - 0.5
    limit = 5 / 12 / math.sqrt(MANY)
    for lag in (1, 2, 3, 4, 5, 8, 64, 1472):
        assert abs(np.mean(base[lag:] * base[:-lag])) < limit
    for place in range(4):
        for bit in (0, 1, 17, 31):
            key = KEYS[0].copy()
            key[place] ^= np.uint32(1 << bit).view(np.int32)
            other = drawn("random_uniform", key, MANY) - 0.5
            assert abs(np.mean(base * other)) < limit
    bits = drawn("random_bits", KEYS[0], MANY).view(np.uint8).reshape(-1, 4)
    shares = np.unpackbits(bits, axis=1).mean(0)
    np.testing.assert_allclose(shares, 0.5, atol=5 * 0.5 / math.sqrt(MANY))


@pytest.mark.parametrize(
    ("name", "cycles"),
    [("random_bits", 22 * 6 + 6 * 300), ("random_uniform", 4 + 22 * 6 + 4 * 300), ("random_normal", 139 + 4 * 300),
     ("random_truncated_normal", 4 + 26 * 6 + 49 * 300)],
)  # fmt: skip
def test_rates_are_those_of_the_machine(name, cycles):
    codelet = codelet_named(name)
    call = CodeletCall(codelet, ("i32", "f32"), ((4,), (600,)), ((0,), (1,)), (1,), (0,))
    assert codelet.cycles(call, np.array([4, 600]), IPU2) == cycles
