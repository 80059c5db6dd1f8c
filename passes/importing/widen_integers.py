"""``ipu-widen-integers``: integers of a few bits are held in 8."""

from typing import Any

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.support.rewriting import list_ops, replace_op

_BITS = 8
_SIGNED = frozenset(("arith.extsi", "arith.sitofp"))
_UNSIGNED = frozenset(("arith.extui", "arith.uitofp"))
_TO_INTEGERS = frozenset(("arith.fptosi", "arith.fptoui", "arith.trunci"))
_CONVERSIONS = _SIGNED | _UNSIGNED | _TO_INTEGERS


class WidenIntegers(Pass):
    """Hold integers of 2 to 7 bits in i8, with their sign, because no tile computes with them.

    ONNX stores weights so, and converts them before it computes. Arguments and results change their types: a number is
    between the bounds of its own type, and bits above it say its sign.

    Needs:  linalg on tensors, which converts such integers and computes nothing with them.
    Leaves: no integer of 2 to 7 bits.
    """

    name = "ipu-widen-integers"

    def run(self, module: ir.Operation) -> None:
        with module.context, ir.Location.unknown(), Refusals() as refuse:
            ops = list_ops(module)
            narrow = [op for op in ops if _is_narrow(op)]
            for op in narrow:
                if op.name.startswith(("arith.", "math.")) and op.name not in (*_CONVERSIONS, "arith.constant"):
                    refuse(
                        op, "computes with integers of fewer than 8 bits; convert them before, and the results after"
                    )
            if not refuse.diagnostics:
                conversions = {op: _width(op.operands[0].type) for op in narrow if op.name in _CONVERSIONS}
                for op in narrow:
                    if op not in conversions:
                        _widen(op)
                for op, bits in conversions.items():
                    _convert(op, bits)


def _is_narrow(op: ir.Operation) -> bool:
    kinds = [value.type for value in (*op.operands, *op.results)]
    if "function_type" in op.attributes:
        kind = op.attributes["function_type"].value
        kinds += [*kind.inputs, *kind.results]
    kinds += [each.type for region in op.regions for block in region.blocks for each in block.arguments]
    return any(_wide(kind) != kind for kind in kinds)


def _width(kind: Any) -> int | None:
    """The bits of the integers of a type, if they are few."""
    element = getattr(kind, "element_type", kind)
    return element.width if isinstance(element, ir.IntegerType) and 1 < element.width < _BITS else None


def _wide(kind: Any) -> Any:
    if _width(kind) is None:
        return kind
    wide = ir.IntegerType.get_signless(_BITS)
    return ir.RankedTensorType.get(kind.shape, wide, kind.encoding) if isinstance(kind, ir.RankedTensorType) else wide


def _widen(op: ir.Operation) -> None:
    if "function_type" in op.attributes:
        kind = op.attributes["function_type"].value
        types = ([_wide(each) for each in kinds] for kinds in (kind.inputs, kind.results))
        op.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(*types))
    for region in op.regions:
        for block in region.blocks:
            for argument in block.arguments:
                argument.set_type(_wide(argument.type))
    if op.name == "arith.constant":
        _write_constant(op)
    else:
        for result in op.results:
            result.set_type(_wide(result.type))


def _write_constant(op: ir.Operation) -> None:
    """Its elements are printed with their sign; many of them as bytes, which have only the bits."""
    text, bits, wide = str(op.attributes["value"]), _width(op.results[0].type), _wide(op.results[0].type)
    op.attributes["value"] = ir.Attribute.parse(f"{text[: text.rindex(' : ')]} : {wide}")
    op.results[0].set_type(wide)
    if bits is not None and '"0x' in text:
        with ir.InsertionPoint.after(op), op.location:
            signed = _with_sign(op.results[0], bits)
        op.results[0].replace_all_uses_except(signed, signed.owner.operands[0].owner)


def _convert(op: ir.Operation, bits_before: int | None) -> None:
    """Write a conversion from or to few bits as one from or to 8."""
    value, kind = op.operands[0], op.results[0].type
    bits = _width(kind)
    with ir.InsertionPoint(op), op.location:
        if op.name in _UNSIGNED and bits_before is not None:
            value = _with(upstream("arith").AndIOp, value, (1 << bits_before) - 1)
        if value.type != _wide(kind):
            value = ir.Operation.create(op.name, [_wide(kind)], [value]).results[0]
        if op.name in _TO_INTEGERS and bits is not None:
            value = _with_sign(value, bits)
    replace_op(op, [value])


def _with_sign(value: ir.Value, bits: int) -> ir.Value:
    """``value``, of which only the lowest ``bits`` count, with their sign in the bits above."""
    arith = upstream("arith")
    return _with(arith.ShRSIOp, _with(arith.ShLIOp, value, _BITS - bits), _BITS - bits)


def _with(op: Any, value: ir.Value, number: int) -> ir.Value:
    element = ir.IntegerType.get_signless(_BITS)
    constant: ir.Attribute = ir.IntegerAttr.get(element, number)
    if isinstance(value.type, ir.RankedTensorType):
        constant = ir.DenseElementsAttr.get_splat(value.type, constant)
    return op(value, upstream("arith").ConstantOp(value.type, constant).result).result
