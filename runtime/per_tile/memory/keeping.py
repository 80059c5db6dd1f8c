"""Results of working out an operation, kept for the next time that it runs, as long as there is memory."""

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar


class Sized(Protocol):
    @property
    def size(self) -> int:
        """Elements of its arrays."""
        ...


T = TypeVar("T", bound=Sized)


class Budget:
    """The memory for arrays of so many elements in all.

    >>> budget = Budget(10)
    >>> budget.take(8), budget.take(8), budget.give_back(8), budget.take(8)
    (True, False, None, True)
    """

    def __init__(self, elements: int) -> None:
        self._left = elements

    def take(self, elements: int) -> bool:
        """True if that many elements may be kept."""
        if elements > self._left:
            return False
        self._left -= elements
        return True

    def give_back(self, elements: int) -> None:
        self._left += elements


class Kept(Generic[T]):
    """One thing that follows from a key, kept from the second time on that the key is the same."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._key: object = None
        self._thing: T | None = None

    def get(self, key: object, make: Callable[[], T]) -> T:
        """The value that ``make`` made for ``key``, now or before."""
        is_same = key == self._key
        if is_same and self._thing is not None:
            return self._thing
        if self._thing is not None:
            self._budget.give_back(self._thing.size)
        thing = make()
        self._key, self._thing = key, thing if is_same and self._budget.take(thing.size) else None
        return thing
