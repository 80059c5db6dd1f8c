"""``ipu-legalize-types``: 64-bit numbers in 32 bits, because the machine has no others."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ipu_mlir.dialects.analysis.matchers import constant_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.support.constants import narrow_constant, unfit_constant
from ipu_mlir.passes.support.rewriting import list_ops, replace_op

TRACE = "ipu.narrowed"
"""Module attribute that says what was narrowed: ``["i64 -> i32: 12 values"]``."""

_RESIZING = frozenset(("arith.extf", "arith.extsi", "arith.extui", "arith.truncf", "arith.trunci"))
_SHIFTS = frozenset(("arith.shli", "arith.shrsi", "arith.shrui"))
_BITS = 32


@dataclass(frozen=True)
class LegalizeTypes(Pass):
    """Narrow i64 to i32 and f64 to f32, everywhere.

    A program means something else afterwards where a value needs more bits at run time: that is why nobody runs this
    pass unasked. What can be seen beforehand is refused: constants that do not fit, and ops on the bits of a number.

    Options: ``integers`` and ``floats``, what is narrowed.

    Needs:  linalg on tensors.
    Leaves: no value of the wide types; no conversion between equal types; the module attribute ``ipu.narrowed``, which
            says how many values are narrower now.
    """

    name = "ipu-legalize-types"

    integers: bool = True
    floats: bool = True

    def run(self, module: ir.Operation) -> None:
        with module.context, ir.Location.unknown(), Refusals() as refuse:
            narrowed = self._narrowed_type()
            ops = list_ops(module)
            for op in ops:
                broken = _broken_rule(op, narrowed)
                if broken is not None:
                    refuse(op, broken)
            if refuse.diagnostics:
                return
            changes = Counter(change for op in ops for change in _narrow(op, narrowed))
            _drop_conversions(module)
            _leave_trace(module, changes)

    def _narrowed_type(self) -> Callable[[Any], Any]:
        """The function that gives what stands for a type; itself for most."""
        narrow: dict[ir.Type, ir.Type] = {}
        if self.integers:
            narrow[ir.IntegerType.get_signless(2 * _BITS)] = ir.IntegerType.get_signless(_BITS)
        if self.floats:
            narrow[ir.F64Type.get()] = ir.F32Type.get()

        def narrowed(kind: Any) -> Any:
            if kind in narrow:
                return narrow[kind]
            if isinstance(kind, ir.RankedTensorType) and kind.element_type in narrow:
                return ir.RankedTensorType.get(kind.shape, narrow[kind.element_type], kind.encoding)
            if isinstance(kind, ir.FunctionType):
                return ir.FunctionType.get([narrowed(x) for x in kind.inputs], [narrowed(x) for x in kind.results])
            return kind

        return narrowed


def _element_type(kind: Any) -> Any:
    return getattr(kind, "element_type", kind)


def _broken_rule(op: ir.Operation, narrowed: Callable[[Any], Any]) -> str | None:
    """Why ``op`` cannot be narrowed, as the end of a sentence, or None."""
    types = [value.type for value in (*op.operands, *op.results)]
    if all(narrowed(kind) == kind for kind in types):
        return None
    if op.name == "arith.constant":
        return unfit_constant(op.attributes["value"], _element_type(narrowed(op.results[0].type)))
    if op.name == "arith.bitcast":
        return f"takes the bits of {types[0]} as {types[1]}; there are half as many in 32 bits"
    if op.name in _SHIFTS and (amount := _constant(op.operands[1])) is not None and amount >= _BITS:
        return f"shifts by {amount} bits; there are only {_BITS} of them in {narrowed(types[0])}"
    return None


def _constant(value: ir.Value) -> int | None:
    """The integer that ``value`` is, if it is a constant with one value."""
    attribute = constant_of(value)
    if isinstance(attribute, ir.DenseElementsAttr):
        if not attribute.is_splat:
            return None
        attribute = attribute.get_splat_value()
    return attribute.value if isinstance(attribute, ir.IntegerAttr) else None


def _narrow(op: ir.Operation, narrowed: Callable[[Any], Any]) -> Iterator[str]:
    """Narrow what ``op`` makes, and the arguments of its blocks; says for each value what became of it."""
    if "function_type" in op.attributes:
        kind = op.attributes["function_type"].value
        op.attributes["function_type"] = ir.TypeAttr.get(narrowed(kind))
    arguments = [argument for region in op.regions for block in region.blocks for argument in block.arguments]
    for value in (*arguments, *op.results):
        wanted = narrowed(value.type)
        if wanted != value.type:
            yield f"{_element_type(value.type)} -> {_element_type(wanted)}"
            if op.name == "arith.constant":
                narrow_constant(op, wanted)
            else:
                value.set_type(wanted)


def _drop_conversions(module: ir.Operation) -> None:
    """Remove conversions that convert nothing any more."""
    for op in list_ops(module, *_RESIZING):
        if op.operands[0].type == op.results[0].type:
            replace_op(op, [op.operands[0]])


def _leave_trace(module: ir.Operation, changes: Counter[str]) -> None:
    if changes:
        told = [ir.StringAttr.get(f"{change}: {count} values") for change, count in sorted(changes.items())]
        module.attributes[TRACE] = ir.ArrayAttr.get(told)
