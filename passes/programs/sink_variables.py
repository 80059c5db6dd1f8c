"""``ipu-sink-variables``: what loops and branches carry of offloaded variables is read and assigned inside of them."""

from collections.abc import Container
from dataclasses import dataclass

from ipu_mlir.dialects.analysis.control_flow import blocks_of, control_op, flows, is_branch
from ipu_mlir.dialects.analysis.matchers import around_in, defining_op, terminator
from ipu_mlir.dialects.analysis.variables import ASSIGN, READ, variable_of, variables_in
from ipu_mlir.dialects.ipu import AssignOp, ReadOp
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import has_uses, list_ops, replace_op

Known = dict[str, ir.Value]
"""By name of the variable, a value that it has at a point of the program."""


class SinkVariables(Pass):
    """Read and assign variables that say ``offload`` in the loops and branches that change them.

    Front ends without variables of their own carry values: a variable is read at the begin, goes through loops as one
    of their values, and is assigned at the end. It would be on tiles all the time.

    A loop that begins with the value of a variable, and whose result is assigned to it, reads and assigns it in each
    round instead; a branch whose result is assigned to it does so itself. What only branches use is read there. No loop
    reads what it does not change: it would do so in each iteration.

    Needs:  functions in which ``scf`` is all control flow.
    Leaves: loops and branches without these values; everything else as it was.
    """

    name = "ipu-sink-variables"

    def run(self, module: ir.Operation) -> None:
        names = {name for name, op in variables_in(module).items() if "offload" in op.attributes}
        if not names:
            return
        with module.context:
            for function in list_ops(module, "func.func"):
                for block in blocks_of(function):
                    _sink(block, names, {})


def _sink(block: ir.Block, names: Container[str], known: Known) -> None:
    """Rewrite ``block``; ``known`` are the values at its begin, and then those at its end."""
    for op in [view.operation for view in block.operations]:
        if control_op(op) is not None:
            after: Known = {}
            for name in _assigned_later(op):
                if name in names and (number := _result_for(op, name)) is not None:
                    op = _without(op, number, name, known, after)
            _sink_into(op, names, known)
            known.update(after)
        elif op.name not in (READ, ASSIGN) or (name := variable_of(op)) not in names:
            continue
        elif op.name == READ and known.get(name, op.results[0]) != op.results[0]:
            replace_op(op, [known[name]])
        elif op.name == READ:
            known[name] = op.results[0]
        elif _holds(known, name, op.operands[0]):
            op.erase()
        else:
            known[name] = op.operands[0]
    for op in [view.operation for view in block.operations]:
        if op.name == READ and variable_of(op) in names and not has_uses(op):
            op.erase()


def _sink_into(op: ir.Operation, names: Container[str], known: Known) -> None:
    """Rewrite the blocks of ``op``, and forget what is assigned in them."""
    assigned = {variable_of(inner) for inner in list_ops(op, ASSIGN)}
    for block in blocks_of(op):
        inside: Known = {}
        for name, value in known.items() if is_branch(op) else ():
            uses = [use for use in value.uses if around_in(use.owner.operation, block)]
            if uses and defining_op(value, READ) is not None:
                inside[name] = _read(name, value, block.operations[0].operation)
                for use in uses:
                    use.owner.operation.operands[use.operand_number] = inside[name]
        _sink(block, names, inside)
    for name in assigned & known.keys():
        del known[name]


