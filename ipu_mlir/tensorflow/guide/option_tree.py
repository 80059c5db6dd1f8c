"""Options that know their type, their default and their name, in categories that hold each other."""

import difflib
import logging
import typing
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from enum import Enum
from types import UnionType
from typing import Any

_LOG = logging.getLogger("ipu_mlir.tensorflow")


@dataclass(frozen=True)
class AttributeMetadata:
    """What there is to know about an option or a category.

    Attributes:
        name: with those of the categories around it, as ``matmuls.poplar_options``.
        type: which values it takes, as text; None for a category.
        default: what it is to begin with; None for a category.
        deprecated: whether another option has taken its place.
        deprecated_msg: which one; None where there is none.
    """

    name: str
    type: str | None = None
    default: Any = None
    deprecated: bool = False
    deprecated_msg: str | None = None
    _kind: Any = None

    def check_type(self, value: Any) -> bool:
        """True if the option takes ``value``.

        Raises:
            TypeError: it does not.
        """
        if self._kind is None:
            raise TypeError(f"{self.name} is a category and has no value; set one of its options")
        if not _is_of(value, self._kind):
            raise TypeError(f"Trying to set {self.name} to {value!r}, but it must be of type {self.type}")
        return True

    def warn_if_deprecated(self) -> None:
        """Say so in the log."""
        if self.deprecated:
            _LOG.warning("%s is deprecated: %s", self.name, self.deprecated_msg)


class Option:
    """An option of a category: a value of a type.

    Args:
        kind: a class, or what ``typing`` makes of several.
        default: the value to begin with.
        moved_to: of a deprecated option, the name that has taken its place in its category or below.
    """

    def __init__(self, kind: Any, default: Any, moved_to: str | None = None) -> None:
        self.kind, self.default, self.moved_to = kind, default, moved_to

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, category: Any, owner: type | None = None) -> Any:
        if category is None:
            return self
        if self.moved_to is not None:
            home, name = _at(category, self.moved_to)
            return getattr(home, name)
        return category._values[self.name]

    def __set__(self, category: Any, value: Any) -> None:
        about = self.metadata(category)
        about.check_type(value)
        if self.moved_to is not None:
            about.warn_if_deprecated()
            home, name = _at(category, self.moved_to)
            setattr(home, name, value)
            return
        category._values[self.name] = deepcopy(value)

    def metadata(self, category: "Category") -> AttributeMetadata:
        """What there is to know about it in ``category``."""
        moved = self.moved_to and f"use {category._path}{self.moved_to}"
        return AttributeMetadata(
            category._path + self.name, _named(self.kind), deepcopy(self.default), bool(moved), moved, self.kind
        )


class Group:
    """A category in a category."""

    def __init__(self, kind: "type[Category]") -> None:
        self.kind = kind

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, category: Any, owner: type | None = None) -> Any:
        return self if category is None else category._values[self.name]

    def __set__(self, category: Any, value: Any) -> None:
        raise TypeError(
            f"{category._path}{self.name} is a category of options and cannot be set to {value!r}; set one of "
            f"{', '.join(category._values[self.name])}"
        )

    def metadata(self, category: "Category") -> AttributeMetadata:
        """What there is to know about it in ``category``."""
        return AttributeMetadata(category._path + self.name)


class Category:
    """Options and further categories. As an iterable it has their names."""

    def __init__(self, path: str = "") -> None:
        object.__setattr__(self, "_path", path)
        values: dict[str, Any] = {}
        for name, member in _members(type(self)).items():
            values[name] = deepcopy(member.default) if isinstance(member, Option) else member.kind(f"{path}{name}.")
        object.__setattr__(self, "_values", values)

    def __iter__(self) -> Iterator[str]:
        return iter(_members(type(self)))

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _members(type(self)):
            raise ValueError(self._unknown(name))
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        """Only for what is not there."""
        raise AttributeError(self._unknown(name) if not name.startswith("_") else name)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Category":
        copied = type(self)()
        object.__setattr__(copied, "_path", self._path)
        object.__setattr__(copied, "_values", deepcopy(self._values, memo))
        return copied

    def get_attribute_metadata(self, attr: str) -> AttributeMetadata:
        """What there is to know about an option or a category.

        Args:
            attr: its name, with those of the categories between here and there: ``floating_point_behaviour.esr``.

        Raises:
            ValueError: there is none of that name.
        """
        home, name = _at(self, attr)
        if name not in _members(type(home)):
            raise ValueError(home._unknown(name))
        return _members(type(home))[name].metadata(home)

    def _as_dict(self) -> dict[str, Any]:
        kept = (name for name, member in _members(type(self)).items() if not getattr(member, "moved_to", None))
        values = {name: getattr(self, name) for name in kept}
        return {name: v._as_dict() if isinstance(v, Category) else deepcopy(v) for name, v in values.items()}

    def _take(self, given: dict[str, Any]) -> None:
        for name, value in given.items():
            member = _members(type(self)).get(name)
            if isinstance(member, Group) and isinstance(value, dict):
                getattr(self, name)._take(value)
            elif isinstance(member, Option) and isinstance(value, str) and _is_enum(member.kind):
                if value not in member.kind.__members__:
                    names = ", ".join(member.kind.__members__)
                    raise ValueError(f"{self._path}{name} is {value!r}, expected one of {names}")
                setattr(self, name, member.kind[value])
            else:
                setattr(self, name, value)

    def _unknown(self, name: str) -> str:
        close = difflib.get_close_matches(name, list(self), n=1)
        instead = f" Did you mean '{close[0]}'?" if close else f" There are {', '.join(self)}."
        return f"'{self._path}{name}' is not a valid attribute of this config.{instead}"


def _members(kind: type) -> dict[str, Any]:
    return {name: each for name, each in vars(kind).items() if isinstance(each, Option | Group)}


def _at(category: Category, path: str) -> tuple[Category, str]:
    """The category in which the option ``path`` is, and the last of its names."""
    *groups, name = path.split(".")
    for each in groups:
        inner = getattr(category, each, None)
        if not isinstance(inner, Category):
            raise ValueError(category._unknown(each))
        category = inner
    return category, name


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)


def _is_of(value: Any, kind: Any) -> bool:
    """True if ``value`` is of a type; a bool is no int here.

    >>> _is_of(True, int), _is_of([1, 2], list[int]), _is_of((1, "a"), tuple[int, ...])
    (False, True, False)
    """
    inner = typing.get_args(kind)
    if typing.get_origin(kind) in (typing.Union, UnionType):
        return any(_is_of(value, each) for each in inner)
    if inner:
        return isinstance(value, typing.get_origin(kind) or ()) and all(_is_of(each, inner[0]) for each in value)
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def _named(kind: Any) -> str:
    """A type as text.

    >>> _named(int), _named(typing.Union[int, typing.List[int]])
    ('int', 'Union[int, List[int]]')
    """
    return str(kind).replace("typing.", "") if typing.get_args(kind) else kind.__name__
