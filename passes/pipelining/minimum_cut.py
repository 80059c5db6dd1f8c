"""The cut of least bytes between values that are there and values that are needed."""

from collections import deque
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)
_INFINITE = 1 << 62


def minimum_cut(
    sizes: Mapping[Node, int], made_from: Mapping[Node, Iterable[Node]], given: Iterable[Node], needed: Iterable[Node]
) -> list[Node]:
    """The values to store, of least total size, so that all that is ``needed`` can be computed from what is stored.

    Args:
        sizes: of every value, in the order in which they are computed.
        made_from: for values that may be computed again, what they are computed from.
        given: values that are the source of all others. They have to be stored as well, if they are used.
        needed: values that are used.

    >>> sizes = {"x": 8, "a": 4, "b": 4, "c": 4}
    >>> minimum_cut(sizes, {"b": ["a"], "c": ["a"]}, ["x", "a"], ["b", "c"])
    ['a']
    >>> minimum_cut(sizes, {}, ["x", "a", "b", "c"], ["b", "c"])
    ['b', 'c']
    """
    flow = _Flow()
    for node, size in sizes.items():
        flow.edge((node, "in"), (node, "out"), size)
        for source in made_from.get(node, ()):
            flow.edge((source, "out"), (node, "in"), _INFINITE)
        if node not in made_from:
            flow.edge("source", (node, "in"), _INFINITE)
    for node in given:
        flow.edge("source", (node, "in"), _INFINITE)
    for node in needed:
        flow.edge((node, "out"), "sink", _INFINITE)
    flow.fill()
    reached = flow.reached()
    return [node for node in sizes if (node, "in") in reached and (node, "out") not in reached]


class _Flow:
    """A flow network, filled along shortest paths (Edmonds and Karp, 1972)."""

    def __init__(self) -> None:
        self._left: dict[Hashable, dict[Hashable, int]] = {"source": {}, "sink": {}}

    def edge(self, start: Hashable, end: Hashable, capacity: int) -> None:
        self._left.setdefault(start, {})[end] = self._left.get(start, {}).get(end, 0) + capacity
        self._left.setdefault(end, {}).setdefault(start, 0)

    def fill(self) -> None:
        """Send as much as fits from source to sink."""
        while (came_from := self._search()).get("sink") is not None:
            path: list[tuple[Hashable, Hashable]] = []
            node: Hashable = "sink"
            while node != "source":
                path.append((came_from[node], node))
                node = came_from[node]
            amount = min(self._left[start][end] for start, end in path)
            for start, end in path:
                self._left[start][end] -= amount
                self._left[end][start] += amount

    def reached(self) -> set[Hashable]:
        """What can still be reached from the source."""
        return set(self._search())

    def _search(self) -> dict[Hashable, Hashable]:
        came_from: dict[Hashable, Hashable] = {"source": None}
        waiting = deque(["source"])
        while waiting:
            node = waiting.popleft()
            for end, left in self._left[node].items():
                if left > 0 and end not in came_from:
                    came_from[end] = node
                    waiting.append(end)  # type: ignore[arg-type]
        return came_from
