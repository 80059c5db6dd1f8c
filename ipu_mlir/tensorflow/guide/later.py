"""Names of the guide whose time comes later: they are there with their signatures, and say so when they are used."""

import functools
import importlib
import inspect
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

_INSTEAD = {
    "distributed": "run one process with replicas",
    "ipu_multi_worker_strategy": "run one process with replicas",
}
"""What does as much until then, by the beginning of a name."""


class Row(NamedTuple):
    """A name of the guide; of an alias, the signature is the name that it stands for."""

    section: str
    kind: str
    name: str
    signature: str


@functools.cache
def rows() -> list[Row]:
    """All names of the guide."""
    text = Path(__file__).with_name("names.tsv").read_text(encoding="utf-8")
    return [Row(*line.split("\t")) for line in text.splitlines()]


@functools.cache
def later(name: str) -> Any:
    """What stands for a name, as in ``pipelining_ops.pipeline``, or a module of such names; None if it is not one."""
    row = next((each for each in rows() if each.name == name), None)
    inside = {each.name.removeprefix(name + "."): each for each in rows() if each.name.startswith(name + ".")}
    own = {short: each for short, each in inside.items() if "." not in short}
    if row is None:
        return _module(name) if inside else None
    if row.kind == "alias":
        home, _, own = row.signature.rpartition(".")
        return (
            getattr(importlib.import_module(f"ipu_mlir.tensorflow.ipu.{home}"), own) if home else later(row.signature)
        )
    short = name.rpartition(".")[2]
    if row.kind == "enum":
        made: Any = Enum(short, [(each, each) for each in own], module=__name__)
        made.__later__ = True
        return made
    if row.kind == "class":
        methods = {each: _member(found) for each, found in own.items()}
        start = {"__init__": _refusing(row, ["self"]), "__signature__": _signature(row), "__later__": True}
        return type(short, (), {"__doc__": _sentence(name), "__module__": __name__, **start, **methods})
    return _refusing(row, [])


def is_later(value: Any) -> bool:
    """True if ``value`` only stands for what comes later."""
    return getattr(getattr(value, "fget", value), "__later__", False)


def _module(name: str) -> ModuleType:
    made = ModuleType(f"ipu_mlir.tensorflow.ipu.{name}", _sentence(name))

    def attribute(short: str) -> Any:
        found = later(f"{name}.{short}")
        if found is None:
            raise AttributeError(f"module '{made.__name__}' has no attribute {short!r}")
        return found

    made.__getattr__, made.__later__ = attribute, True  # type: ignore[attr-defined]
    made.__path__ = []  # modules may be in it
    return made


def _member(row: Row) -> Any:
    refusing = _refusing(row, ["self"])
    return property(refusing) if row.kind == "property" else refusing


def _refusing(row: Row, first: list[str]) -> Callable[..., Any]:
    def refused(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(_sentence(row.name))

    refused.__name__ = refused.__qualname__ = row.name.rpartition(".")[2]
    refused.__doc__ = _sentence(row.name)
    made: Any = refused
    made.__signature__, made.__later__ = _signature(row, first), True
    return refused


def _signature(row: Row, first: list[str] | None = None) -> inspect.Signature:
    """That of the guide, after the arguments ``first``."""
    import tensorflow as tf

    text = row.signature.partition("(")[2].rpartition(")")[0]
    names = {"tf": tf, "GradientAccumulationReductionMethod": later(_METHODS)}
    return inspect.signature(eval(f"lambda {', '.join(filter(None, [*(first or []), text]))}: None", names))


_METHODS = "gradient_accumulation.GradientAccumulationReductionMethod"


def _sentence(name: str) -> str:
    instead = [text for start, text in _INSTEAD.items() if f"{name}.".startswith(f"{start}.")]
    return f"ipu.{name} is not there yet" + "".join(f"; {text}" for text in instead)
