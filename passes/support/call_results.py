"""Results that functions no longer give, because their callers have them already."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ipu_mlir.dialects.analysis.matchers import terminator
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.support.value_attributes import set_function_type, set_value_attributes, value_attributes


@dataclass(frozen=True)
class Operand:
    """What a call passes, by its number."""

    number: int


@dataclass(frozen=True)
class Result:
    """Another result of the call, by its number."""

    number: int


def drop_results(function: ir.Operation, calls: Sequence[ir.Operation], gone: Mapping[int, Operand | Result]) -> None:
    """Let ``function`` give the results ``gone`` no more, and its ``calls``, which are all, use what they are instead.

    A ``Result`` that they use instead is not gone itself.
    """
    if not gone:
        return
    end = terminator(function.regions[0].blocks[0])
    kept = [number for number in range(len(end.operands)) if number not in gone]
    entries = value_attributes(function, "res_attrs")
    with ir.InsertionPoint(end), end.location:
        ir.Operation.create("func.return", [], [end.operands[number] for number in kept])
    end.erase()
    set_function_type(function)
    set_value_attributes(function, "res_attrs", [entries[number] for number in kept])
    for call in calls:
        attributes = {name: call.attributes[name] for name in call.attributes}
        with ir.InsertionPoint(call), call.location:
            types = [call.results[number].type for number in kept]
            new = ir.Operation.create("func.call", types, list(call.operands), attributes)
        for number, result in enumerate(call.results):
            instead = gone.get(number, Result(number))
            if isinstance(instead, Operand):
                result.replace_all_uses_with(call.operands[instead.number])
            else:
                result.replace_all_uses_with(new.results[kept.index(instead.number)])
        call.erase()
