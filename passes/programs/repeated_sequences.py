"""Where a list repeats itself: the same items, in the same order, several times behind each other."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

_PERIODS = 12  # lengths that are tried: those that most items have to the next one that is the same


class Repeat(NamedTuple):
    """``times`` copies of ``length`` items behind each other, from ``start`` on, or up to ``spare`` items later."""

    start: int
    length: int
    times: int
    spare: int

    @property
    def saved(self) -> int:
        """The items that only say again what the first copy says."""
        return (self.times - 1) * self.length


def largest_repeat(items: Sequence[int], fewest: int) -> Repeat | None:
    """The repeat of at least ``fewest`` copies that saves most items; of equal ones the one with shorter copies.

    >>> largest_repeat([7, 1, 2, 1, 2, 1, 2, 1, 8], fewest=3)
    Repeat(start=1, length=2, times=3, spare=1)
    >>> largest_repeat([1, 2, 3], fewest=2)
    """
    before: dict[int, int] = {}
    periods: Counter[int] = Counter()
    for place, item in enumerate(items):
        if item in before:
            periods[place - before[item]] += 1
        before[item] = place
    found = [repeat for period, _ in periods.most_common(_PERIODS) for repeat in _repeats(items, period)]
    return max(
        (each for each in found if each.times >= fewest), key=lambda each: (each.saved, -each.length), default=None
    )


def _repeats(items: Sequence[int], length: int) -> list[Repeat]:
    """The repeats whose copies have ``length`` items."""
    found, start = [], 0
    for place in range(len(items) - length + 1):
        if place + length == len(items) or items[place] != items[place + length]:
            copies, spare = divmod(place - start, length)
            if copies:
                found.append(Repeat(start, length, copies + 1, spare))
            start = place + 1
    return found