def _without(op: ir.Operation, result: int, name: str, known: Known, after: Known) -> ir.Operation:
    """``op`` without the value of variable ``name``, its result of that number, if it can do without.

    ``after`` then has the value behind it.
    """
    slot = _slot(op, result)
    begin = None if slot is None else slot.yielded.get(op)
    if slot is None or (begin is not None and not _holds(known, name, op.operands[begin])):
        return op
    ends = [(block, terminator(block), slot.yielded[terminator(block)]) for block in blocks_of(op)]
    for block, end, number in ends:
        for argument in [each for each in block.arguments if each in slot.members]:
            argument.replace_all_uses_with(_read(name, argument, block.operations[0].operation))
            block.erase_argument(argument.arg_number)
        if end not in slot.tests and not _holds(known, name, end.operands[number]):
            with ir.InsertionPoint(end), op.location:
                AssignOp(variable=ir.FlatSymbolRefAttr.get(name), value=end.operands[number])
        _rebuilt(end, [each for place, each in enumerate(end.operands) if place != number], [])
        end.erase()
    kept = [each for number, each in enumerate(op.results) if number != result]
    new = _rebuilt(op, [each for number, each in enumerate(op.operands) if number != begin], kept)
    after[name] = _read(name, op.results[result], op)
    op.results[result].replace_all_uses_with(after[name])
    op.erase()
    return new


@dataclass(frozen=True)
class _Slot:
    """A value that a region op carries.

    Attributes:
        members: the result and the arguments of blocks that it is.
        yielded: by op, which of its operands it is: of the terminators, and of the op itself where it begins with it.
        tests: the terminator that says whether a loop goes on, and yields what it got; none for other ops.
    """

    members: set[ir.Value]
    yielded: dict[ir.Operation, int]
    tests: list[ir.Operation]


def _slot(op: ir.Operation, result: int) -> _Slot | None:
    """The values that go into that result of ``op``; None if a loop yields what it computes in its test."""
    row = control_op(op)
    assert row is not None, "asked of control flow"
    tests = [terminator(next(blocks_of(op)))] if row.kind == "while" else []
    slot, known = _Slot({op.results[result]}, {}, tests), 0
    while known < len(slot.members) + len(slot.yielded):
        known = len(slot.members) + len(slot.yielded)
        for flow in flows(op):
            for number, target in enumerate(flow.targets, flow.first):
                if target in slot.members or slot.yielded.get(flow.source) == number:
                    slot.members.add(target)
                    slot.yielded[flow.source] = number
    for test in tests:
        value = test.operands[slot.yielded[test]]
        ways = [(flow, flow.targets.index(value)) for flow in flows(op) if value in flow.targets]
        if not ways:
            return None
        slot.members.add(value)
        slot.yielded.update({flow.source: flow.first + place for flow, place in ways})
    return slot


def _rebuilt(op: ir.Operation, operands: list[ir.Value], results: list[ir.OpResult]) -> ir.Operation:
    """``op`` with these operands, and those of its results; its blocks move there."""
    with ir.InsertionPoint(op):
        new = ir.Operation.create(
            op.name,
            [each.type for each in results],
            operands,
            dict(op.attributes),
            regions=len(op.regions),
            loc=op.location,
        )
    for region, old in zip(new.regions, op.regions, strict=True):
        old.blocks[0].append_to(region)
    for old, result in zip(results, new.results, strict=True):
        old.replace_all_uses_with(result)
    return new


def _holds(known: Known, name: str, value: ir.Value) -> bool:
    """True if ``value`` is what variable ``name`` is known to have."""
    return name in known and known[name] == value


def _assigned_later(op: ir.Operation) -> list[str]:
    """The variables to which results of ``op`` are assigned in its block."""
    users = {use.owner.operation: None for result in op.results for use in result.uses}
    return [variable_of(user) for user in users if user.name == ASSIGN and user.block == op.block]


def _result_for(op: ir.Operation, name: str) -> int | None:
    """The number of the result of ``op`` that is assigned to variable ``name``, if nobody uses that until then."""
    around = [view.operation for view in op.block.operations]
    for later in around[around.index(op) :]:
        if later.name == ASSIGN and variable_of(later) == name:
            return next((number for number, each in enumerate(op.results) if each == later.operands[0]), None)
        if any(variable_of(inner) == name for inner in list_ops(later, READ, ASSIGN)):
            return None
    return None


def _read(name: str, value: ir.Value, before: ir.Operation) -> ir.Value:
    """The value of variable ``name``, of the type of ``value``, in front of ``before``."""
    with ir.InsertionPoint(before), before.location:
        op = ReadOp(variable=ir.FlatSymbolRefAttr.get(name), value=value.type).operation
    return op.results[0]
