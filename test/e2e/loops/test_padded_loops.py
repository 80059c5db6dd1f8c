"""Loops that pad: the border is written once, before them, and every round finds it as it was."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu

F32 = np.float32
Program = Callable[[Any], Any]


def _step(u: Any, border: float = 0.0) -> Any:
    around = np.pad(u, 1, constant_values=border)
    sides = around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:]
    return u + F32(0.1) * (sides - F32(4) * u)


def _rounds(u: Any) -> Any:
    return ipu.fori_loop(0, 4, lambda _, u: _step(u), u)


def _two_borders(u: Any) -> Any:
    return ipu.fori_loop(0, 3, lambda _, u: _step(_step(u, 1.0), -2.0), u)


def _loops_in_loops(u: Any) -> Any:
    inner: Program = lambda u: ipu.fori_loop(0, 2, lambda _, u: _step(u), u)  # noqa: E731
    return ipu.fori_loop(0, 3, lambda _, u: inner(u) * F32(0.5), u)


def _until(u: Any) -> Any:
    return ipu.while_loop(lambda carried: carried[0] < 3, lambda c: (c[0] + 1, _step(c[1])), (np.int32(0), u))[1]


WRITTEN_OUT: dict[Program, Program] = {
    _rounds: lambda u: _times(4, _step, u),
    _two_borders: lambda u: _times(3, lambda u: _step(_step(u, 1.0), -2.0), u),
    _loops_in_loops: lambda u: _times(3, lambda u: _times(2, _step, u) * F32(0.5), u),
    _until: lambda u: _times(3, _step, u),
}


def _times(count: int, step: Program, u: Any) -> Any:
    for _ in range(count):
        u = step(u)
    return u


@pytest.mark.parametrize("program", WRITTEN_OUT, ids=lambda program: program.__name__.strip("_"))
@pytest.mark.parametrize("shape", [(24, 16), (37, 23)])
def test_every_round_finds_the_border(program: Program, shape: tuple[int, int]) -> None:
    u = np.random.default_rng(1).standard_normal(shape).astype(F32)
    found = ipu.compile(program, args=[ipu.TensorSpec(shape)], target=ipu.Target(tiles_per_ipu=12))
    wanted = WRITTEN_OUT[program](u)
    np.testing.assert_allclose(found(u), wanted, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found.run_per_tile([u])[0], wanted, rtol=1e-5, atol=1e-5)


def test_a_border_is_brought_once() -> None:
    """Another round brings no border."""

    def exchanged(rounds: int) -> int:
        program: Program = lambda u: ipu.fori_loop(0, rounds, lambda _, u: _step(u), u)  # noqa: E731
        profile = ipu.compile(program, args=[ipu.TensorSpec((96, 96))], target=ipu.Target(tiles_per_ipu=36)).profile()
        return profile.execution.bytes_exchanged

    inner = 2 * (96 + 96) * 5 * 4 + 4 * 25 * 4  # both sides of five cuts each way, and corners
    assert exchanged(20) - exchanged(10) == 10 * inner
