"""``ipu-merge-remote-buffers``: variables in remote memory that have one form are rows of one buffer."""

from dataclasses import dataclass
from typing import Literal

from ipu_mlir.dialects.analysis.matchers import integer_of
from ipu_mlir.dialects.analysis.remote import (
    MOVES,
    RemoteBuffer,
    moved_and_rows,
    remote_buffer_of,
    remote_buffers_in,
)
from ipu_mlir.dialects.ipu import RemoteBufferOp
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.programs.row_operands import RowsOfCalls
from ipu_mlir.passes.support.linalg_builders import constant_index
from ipu_mlir.passes.support.rewriting import list_ops

_OWN = ("sym_name", "type", "init", "variable")
"""Attributes in which buffers of one form differ, or whose type says the same."""


Merged = Literal["beneficial", "all", "none"]


@dataclass(frozen=True)
class MergeRemoteBuffers(Pass):
    """Let variables in remote memory that have one form be rows of one buffer, so that code can be shared.

    One form means one type, on one kind of memory, shared or not among replicas, with values that differ between them
    or not. Which row is moved is an operand then, and functions that are called for several of these variables can
    take it (``ipu-move-rows-in-functions``). To the host they are variables as before.

    Options: ``which``: ``beneficial``, those that outlined functions take in one place; ``all``; or ``none``.

    Needs:  variables in remote memory (``ipu-offload-variables``); what differs between replicas
            (``ipu-mark-replicas``).
    Leaves: ``ipu.remote_buffer`` with ``variables``, moved by the number of the row, for each group of several.
    """

    name = "ipu-merge-remote-buffers"

    which: Merged = "beneficial"

    def run(self, module: ir.Operation) -> None:
        buffers = {name: each for name, each in remote_buffers_in(module).items() if "variable" in each.op.attributes}
        if self.which == "none" or len(buffers) < 2:
            return
        moves = [op for op in list_ops(module, *MOVES) if remote_buffer_of(op) in buffers]
        open_rows = {remote_buffer_of(op) for op in moves if integer_of(moved_and_rows(op)[1]) != 0}
        forms = {name: _form(each) for name, each in buffers.items() if name not in open_rows}
        together = [list(forms)] if self.which == "all" else _used_together(module, forms)
        with module.context:
            for names in groups(forms, together):
                _merge(module, [buffers[name] for name in names], [op for op in moves if remote_buffer_of(op) in names])


def groups(forms: dict[str, str], together: list[list[str]]) -> list[list[str]]:
    """The names that become rows of one buffer: those of one form that are connected by being in lists ``together``.

    >>> groups({"a": "4xf32", "b": "4xf32", "c": "8xf32", "d": "4xf32", "e": "4xf32"}, [["a", "d", "c"], ["d", "b"]])
    [['a', 'b', 'd']]
    """
    found = {name: {name} for name in forms}
    for names in together:
        for form in dict.fromkeys(forms[name] for name in names):
            alike = [name for name in names if forms[name] == form]
            joined = set().union(*(found[name] for name in alike))
            found.update(dict.fromkeys(joined, joined))
    return [
        [name for name in forms if name in group]
        for first, group in found.items()
        if len(group) > 1 and first == next(name for name in forms if name in group)
    ]


def _form(buffer: RemoteBuffer) -> str:
    said = sorted(f"{name} = {buffer.op.attributes[name]}" for name in buffer.op.attributes if name not in _OWN)
    return ", ".join([str(buffer.type), *said])


def _used_together(module: ir.Operation, forms: dict[str, str]) -> list[list[str]]:
    """Names of variables that calls of one outlined function load, or store, in one place."""
    rows = RowsOfCalls(module)
    names = [ir.StringAttr(function.attributes["sym_name"]).value for function in list_ops(module, "func.func")]
    found = [place.buffers for name in names for place in rows.places(name)]
    return [buffers for buffers in found if all(buffer in forms for buffer in buffers)]


def _merge(module: ir.Operation, buffers: list[RemoteBuffer], moves: list[ir.Operation]) -> None:
    """Put one buffer in the place of ``buffers``, and its rows in that of theirs in ``moves``."""
    first, rows = buffers[0], {buffer.name: row for row, buffer in enumerate(buffers)}
    kind = ir.RankedTensorType.get([len(buffers), *first.row_shape], first.type.element_type, loc=first.op.location)
    name = ir.StringAttr.get(_free_name(module, f"{first.name}_to_{buffers[-1].name}"))
    with ir.InsertionPoint(first.op), first.op.location:
        merged = RemoteBufferOp(sym_name=name, type=ir.TypeAttr.get(kind)).operation
    for said in first.op.attributes:
        if said not in _OWN:
            merged.attributes[said] = first.op.attributes[said]
    merged.attributes["variables"] = ir.ArrayAttr.get([ir.StringAttr.get(each.name) for each in buffers])
    merged.attributes["init"] = ir.ArrayAttr.get([each.op.attributes["init"] for each in buffers])
    for op in moves:
        with ir.InsertionPoint(op), op.location:
            row = constant_index(rows[remote_buffer_of(op)])
        op.operands[len(op.operands) - 1] = row
        op.attributes["buffer"] = ir.FlatSymbolRefAttr.get(name.value)
    for each in buffers:
        each.op.erase()


def _free_name(module: ir.Operation, name: str) -> str:
    """``name``, with more behind it if something of the module is called so."""
    ops = [each.operation for each in module.regions[0].blocks[0].operations]
    taken = {ir.StringAttr(op.attributes["sym_name"]).value for op in ops if "sym_name" in op.attributes}
    while name in taken:
        name += "_"
    return name
