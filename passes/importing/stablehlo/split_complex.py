"""``ipu-split-complex``: complex numbers in StableHLO as their real and imaginary parts."""

from collections.abc import Sequence
from typing import Any

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.importing.stablehlo.builders import stablehlo_op
from ipu_mlir.passes.importing.stablehlo.complex_parts import (
    ComplexParts,
    apart,
    is_complex,
    joined,
    pairs_type,
    part_type,
)
from ipu_mlir.passes.importing.stablehlo.complex_rules import COMBINING, RULES, combination
from ipu_mlir.passes.importing.stablehlo.expand_linear_algebra import is_linear_algebra
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.passes.support.value_attributes import set_function_type


class SplitComplex(Pass):
    """Write what StableHLO does with complex numbers with their parts, and Fourier transforms as library codelets.

    Arguments and results of functions have one dimension more, the last: the real and the imaginary part.

    Needs:  StableHLO of static shapes, whose functions are called with the types that they have.
    Leaves: no complex tensor but in ops that ``ipu-check-stablehlo`` refuses.
    """

    name = "ipu-split-complex"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for function in list_ops(module, "func.func"):
                if any(is_complex(value) for op in list_ops(function) for value in (*op.operands, *op.results)):
                    _split(function)


def is_splittable(op: ir.Operation) -> bool:
    """True if ``op``, one with complex numbers, can be written with their parts."""
    if op.name in COMBINING:
        return not _combines_by_body(op) or all(map(is_complex, op.regions[0].blocks[0].arguments))
    if op.name == "stablehlo.return":
        return is_splittable(op.parent.operation)
    if op.name == "stablehlo.custom_call":
        return is_linear_algebra(op) and "lapack_" in str(op.attributes["call_target_name"])
    return (
        op.name in RULES
        or op.name in _WITH_BODIES
        or op.name in _PARTWISE
        or op.name in ("func.return", "func.call", "func.func", "stablehlo.composite")
    )


def _combines_by_body(op: ir.Operation) -> bool:
    """True if ``op`` combines elements by more than one operation, or several tensors."""
    return op.name in COMBINING and (len(op.results) > 1 or combination(op) not in COMBINING[op.name])


def _split(function: ir.Operation) -> None:
    parts = ComplexParts()
    split: list[ir.Operation] = []
    blocks: list[ir.Block] = []

    def visit(ops: list[Any]) -> None:
        for view in ops:
            op = view.operation
            for region in op.regions if op.name not in RULES or _combines_by_body(op) else ():
                for inner in list(region.blocks):
                    _note_arguments(parts, inner, in_pairs=op.name == "stablehlo.sort")
                    blocks.append(inner)
                    visit(list(inner.operations))
            if any(map(parts.has, (*op.operands, *op.results))):
                with ir.InsertionPoint(op), op.location:
                    _rewrite(parts, op)
                if op.name != "func.return":
                    split.append(op)

    (block,) = function.regions[0].blocks
    ops = list(block.operations)
    with ir.InsertionPoint.at_block_begin(block), function.location:
        for argument in block.arguments:
            if is_complex(argument):
                argument.set_type(pairs_type(argument.type))
                parts.note(argument, *apart(argument))
    visit(ops)
    set_function_type(function)
    for op in reversed(split):
        op.erase()
    for inner in blocks:
        for number in reversed([n for n, argument in enumerate(inner.arguments) if is_complex(argument)]):
            inner.erase_argument(number)


def _note_arguments(parts: ComplexParts, block: ir.Block, in_pairs: bool) -> None:
    """Give ``block`` arguments for the parts of its complex ones, behind all others; ``in_pairs`` as a comparison has
    them, of each operand one element and the other."""
    complex_ones = list(filter(is_complex, block.arguments))
    step = 2 if in_pairs else 1
    for at in range(0, len(complex_ones), step):
        own = complex_ones[at : at + step]
        real, imaginary = ([block.add_argument(part_type(x.type), block.owner.location) for x in own] for _ in "ri")
        for each in zip(own, real, imaginary, strict=True):
            parts.note(*each)


