"""Two steps of one reduction, as one step over the iterations of both."""

from collections.abc import Sequence

from ipu_mlir.dialects.analysis.buffers import root_of
from ipu_mlir.dialects.analysis.index import Index
from ipu_mlir.dialects.analysis.loop_nest import indexing_maps, loop_nest
from ipu_mlir.dialects.analysis.matchers import around_in
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.host.halves import buffers_read
from ipu_mlir.passes.host.memory_writes import MemoryWrites, static_layout
from ipu_mlir.passes.support.linalg_builders import bodiless_generic
from ipu_mlir.passes.support.reduction_marks import STEP, marked_step, marks_of
from ipu_mlir.passes.support.rewriting import has_uses

_ALIKE = ("indexing_maps", "iterator_types")


Window = tuple[ir.Value, Sequence[int], Sequence[int], int]
"""A root, and the shape, strides and offset that a view shows of it."""


def joined_inputs(first: ir.Operation, second: ir.Operation, writes: MemoryWrites) -> list[ir.Value | Window] | None:
    """The inputs of an op that does the work of both steps in the place of ``second``.

    None if ``second`` does not go on where ``first`` ends, or ``first`` cannot run as late. Needs true marks on both.
    """
    one, other, step, next_step = loop_nest(first), loop_nest(second), marked_step(first), marked_step(second)
    assert one is not None and other is not None and step is not None and next_step is not None, "the marks are true"
    loop, start = step
    length = one.extents[loop]
    if next_step != (loop, start + length) or marks_of(first, STEP) != marks_of(second, STEP):
        return None
    if any(first.attributes[each] != second.attributes[each] for each in _ALIKE) or not _is_same_body(first, second):
        return None
    if any(i != loop and m != n for i, (m, n) in enumerate(zip(one.extents, other.extents, strict=True))):
        return None
    if _is_in_between(first, second, writes):
        return None
    found = [
        _joined(first.operands[number], second.operands[number], one.indices[number], loop, length, other.extents[loop])
        for number in range(one.num_inputs)
    ]
    inputs = [each for each in found if each is not None]
    return inputs if len(inputs) == len(found) else None


def _is_in_between(first: ir.Operation, second: ir.Operation, writes: MemoryWrites) -> bool:
    """True if an op after ``first`` needs what that leaves, or changes what it reads, before ``second`` has run."""
    if first.block != second.block:
        return True
    for value in writes.names(first.operands[len(first.operands) - 1]):
        for use in value.uses:
            user = around_in(use.owner.operation, first.block)
            if user is not None and first.is_before_in_block(user) and user.is_before_in_block(second):
                return True
    return any(writes.between(value, first, second) for value in buffers_read(first))


def _joined(
    first: ir.Value, second: ir.Value, indices: tuple[Index, ...], loop: int, length: int, more: int
) -> ir.Value | Window | None:
    """The buffer of ``first`` for ``length`` iterations of ``loop`` and of ``second`` for ``more``, if there is one."""
    if first == second and not any(index.coefficients[loop] for index in indices):
        return first
    layout, other_layout = static_layout(first.type), static_layout(second.type)
    if layout is None or other_layout is None or not all(index.linear for index in indices):
        return None
    strides, offset = layout
    steps = [index.coefficients[loop] for index in indices]
    moved = sum(step * stride for step, stride in zip(steps, strides, strict=True)) * length
    if root_of(first) != root_of(second) or other_layout != (strides, offset + moved):
        return None
    shape = [size + step * more for size, step in zip(first.type.shape, steps, strict=True)]
    return root_of(first), shape, strides, offset


def _view(found: ir.Value | Window, before: ir.Operation, writes: MemoryWrites) -> ir.Value:
    if isinstance(found, ir.Value):
        return found
    root, shape, strides, offset = found
    if list(root.type.shape) == shape and static_layout(root.type) == (strides, offset):
        return root
    layout = ir.StridedLayoutAttr.get(offset, list(strides))
    kind = ir.MemRefType.get(shape, root.type.element_type, layout=layout)
    attributes = {
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, 0, 0]),
        "static_offsets": ir.DenseI64ArrayAttr.get([offset]),
        "static_sizes": ir.DenseI64ArrayAttr.get(shape),
        "static_strides": ir.DenseI64ArrayAttr.get(list(strides)),
    }
    with ir.InsertionPoint(before), before.location:
        view = ir.Operation.create("memref.reinterpret_cast", [kind], [root], attributes).results[0]
    writes.add_view(view, root)
    return view


def join(
    first: ir.Operation, second: ir.Operation, inputs: Sequence[ir.Value | Window], writes: MemoryWrites
) -> ir.Operation:
    """Put both steps where ``second`` stands."""
    maps, nest, out = indexing_maps(first), loop_nest(first), second.operands[len(second.operands) - 1]
    values = [_view(each, second, writes) for each in inputs]
    assert maps is not None and nest is not None, "the marks are true"
    with ir.InsertionPoint(second), first.location:
        both = bodiless_generic(values, [out], maps, nest.parallel, marks_of(first))
    first.regions[0].blocks[0].append_to(both.regions[0])
    writes.replace_writer(out, second, [both])
    writes.erase_writer(out, first)
    views = {value for op in (first, second) for value in list(op.operands)[: nest.num_inputs]}
    for op in (first, second):
        op.erase()
    for view in views:
        _erase_unused(view, writes)
    return both


def _erase_unused(view: ir.Value, writes: MemoryWrites) -> None:
    """Erase the views that nobody needs after ``view``."""
    while root_of(view) != view and not has_uses(view.owner.operation):
        op = view.owner.operation
        writes.forget(view)
        view = op.operands[0]
        op.erase()


def _is_same_body(first: ir.Operation, second: ir.Operation) -> bool:
    """True if both do the same with their elements."""
    names: dict[ir.Value, ir.Value] = {}

    def same_block(one: ir.Block, other: ir.Block) -> bool:
        names.update(zip(one.arguments, other.arguments, strict=False))
        return (
            len(one.arguments) == len(other.arguments)
            and len(one.operations) == len(other.operations)
            and all(same_op(a.operation, b.operation) for a, b in zip(one.operations, other.operations, strict=True))
        )

    def same_op(one: ir.Operation, other: ir.Operation) -> bool:
        if one.name != other.name or [names.get(value, value) for value in one.operands] != list(other.operands):
            return False
        if dict(one.attributes) != dict(other.attributes):
            return False
        if [result.type for result in one.results] != [result.type for result in other.results]:
            return False
        names.update(zip(one.results, other.results, strict=True))
        pairs = zip(one.regions, other.regions, strict=True)
        return all(len(a.blocks) == len(b.blocks) and all(map(same_block, a.blocks, b.blocks)) for a, b in pairs)

    return same_block(first.regions[0].blocks[0], second.regions[0].blocks[0])
