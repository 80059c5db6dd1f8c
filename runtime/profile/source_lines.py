"""The lines of the source that steps come from, so that a report can show them."""

import linecache
import posixpath
import sys

from ipu_mlir.dialects.analysis.program.tree import Sequence, steps
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.diagnostics import source_place
from ipu_mlir.dialects.support.text import printable
from ipu_mlir.runtime.profile.model import SourceLine

_LONGEST = 200
"""Characters of a line that are kept."""


def lines_of(tree: Sequence, source: str | None) -> tuple[SourceLine, ...]:
    """The lines that the steps of a program name, of its own file ``source`` and of Python code that is loaded.

    Locations are text that anybody can write into a program, so no other file is read.
    """
    places = {source_place(op.location)[:2] for step in steps(tree) for op in _ops_of(step.op)}
    readable = {source, *(getattr(module, "__file__", None) for module in list(sys.modules.values()))}
    found: dict[tuple[str, int], set[str]] = {}
    for file, line in places:
        if line and (file in readable or file in linecache.cache):
            text = printable(linecache.getline(file, line).strip())[:_LONGEST]
            found.setdefault((printable(posixpath.basename(file)), line), set()).add(text)
    # Two files of one name are not told apart by locations: where they differ, neither is shown.
    return tuple(SourceLine(*place, texts.pop()) for place, texts in sorted(found.items()) if len(texts) == 1)


def _ops_of(op: ir.Operation) -> list[ir.Operation]:
    """``op`` and, in a compute set, what its vertices run."""
    if op.name != "ipu.compute_set":
        return [op]
    families = op.regions[0].blocks[0].operations
    return [op, *(family.regions[0].blocks[0].operations[0].operation for family in families)]
