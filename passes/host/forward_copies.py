"""``ipu-forward-copies``: who reads a copy reads what it is a copy of."""

from ipu_mlir.dialects.analysis.buffers import strides_and_offset
from ipu_mlir.dialects.analysis.loop_nest import is_structured, num_outputs
from ipu_mlir.dialects.analysis.matchers import around_in, defining_op
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.host.memory_writes import MemoryWrites, static_layout
from ipu_mlir.passes.support.rewriting import list_ops

_MOVED = ("memref.subview", "memref.collapse_shape", "memref.expand_shape")
"""Views of a contiguous buffer that are the same views of another contiguous one."""


class ForwardCopies(Pass):
    """Read the source of a copy that is never changed, as long as the source is not written either.

    Needs:  linalg on buffers without mappings (``ipu-drop-placement``).
    Leaves: no allocation that is only a copy, unless its source changes while it is in use, or it is returned, carried
            by control flow, reshaped or gathered from and the source is not contiguous.
    """

    name = "ipu-forward-copies"

    def run(self, module: ir.Operation) -> None:
        with module.context, ir.Location.unknown():
            for function in list_ops(module, "func.func"):
                copies = list_ops(function, "memref.copy")
                if copies:
                    writes = MemoryWrites(function)
                    for copy in copies:
                        _forward(copy, writes)


def _forward(copy: ir.Operation, writes: MemoryWrites) -> None:
    source, dest = copy.operands
    home = defining_op(dest, "memref.alloc")
    if home is None or home.block != copy.block:
        return
    from_layout, to_layout = static_layout(source.type), static_layout(dest.type)
    if from_layout is None or to_layout is None or to_layout[1] or writes.is_one(source, dest):
        return
    users = _readers(dest, copy, is_moved=from_layout[0] == to_layout[0])
    if users is None:
        return
    last = copy
    for user in users:
        place = around_in(user, copy.block)
        assert place is not None, "an allocation is used in its block"
        if place.is_before_in_block(copy):
            return
        last = place if last.is_before_in_block(place) else last
    if writes.between(source, copy, last):
        return
    if source.type != dest.type:
        _move_views(dest, from_layout[1], source.type)
    writes.forward(dest, source)
    copy.erase()
    dest.replace_all_uses_with(source)
    dest.owner.operation.erase()


def _readers(buffer: ir.Value, copy: ir.Operation, is_moved: bool) -> list[ir.Operation] | None:
    """The ops besides ``copy`` that read ``buffer`` or views of it; None if another one does more than that.

    ``is_moved`` if the buffer is to be read where every element has the distance from the first that it has here.
    """
    found: list[ir.Operation] = []
    for use in buffer.uses:
        user = use.owner.operation
        if user == copy:
            continue
        if user.name in _MOVED and is_moved and static_layout(user.results[0].type) is not None:
            inner = _readers(user.results[0], copy, is_moved)
            if inner is None:
                return None
            found += [user, *inner]
        elif (
            (is_structured(user) and use.operand_number < len(user.operands) - num_outputs(user))
            or (user.name == "memref.copy" and use.operand_number == 0)
            or (user.name == "memref.load" and is_moved)
        ):
            found.append(user)
        else:
            return None
    return found


def _move_views(buffer: ir.Value, by: int, behind: ir.Type) -> None:
    """The views of ``buffer`` begin ``by`` elements later in what is now behind them, which is of type ``behind``."""
    is_plain = behind.affine_map == ir.AffineMap.get_identity(len(behind.shape))
    for use in buffer.uses:
        if use.owner.name in _MOVED:
            view = use.owner.operation.results[0]
            strides, offset = strides_and_offset(view.type)
            layout = ir.StridedLayoutAttr.get(offset + by, list(strides))
            if is_plain and use.owner.name != "memref.subview":  # MLIR has reshapes of plain buffers plain
                layout = None
            kind = ir.MemRefType.get(list(view.type.shape), view.type.element_type, layout=layout)
            _move_views(view, by, kind)
            view.set_type(kind)
