"""The time of those who have a clock of their own and wait for each other only where they meet.

The tiles of one IPU sync among themselves, so each IPU has a clock, and so have its I/O tiles. All IPUs meet where data
goes over the links, where control flow learns a number, and where the host takes part; I/O tiles meet those that
they exchange data with. Nobody goes on before the last of those that meet has come.
"""

from collections.abc import Iterable
from collections.abc import Sequence as Many
from fractions import Fraction
from functools import reduce

import numpy as np

from ipu_mlir.dialects.analysis.program.tree import Branch, Call, Node, Repeat, Sequence, Step, While
from ipu_mlir.runtime.profile.counting import BlockCounts


class Stretch:
    """A piece of a program.

    Attributes:
        delays: the cycles from where the one of the column begins it to where the one of the row is through with it,
            at least; minus infinity where the one does not wait for the other.
    """

    def __init__(self, delays: np.ndarray) -> None:
        self.delays = delays

    @classmethod
    def of(cls, cycles: Many[float], meeting: Iterable[int] = ()) -> "Stretch":
        """A step that takes so many cycles of each, and that those who are ``meeting`` begin together."""
        delays = np.full((len(cycles),) * 2, -np.inf)
        np.fill_diagonal(delays, cycles)
        together = list(meeting)
        delays[np.ix_(together, together)] = np.asarray(cycles, dtype=float)[together, None]
        return cls(delays)

    @property
    def cycles(self) -> float:
        """From begin to end, if all begin together.

        >>> both_at_work, met = Stretch.of([5, 3]), Stretch.of([2, 6], meeting=[0, 1])
        >>> both_at_work.cycles, then(both_at_work, met).cycles, times(then(both_at_work, met), 2).cycles
        (5.0, 11.0, 20.0)
        """
        return float(self.delays.max())

    def after(self, clocks: np.ndarray) -> np.ndarray:
        """The clocks of those who began it at ``clocks`` when they are through with it."""
        return (self.delays + clocks).max(axis=1)


def then(first: Stretch, second: Stretch) -> Stretch:
    """One after the other: who does not meet the others goes on while they are behind."""
    return Stretch((second.delays[:, :, None] + first.delays[None]).max(axis=1))


def times(stretch: Stretch, count: Fraction | float) -> Stretch:
    """``count`` times in a row; what is left behind whole times takes its share of all cycles."""
    whole, share = divmod(count, 1)
    found = Stretch.of([0.0] * len(stretch.delays))
    if share:
        found = Stretch(stretch.delays * float(share))
    power, left = stretch, int(whole)
    while left:
        if left % 2:
            found = then(found, power)
        left //= 2
        power = then(power, power) if left else power
    return found


def program_stretch(tree: Sequence, steps: Many[Stretch], counts: BlockCounts) -> Stretch:
    """The whole program, whose step of number ``n`` is ``steps[n]``."""
    nothing = Stretch.of([0.0] * (len(steps[0].delays) if steps else 1))
    known: dict[int, Stretch] = {}

    def of_block(block: Sequence) -> Stretch:
        if block.number not in known:
            known[block.number] = reduce(then, (of_node(child, block) for child in block.children), nothing)
        return known[block.number]

    def share(block: Sequence, around: Sequence) -> Fraction:
        """The mean number of runs of ``block`` for each run of the block around it."""
        outer = counts.of.get(around.number, 0)
        return Fraction(counts.of.get(block.number, 0), outer) if outer else Fraction(0)

    def of_node(node: Node, around: Sequence) -> Stretch:
        match node:
            case Step():
                return steps[node.number]
            case Sequence():
                return of_block(node)
            case Call():
                return of_block(node.body)
            case Repeat():
                return times(of_block(node.body), share(node.body, around) if node.count is None else node.count)
            case While():
                rounds = share(node.body, around)
                round_ = then(of_block(node.condition), of_block(node.body))
                last = times(of_block(node.condition), max(Fraction(0), share(node.condition, around) - rounds))
                return then(times(round_, rounds), last)
            case Branch():
                arms = (times(of_block(body), share(body, around)) for body in node.bodies)
                return reduce(then, arms, nothing)

    return of_block(tree)
