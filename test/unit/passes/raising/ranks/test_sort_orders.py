"""Conditions that are the order of a stable sort, and those that are nearly."""

import pytest

from ipu_mlir.dialects.analysis.matchers import PREDICATES
from ipu_mlir.passes.raising.ranks.sort_orders import (
    of_floats,
    relations_of,
    sort_order,
)


def lexicographic(keys, place):
    """First key ascending, second descending, then the place."""
    first, second = keys
    return first == "<" or (first == "=" and (second == ">" or (second == "=" and place == "<")))


@pytest.mark.parametrize(
    ("before", "order"),
    [
        (lambda keys, place: keys[0] == "<" or (keys[0] in "=?" and place == "<"), ((0, False),)),
        (lambda keys, place: keys[0] == ">" or (keys[0] in "=?" and place == "<"), ((0, True),)),
        (lambda keys, place: keys[0] in "<?" or (keys[0] == "=" and place == "<"), None),
        (lambda keys, place: keys[0] == "<" or (keys[0] == "=" and place == "<"), None),
        (lambda keys, place: keys[0] in "<=" or (keys[0] == "?" and place == "<"), None),
        (lambda keys, place: keys[0] == "<" or (keys[0] in "=?" and place == ">"), None),
        (lambda keys, place: place == "<", None),
    ],
    ids=["ascending", "descending", "nan-first", "nan-never", "not-stable", "later-first", "places-only"],
)
def test_one_key_that_may_be_nan(before, order):
    assert sort_order(before, [True]) == order


def test_keys_one_after_the_other():
    assert sort_order(lexicographic, [False, False]) == ((0, False), (1, True))
    assert sort_order(lambda keys, place: lexicographic(keys[::-1], place), [False, False]) == ((1, False), (0, True))


def test_several_keys_with_nan_are_no_order_of_ours():
    assert sort_order(lexicographic, [False, True]) is None


@pytest.mark.parametrize("count", [0, 4])
def test_as_many_keys_as_can_be_tried(count):
    assert sort_order(lambda keys, place: place == "<", [False] * count) is None


def test_predicates_hold_of_the_relations_that_their_names_say():
    assert [relations_of(each) for each in PREDICATES["arith.cmpi"]] == [
        "=", "<>", "<", "<=", ">", ">=", "<", "<=", ">", ">=",
    ]  # fmt: skip
    assert [of_floats(each) for each in PREDICATES["arith.cmpf"]] == [
        "", "=", ">", ">=", "<", "<=", "<>", "<=>", "=?", ">?", ">=?", "<?", "<=?", "<>?", "?", "<=>?",
    ]  # fmt: skip
