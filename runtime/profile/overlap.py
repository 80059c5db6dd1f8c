"""The time of IPUs that wait for each other only where they meet.

The tiles of one IPU sync among themselves, so each IPU has a clock of its own. All of them meet where data goes over
the links, where control flow learns a number, and where the host takes part: nobody goes on before the last has come.
"""

from collections.abc import Sequence as Many
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from ipu_mlir.dialects.analysis.program.tree import Branch, Call, Node, Repeat, Sequence, Step, While
from ipu_mlir.runtime.profile.counting import BlockCounts

Times = tuple[Fraction, ...]
"""Cycles of each IPU."""


@dataclass(frozen=True)
class Stretch:
    """A piece of a program.

    Attributes:
        head: cycles of each IPU before they meet first, or in all if they do not meet.
        met: cycles from where they meet first to where they meet last; None if they do not meet.
        tail: cycles of each IPU after they met last.
    """

    head: Times
    met: Fraction | None = None
    tail: Times = ()

    @property
    def cycles(self) -> Fraction:
        """From begin to end, if all IPUs begin together.

        >>> both_at_work = Stretch((Fraction(5), Fraction(3)))
        >>> met = Stretch((Fraction(0),) * 2, Fraction(2), (Fraction(0), Fraction(4)))
        >>> int(both_at_work.cycles), int(then(both_at_work, met).cycles), int(times(then(both_at_work, met), 2).cycles)
        (5, 11, 20)
        """
        return max(self.head) if self.met is None else max(self.head) + self.met + max(self.tail)


def then(first: Stretch, second: Stretch) -> Stretch:
    """One after the other: an IPU goes on while others are behind."""
    if first.met is None:
        return Stretch(_sum(first.head, second.head), second.met, second.tail)
    if second.met is None:
        return Stretch(first.head, first.met, _sum(first.tail, second.head))
    return Stretch(first.head, first.met + max(_sum(first.tail, second.head)) + second.met, second.tail)


def times(stretch: Stretch, count: Fraction | int) -> Stretch:
    """``count`` times in a row; on average, where that is no whole number."""
    share = Fraction(min(count, 1)) if stretch.met is not None else Fraction(count)
    head = tuple(each * share for each in stretch.head)
    if stretch.met is None:
        return Stretch(head)
    again = (count - share) * (stretch.met + max(_sum(stretch.tail, stretch.head)))
    return Stretch(head, stretch.met * share + again, tuple(each * share for each in stretch.tail))


def _sum(first: Times, second: Times) -> Times:
    return tuple(a + b for a, b in zip(first, second, strict=True))


def program_stretch(tree: Sequence, steps: Many[Stretch], counts: BlockCounts) -> Stretch:
    """The whole program, whose step of number ``n`` is ``steps[n]``."""
    nothing = Stretch((Fraction(0),) * len(steps[0].head)) if steps else Stretch((Fraction(0),))
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
