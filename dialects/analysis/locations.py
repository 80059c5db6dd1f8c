"""The name of an op, and the place that it comes from, for a report or a message."""

import posixpath
from typing import Any

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.diagnostics import locations_in, source_place
from ipu_mlir.dialects.support.text import printable


def place_of(location: ir.Location) -> str:
    """``mlp.mlir:14:8``: the file without its folder, line and column, printable; empty for an unknown location.

    A location without a file gives its name scope.
    """
    file, line, column = source_place(location)
    if not file:
        return name_scope(location)
    name = printable(posixpath.basename(file))
    return f"{name}:{line}:{column}" if line else name


def name_scope(location: Any) -> str:
    """The printable name that a front end gave to what it translated, ``jit(mlp)/dot_general``; empty if none."""
    names = (getattr(each, "name_str", None) for each in locations_in(location, ("callee",)))
    return next((printable(str(name)) for name in names if name), "")
