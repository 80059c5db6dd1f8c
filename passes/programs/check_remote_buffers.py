"""``ipu-check-remote-buffers``: what must hold of the ops on remote buffers of a whole module."""

from collections.abc import Mapping

from ipu_mlir.dialects.analysis.control_flow import op_around
from ipu_mlir.dialects.analysis.remote import (
    MOVES,
    RemoteBuffer,
    moved_and_rows,
    remote_buffer_of,
    remote_buffers_in,
)
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.counted import counted
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.support.rewriting import list_ops


class CheckRemoteBuffers(Pass):
    """Refuse rows of buffers that are not there, of another form, or that are moved where nothing can be.

    Needs:  nothing.
    Leaves: the module as it was.
    """

    name = "ipu-check-remote-buffers"

    def run(self, module: ir.Operation) -> None:
        with module.context, Refusals() as refuse:
            refuse_wrong_remote_buffers(module, refuse)


def refuse_wrong_remote_buffers(module: ir.Operation, refuse: Refusals) -> None:
    """Report every op on a remote buffer of ``module`` that is wrong, on tensors or on buffers."""
    buffers = remote_buffers_in(module)
    for op in list_ops(module, *MOVES):
        broken = _broken_op(op, buffers)
        if broken is not None:
            refuse(op, broken)


def _broken_op(op: ir.Operation, buffers: Mapping[str, RemoteBuffer]) -> str | None:
    """The error of ``op``, as the end of a sentence."""
    name = remote_buffer_of(op)
    if name not in buffers:
        known = ", ".join(f"@{each}" for each in buffers)
        return f"names @{name}, but the remote buffers of the module are: {known or 'none'}"
    around = op_around(op)
    if around.name != "func.func":
        return f"stands in '{around.name}'; rows are moved in functions, loops and branches of scf"
    buffer = buffers[name]
    if op.name.startswith("ipu.host_") and buffer.memory != "host" and buffer.partition is None:
        return f'works on the host, but @{name} is in {buffer.memory} memory; give it memory = "host"'
    moved, rows = moved_and_rows(op)
    kind = moved.type
    leading = [] if isinstance(rows.type, ir.IndexType) else list(rows.type.shape)
    shape, row_shape = list(kind.shape)[len(leading) :], buffer.row_shape
    is_slice = not leading and len(shape) == len(row_shape) + 1
    if kind.element_type != buffer.type.element_type or (shape[1:] if is_slice else shape) != row_shape:
        return f"moves {kind}, but rows of @{name} are {_row_text(buffer)}"
    if is_slice and shape[0] > buffer.rows:
        return f"moves {counted(shape[0], 'row')}, but @{name} has {buffer.rows}"
    return None


def _row_text(buffer: RemoteBuffer) -> str:
    return f"tensor<{'x'.join([*map(str, buffer.row_shape), str(buffer.type.element_type)])}>"