def _rewrite(parts: ComplexParts, op: ir.Operation) -> None:
    if op.name == "func.return":
        for number, value in enumerate(op.operands):
            if parts.has(value):
                op.operands[number] = joined(*parts.of(value))
        return
    if op.name == "stablehlo.return":
        ir.Operation.create(op.name, [], _flat(parts, op.operands))
        return
    if op.name in _WITH_BODIES or _combines_by_body(op):
        _rewrite_with_bodies(parts, op)
        return
    if op.name in _PARTWISE:
        made = []
        for which in range(2):
            operands = [parts.of(value)[which] if parts.has(value) else value for value in op.operands]
            attributes = dict(op.attributes)
            made.append(stablehlo_op(op.name, part_type(op.results[0].type), operands, attributes))
        parts.note(op.results[0], *made)
        return
    if op.name in ("stablehlo.custom_call", "func.call"):
        _call_on_pairs(parts, op)
        return
    found = RULES[op.name](parts, op)
    if isinstance(found, tuple):
        parts.note(op.results[0], *found)
    else:
        op.results[0].replace_all_uses_with(found)


def _call_on_pairs(parts: ComplexParts, op: ir.Operation) -> None:
    """A call of LAPACK whose matrices have one dimension more, which ``ipu-expand-linear-algebra`` takes, or of a
    function whose arguments and results have."""
    operands = [joined(*parts.of(value)) if parts.has(value) else value for value in op.operands]
    types = [pairs_type(value.type) if is_complex(value) else value.type for value in op.results]
    kept = ("call_target_name", "mhlo.backend_config", "backend_config", "api_version")
    kept = kept if op.name == "stablehlo.custom_call" else list(op.attributes)
    attributes = {name: op.attributes[name] for name in kept if name in op.attributes}
    new = ir.Operation.create(op.name, types, operands, attributes)
    for old, found in zip(op.results, new.results, strict=True):
        if is_complex(old):
            parts.note(old, *apart(found))
        else:
            old.replace_all_uses_with(found)


def _flat(parts: ComplexParts, values: Sequence[ir.Value]) -> list[ir.Value]:
    """``values`` with the parts of complex ones behind all others."""
    halves = [half for value in values if parts.has(value) for half in parts.of(value)]
    return [value for value in values if not parts.has(value)] + halves


def _in_place(parts: ComplexParts, values: Sequence[ir.Value]) -> list[ir.Value]:
    """``values`` with the parts of complex ones in their places."""
    return [half for value in values for half in (parts.of(value) if parts.has(value) else (value,))]


def _rewrite_with_bodies(parts: ComplexParts, op: ir.Operation) -> None:
    """The same op on parts, with the bodies, which work on parts already."""
    plain = [value for value in op.results if not is_complex(value)]
    split = [value for value in op.results if is_complex(value)]
    types = [value.type for value in plain] + [part_type(value.type) for value in split for _ in range(2)]
    attributes = dict(op.attributes)
    operands = _in_place(parts, op.operands) if op.name in COMBINING else _flat(parts, op.operands)
    new = ir.Operation.create(op.name, types, operands, attributes, regions=len(op.regions))
    for source, dest in zip(op.regions, new.regions, strict=True):
        source.blocks[0].append_to(dest)
    halves = list(new.results)[len(plain) :]
    for value, found in zip(plain, new.results, strict=False):
        value.replace_all_uses_with(found)
    for value, real, imaginary in zip(split, halves[::2], halves[1::2], strict=True):
        parts.note(value, real, imaginary)


_PARTWISE = frozenset(
    (
        "stablehlo.add",
        "stablehlo.broadcast_in_dim",
        "stablehlo.concatenate",
        "stablehlo.dynamic_slice",
        "stablehlo.dynamic_update_slice",
        "stablehlo.gather",
        "stablehlo.negate",
        "stablehlo.pad",
        "stablehlo.reshape",
        "stablehlo.reverse",
        "stablehlo.select",
        "stablehlo.slice",
        "stablehlo.subtract",
        "stablehlo.transpose",
        "tensor.concat",
    )
)
"""Ops that do with each part what they do with the whole."""
_WITH_BODIES = frozenset(("stablehlo.case", "stablehlo.if", "stablehlo.sort", "stablehlo.while"))
"""Ops that carry, or compare, values of any type: the same on parts."""
