"""``ipu-widen-sums``: sums of floats of 16 and 8 bits are f32 until they are complete.

Rounding after each step would stop a sum of ones at 2048 in f16, at 256 in bf16, and at 8 or 16 in most of f8. The
machine's units add up in f32, and so does every library that people compare with; the frontends, though, write a
product of f16 matrices as one whose result is f16. Here the IR gets to say what is done: products and sums in f32, then
one rounding.
"""

import re
from dataclasses import dataclass
from typing import Literal

from ipu_mlir.dialects.analysis.locations import name_scope
from ipu_mlir.dialects.analysis.loop_nest import is_structured, loop_nest
from ipu_mlir.dialects.analysis.matchers import constant_of, defining_op
from ipu_mlir.dialects.ipu import PlaceOp
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.element_types import is_narrow_float
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.linalg_builders import elementwise, fill_with, rounded
from ipu_mlir.passes.support.placement_hints import place_value
from ipu_mlir.passes.support.rewriting import has_uses, list_ops

_PARTIALS = re.compile(r"(?:^|/)ipu\.partials\.(\w+?)(?=_|/|$)")


@dataclass(frozen=True)
class WidenSums(Pass):
    """Add up floats of 16 and 8 bits in f32, and round the sum once.

    The initial value is widened as well: a fill stays a fill, another one is widened element by element. A product that
    is summed is exact in f32. Named ops keep their names, for they take operands of another type than their result.
    Sums in f32 or f64 stay as they are, and so do maxima, minima and products of many.

    Options: ``partials``, the type of a sum that is not complete: ``f32``, or ``native``, that of its result;
    ``matmuls``, ``convolutions`` and ``pooling``, the same of those ops; ``slices`` of what has no kind of its own. An
    innermost scope ``ipu.partials.native`` or ``ipu.partials.f32`` in the name of an op says it of that op.

    Needs:  linalg on tensors of static shape, element-wise ops fused: a product whose sum is another op is rounded.
    Leaves: no structured op that adds up f16, bf16 or f8 in that type; the rounding at the begin of the element-wise op
            that alone reads the sums, or as an op behind them.
    """

    name = "ipu-widen-sums"

    partials: Literal["f32", "native"] = "f32"
    matmuls: Literal["f32", "native"] | None = None
    convolutions: Literal["f32", "native"] | None = None
    pooling: Literal["f32", "native"] | None = None
    slices: Literal["f32", "native"] | None = None

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in list_ops(module):
                is_narrow = is_structured(op) and any(_is_narrow(result.type) for result in op.results)
                if is_narrow and not self._is_native(op):
                    for number in _narrow_sums(op):
                        _widen(op, number)

    def _is_native(self, op: ir.Operation) -> bool:
        said = _PARTIALS.findall(name_scope(op.location))[-1:]
        return (said[0] if said else getattr(self, _kind(op)) or self.partials) == "native"


def _kind(op: ir.Operation) -> str:
    """The option that is about ``op``."""
    if "conv" in op.name:
        return "convolutions"
    if "pooling" in op.name:
        return "pooling"
    return "matmuls" if len(op.operands) - len(op.results) == 2 else "slices"


def _is_narrow(type_: ir.Type) -> bool:
    element = type_.element_type if isinstance(type_, ir.RankedTensorType) else None
    return is_narrow_float(str(element))


def _narrow_sums(op: ir.Operation) -> list[int]:
    """The results of ``op`` that are sums in 16 or 8 bits."""
    if "library_call" in op.attributes or not len(op.regions):
        return []
    nest = loop_nest(op)
    if nest is None or all(nest.parallel):
        return []
    results = enumerate(op.results)
    return [number for number, result in results if _is_narrow(result.type) and _addition(op, number) is not None]


def _addition(op: ir.Operation, number: int) -> ir.Operation | None:
    """The ``arith.addf`` that adds a term to result ``number``, if that is all that is done with the running sum."""
    block = op.regions[0].blocks[0]
    running = block.arguments[len(op.operands) - len(op.results) + number]
    uses = list(running.uses)
    if len(uses) != 1 or uses[0].owner.operation.name != "arith.addf":
        return None
    addition = uses[0].owner.operation
    uses = list(addition.results[0].uses)
    if len(uses) != 1 or uses[0].owner.operation.name != "linalg.yield" or uses[0].operand_number != number:
        return None
    return addition


