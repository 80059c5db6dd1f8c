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
_THEIRS = tuple(
    str(Path(str(file)).parent) for file in (tf.__file__, keras.__file__, sys.modules[__package__ or ""].__file__)
)
"""Folders whose lines nobody wants to see; in that of TensorFlow is all of it."""


def with_user_lines(text: str, graph: Any) -> str:
    """``text``, in which ops of ``graph`` and of the bodies of its loops are on the lines that made them."""
    names = dict(_NAME.findall(text))
    wanted = {names[one] for _, one in _FUSED.findall(text) if one in names}
    lines = dict(_lines(graph, wanted))

    def place(found: re.Match[str]) -> str:
        line = lines.get(names.get(found[2], ""))
        return found[0] if line is None else f"{found[1]} = loc(fused[{found[2]}, {line}])"

    return _FUSED.sub(place, text)


def _lines(graph: Any, wanted: set[str], caller: str = "") -> Iterator[tuple[str, str]]:
    """By name of an op of those that are wanted, the line of the user that made it, as MLIR writes it.

    An op of a function has its own name, or one that begins with that of the op that calls it.
    """
    for op in graph.get_operations():
        name = caller + op.name
        for known in {op.name, name} & wanted:
            for frame in reversed(op.traceback or ()):  # what was imported has none
                if not frame.filename.startswith(_THEIRS) and Path(frame.filename).suffix == ".py":
                    yield known, f'"{frame.filename}":{frame.lineno}:0'
                    break
        for attribute in _BODIES:
            if attribute in op.node_def.attr:
                inner = graph._get_function(op.get_attr(attribute).name)
                if inner is not None and hasattr(inner, "graph"):
                    yield from _lines(inner.graph, wanted, name + "/" if attribute == "f" else caller)
