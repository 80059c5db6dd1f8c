"""``ipu-build-in-place``: what is only copied into a part of another buffer is made there."""

from collections.abc import Iterator
from dataclasses import dataclass

from ipu_mlir.dialects.analysis.loop_nest import is_structured, loop_nest, num_outputs
from ipu_mlir.dialects.analysis.matchers import around_in, defining_op
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.host.memory_writes import static_layout
from ipu_mlir.passes.support.gaps import static_numbers
from ipu_mlir.passes.support.rewriting import list_ops

_Box = tuple[range, ...]


class BuildInPlace(Pass):
    """Make the parts of a concatenation, and what is inside of a padding, where they are copied to.

    Needs:  linalg on buffers without mappings (``ipu-drop-placement``), copies forwarded (``ipu-forward-copies``).
    Leaves: no allocation that element-wise ops and copies fill and that is copied into a part of another allocation of
            its block, unless one of the two changes while the other is in use.
    """

    name = "ipu-build-in-place"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for copy in list_ops(module, "memref.copy"):
                _build_in_place(copy)


@dataclass(frozen=True)
class _Access:
    """Of ``op``, which is or stands in ``place``, to a buffer: to the elements in ``box``, or to any."""

    op: ir.Operation
    place: ir.Operation
    box: _Box | None
    writes: bool
    is_known: bool


def _build_in_place(copy: ir.Operation) -> None:
    source, dest = copy.operands
    made, view = defining_op(source, "memref.alloc"), defining_op(dest, "memref.subview")
    whole = None if view is None else defining_op(view.operands[0], "memref.alloc")
    if made is None or view is None or whole is None or made == whole:
        return
    block, old, new = copy.block, static_layout(source.type), static_layout(dest.type)
    is_here = made.block == block and view.block == block and whole.block == block
    if not is_here or old is None or new is None or len(made.operands) or len(view.operands) > 1:
        return
    own = [each for each in _accesses(source, None, block, keep_rank=True) if each.op != copy]
    others = [each for each in _accesses(whole.results[0], None, block) if each.op != copy]
    if not all(_is_anywhere(each, old[0] == new[0]) for each in own) or any(map(_is_alias, others)):
        return
    box, fills, first, last = _box_of(view), list[ir.Operation](), copy, copy
    for each in own:
        if each.writes and not each.place.is_before_in_block(copy):
            return
        first = each.place if each.place.is_before_in_block(first) else first
        last = each.place if last.is_before_in_block(each.place) else last
    for each in others:
        is_elsewhere = each.box is not None and not _meet(each.box, box)
        if is_elsewhere or each.place.is_before_in_block(first):
            continue
        if not each.place.is_before_in_block(copy):
            if each.writes and not last.is_before_in_block(each.place):
                return
        elif _is_first(each, whole, others):
            fills.append(each.op)
        else:
            return
    for op in (whole, view):
        if made.is_before_in_block(op):
            op.move_before(made)
    for fill in fills:
        value = fill.operands[0].owner.operation
        if value.block == block and made.is_before_in_block(value):
            value.move_before(made)
        fill.move_before(made)
    _move_views(source, dest.type)
    copy.erase()
    source.replace_all_uses_with(dest)
    made.erase()


def _is_first(fill: _Access, whole: ir.Operation, others: list[_Access]) -> bool:
    """True if ``fill`` can be made as soon as ``whole`` is there: nothing else has used it before."""
    is_fill = fill.op.name == "linalg.fill" and fill.op.operands[1] == whole.results[0] and fill.op == fill.place
    is_constant = is_fill and defining_op(fill.op.operands[0], "arith.constant") is not None
    return is_constant and not any(each.place.is_before_in_block(fill.op) for each in others)


def _accesses(value: ir.Value, box: _Box | None, block: ir.Block, keep_rank: bool = False) -> Iterator[_Access]:
    """All that use ``value``, which is the part ``box`` of a buffer, and its views; all of it if that is None.

    With ``keep_rank`` a view of fewer dimensions is an op that is not known.
    """
    for use in value.uses:
        user = use.owner.operation
        is_view = user.name == "memref.subview" and len(user.operands) == 1
        if is_view and not (keep_rank and user.results[0].type.rank != value.type.rank):
            yield from _accesses(user.results[0], _box_of(user) if box is None else box, block, keep_rank)
            continue
        place = around_in(user, block)
        assert place is not None, "an allocation is used in its block"
        if user.name == "memref.copy":
            yield _Access(user, place, box, use.operand_number == 1, True)
        elif user.name == "memref.load":
            yield _Access(user, place, box, False, True)
        elif is_structured(user):
            yield _Access(user, place, box, use.operand_number >= len(user.operands) - num_outputs(user), True)
        else:
            yield _Access(user, place, box, True, False)


def _is_anywhere(access: _Access, is_alike: bool) -> bool:
    """True if the op can have its elements in a part of a buffer, whose strides are the same if ``is_alike``."""
    if not access.is_known or access.op.name in ("memref.copy", "linalg.fill") or is_alike:
        return access.is_known
    nest = loop_nest(access.op) if is_structured(access.op) and "library_call" not in access.op.attributes else None
    return nest is not None and all(nest.parallel)


def _is_alias(access: _Access) -> bool:
    """True if what the op gives may be the buffer, so that its uses are not among those that are known."""
    return not access.is_known and (len(access.op.results) > 0 or access.op != access.place)


def _box_of(view: ir.Operation) -> _Box:
    offsets, sizes, strides = (static_numbers(view, name) for name in ("offsets", "sizes", "strides"))
    cut = zip(offsets, sizes, strides, strict=True)
    return tuple(range(offset, offset + (size - 1) * stride + 1) for offset, size, stride in cut)


def _meet(one: _Box, other: _Box) -> bool:
    return all(a.start < b.stop and b.start < a.stop for a, b in zip(one, other, strict=True))


def _move_views(value: ir.Value, kind: ir.Type) -> None:
    """The views of ``value``, which is to be of type ``kind``, show the same elements of it."""
    strides, begin = static_layout(kind) or ((), 0)
    for use in value.uses:
        if use.owner.name == "memref.subview":
            view = use.owner.operation
            offsets, steps = static_numbers(view, "offsets"), static_numbers(view, "strides")
            offset = begin + sum(place * stride for place, stride in zip(offsets, strides, strict=True))
            layout = ir.StridedLayoutAttr.get(offset, [a * b for a, b in zip(strides, steps, strict=True)])
            shown = view.results[0]
            found = ir.MemRefType.get(list(shown.type.shape), shown.type.element_type, layout=layout)
            _move_views(shown, found)
            shown.set_type(found)
