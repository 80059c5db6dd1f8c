"""Options of a pass as text: ``{grain=16 verbose}`` <-> the fields of its dataclass.

A field ``num_tiles: int = 4`` is the option ``num-tiles``. Text can set ``int``, ``float``, ``bool``, ``str``,
``Literal`` choices, tuples of these (``sizes=1,2,3``), and each of them ``| None``. A field of another type is for
Python only.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from dataclasses import MISSING
from typing import Any, Literal, Union

from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.core.pipeline_text import PipelineError

_SCALARS = {int: "an integer", float: "a number", str: "text", bool: "true or false"}
_BOOLS = {None: True, "true": True, "1": True, "false": False, "0": False}


@dataclasses.dataclass(frozen=True)
class Option:
    """One option: its name as text, the field it sets, the field's type, and its default (MISSING without one)."""

    name: str
    field: str
    type: Any
    default: Any


@functools.cache
def options_of(pass_class: type[Pass]) -> tuple[Option, ...]:
    """The options of a pass, in the order of its fields."""
    hints = typing.get_type_hints(pass_class)
    return tuple(
        Option(field.name.replace("_", "-"), field.name, hints[field.name], field.default)
        for field in dataclasses.fields(pass_class)
        if field.init and _is_textual(hints[field.name])
    )


def make_pass(pass_class: type[Pass], text: str = "") -> Pass:
    """An instance of ``pass_class`` with the options that ``text`` gives it: ``"grain=16"``.

    Raises:
        PipelineError: an option that the pass does not have, a value of the wrong type, or one given twice.
    """
    options = {option.name: option for option in options_of(pass_class)}
    values: dict[str, Any] = {}
    for name, value in split_options(text):
        option = options.get(name)
        if option is None:
            has = f"its options: {', '.join(options)}" if options else "it has none"
            raise PipelineError(f"pass '{pass_class.name}' has no option '{name}'; {has}")
        if option.field in values:
            raise PipelineError(f"pass '{pass_class.name}' is given option '{name}' twice")
        try:
            values[option.field] = _read(option.type, value)
        except ValueError as error:
            shown = "nothing" if value is None else f"'{value}'"
            message = f"option '{name}' of pass '{pass_class.name}' takes {type_text(option.type)}, got {shown}"
            raise PipelineError(message) from error
    missing = [option.name for option in options.values() if option.default is MISSING and option.field not in values]
    try:
        return pass_class(**values)
    except TypeError as error:
        raise PipelineError(f"pass '{pass_class.name}' needs a value for {', '.join(missing)}") from error


def pass_text(instance: Pass) -> str:
    """The pipeline element that makes ``instance``, with the options that differ from their defaults.

    Fields that text cannot set are left out.
    """
    given = []
    for option in options_of(type(instance)):
        value = getattr(instance, option.field)
        if value != option.default and value is not None:
            given.append(f"{option.name}={option_text(value)}")
    return f"{instance.name}{{{' '.join(given)}}}" if given else instance.name


def split_options(text: str) -> list[tuple[str, str | None]]:
    """Names and values of ``a=1 b=x,y flag c={d e} f="g h"``; a bare flag has the value None.

    >>> split_options("grain=2 verbose name='a b'")
    [('grain', '2'), ('verbose', None), ('name', 'a b')]
    """
    words: list[str] = []
    depth, quote, word = 0, "", ""
    for char in text + " ":
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "{[(<":
            depth += 1
        elif char in "}])>":
            depth -= 1
        elif char.isspace() and depth == 0:
            words += [word] if word else []
            word = ""
            continue
        word += char
    if word.strip():
        raise PipelineError(f"options '{text}': a quote or a bracket is never closed")
    pairs: list[tuple[str, str | None]] = []
    for item in words:
        name, equals, value = item.partition("=")
        pairs.append((name, _unquoted(value) if equals else None))
    return pairs


def option_text(value: Any) -> str:
    """The value of an option as text that reads back as it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ",".join(map(option_text, value))
    text = str(value)
    return f"'{text}'" if any(char.isspace() for char in text) else text


def type_text(kind: Any) -> str:
    """The words of a message for the values of an option's type: ``an integer``, ``one of balanced, grid``."""
    if _is_optional(kind):
        return type_text(_without_none(kind))
    if typing.get_origin(kind) is tuple:
        return f"a list of {type_text(typing.get_args(kind)[0]).removeprefix('an ').removeprefix('a ')}s, as in 1,2"
    if typing.get_origin(kind) is Literal:
        return f"one of {', '.join(map(str, typing.get_args(kind)))}"
    return _SCALARS[kind]


def _is_optional(kind: Any) -> bool:
    return typing.get_origin(kind) in (Union, types.UnionType) and type(None) in typing.get_args(kind)


def _without_none(kind: Any) -> Any:
    rest = [member for member in typing.get_args(kind) if member is not type(None)]
    return rest[0] if len(rest) == 1 else object


def _is_textual(kind: Any) -> bool:
    if _is_optional(kind):
        return _is_textual(_without_none(kind))
    if typing.get_origin(kind) is tuple:
        members = typing.get_args(kind)
        return len(members) == 2 and members[1] is Ellipsis and members[0] in _SCALARS
    return kind in _SCALARS or typing.get_origin(kind) is Literal


def _read(kind: Any, value: str | None) -> Any:
    """``value``, None for a bare flag, as a ``kind``; ValueError where it is none."""
    if _is_optional(kind):
        return None if value == "none" else _read(_without_none(kind), value)
    if kind is bool:
        return _choose(_BOOLS, value)
    if value is None:
        raise ValueError("a value is needed")
    if typing.get_origin(kind) is tuple:
        members = value.strip("[]")
        return tuple(_read(typing.get_args(kind)[0], member.strip()) for member in members.split(",") if members)
    if typing.get_origin(kind) is Literal:
        return _choose({str(choice): choice for choice in typing.get_args(kind)}, value)
    return kind(value)


def _choose(choices: dict[Any, Any], value: str | None) -> Any:
    if value not in choices:
        raise ValueError(f"not one of {choices}")
    return choices[value]


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] + value[-1] in ('""', "''", "{}"):
        return value[1:-1]
    return value
