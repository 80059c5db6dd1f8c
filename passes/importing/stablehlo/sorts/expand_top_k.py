"""``ipu-expand-top-k``: the largest elements of rows by the library codelet."""

from ipu_mlir.dialects.analysis.matchers import defining_op, terminator
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.codelet_calls import call_codelet
from ipu_mlir.passes.support.linalg_builders import elementwise, generic, identity_map, loop_index
from ipu_mlir.passes.support.rewriting import list_ops, replace_op

arith, tensor = upstream("arith"), upstream("tensor")


class ExpandTopK(Pass):
    """Write choices of the largest elements as the library codelet ``top_k``, which finds where they stand.

    That are chlo.top_k, the composite of that name, and what XLA makes of it: a sort of a tensor beside its indices, of
    whose last dimension only the beginning is read. Keys are integers in the order of the elements: of floats the total
    order, in which -0 comes before 0, and NaN last or, if its sign is set, first.

    Needs:  StableHLO of static shapes.
    Leaves: none of the three, unless no element is asked for; ``linalg.generic`` in its place.
    """

    name = "ipu-expand-top-k"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in list_ops(module, "chlo.top_k", "stablehlo.composite", "stablehlo.sort"):
                if op.name == "stablehlo.composite" and ir.StringAttr(op.attributes["name"]).value != "chlo.top_k":
                    continue
                slices = _beginnings(op) if op.name == "stablehlo.sort" else None
                first = slices[0] if slices else op
                kind = first.results[0].type
                if (op.name == "stablehlo.sort" and not slices) or not kind.has_static_shape or 0 in kind.shape:
                    continue
                with ir.InsertionPoint(op), op.location:
                    found = _top(op.operands[0], list(kind.shape))
                if not slices:
                    replace_op(op, found)
                    continue
                for each in slices:
                    number = ir.OpResult(each.operands[0]).result_number
                    replace_op(each, [found[number]])
                op.erase()


def _beginnings(sort: ir.Operation) -> list[ir.Operation]:
    """The slices that read the largest elements, or their places, of what ``sort`` has in order; none for other sorts.

    All of them have one size.
    """
    last = len(sort.operands[0].type.shape) - 1
    slices = [use.owner.operation for result in sort.results for use in result.uses]
    if len(sort.operands) != 2 or not slices or not _descends(sort.regions[0].blocks[0]):
        return []
    iota = defining_op(sort.operands[1], "stablehlo.iota")
    if iota is None or str(sort.operands[1].type.element_type) != "i32" or not last == _along(sort) == _along(iota):
        return []
    shape = slices[0].results[0].type.shape
    begin = [0] * len(shape)
    for each in slices:
        if each.name != "stablehlo.slice" or each.results[0].type.shape != shape or shape[:-1] != _rows(sort):
            return []
        if list(ir.DenseI64ArrayAttr(each.attributes["start_indices"])) != begin or not _is_dense(each):
            return []
    return slices


def _along(op: ir.Operation) -> int:
    return ir.IntegerAttr(op.attributes["dimension" if op.name == "stablehlo.sort" else "iota_dimension"]).value


def _rows(sort: ir.Operation) -> list[int]:
    return list(sort.operands[0].type.shape)[:-1]


def _is_dense(slice_: ir.Operation) -> bool:
    return all(stride == 1 for stride in ir.DenseI64ArrayAttr(slice_.attributes["strides"]))


def _descends(comparison: ir.Block) -> bool:
    """True if the larger one of the first operand comes first, by the total order."""
    value = terminator(comparison).operands[0]
    compare = defining_op(value, "stablehlo.compare")
    if compare is None or list(compare.operands) != list(comparison.arguments)[:2]:
        return False
    is_float = isinstance(compare.operands[0].type.element_type, ir.FloatType)
    is_total = "compare_type" in compare.attributes and "TOTALORDER" in str(compare.attributes["compare_type"])
    return " GT" in str(compare.attributes["comparison_direction"]) and (is_total or not is_float)


def _top(values: ir.Value, shape: list[int]) -> list[ir.Value]:
    """The largest elements of each row of ``values``, as many as ``shape`` says, and their places."""
    signless = _as_signless(values)
    number = ir.IntegerType.get_signless(32)
    (places,) = call_codelet("top_k", [_keys(values, signless)], [shape], [number])
    last = len(shape) - 1

    def stands_at(arguments: list[ir.Value]) -> list[ir.Value]:
        place = arith.IndexCastOp(ir.IndexType.get(), arguments[0]).result
        return [tensor.ExtractOp(signless, [*map(loop_index, range(last)), place]).result]

    empty = tensor.EmptyOp(shape, signless.type.element_type).result
    found = generic([places], [empty], [identity_map(last + 1)] * 2, [True] * (last + 1), stands_at).results[0]
    return [_as_element(found, values.type.element_type), places]


def _as_signless(values: ir.Value) -> ir.Value:
    """``values`` with unsigned integers, of which linalg knows nothing, as others of the same bits."""
    element = values.type.element_type
    is_unsigned = isinstance(element, ir.IntegerType) and element.is_unsigned
    return _as_element(values, ir.IntegerType.get_signless(element.width)) if is_unsigned else values


def _as_element(values: ir.Value, element: ir.Type) -> ir.Value:
    """The bits of ``values`` as those of another type."""
    if values.type.element_type == element:
        return values
    kind = ir.RankedTensorType.get(values.type.shape, element)
    return ir.Operation.create("stablehlo.bitcast_convert", [kind], [values]).results[0]


def _keys(values: ir.Value, signless: ir.Value) -> ir.Value:
    """Signed integers in the order of ``values``."""
    element = values.type.element_type
    if isinstance(element, ir.IntegerType) and element.width == 1:
        byte = ir.IntegerType.get_signless(8)
        return elementwise(signless, byte, lambda x: arith.ExtUIOp(byte, x).result).results[0]
    if isinstance(element, ir.IntegerType) and not element.is_unsigned:
        return signless
    bits = ir.IntegerType.get_signless(element.width)
    most = (1 << (element.width - 1)) - 1

    def key(x: ir.Value) -> ir.Value:
        if isinstance(element, ir.IntegerType):
            return arith.XOrIOp(x, _number(bits, -most - 1)).result
        x = arith.BitcastOp(bits, x).result
        is_negative = arith.CmpIOp(arith.CmpIPredicate.slt, x, _number(bits, 0)).result
        return arith.SelectOp(is_negative, arith.XOrIOp(x, _number(bits, most)).result, x).result

    return elementwise(signless, bits, key).results[0]


def _number(kind: ir.Type, value: int) -> ir.Value:
    return arith.ConstantOp(kind, ir.IntegerAttr.get(kind, value)).result
