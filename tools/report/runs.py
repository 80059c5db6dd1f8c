"""Questions to numbers of all tiles that are run-length encoded: ``((value, how many tiles in a row), ...)``."""

from ipu_mlir.runtime.profile.compilation import Rle


def total(runs: Rle) -> int:
    """The sum over all tiles.

    >>> total(((10, 3), (4, 1)))
    34
    """
    return sum(value * count for value, count in runs)


def length(runs: Rle) -> int:
    """The number of tiles."""
    return sum(count for _, count in runs)


def mean(runs: Rle) -> float:
    """The mean over all tiles; 0 for none."""
    return total(runs) / max(1, length(runs))


def value_at(runs: Rle, tile: int) -> int:
    """The value of one tile.

    >>> value_at(((10, 3), (4, 1)), 3)
    4
    """
    for value, count in runs:
        if tile < count:
            return value
        tile -= count
    raise IndexError(f"{tile} tiles after the last")


def tiles_above(runs: Rle, limit: float) -> int:
    """The number of tiles that have more than ``limit``.

    >>> tiles_above(((10, 3), (4, 1)), 5)
    3
    """
    return sum(count for value, count in runs if value > limit)
