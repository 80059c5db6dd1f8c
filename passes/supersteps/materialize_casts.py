"""``ipu-materialize-casts``: a change of mapping is a copy."""

from math import prod
from typing import Any

from ipu_mlir.dialects.analysis.matchers import constant_of, defining_op
from ipu_mlir.dialects.attributes.attributes import mapping_to_attr, module_target
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.build import linear
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.linalg_builders import copy_into
from ipu_mlir.passes.support.rewriting import has_uses, list_ops, replace_op
from ipu_mlir.passes.support.tensor_views import DYNAMIC, VIEW_OPS


class MaterializeCasts(Pass):
    """Write every change of mapping as a copy into a new tensor.

    Bufferization gives a cast the buffer of its source, so that the change of mapping would be lost without a word.
    What has been padded with a constant, and is read elsewhere alone, is padded there, and nowhere else: its elements
    move once, and only the border is filled.

    Needs:  placed tensors (``ipu-place-tensors``).
    Leaves: ``linalg.copy`` into a ``tensor.empty`` of the new mapping for every ``tensor.cast`` between mappings; no
            ``canonicalize`` may run before bufferization, it would turn the copies back into casts.
    """

    name = "ipu-materialize-casts"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for cast in list_ops(module, "tensor.cast"):
                wanted = cast.results[0].type
                if wanted.encoding is None or cast.operands[0].type.encoding == wanted.encoding:
                    continue
                insert = _padding(cast.operands[0])
                with ir.InsertionPoint(cast), cast.location:
                    fresh = (
                        upstream("tensor")
                        .EmptyOp(list(wanted.shape), wanted.element_type, encoding=wanted.encoding)
                        .result
                    )
                    if insert is None:
                        made = copy_into(cast.operands[0], fresh).results[0]
                    else:
                        made = _padded(insert, fresh, module_target(module))
                replace_op(cast, [made])
                if insert is not None and not has_uses(insert):
                    for op in (insert, insert.operands[1].owner.operation):
                        op.erase()


def _padding(value: ir.Value) -> ir.Operation | None:
    """The ``tensor.insert_slice`` that made ``value`` of a filled tensor, where ``value`` is only cast."""
    insert = defining_op(value, "tensor.insert_slice")
    if insert is None or DYNAMIC in insert.attributes["static_offsets"]:
        return None
    if any(step != 1 for step in insert.attributes["static_strides"]):
        return None
    fill = defining_op(insert.operands[1], "linalg.fill")
    if fill is None or constant_of(fill.operands[0]) is None or len(list(fill.results[0].uses)) > 1:
        return None
    return insert if _is_only_cast(value) else None


def _is_only_cast(value: ir.Value) -> bool:
    """True if nobody reads ``value`` where it lies; views of it that nobody reads are erased."""
    for use in list(value.uses):
        user = use.owner.operation
        if user.name in VIEW_OPS and _is_only_cast(user.results[0]) and not has_uses(user):
            user.erase()
        elif user.name != "tensor.cast" or user.results[0].type.encoding == value.type.encoding:
            return False
    return True


def _padded(insert: ir.Operation, fresh: ir.Value, target: Target) -> ir.Value:
    """Constants in the border of ``fresh``, one on each side of a dimension; then ``insert``, whose name it has."""
    border = constant_of(insert.operands[1].owner.operation.operands[0])
    made = fresh
    box = [(0, extent) for extent in fresh.type.shape]
    inner = zip(insert.attributes["static_offsets"], insert.attributes["static_sizes"], strict=True)
    for dimension, (begin, size) in enumerate(inner):
        whole = box[dimension]
        for side in ((0, begin), (begin + size, whole[1])):
            box[dimension] = side
            shape = [end - first for first, end in box]
            if prod(shape):
                made = _inserted(_everywhere(border, shape, target), made, insert, [first for first, _ in box])
        box[dimension] = (begin, begin + size)
    return _inserted(insert.operands[0], made, insert, list(insert.attributes["static_offsets"]))


def _inserted(source: ir.Value, dest: ir.Value, insert: ir.Operation, offsets: list[int]) -> ir.Value:
    """``source`` in ``dest`` from ``offsets`` on, of its own shape unless it is what ``insert`` inserts."""
    is_same = source == insert.operands[0]
    sizes = list(insert.attributes["static_sizes"]) if is_same else list(source.type.shape)
    return upstream("tensor").InsertSliceOp(source, dest, [], [], [], offsets, sizes, [1] * len(sizes)).result


def _everywhere(value: Any, shape: list[int], target: Target) -> ir.Value:
    """A constant of that shape, all over the tiles of each IPU."""
    mapping = linear(prod(shape), target.num_tiles)
    wanted = ir.RankedTensorType.get(shape, value.type, mapping_to_attr(mapping))
    return upstream("arith").ConstantOp(wanted, ir.DenseElementsAttr.get_splat(wanted, value)).result
