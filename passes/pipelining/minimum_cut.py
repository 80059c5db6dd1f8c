"""The cut of least bytes between values that are there and values that are needed."""

from collections import deque
from collections.abc import Hashable, Iterable, Mapping
from itertools import pairwise
from math import isqrt
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)
_INFINITE = 1 << 200


def minimum_cut(
    sizes: Mapping[Node, int],
    made_from: Mapping[Node, Iterable[Node]],
    given: Iterable[Node],
    needed: Iterable[Node],
    again: Mapping[Node, int] | None = None,
) -> list[Node]:
    """The values to store, of least total size, so that all that is ``needed`` can be computed from what is stored.

    Args:
        sizes: of every value, in the order in which they are computed.
        made_from: for values that may be computed again, what they are computed from.
        given: values that are the source of all others. They have to be stored as well, if they are used.
        needed: values that are used.
        again: for values, what it costs to compute them again, which is added to the sizes.

    >>> sizes = {"x": 8, "a": 4, "b": 4, "c": 4}
    >>> minimum_cut(sizes, {"b": ["a"], "c": ["a"]}, ["x", "a"], ["b", "c"])
    ['a']
    >>> minimum_cut(sizes, {}, ["x", "a", "b", "c"], ["b", "c"])
    ['b', 'c']
    >>> minimum_cut(sizes, {"b": ["a"], "c": ["a"]}, ["x", "a"], ["b", "c"], {"b": 3, "c": 3})
    ['b', 'c']
    """
    flow = _Flow()
    for node, size in sizes.items():
        flow.edge((node, "in"), (node, "out"), size)
        for source in made_from.get(node, ()):
            flow.edge((source, "out"), (node, "in"), _INFINITE)
        if node not in made_from:
            flow.edge("source", (node, "in"), _INFINITE)
    for node, cost in (again or {}).items():
        if cost and node in made_from:
            flow.edge("source", (node, "in"), cost)
    for node in given:
        flow.edge("source", (node, "in"), _INFINITE)
    for node in needed:
        flow.edge((node, "out"), "sink", _INFINITE)
    flow.fill()
    reached = flow.reached()
    return [node for node in sizes if (node, "in") in reached and (node, "out") not in reached]


def bounded_cut(
    sizes: Mapping[Node, int],
    made_from: Mapping[Node, Iterable[Node]],
    given: Iterable[Node],
    needed: Iterable[Node],
    cycles: Mapping[Node, int],
    most: int,
) -> list[Node]:
    """As ``minimum_cut``, of the cuts from which all is computed in ``most`` cycles.

    A cycle has a price in bytes, the lowest at which the cheapest cut keeps to the bound (Lagrange); a smaller cut, of
    which no price is, may be missed.

    >>> sizes, made_from = {"x": 8, "a": 4, "b": 4, "c": 2}, {"a": ["x"], "b": ["a"], "c": ["b"]}
    >>> for most in (0, 5, 20):
    ...     print(bounded_cut({**sizes, "x": 1}, made_from, ["x"], ["a", "b", "c"], {"a": 10, "b": 5, "c": 5}, most))
    ['a', 'b', 'c']
    ['a', 'c']
    ['x']
    """
    given, needed = list(given), list(needed)

    def cut(price: int) -> list[Node]:
        scaled = {node: size * _SCALE for node, size in sizes.items()}
        return minimum_cut(scaled, made_from, given, needed, {node: each * price for node, each in cycles.items()})

    low, high = 0, _SCALE * (sum(sizes.values()) + 1)
    found = cut(low)
    if _added(found, made_from, needed, cycles) <= most:
        return found
    found = cut(high)
    while high > low + 1 and high > low * _PRECISION:
        price = isqrt((low + 1) * high)
        tried = cut(price)
        if _added(tried, made_from, needed, cycles) <= most:
            high, found = price, tried
        else:
            low = price
    return found


_SCALE = 1 << 10
_PRECISION = 1.05


def _added(
    stored: Iterable[Node], made_from: Mapping[Node, Iterable[Node]], needed: Iterable[Node], cycles: Mapping[Node, int]
) -> int:
    """The cycles in which what is needed is computed from what is stored."""
    known, waiting, total = set(stored), list(needed), 0
    while waiting:
        node = waiting.pop()
        if node not in known:
            known.add(node)
            if node in made_from:
                total += cycles.get(node, 0)
                waiting.extend(made_from[node])
    return total


class _Flow:
    """A flow network, filled along all shortest paths at a time (Dinic, 1970)."""

    def __init__(self) -> None:
        self._left: dict[Hashable, dict[Hashable, int]] = {"source": {}, "sink": {}}

    def edge(self, start: Hashable, end: Hashable, capacity: int) -> None:
        self._left.setdefault(start, {})[end] = self._left.get(start, {}).get(end, 0) + capacity
        self._left.setdefault(end, {}).setdefault(start, 0)

    def fill(self) -> None:
        """Send as much as fits from source to sink."""
        while "sink" in (steps := self._steps()):
            ways = {node: list(ends) for node, ends in self._left.items()}  # those that may still lead to the sink
            path: list[Hashable] = ["source"]
            while path:
                node = path[-1]
                if node == "sink":
                    self._send(path)
                    path = ["source"]
                    continue
                left, ends = self._left[node], ways[node]
                while ends and (left[ends[-1]] == 0 or steps.get(ends[-1]) != steps[node] + 1):
                    ends.pop()
                if ends:
                    path.append(ends[-1])
                else:
                    path.pop()
                    steps[node] = -1

    def reached(self) -> set[Hashable]:
        """What can still be reached from the source."""
        return set(self._steps())

    def _send(self, path: list[Hashable]) -> None:
        edges = list(pairwise(path))
        amount = min(self._left[start][end] for start, end in edges)
        for start, end in edges:
            self._left[start][end] -= amount
            self._left[end][start] += amount

    def _steps(self) -> dict[Hashable, int]:
        """The edges with room on the shortest path from the source to what can be reached from it."""
        steps: dict[Hashable, int] = {"source": 0}
        waiting = deque[Hashable](["source"])
        while waiting:
            node = waiting.popleft()
            for end, left in self._left[node].items():
                if left > 0 and end not in steps:
                    steps[end] = steps[node] + 1
                    waiting.append(end)
        return steps
