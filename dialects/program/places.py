"""What to call an op of a program, and where it comes from, in a report or a message."""

import posixpath
from typing import Any

from ipu_mlir.dialects.bindings import ir
from ipu_mlir.dialects.diagnostics import source_place


def place_of(location: ir.Location) -> str:
    """``mlp.mlir:14:8``: the file without its folder, line and column; empty for an unknown location.

    A location without a file gives its name scope.
    """
    file, line, column = source_place(location)
    if not file:
        return name_scope(location)
    return f"{posixpath.basename(file)}:{line}:{column}" if line else posixpath.basename(file)


def name_scope(location: Any) -> str:
    """The name that a front end gave to what it translated, ``jit(mlp)/dot_general``; empty where there is none."""
    if (name := getattr(location, "name_str", None)) is not None:
        return str(name)
    for part in (*getattr(location, "locations", ()), getattr(location, "callee", None)):
        if part is not None and (name := name_scope(part)):
            return name
    return ""