def _widen(op: ir.Operation, number: int) -> None:
    """Let result ``number`` be a sum in f32 that is rounded once."""
    addition = _addition(op, number)
    assert addition is not None, "only sums are widened"
    place = len(op.operands) - len(op.results) + number
    result, narrow = op.results[number], op.results[number].type
    with op.location:
        with ir.InsertionPoint(op):
            op.operands[place] = _wide_init(op.operands[place])
        result.set_type(ir.RankedTensorType.get(narrow.shape, ir.F32Type.get()))
        op.regions[0].blocks[0].arguments[place].set_type(ir.F32Type.get())
        _widen_addition(addition)
        uses = list(result.uses)
        if len(uses) == 1 and _goes_over(uses[0].owner.operation, uses[0].operand_number):
            _round_in_body(uses[0].owner.operation, uses[0].operand_number, narrow.element_type)
        else:
            _round(result, narrow)


def _goes_over(op: ir.Operation, number: int) -> bool:
    """True if ``op`` is element-wise and reads each element of operand ``number`` once."""
    if op.name != "linalg.generic" or "library_call" in op.attributes or number >= len(op.operands) - len(op.results):
        return False
    if any("parallel" not in str(kind) for kind in op.attributes["iterator_types"]):
        return False
    return op.attributes["indexing_maps"][number].value.is_permutation


def _round_in_body(op: ir.Operation, number: int, narrow: ir.Type) -> None:
    """Round elements of operand ``number``, which has become f32, to ``narrow`` before the body of ``op`` uses them."""
    block = op.regions[0].blocks[0]
    argument = block.arguments[number]
    argument.set_type(ir.F32Type.get())
    with ir.InsertionPoint.at_block_begin(block):
        rounded = upstream("arith").TruncFOp(narrow, argument)
    argument.replace_all_uses_except(rounded.result, rounded.operation)


def _round(sums: ir.OpResult, narrow: ir.RankedTensorType) -> None:
    """Let all users of ``sums`` have them rounded, by an op behind the one that adds up.

    That is so wherever elements go to several tiles: they go there in 16 or 8 bits.
    """
    hints = [use.owner.operation for use in sums.uses if use.owner.operation.name == PlaceOp.OPERATION_NAME]
    with ir.InsertionPoint.after(sums.owner):
        rounding = rounded(sums, narrow.element_type)
    sums.replace_all_uses_except(rounding, rounding.owner.operation)
    if hints:
        place_value(sums, hints[0].attributes["mapping"])  # the hint is for the op that adds up, too


def _wide_init(init: ir.Value) -> ir.Value:
    """``init`` in f32."""
    wide = ir.F32Type.get()
    fill = defining_op(init, "linalg.fill")
    filled = fill.operands[0] if fill is not None and fill.operands[0].type == init.type.element_type else None
    if filled is None and defining_op(init, "tensor.empty") is None:
        return elementwise(init, wide, _wide_scalar).results[0]
    empty = upstream("tensor").EmptyOp(list(init.type.shape), wide).result
    return empty if filled is None else fill_with(_wide_scalar(filled), empty).results[0]


def _widen_addition(addition: ir.Operation) -> None:
    """Put a sum in f32 in the place of ``addition``, one of whose operands has become f32 already."""
    with ir.InsertionPoint(addition), addition.location:
        wide = [_wide_term(value) if is_narrow_float(str(value.type)) else value for value in addition.operands]
        total = ir.Operation.create("arith.addf", [wide[0].type], wide, dict(addition.attributes))
    addition.results[0].replace_all_uses_with(total.results[0])
    terms = [defining_op(value) for value in addition.operands]
    addition.erase()
    for term in terms:
        if term is not None and not has_uses(term):
            term.erase()


def _wide_term(term: ir.Value) -> ir.Value:
    """``term`` of a sum in f32; a product is one of wide factors."""
    owner = defining_op(term, "arith.mulf")
    if owner is None:
        return _wide_scalar(term)
    first, second = owner.operands
    factor = _wide_scalar(first)
    attributes = dict(owner.attributes)
    factors = [factor, factor if second == first else _wide_scalar(second)]
    return ir.Operation.create("arith.mulf", [factor.type], factors, attributes).results[0]


def _wide_scalar(value: ir.Value) -> ir.Value:
    """``value``, a scalar of 16 or 8 bits, in f32; of a constant, a constant."""
    wide = ir.F32Type.get()
    constant = constant_of(value)
    if constant is not None:
        return upstream("arith").ConstantOp(wide, ir.FloatAttr.get(wide, ir.FloatAttr(constant).value)).result
    return upstream("arith").ExtFOp(wide, value).result
