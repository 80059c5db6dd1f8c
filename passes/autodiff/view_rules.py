"""Rules of ops that move elements, and compute nothing: slices, pads, reshapes, single elements."""

from collections.abc import Sequence
from typing import Any

from ipu_mlir.dialects.analysis.matchers import defining_op, terminator
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.autodiff.backward import Backward, NotDifferentiable, Rule, zeros
from ipu_mlir.passes.support.linalg_builders import generic, identity_map, reshaped, scalar_map, zero

arith, tensor = upstream("arith"), upstream("tensor")


def _numbers(op: ir.Operation, name: str) -> list[int]:
    return list(ir.DenseI64ArrayAttr(op.attributes[name]))


class _Slice:
    """The slice that an ``extract_slice`` reads, or an ``insert_slice`` writes, of any tensor of that shape."""

    def __init__(self, op: ir.Operation, first: int) -> None:
        sizes = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))[first:]
        values = list(op.operands)[first:]
        self._dynamic = [values[: sizes[0]], values[sizes[0] : sizes[0] + sizes[1]], values[sizes[0] + sizes[1] :]]
        self._static = [_numbers(op, f"static_{name}") for name in ("offsets", "sizes", "strides")]

    def read(self, whole: ir.Value, kind: ir.Type) -> ir.Value:
        return tensor.ExtractSliceOp(kind, whole, *self._dynamic, *self._static).result

    def write(self, part: ir.Value, whole: ir.Value) -> ir.Value:
        return tensor.InsertSliceOp(part, whole, *self._dynamic, *self._static).result


def _extract_slice(op: ir.Operation, back: Backward) -> None:
    where, cotangent = _Slice(op, 1), back.of(op.results[0])
    assert cotangent is not None
    back.update(op.operands[0], cotangent, lambda whole: where.read(whole, cotangent.type), where.write)


def _insert_slice(op: ir.Operation, back: Backward) -> None:
    where, cotangent = _Slice(op, 2), back.of(op.results[0])
    assert cotangent is not None
    part, whole = op.operands[0], op.operands[1]
    if back.wants(part):
        back.add(part, where.read(cotangent, part.type))
    if back.wants(whole):
        back.add(whole, where.write(zeros(part.type), cotangent))


def window(whole: ir.Value, offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int] | None = None) -> Any:
    """A slice of known offsets and sizes."""
    kind = ir.RankedTensorType.get(list(sizes), whole.type.element_type)
    strides = strides or [1] * len(sizes)
    return tensor.ExtractSliceOp(kind, whole, [], [], [], list(offsets), list(sizes), list(strides)).result


def _pad(op: ir.Operation, back: Backward) -> None:
    if len(op.operands) > 1:
        raise NotDifferentiable(op, "pads by a number that is known only at run time; pad by constants")
    filling = terminator(op.regions[0].blocks[0]).operands[0]
    source, cotangent = op.operands[0], back.of(op.results[0])
    assert cotangent is not None
    low, shape = _numbers(op, "static_low"), list(source.type.shape)
    back.add(source, window(cotangent, low, shape))
    if back.wants(filling):
        ones = [1] * len(shape)
        around = tensor.InsertSliceOp(zeros(source.type), cotangent, [], [], [], low, shape, ones).result
        back.add(filling, _sum(around))


def _sum(value: ir.Value) -> ir.Value:
    """The sum of all elements, as a number."""
    rank, element = len(value.type.shape), value.type.element_type
    start, maps = zeros(ir.RankedTensorType.get([], element)), [identity_map(rank), ir.AffineMap.get(rank, 0, [])]

    def body(values: list[ir.Value]) -> list[ir.Value]:
        return [arith.addf(*values)]

    return tensor.ExtractOp(generic([value], [start], maps, [False] * rank, body).results[0], []).result


def _concat(op: ir.Operation, back: Backward) -> None:
    along, cotangent, start = ir.IntegerAttr(op.attributes["dim"]).value, back.of(op.results[0]), 0
    for source in op.operands:
        shape = list(source.type.shape)
        if back.wants(source):
            back.add(source, window(cotangent, [start if d == along else 0 for d in range(len(shape))], shape))
        start += shape[along]


