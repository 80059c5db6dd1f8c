"""Neither the size of the program nor what runs depends on the number of tiles."""

import re
from functools import cache

import pytest
from support.corpus import programs

import ipu_mlir as ipu

LONG = ("kerasjax_mnist_sgd_step", "tf_keras_mnist_sgd_step")
NAMES = [pytest.param(each, marks=pytest.mark.slow if each in LONG else ()) for each in programs()]
TARGETS = {4: ipu.Target(tiles_per_ipu=4, emulated=True), 1472: ipu.Target(), 64 * 1472: ipu.Target(ipus=64)}


@cache
def compiled(name: str, tiles: int) -> ipu.Executable:
    return ipu.compile(programs()[name].mlir, target=TARGETS[tiles])


def renumbered(source: str) -> str:
    """``source`` with the names that the IR numbers in the order in which they appear.

    >>> renumbered("add(alloc_7, alloc_9, alloc_7)")
    'add(alloc_0, alloc_1, alloc_0)'
    """
    numbers: dict[str, int] = {}
    return re.sub(r"\balloc\w*", lambda name: f"alloc_{numbers.setdefault(name[0], len(numbers))}", source)


def lengths(name: str, *tiles: int) -> list[int]:
    return [len(compiled(name, count).mlir()) for count in tiles]


def statements(name: str, tiles: int) -> list[str]:
    """What runs, without the comments that name the ops."""
    lines = renumbered(compiled(name, tiles).source()).splitlines()
    return [line for line in lines if not line.lstrip().startswith("#")]


@pytest.mark.parametrize("name", NAMES)
def test_the_text_does_not_grow_with_the_tiles(name: str) -> None:
    """With more tiles more sums are split, and fewer operands lie by chance where they are read; that has an end."""
    few, one, many = lengths(name, 4, 1472, 64 * 1472)
    assert many <= 1.1 * one
    assert one <= 1.4 * few


@pytest.mark.parametrize("name", NAMES)
def test_the_source_that_runs_is_the_same(name: str) -> None:
    """But for sums: what was split over two loops is one loop afterwards, and may be spelled in another way."""
    assert statements(name, 1472) == statements(name, 64 * 1472)
    assert abs(len(statements(name, 4)) - len(statements(name, 1472))) <= 2
