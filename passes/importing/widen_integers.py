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
_BITS_AND_ORDER = "constant andi ori xori cmpi select shrsi remsi maxsi minsi maxui minui"
_AS_THEY_ARE = frozenset(f"arith.{name}" for name in _BITS_AND_ORDER.split())
"""What numbers with their sign have no further bits of, and compare as without it."""
_OVERFLOWING = frozenset(("arith.addi", "arith.subi", "arith.muli", "arith.shli", "arith.divsi"))
_OF_LOW_BITS = frozenset(("arith.divui", "arith.remui", "arith.shrui"))
_COMPUTED = _AS_THEY_ARE | _OVERFLOWING | _OF_LOW_BITS
_WITH_BODIES_OF_THEIR_OWN = frozenset(("linalg.generic", "linalg.map", "linalg.reduce"))


class WidenIntegers(Pass):
    """Hold integers of 2 to 7 bits in i8, with their sign, because no tile computes with them.

    Arguments and results change their types: a number is between the bounds of its own type, and bits above it say its
    sign. What overflows loses the bits above.

    Needs:  linalg on tensors.
    Leaves: no integer of 2 to 7 bits.
    """

    name = "ipu-widen-integers"

    def run(self, module: ir.Operation) -> None:
        with module.context, ir.Location.unknown(), Refusals() as refuse:
            narrow = [op for op in list_ops(module) if _is_narrow(op)]
            for op in narrow:
                if (reason := _why_not(op)) is not None:
                    refuse(op, f"{reason}; convert them to int8 or wider before, and the results after")
            if not refuse.diagnostics:
                conversions = {op: _width(op.operands[0].type) for op in narrow if op.name in _CONVERSIONS}
                computed = {op: bits for op in narrow if op.name in _OVERFLOWING | _OF_LOW_BITS and (bits := _bits(op))}
                for op in narrow:
                    if op not in conversions:
                        _widen(op)
                for op, bits in computed.items():
                    _compute(op, bits)
                for op, bits in conversions.items():
                    _convert(op, bits)


def _why_not(op: ir.Operation) -> str | None:
    """Why integers of few bits in ``op`` cannot be held in more; None if they can."""
    if op.name.startswith("linalg.") and op.name not in _WITH_BODIES_OF_THEIR_OWN:
        inner = next((each for each in list_ops(op) if each.name in _OVERFLOWING | _OF_LOW_BITS and _bits(each)), None)
        return None if inner is None else f"has sums of {_bits(inner)} bits"
    if op.name.startswith("math.") or (op.name.startswith("arith.") and op.name not in _COMPUTED | _CONVERSIONS):
        return f"has no form for integers of {_bits(op)} bits"
    return None


def _bits(op: ir.Operation) -> int | None:
    return next((bits for value in (*op.results, *op.operands) if (bits := _width(value.type))), None)


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
        _give_sign(op, bits)


def _compute(op: ir.Operation, bits: int) -> None:
    """Give an op whose types are wide the operands and the result that it has with ``bits``."""
    if op.name in _OF_LOW_BITS:
        with ir.InsertionPoint(op), op.location:
            for number, value in enumerate(op.operands):
                op.operands[number] = _with(upstream("arith").AndIOp, value, (1 << bits) - 1)
    _give_sign(op, bits)


def _give_sign(op: ir.Operation, bits: int) -> None:
    with ir.InsertionPoint.after(op), op.location:
        signed = _with_sign(op.results[0], bits)
    op.results[0].replace_all_uses_except(signed, [signed.owner.operands[0].owner.operation])


def _convert(op: ir.Operation, bits_before: int | None) -> None:
    """Write a conversion from or to few bits as one from or to 8."""
    value, kind = op.operands[0], op.results[0].type
    bits = _width(kind)
    with ir.InsertionPoint(op), op.location:
        if op.name in _UNSIGNED and bits_before is not None:
            value = _with(upstream("arith").AndIOp, value, (1 << bits_before) - 1)
        if value.type != _wide(kind):
            value = ir.Operation.create(op.name, [_wide(kind)], [value]).results[0]
        if bits is not None and op.name != "arith.trunci" and op.name in _TO_INTEGERS:
            value = _clamped(value, op.name == "arith.fptosi", bits)
        if bits is not None and op.name in ("arith.fptoui", "arith.trunci"):
            value = _with_sign(value, bits)
    replace_op(op, [value])


def _clamped(value: ir.Value, is_signed: bool, bits: int) -> ir.Value:
    """Integers of 8 bits, of which those out of the range of ``bits`` become its ends, as floats do elsewhere."""
    arith, half = upstream("arith"), 1 << (bits - 1)
    if not is_signed:
        return _with(arith.MinUIOp, value, 2 * half - 1)
    return _with(arith.MinSIOp, _with(arith.MaxSIOp, value, -half), half - 1)


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
