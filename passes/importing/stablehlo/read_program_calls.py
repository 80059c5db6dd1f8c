"""Custom calls named ``ipu.*``, read and checked."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ipu_mlir.dialects.analysis.matchers import module_around, symbol_of
from ipu_mlir.dialects.attributes.attributes import mapping_of_text, mapping_to_attr
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.counted import counted, listed
from ipu_mlir.dialects.support.dictionaries import entries_of
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.passes.core.registry import suggestion
from ipu_mlir.passes.importing.stablehlo.program_call import (
    BACKWARD,
    CONDITION,
    FORWARD,
    PREFIX,
    TOKEN,
    Call,
    ProgramCall,
    Setting,
)
from ipu_mlir.passes.importing.stablehlo.program_calls import CALLS

_LARGEST = 1 << 63


def is_program_call(op: ir.Operation) -> bool:
    """True if ``op`` is a custom call with a name of ours."""
    return op.name == "stablehlo.custom_call" and target_of(op).startswith(PREFIX)


def is_ordered_call(op: ir.Operation) -> bool:
    """True if ``op`` is such a call that stays where it is among others."""
    row = CALLS.get(target_of(op).removeprefix(PREFIX)) if is_program_call(op) else None
    return row is not None and row.is_ordered


def row_of(op: ir.Operation) -> ProgramCall:
    """The row of a call that nothing is wrong with."""
    return CALLS[target_of(op).removeprefix(PREFIX)]


def has_token(op: ir.Operation) -> bool:
    """True if the first operand of a call, and its first result, only keep it in its order."""
    return (_given(op) or {}).get(TOKEN, False) is True


def read_call(op: ir.Operation) -> Call:
    """The operands, types and settings of a call that nothing is wrong with."""
    row, given, skipped = row_of(op), _given(op) or {}, int(has_token(op))
    attributes = {key: KINDS[row.settings[key].kind](value) for key, value in given.items() if key != TOKEN}
    operands = list(op.operands)[skipped:]
    takes, gives = [value.type for value in operands], result_types(op)[skipped:]
    unsigned = [without_sign(kind) != kind for kind in takes]
    if row.functions:
        return Call(operands, takes, gives, unsigned, attributes, _functions(op))
    return Call(operands, list(map(without_sign, takes)), list(map(without_sign, gives)), unsigned, attributes)


def result_types(op: ir.Operation) -> list[ir.Type]:
    """The types that a call gives, which may come in one tuple."""
    types = [result.type for result in op.results]
    if len(types) != 1 or not isinstance(types[0], ir.TupleType):
        return types
    return [types[0].get_type(number) for number in range(types[0].num_types)]


def without_sign(kind: ir.Type) -> ir.Type:
    """``kind`` with integers as linalg has them, which know of no sign."""
    if not isinstance(kind, ir.RankedTensorType) or not isinstance(kind.element_type, ir.IntegerType):
        return kind
    return ir.RankedTensorType.get(kind.shape, ir.IntegerType.get_signless(kind.element_type.width))


def broken_call(op: ir.Operation) -> str | None:
    """The error of a call by itself, as the end of a sentence."""
    name = target_of(op)
    row = CALLS.get(name.removeprefix(PREFIX))
    if row is None:
        near = suggestion(name.removeprefix(PREFIX), CALLS).replace("'", f"'{PREFIX}", 1)
        known = near or f"; there are {', '.join(PREFIX + each for each in CALLS)}"
        return f"calls {name}, which is no op of a program{known}"
    try:
        given = _given(op)
    except CompileError as error:
        return str(error)
    if given is None:
        return 'has a backend_config that is no object of JSON; write its attributes as in {"queue": "q0"}'
    token = given.pop(TOKEN, False)
    return (
        next(_broken_attributes(name, row, given), None)
        or _broken_token(op, name, row, token)
        or _broken_values(op, name, row, token)
        or _broken_functions(op, name, row)
        or row.wrong(read_call(op))
    )


def broken_symbols(calls: list[ir.Operation], module: ir.Operation) -> Iterator[tuple[ir.Operation, str]]:
    """The calls that say something else of an op of the module than others do, or the op itself, and what."""
    there = {
        symbol_of(op): op.operation for op in module.regions[0].blocks[0].operations if "sym_name" in op.attributes
    }
    said: dict[str, dict[str, ir.Attribute]] = {}
    kinds: dict[str, str] = {}
    for op in calls:
        found = declared(op)
        if found is None:
            continue
        kind, name, attributes = found
        if name in there and name not in said:
            kinds[name] = there[name].name
            said[name] = {key: there[name].attributes[key] for key in there[name].attributes}
        if kinds.setdefault(name, kind) != kind:
            yield op, f"needs @{name} as {kind}, which is {kinds[name]} already; give it another name"
            continue
        known = said.setdefault(name, {})
        for key, value in attributes.items():
            if known.setdefault(key, value) != value:
                yield op, f"says that @{name} has {key} = {value}, but others say {known[key]}; all say the same"


def declared(op: ir.Operation) -> tuple[str, str, Mapping[str, ir.Attribute]] | None:
    """The op of the module that a call needs: what it is, its name, and what the call says of it."""
    symbol = row_of(op).symbol
    if symbol is None:
        return None
    call = read_call(op)
    return symbol.op, ir.FlatSymbolRefAttr(call.attributes[symbol.name]).value, symbol.attributes(call)


def _broken_attributes(name: str, row: ProgramCall, given: Mapping[str, Any]) -> Iterator[str]:
    for key, value in given.items():
        if key not in row.settings:
            known = ", ".join([*row.settings, *([TOKEN] if row.is_ordered else [])]) or "none"
            yield f"has the attribute {key!r}; those of {name} are: {known}{suggestion(key, row.settings)}"
        else:
            yield from _broken_value(key, row.settings[key], value)
    for key, setting in row.settings.items():
        if setting.is_required and key not in given:
            yield f"has no attribute {key!r}, which {name} needs: {setting.says}"


def _broken_value(key: str, setting: Setting, value: Any) -> Iterator[str]:
    if KINDS[setting.kind](value) is None:
        yield f"has {key} = {json.dumps(value)}; it is {setting.kind}"
    elif setting.choices and value not in setting.choices:
        yield f"has {key} = {json.dumps(value)}; it is one of {', '.join(setting.choices)}"


def _broken_token(op: ir.Operation, name: str, row: ProgramCall, token: Any) -> str | None:
    if not isinstance(token, bool):
        return f"has token = {json.dumps(token)}; it is true or false"
    if not token:
        return None
    if not row.is_ordered:
        return f"has a token, but nothing keeps {name} in an order; call it without"
    types = result_types(op)
    if not op.operands or not types or op.operands[0].type != types[0]:
        return "has a token, so its first operand and its first result are one; give both the type of the token"
    return None


def _broken_values(op: ir.Operation, name: str, row: ProgramCall, token: bool) -> str | None:
    takes, gives = ([without_sign(each) for each in types][token:] for types in (_types(op.operands), result_types(op)))
    for what, wanted, found in (("operands", row.operands, takes), ("results", row.results, gives)):
        if wanted is not None and len(found) != wanted:
            return f"has {len(found)} {what}, not counting a token; {name} has {wanted}"
    complex_one = next((kind for kind in (*takes, *gives) if "complex<" in str(kind)), None)
    if complex_one is not None and name != f"{PREFIX}outlined":
        return f"has {complex_one}; give {name} real and imaginary parts as tensors of their own"
    for number in row.scalars:
        if str(takes[number]) != "tensor<i32>":
            return (
                f"has operand {number} of type {takes[number]}, not counting a token; {name} takes a tensor<i32> there"
            )
    if row.keeps_types and takes != gives:
        return f"gives {listed(gives)} for {listed(takes)}; {name} keeps the types"
    if len(op.results) == 1 and isinstance(op.results[0].type, ir.TupleType):
        for use in op.results[0].uses:
            if use.owner.name != "stablehlo.get_tuple_element":
                return f"gives a tuple to '{use.owner.name}'; take it apart by stablehlo.get_tuple_element"
    return None


def _functions(op: ir.Operation) -> list[str]:
    """The names of the functions that a call says it calls."""
    named = op.attributes.get("called_computations", None)
    return [] if named is None else [ir.FlatSymbolRefAttr(each).value for each in named]


def _broken_functions(op: ir.Operation, name: str, row: ProgramCall) -> str | None:
    named = _functions(op)
    if len(named) != len(row.functions):
        wanted = ", ".join(row.functions) or "none"
        return f"has {counted(len(named), 'function')} in called_computations; those of {name} are: {wanted}"
    there = {
        symbol_of(each): each.operation
        for each in module_around(op).regions[0].blocks[0].operations
        if each.operation.name == "func.func"
    }
    truth = ir.RankedTensorType.get([], ir.IntegerType.get_signless(1))
    kept: list[ir.Type] = []
    for which, function in zip(row.functions, named, strict=True):
        if function not in there:
            return f"calls @{function}, but the module has {', '.join(f'@{each}' for each in there)}"
        found = ir.FunctionType(ir.TypeAttr(there[function].attributes["function_type"]).value)
        takes, gives = _types(op.operands), [truth] if which == CONDITION else result_types(op)
        if which == FORWARD:
            kept = list(found.results)[len(gives) :]
            gives += kept
        elif which == BACKWARD:
            takes, gives = [*kept, *filter(_is_of_floats, gives)], list(filter(_is_of_floats, takes))
        wanted = ir.FunctionType.get(takes, gives)
        if found != wanted:
            return f"calls @{function} of type {found} as its {which}, which is of type {wanted}"
    return None


def _types(values: Any) -> list[ir.Type]:
    return [value.type for value in values]


def _is_of_floats(kind: ir.Type) -> bool:
    return isinstance(kind, ir.RankedTensorType) and isinstance(kind.element_type, ir.FloatType)


def target_of(op: ir.Operation) -> str:
    """The name of what a custom call calls."""
    return ir.StringAttr(op.attributes["call_target_name"]).value


def _given(op: ir.Operation) -> dict[str, Any] | None:
    """The attributes of a call: JSON in ``backend_config``, or a dictionary there or in ``mhlo.backend_config``.

    Raises:
        CompileError: one of a dictionary is nothing that an attribute can be.
    """
    for name in ("mhlo.backend_config", "backend_config"):
        found = op.attributes.get(name, None)
        if isinstance(found, ir.DictAttr):
            return {name: _plain(name, entry) for name, entry in entries_of(found).items()}
        if isinstance(found, ir.StringAttr) and found.value:
            try:
                given = json.loads(found.value)
            except (ValueError, RecursionError):
                return None
            return given if isinstance(given, dict) else None
    return {}


def _plain(name: str, attribute: ir.Attribute) -> Any:
    match attribute:
        case ir.StringAttr() | ir.BoolAttr() | ir.FloatAttr() | ir.IntegerAttr():
            return attribute.value
        case ir.DenseI64ArrayAttr() | ir.DenseI32ArrayAttr() | ir.DenseIntElementsAttr():
            return list(map(int, attribute))
        case ir.ArrayAttr():
            return [_plain(name, each) for each in attribute]
    raise CompileError(f"has {name} = {attribute}; attributes are text, numbers, truth values and lists of integers")


def _integer(value: Any) -> ir.Attribute | None:
    if type(value) is not int or not -_LARGEST <= value < _LARGEST:
        return None
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


def _integers(value: Any) -> ir.Attribute | None:
    if not isinstance(value, list) or any(_integer(each) is None for each in value):
        return None
    return ir.DenseI64ArrayAttr.get(value)


def _mapping(value: Any) -> ir.Attribute | None:
    if not isinstance(value, str) or not value.startswith("#ipu.mapping<"):
        return None
    try:
        return mapping_to_attr(mapping_of_text(value))
    except (CompileError, ValueError, TypeError):  # of other entries, or more or fewer of them
        return None


KINDS: dict[str, Callable[[Any], Any]] = {
    "text": lambda value: ir.StringAttr.get(value) if isinstance(value, str) else None,
    "a name": lambda value: ir.FlatSymbolRefAttr.get(value) if isinstance(value, str) and value else None,
    "an integer": _integer,
    "a list of integers": _integers,
    "true or false": lambda value: ir.BoolAttr.get(value) if isinstance(value, bool) else None,
    "a mapping, as in #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>": _mapping,
}
"""What attributes are made of: from what a call says to an attribute of MLIR, or None where it says something else."""
