"""Quantiles of long rows, which are not sorted."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.passes.raising.elements import select_places

jax = pytest.importorskip("jax")
jnp = jax.numpy
RNG = np.random.default_rng(5)
ROWS = {
    "numbers": RNG.standard_normal(5000),
    "ties": RNG.integers(-3, 4, 4097),
    "nan": np.where(np.arange(4500) % 1500 == 7, np.nan, RNG.standard_normal(4500)),
    "infinite": np.repeat([np.inf, -np.inf, 1, -0.0, 0.0], 1000),
}


def _is_selected(exe: ipu.Executable) -> bool:
    return "sort_tuples" in exe.mlir("l3") and "scatter_set" not in exe.mlir("l3")


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(select_places, "_is_worth_it", lambda *_: True)


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("wanted", [lambda x: jnp.quantile(x, 0.9), jnp.median], ids=["quantile", "median"])
def test_quantiles_are_selected_as_jax_sorts_them(row: str, wanted: Callable[[Any], Any]) -> None:
    x = ROWS[row].astype(np.float32)
    exe = ipu.compile(wanted, args=[x], target=ipu.Target(tiles_per_ipu=16))
    assert _is_selected(exe)
    for found in (exe(x), exe.run_per_tile([x])[0]):
        np.testing.assert_allclose(found, wanted(x), rtol=1e-6)


@pytest.mark.parametrize("row", ["numbers", "ties", "infinite"])
def test_the_order_is_that_of_a_stable_sort(row: str) -> None:
    """Of equal keys the earlier one is first; places may be computed."""
    x = ROWS[row].astype(np.float32)
    places = np.array([0, 1, x.size // 2, x.size - 1, x.size // 5], np.int32)
    exe = ipu.compile(lambda x, i: jnp.argsort(x)[i], args=[x, places], target=ipu.Target(tiles_per_ipu=16))
    assert _is_selected(exe)
    for found in (exe(x, places), exe.run_per_tile([x, places])[0]):
        np.testing.assert_array_equal(found, np.argsort(x, kind="stable")[places])


def test_traced_quantiles_are_selected() -> None:
    x = ROWS["numbers"].astype(np.float32)
    exe = ipu.compile(
        lambda x: np.quantile(x, 0.3), args=[ipu.TensorSpec(x.shape)], target=ipu.Target(tiles_per_ipu=16)
    )
    assert _is_selected(exe)
    np.testing.assert_allclose(exe(x), np.quantile(x, np.float32(0.3)), rtol=1e-5)
