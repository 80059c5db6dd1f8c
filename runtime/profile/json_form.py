"""Frozen dataclasses to JSON values and back, by their type hints."""

import types
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from ipu_mlir.dialects.support.errors import IpuError

T = TypeVar("T")

OPTIONAL_KEYS = frozenset(("per_ipu", "io", "io_ipus", "busy", "traffic", "worst_bytes_as_written"))
"""Keys that are left out of the JSON where their value is None."""


class ProfileFormatError(IpuError):
    """A JSON value is not what the schema of profiles says."""


def key_of(field_name: str) -> str:
    """The key in JSON: the name of the field, without the underscore that tells it from a keyword.

    >>> key_of("try_"), key_of("steps")
    ('try', 'steps')
    """
    return field_name.rstrip("_")


@cache
def hints_of(kind: type) -> dict[str, Any]:
    """The type of each field."""
    return get_type_hints(kind)


def to_json(value: Any) -> Any:
    """``value`` as dictionaries, lists, numbers and texts."""
    if is_dataclass(value):
        pairs = ((field.name, getattr(value, field.name)) for field in fields(value))
        return {key_of(name): to_json(inner) for name, inner in pairs if inner is not None or name not in OPTIONAL_KEYS}
    if isinstance(value, tuple):
        return [to_json(inner) for inner in value]
    return value


def from_json(kind: type[T], value: Any) -> T:
    """The dataclass ``kind`` that ``to_json`` made ``value`` from.

    Raises:
        ProfileFormatError: a field is missing, or of the wrong kind; the message says where.
    """
    return _read(kind, value, "")


def _read(kind: Any, value: Any, place: str) -> Any:
    if is_dataclass(kind):
        assert isinstance(kind, type), f"{kind} is a value, not a class"
        return _read_object(kind, value, place)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (types.UnionType, Union):
        inner = next(each for each in arguments if each is not type(None))
        return None if value is None else _read(inner, value, place)
    if origin is Literal:
        if value not in arguments:
            raise _wrong(value, f"one of {', '.join(map(repr, arguments))}", place)
        return value
    if origin is tuple:
        if not isinstance(value, list):
            raise _wrong(value, "a list", place)
        if arguments[-1] is not Ellipsis:
            if len(value) != len(arguments):
                raise _wrong(value, f"a list of {len(arguments)}", place)
            return tuple(_read(each, inner, place) for each, inner in zip(arguments, value, strict=True))
        return tuple(_read(arguments[0], inner, f"{place}[{number}]") for number, inner in enumerate(value))
    accepted: tuple[type, ...] = (int, float) if kind is float else (kind,)
    if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
        raise _wrong(
            value, {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}[kind], place
        )
    return float(value) if kind is float else value


def _read_object(kind: type, value: Any, place: str) -> Any:
    if not isinstance(value, dict):
        raise _wrong(value, "an object", place)
    found = {}
    for name, hint in hints_of(kind).items():
        key = key_of(name)
        inner_place = f"{place}.{key}" if place else key
        if key not in value and name not in OPTIONAL_KEYS:
            raise ProfileFormatError(f"the profile has no {inner_place}; write it anew with this version")
        found[name] = _read(hint, value.get(key), inner_place)
    return kind(**found)


def _wrong(value: Any, expected: str, place: str) -> ProfileFormatError:
    return ProfileFormatError(f"{place or 'the profile'} is {value!r:.60}; expected {expected}")
