"""Lines of the user's file in StableHLO of TensorFlow, which has names of ops and lines of TensorFlow itself."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

_NAME = re.compile(r'^(#loc\d+) = loc\("([^"]+)"\)$', re.MULTILINE)
_FUSED = re.compile(r"^(#loc\d+) = loc\(fused\[(#loc\d+), #loc\d+\]\)$", re.MULTILINE)
_BODIES = ("f", "body", "cond", "then_branch", "else_branch")
_THEIRS = tuple(str(Path(str(each.__file__)).parent) for each in (tf, keras, sys.modules["ipu_mlir"]))
"""Folders whose lines nobody wants to see; in that of TensorFlow is all of it."""


def with_user_lines(text: str, graph: Any) -> str:
    """``text``, in which ops of ``graph`` and of the bodies of its loops are on the lines that made them."""
    names = dict(_NAME.findall(text))
    lines = dict(_lines(graph, {each for name in names.values() for each in name.split(";")}))

    def with_line(alias: str, operand: str, name: str) -> str | None:
        line = next((lines[each] for each in name.split(";") if each in lines), None)
        return line and f"{alias} = loc(fused[{operand}, {line}])"

    def fused(found: re.Match[str]) -> str:
        return with_line(found[1], found[2], names.get(found[2], "")) or found[0]

    def named(found: re.Match[str]) -> str:
        return with_line(found[1], f'"{found[2]}"', found[2]) or found[0]

    return _NAME.sub(named, _FUSED.sub(fused, text))  # of some ops XLA has the name alone


def line_of(name: str, graph: Any) -> str | None:
    """The file and the line of the user that made the op ``name`` in ``graph`` or a body of it, if they are known."""
    found = next((line for _, line in _lines(graph, {name})), None)
    return found and found.removesuffix(":0").replace('"', "")


def ops_of(graph: Any, caller: str = "") -> Iterator[tuple[str, Any]]:
    """The ops of ``graph`` and of the bodies of its loops, branches and calls, by names with those of the callers."""
    for op in graph.get_operations():
        name = caller + op.name
        yield name, op
        for attribute in _BODIES:
            if attribute in op.node_def.attr:
                inner = graph._get_function(op.get_attr(attribute).name)
                if inner is not None and hasattr(inner, "graph"):
                    yield from ops_of(inner.graph, name + "/" if attribute == "f" else caller)


def _lines(graph: Any, wanted: set[str]) -> Iterator[tuple[str, str]]:
    """By name of an op of those that are wanted, the line of the user that made it, as MLIR writes it.

    An op of a function has its own name, or one that begins with that of the op that calls it.
    """
    for name, op in ops_of(graph):
        for known in {op.name, name} & wanted:
            for frame in reversed(op.traceback or ()):  # what was imported has none
                if not frame.filename.startswith(_THEIRS) and Path(frame.filename).suffix == ".py":
                    yield known, f'"{frame.filename}":{frame.lineno}:0'
                    break
