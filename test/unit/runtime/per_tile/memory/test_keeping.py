"""What is kept for the next time, and what is not."""

from types import SimpleNamespace
from typing import Any

from ipu_mlir.runtime.per_tile.memory.keeping import Budget, Kept


def _use(kept: Kept[Any], keys: str) -> list[str]:
    """For which of the keys, one after the other, something was made."""
    made: list[str] = []
    for key in keys:
        kept.get(key, lambda key=key: made.append(key) or SimpleNamespace(size=5))
    return made


def test_a_thing_is_kept_from_the_second_time_on() -> None:
    assert _use(Kept(Budget(5)), "aaaa") == ["a", "a"]


def test_another_key_makes_another_thing_and_frees_the_room() -> None:
    assert _use(Kept(Budget(5)), "aaabbbb") == ["a", "a", "b", "b"]


def test_nothing_is_kept_without_room() -> None:
    assert _use(Kept(Budget(4)), "aaa") == ["a", "a", "a"]


def test_room_is_shared() -> None:
    budget = Budget(9)
    assert _use(Kept(budget), "aaa") == ["a", "a"]
    assert _use(Kept(budget), "bbb") == ["b", "b", "b"]
