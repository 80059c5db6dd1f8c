"""Neither the size of the program nor what runs depends on the number of tiles."""

import re
from functools import cache

import pytest
from support.corpus import programs

import ipu_mlir as ipu

NAMES = list(programs())
TARGETS = {4: ipu.Target(tiles_per_ipu=4), 1472: ipu.Target(), 64 * 1472: ipu.Target(ipus=64)}

SHORTER_ON_4_TILES = {
    "tf_keras_mnist_sgd_step": "6 of 38 operands lie on 4 tiles as the ops that read them need them: no exchange",
    "kerasjax_mnist_sgd_step": "9 of 43 operands lie on 4 tiles as the ops that read them need them: no exchange",
}
"""Programs whose text for 4 tiles is shorter by more than 2 %, since it has fewer exchanges, and why."""


@cache
def compiled(name: str, tiles: int) -> ipu.Executable:
    return ipu.compile(programs()[name].mlir, target=TARGETS[tiles])


def renumbered(source: str) -> str:
    """``source`` with the names that the IR numbers in the order in which they appear.

    >>> renumbered("add(alloc_7, alloc_9, alloc_7)")
    'add(alloc_0, alloc_1, alloc_0)'
    """
    numbers: dict[str, int] = {}
    return re.sub(r"\balloc(_\d+(?![\dx]))?", lambda name: f"alloc_{numbers.setdefault(name[0], len(numbers))}", source)


def lengths(name: str, *tiles: int) -> list[int]:
    return [len(compiled(name, count).mlir()) for count in tiles]


@pytest.mark.parametrize("name", NAMES)
def test_the_text_is_as_long_for_one_ipu_as_for_64(name: str) -> None:
    one, many = lengths(name, 1472, 64 * 1472)
    assert abs(many - one) <= 0.02 * one


@pytest.mark.parametrize("name", NAMES)
def test_the_text_is_as_long_for_4_tiles_as_for_1472(name: str, request: pytest.FixtureRequest) -> None:
    if name in SHORTER_ON_4_TILES:
        request.applymarker(pytest.mark.xfail(reason=SHORTER_ON_4_TILES[name], strict=True))
    few, many = lengths(name, 4, 1472)
    assert abs(many - few) <= 0.02 * many


@pytest.mark.parametrize("name", NAMES)
def test_the_source_that_runs_is_the_same(name: str) -> None:
    assert compiled(name, 1472).source() == compiled(name, 64 * 1472).source()
    assert renumbered(compiled(name, 4).source()) == renumbered(compiled(name, 1472).source())