def _reshape(op: ir.Operation, back: Backward) -> None:
    source, cotangent = op.operands[0], back.of(op.results[0])
    assert cotangent is not None
    if not source.type.has_static_shape:
        raise NotDifferentiable(op, f"takes {source.type}, whose sizes are not all known; compile for fixed sizes")
    if "reassociation" not in op.attributes:
        back.add(source, reshaped(cotangent, list(source.type.shape)))
        return
    groups = [[number.value for number in group] for group in op.attributes["reassociation"]]
    if op.name == "tensor.collapse_shape":
        back.add(source, tensor.ExpandShapeOp(source.type, cotangent, groups, [], list(source.type.shape)).result)
    else:
        back.add(source, tensor.CollapseShapeOp(source.type, cotangent, groups).result)


def _cast(op: ir.Operation, back: Backward) -> None:
    source, cotangent = op.operands[0], back.of(op.results[0])
    if not source.type.has_static_shape:
        raise NotDifferentiable(op, f"takes {source.type}, whose sizes are not all known; compile for fixed sizes")
    back.add(source, tensor.CastOp(source.type, cotangent).result)


def _from_elements(op: ir.Operation, back: Backward) -> None:
    cotangent, shape = back.of(op.results[0]), list(op.results[0].type.shape)
    for number, element in enumerate(op.operands):
        if back.wants(element):
            index = []
            for size in reversed(shape):
                index.append(arith.ConstantOp(ir.IndexType.get(), number % size).result)
                number //= size
            back.add(element, tensor.ExtractOp(cotangent, index[::-1]).result)


def _splat(op: ir.Operation, back: Backward) -> None:
    back.add(op.operands[0], sum_of_elements(back.of_or_zeros(op.results[0])))


def sum_of_elements(value: ir.Value) -> ir.Value:
    """The sum of all elements of a tensor, as a number."""
    rank = len(value.type.shape)
    start = zeros(ir.RankedTensorType.get([], value.type.element_type))
    maps = [identity_map(rank), scalar_map(rank)]
    summed = generic([value], [start], maps, [False] * rank, lambda values: [arith.addf(values[1], values[0])])
    return tensor.ExtractOp(summed.results[0], []).result


def _extract(op: ir.Operation, back: Backward) -> None:
    source, *index = op.operands
    cotangent = back.of(op.results[0])
    assert cotangent is not None
    back.update(
        source,
        cotangent,
        lambda whole: tensor.ExtractOp(whole, index).result,
        lambda part, whole: tensor.InsertOp(part, whole, index).result,
    )


def _insert(op: ir.Operation, back: Backward) -> None:
    element, whole, *index = op.operands
    cotangent = back.of(op.results[0])
    assert cotangent is not None
    added = _added_there(element, whole, index)
    if added is not None:  # whole[i] += added: each of both has the cotangent that the sum has
        back.add(whole, cotangent)
        if back.wants(added):
            back.add(added, tensor.ExtractOp(cotangent, index).result)
        return
    if back.wants(element):
        back.add(element, tensor.ExtractOp(cotangent, index).result)
    if back.wants(whole):
        back.add(whole, tensor.InsertOp(zero(element.type), cotangent, index).result)


def _added_there(element: ir.Value, whole: ir.Value, index: Sequence[ir.Value]) -> ir.Value | None:
    """The number that is added to the element at ``index`` of ``whole``, if that is what ``element`` is."""
    addition = defining_op(element, "arith.addf")
    if addition is None:
        return None
    for this, other in (list(addition.operands), list(addition.operands)[::-1]):
        read = defining_op(this, "tensor.extract")
        if read is not None and list(read.operands) == [whole, *index]:
            return other
    return None


def _select(op: ir.Operation, back: Backward) -> None:
    condition, yes, no = op.operands
    cotangent = back.of(op.results[0])
    assert cotangent is not None
    nothing = zeros(cotangent.type)
    if back.wants(yes):
        back.add(yes, arith.SelectOp(condition, cotangent, nothing).result)
    if back.wants(no):
        back.add(no, arith.SelectOp(condition, nothing, cotangent).result)


VIEW_RULES: dict[str, Rule] = {
    "tensor.extract_slice": _extract_slice,
    "tensor.insert_slice": _insert_slice,
    "tensor.pad": _pad,
    "tensor.concat": _concat,
    **dict.fromkeys(("tensor.collapse_shape", "tensor.expand_shape", "tensor.reshape"), _reshape),
    "tensor.cast": _cast,
    "tensor.from_elements": _from_elements,
    "tensor.splat": _splat,
    "tensor.extract": _extract,
    "tensor.insert": _insert,
    "arith.select": _select,
}
"""By the name of the op."""
