"""Intervals in which integers are known to lie before a program runs."""

from math import prod

import numpy as np

from ipu_mlir.runtime.translator.statements.access import Access
from ipu_mlir.runtime.translator.statements.expression import Apply, Const, Expression, Read
from ipu_mlir.runtime.translator.statements.iota import numbers

Interval = tuple[int, int]
BOOL = np.dtype(np.bool_)

_SMALL = 1024  # elements of a constant that are looked at


class Ranges:
    """The intervals of the integer values of one body, whose loops run ``extents`` times."""

    def __init__(self, extents: tuple[int, ...]) -> None:
        self.extents = extents
        self._known: dict[int, tuple[Expression, Interval | None]] = {}

    def of(self, node: Expression) -> Interval | None:
        """(lowest, highest) of ``node`` over all points of the loops; None if nothing is known."""
        if id(node) not in self._known:
            self._known[id(node)] = (node, self._computed(node))
        return self._known[id(node)][1]

    def decided(self, node: Expression) -> Expression:
        """``node``, or what it always is: comparisons, bounds and choices whose outcome the intervals tell."""
        if not isinstance(node, Apply):
            return node
        if node.call == "cast":
            return self._uncast(node)
        if len(node.args) < 2:
            return node
        if node.call == "select":
            return self._chosen(node)
        if node.call == "clip":
            value, low, high = (self.of(arg) for arg in node.args)
            inside = value and low and high and low[1] <= value[0] and value[1] <= high[0]
            return node.args[0] if inside else node
        if node.call not in ("maximum", "minimum", *_DECISIONS):
            return node
        a, b = (self.of(arg) for arg in node.args)
        if a is None or b is None:
            return node
        if node.call in ("maximum", "minimum"):
            lower, higher = (0, 1) if node.call == "minimum" else (1, 0)
            if a[1] <= b[0]:
                return node.args[lower]
            return node.args[higher] if b[1] <= a[0] else node
        truth = _DECISIONS[node.call](a, b)
        return node if truth is None else Const.of(truth, BOOL)

    def _uncast(self, node: Apply) -> Expression:
        """A number that has been another type in between, and fitted."""
        (arg,) = node.args
        if (
            isinstance(arg, Apply)
            and arg.call == "cast"
            and arg.args[0].dtype == node.dtype
            and self.of(arg) is not None
        ):
            return arg.args[0]
        return node

    def _chosen(self, node: Apply) -> Expression:
        condition, yes, no = node.args
        if isinstance(condition, Const):
            return yes if condition.value else no
        return node

    def _computed(self, node: Expression) -> Interval | None:
        if node.dtype.kind not in "iub":
            return None
        match node:
            case Const():
                return int(node.value), int(node.value)
            case Read():
                found = self._read(node.access)
                is_same = node.dtype == node.access.buffer.dtype or (found is not None and found[0] >= 0)
                return found if found is not None and is_same and _fits(found, node.dtype) else None
            case Apply():
                found = self._applied(node)
                return found if found is not None and _fits(found, node.dtype) else None
        return None

    def _read(self, access: Access) -> Interval | None:
        """The elements of a small constant, or of the numbers 0, 1, 2, ... however many they are."""
        if access.buffer.bounds is not None:
            return access.buffer.bounds
        value = access.buffer.value
        if value is None or value.dtype.kind not in "iub":
            return None
        assert not any(access.strides[len(self.extents) :]), "what is read moves along loops that are not there"
        reach = [s * (n - 1) for s, n in zip(access.strides, self.extents, strict=False) if n > 0]
        first = access.offset + sum(min(0, r) for r in reach)
        last = access.offset + sum(max(0, r) for r in reach)
        if access.buffer is numbers(access.buffer.elements):
            return first, last
        if prod(self.extents) == 0 or last - first >= _SMALL or first < 0 or last >= value.size:
            return None
        seen = value[first : last + 1]
        return int(seen.min()), int(seen.max())

    def _applied(self, node: Apply) -> Interval | None:
        found = [self.of(arg) for arg in node.args]
        if node.call == "select":
            return _either(found[1], found[2])
        if node.call == "bits" and found[0] is not None:
            return found[0]  # the same number if it fits both types; the caller checks the new one
        if node.call == "cast" and node.args[0].dtype.kind in "iub":
            return found[0] or _limits(node.args[0].dtype)
        if node.call in ("maximum", "minimum"):
            found = [
                _limits(arg.dtype) if interval is None else interval
                for arg, interval in zip(node.args, found, strict=True)
            ]
        if node.call == "clip" and found[1] is not None and found[2] is not None:
            return _clipped(found[0], found[1], found[2])
        known = [interval for interval in found if interval is not None]
        if len(known) != 2 or len(found) != 2:
            return None
        (a, b), (c, d) = known
        match node.call:
            case "add":
                return a + c, b + d
            case "subtract":
                return a - d, b - c
            case "multiply":
                corners = (a * c, a * d, b * c, b * d)
                return min(corners), max(corners)
            case "fmod" | "remainder" if c == d > 0:
                below = 0 if a >= 0 or node.call == "remainder" else max(a, 1 - c)
                return below, min(b, c - 1) if a >= 0 else c - 1
            case "floor_divide" | "divide_to_zero" if c == d > 0:
                return (a // c, b // c) if node.call == "floor_divide" or a >= 0 else (-(-a // c), max(b, 0) // c)
            case "right_shift" if 0 <= c == d:
                return a >> c, b >> c
            case "bitwise_and" if c == d >= 0:
                return 0, c if a < 0 else min(b, c)
            case "maximum":
                return max(a, c), max(b, d)
            case "minimum":
                return min(a, c), min(b, d)
        return None


def is_within(index: Expression, count: int, ranges: Ranges) -> bool:
    """True if ``index`` is known to be one of the first ``count`` numbers from 0 on."""
    interval = ranges.of(index)
    return interval is not None and interval[0] >= 0 and interval[1] < count


def _clipped(value: Interval | None, low: Interval, high: Interval) -> Interval:
    lowest, highest = value or (low[0], high[1])
    return min(max(lowest, low[0]), high[0]), min(max(highest, low[1]), high[1])


def _either(a: Interval | None, b: Interval | None) -> Interval | None:
    return None if a is None or b is None else (min(a[0], b[0]), max(a[1], b[1]))


def _limits(dtype: np.dtype) -> Interval:
    """The lowest and the highest number of an integer type."""
    return (0, 1) if dtype.kind == "b" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))


def _fits(interval: Interval, dtype: np.dtype) -> bool:
    lowest, highest = _limits(dtype)
    return lowest <= interval[0] and interval[1] <= highest


def _less(a: Interval, b: Interval) -> bool | None:
    if a[1] < b[0]:
        return True
    return False if a[0] >= b[1] else None


def _not(truth: bool | None) -> bool | None:
    return None if truth is None else not truth


def _equal(a: Interval, b: Interval) -> bool | None:
    if a[1] < b[0] or b[1] < a[0]:
        return False
    return True if a[0] == a[1] == b[0] == b[1] else None


_DECISIONS = {
    "less": _less,
    "greater": lambda a, b: _less(b, a),
    "less_equal": lambda a, b: _not(_less(b, a)),
    "greater_equal": lambda a, b: _not(_less(a, b)),
    "equal": _equal,
    "not_equal": lambda a, b: _not(_equal(a, b)),
}
