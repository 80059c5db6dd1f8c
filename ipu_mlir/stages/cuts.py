"""Where a row of layers is cut, as plain numbers."""

from collections.abc import Callable, Sequence
from functools import cache

Fits = Callable[[int, int, int], bool]
"""``fits(stage, first, last)``: whether a stage can be made of the layers from ``first`` to before ``last``."""


def best_cuts(cycles: Sequence[float], stages: int, fits: Fits = lambda stage, first, last: True) -> list[int] | None:
    """The layers that stages begin with, the first stage aside, so that the slowest stage takes the fewest cycles.

    Each stage has one layer at least. Of cuts with the same slowest stage, those whose squares of cycles have the
    smallest sum are taken. None if there are no stages that fit.

    >>> best_cuts([1, 1, 1, 3, 1, 1], 3)
    [3, 4]
    >>> best_cuts([1, 1, 1, 1], 2, fits=lambda stage, first, last: stage > 0 or last - first < 2)
    [1]
    >>> best_cuts([1, 1], 3)
    """
    count = len(cycles)
    ends = [0.0]
    for each in cycles:
        ends.append(ends[-1] + each)

    @cache
    def best(stage: int, first: int) -> tuple[float, float, tuple[int, ...]] | None:
        """Of the stages from ``stage`` on, the slowest, the sum of squares, and where those behind them begin."""
        rest = stages - stage - 1
        if rest == 0:
            own = ends[count] - ends[first]
            return (own, own * own, ()) if first < count and fits(stage, first, count) else None
        found = None
        for last in range(first + 1, count - rest + 1):
            behind = best(stage + 1, last) if fits(stage, first, last) else None
            if behind is None:
                continue
            own = ends[last] - ends[first]
            this = max(own, behind[0]), own * own + behind[1], (last, *behind[2])
            found = this if found is None else min(found, this)
        return found

    chosen = best(0, 0)
    return None if chosen is None else list(chosen[2])


def boundaries(cuts: Sequence[int], layers: int) -> list[tuple[int, int]]:
    """The first layer of each stage and the one behind its last.

    >>> boundaries([3, 4], 6)
    [(0, 3), (3, 4), (4, 6)]
    """
    return list(zip([0, *cuts], [*cuts, layers], strict=True))
