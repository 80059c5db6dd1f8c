"""The order of a sort that a condition stands for: by looking at every way in which two elements can compare."""

from collections.abc import Callable, Sequence
from itertools import permutations, product

LESS, EQUAL, GREATER, UNORDERED = "<=>?"
"""The ways in which the first element compares with the second; ``UNORDERED`` if a NaN is among them."""

_RELATIONS = {"eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_OF_NAN = {"true": "<=>?", "false": "", "ord": "<=>", "uno": "?"}
_MOST_KEYS = 3  # 192 cases for 48 orders


def relations_of(predicate: str) -> str:
    """The relations of which ``predicate``, one of integers, holds.

    >>> relations_of("sle"), relations_of("ult"), relations_of("eq")
    ('<=', '<', '=')
    """
    if predicate in _OF_NAN:
        return _OF_NAN[predicate]
    if predicate in _RELATIONS:
        return _RELATIONS[predicate]
    return _RELATIONS[predicate[1:]]


def of_floats(predicate: str) -> str:
    """``relations_of`` a predicate of floats, whose ``u`` stands for unordered.

    >>> of_floats("ult"), of_floats("olt")
    ('<?', '<')
    """
    also = UNORDERED if predicate[0] == "u" and predicate not in _OF_NAN else ""
    return relations_of(predicate) + also


def sort_order(
    before: Callable[[Sequence[str], str], bool], has_nan: Sequence[bool]
) -> tuple[tuple[int, bool], ...] | None:
    """The keys that decide whether an element comes before another, with whether they descend; None for no such order.

    The order is lexicographic and stable: of elements that tie in every key the earlier one comes first, and an element
    with a NaN ties with all.

    Args:
        before: from how the keys of the first element compare with those of the second, and its place with that of the
            second, to whether it comes before.
        has_nan: per key, whether it can be unordered; of several keys none may.

    >>> sort_order(lambda keys, place: keys[0] == "<" or (keys[0] == "=" and place == "<"), [False])
    ((0, False),)
    >>> sort_order(lambda keys, place: keys[0] == "<", [False])  # of equal elements neither is first
    """
    count = len(has_nan)
    if not 0 < count <= _MOST_KEYS or (count > 1 and any(has_nan)):
        return None
    known = {(keys, place): before(keys, place) for keys, place in _cases(has_nan)}
    for keys in permutations(range(count)):
        for descending in product((False, True), repeat=count):
            order = tuple(zip(keys, descending, strict=True))
            if all(held == _comes_before(case, place, order) for (case, place), held in known.items()):
                return order
    return None


def _cases(has_nan: Sequence[bool]) -> list[tuple[tuple[str, ...], str]]:
    """The ways that two elements compare in each key and in their place; one compared with itself is not less."""
    kinds = [(LESS, EQUAL, GREATER, UNORDERED) if nan else (LESS, EQUAL, GREATER) for nan in has_nan]
    return [
        (keys, place)
        for keys in product(*kinds)
        for place in (LESS, EQUAL, GREATER)
        if place != EQUAL or not {LESS, GREATER} & set(keys)
    ]


def _comes_before(keys: Sequence[str], place: str, order: Sequence[tuple[int, bool]]) -> bool:
    for key, descending in order:
        if keys[key] != EQUAL:
            if keys[key] == UNORDERED:
                break
            return (keys[key] == LESS) != descending
    return place == LESS
