"""``ipu-convert-program-calls``: custom calls named ``ipu.*`` as the ops that they stand for."""

from collections.abc import Sequence
from dataclasses import replace

from ipu_mlir.dialects.analysis.matchers import symbol_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.importing.stablehlo.read_program_calls import (
    declared,
    has_token,
    is_program_call,
    read_call,
    result_types,
    row_of,
)
from ipu_mlir.passes.support.rewriting import list_ops, replace_op


class ConvertProgramCalls(Pass):
    """Put ops of programs in the places of custom calls named ``ipu.*``, and the variables and queues into the module.

    A token goes: its result is its operand. The calls have kept the order of the framework till here, and ops of
    programs keep theirs by themselves.

    Needs:  calls with which nothing is wrong (``ipu-check-stablehlo``).
    Leaves: no custom call named ``ipu.*``, no tuple of such calls; an ``ipu.variable``, ``ipu.infeed`` or
            ``ipu.outfeed`` for every one that the calls name.
    """

    name = "ipu-convert-program-calls"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            calls = [op for op in list_ops(module, "stablehlo.custom_call") if is_program_call(op)]
            _declare(calls, module)
            for op in calls:
                with ir.InsertionPoint(op), op.location:
                    _convert(op)


def _declare(calls: Sequence[ir.Operation], module: ir.Operation) -> None:
    """Add what the calls need, and the module does not have, at its beginning."""
    body = module.regions[0].blocks[0]
    there = {symbol_of(op) for op in body.operations if "sym_name" in op.attributes}
    said: dict[tuple[str, str], dict[str, ir.Attribute]] = {}
    places: dict[tuple[str, str], ir.Location] = {}
    for op in calls:
        found = declared(op)
        if found is not None and found[1] not in there:
            kind, name, attributes = found
            symbol = row_of(op).symbol
            assert symbol is not None, "what is declared is declared by a symbol"
            texts = {key: ir.StringAttr.get(value) for key, value in symbol.defaults.items()}
            said.setdefault((kind, name), texts).update(attributes)
            places.setdefault((kind, name), op.location)
    with ir.InsertionPoint.at_block_begin(body):
        for (kind, name), attributes in said.items():
            named = {"sym_name": ir.StringAttr.get(name), **attributes}
            ir.Operation.create(kind, attributes=named, loc=places[kind, name])


def _convert(op: ir.Operation) -> None:
    call, types = read_call(op), result_types(op)
    token = [op.operands[0]] if has_token(op) else []
    operands = [_cast(value, kind) for value, kind in zip(call.operands, call.takes, strict=True)]
    made = row_of(op).make(replace(call, operands=operands))
    values = [_cast(value, kind) for value, kind in zip([*token, *made], types, strict=True)]
    if len(op.results) == 1 and isinstance(op.results[0].type, ir.TupleType):
        for use in list(op.results[0].uses):
            index = ir.IntegerAttr(use.owner.attributes["index"]).value
            replace_op(use.owner.operation, [values[index]])
        op.erase()
    else:
        replace_op(op, values)


def _cast(value: ir.Value, kind: ir.Type) -> ir.Value:
    """``value`` as ``kind``, which is the same but for a sign."""
    if value.type == kind:
        return value
    return ir.Operation.create("builtin.unrealized_conversion_cast", [kind], [value]).results[0]
