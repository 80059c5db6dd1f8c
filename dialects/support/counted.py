"""Numbers with the nouns that they count, and lists, as text."""

from collections.abc import Iterable


def counted(number: float, one: str, many: str | None = None) -> str:
    """A number with the noun that it counts.

    >>> counted(1, "tile"), counted(1500, "tile"), counted(2, "entry", "entries")
    ('1 tile', '1,500 tiles', '2 entries')
    """
    return f"{number:,.0f} {one if number == 1 else many or one + 's'}"


def listed(things: Iterable[object]) -> str:
    """``things``, separated by commas; "nothing" if there are none."""
    return ", ".join(map(str, things)) or "nothing"
