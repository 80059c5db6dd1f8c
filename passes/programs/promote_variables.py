"""``ipu-promote-variables``: what reads and assigns variables becomes a function of their values."""

from collections.abc import Iterable
from typing import Any

from ipu_mlir.dialects.analysis.control_flow import blocks_of, control_op, op_around, terminator
from ipu_mlir.dialects.analysis.matchers import is_used, symbol_of
from ipu_mlir.dialects.analysis.outlined_calls import callee_of
from ipu_mlir.dialects.analysis.variables import (
    ASSIGN,
    READ,
    UNSET,
    VARIABLE,
    variable_arguments,
    variable_of,
    variables_in,
)
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.support.rewriting import list_ops, replace_op
from ipu_mlir.passes.support.value_attributes import Which, set_function_type, set_value_attributes, value_attributes

Values = dict[str, ir.Value]
"""By name of the variable, its value at a point of the program."""


class PromoteVariables(Pass):
    """Thread the values of variables through functions, loops and branches.

    A function gets an argument for each variable that it reads or assigns, and a result for each that it may change.
    Loops carry those that they change, branches give them. Everything after this pass sees values, and fuses and
    places them as any other.

    Needs:  functions that nobody calls (``inline``, ``symbol-dce``), of one block.
    Leaves: no ``ipu.read`` and no ``ipu.assign``; ``ipu.variable`` on the arguments and results that are variables.
    """

    name = "ipu-promote-variables"

    def run(self, module: ir.Operation) -> None:
        users = list_ops(module, READ, ASSIGN)
        if not users:
            return
        with module.context, ir.Location.unknown(), Refusals() as refuse:
            types = {name: ir.TypeAttr(op.attributes["type"]).value for name, op in variables_in(module).items()}
            called = {callee_of(op) for op in list_ops(module, "func.call")}
            for op in users:
                broken = broken_use(op, types) or _broken_place(op, called)
                if broken is not None:
                    refuse(op, broken)
            if refuse.diagnostics:
                return
            for function in list_ops(module, "func.func"):
                _promote(function, types)


def broken_use(op: ir.Operation, types: dict[str, ir.Type]) -> str | None:
    """The error of the variable that ``op`` names, as the end of a sentence."""
    name = variable_of(op)
    (value,) = op.results if op.name == READ else op.operands
    if name not in types:
        return f"names @{name}, but the module has {_listed(types)}"
    if value.type != types[name]:
        return f"has a value of type {value.type}, but @{name} is of type {types[name]}"
    return None


def _listed(names: Iterable[str]) -> str:
    return "the variables " + ", ".join(f"@{name}" for name in names) if names else "no variable"


def _broken_place(op: ir.Operation, called: set[str]) -> str | None:
    """The error of the place of ``op``, as the end of a sentence."""
    around = op_around(op)
    if around.name != "func.func":
        return f"stands in '{around.name}'; variables are read and assigned in functions, loops and branches of scf"
    name = symbol_of(around)
    if len(around.regions[0].blocks) > 1:
        return f"stands in @{name}, which has several blocks; write its branches and loops as scf"
    if name in called:
        return f"stands in @{name}, which is called and cannot be inlined; only entries read and assign variables"
    return None


def _promote(function: ir.Operation, types: dict[str, ir.Type]) -> None:
    if list_ops(function, READ, ASSIGN):
        known = variable_arguments(function).values()
        assert not {variable_of(op) for op in list_ops(function, READ, ASSIGN)} & set(known), (
            "a variable is one argument"
        )
        names, changed = with_values(function, types)
        _mark(function, "arg_attrs", names)
        _mark(function, "res_attrs", changed)


def with_values(function: ir.Operation, types: dict[str, ir.Type]) -> tuple[list[str], list[str]]:
    """Let ``function`` take the values of the variables that it uses as its last arguments, and give those that it may
    change as its last results; the names of both."""
    used = {variable_of(op) for op in list_ops(function, READ, ASSIGN)}
    block = function.regions[0].blocks[0]
    names = [name for name in types if name in used]
    at_begin = {name: block.add_argument(types[name], ir.Location.name(name)) for name in names}
    values: Values = dict(at_begin)
    _thread(block, values)
    changed = [name for name in names if values[name] != at_begin[name]]
    _hand_on(block, [values[name] for name in changed])
    set_function_type(function)
    return names, changed


def _mark(function: ir.Operation, which: Which, names: list[str]) -> None:
    """Say that the last arguments or results are the variables ``names``."""
    entries = value_attributes(function, which)
    for number, name in enumerate(names, len(entries) - len(names)):
        entries[number][VARIABLE] = ir.FlatSymbolRefAttr.get(name)
        if which == "arg_attrs" and not is_used(function.regions[0].blocks[0].arguments[number]):
            entries[number][UNSET] = ir.UnitAttr.get()
    set_value_attributes(function, which, entries)


def _thread(block: ir.Block, values: Values) -> None:
    """Replace what reads and assigns in ``block``; ``values`` are those at its begin, and then those at its end."""
    for view in list(block.operations):
        op = view.operation
        if op.name == READ:
            replace_op(op, [values[variable_of(op)]])
        elif op.name == ASSIGN:
            values[variable_of(op)] = op.operands[0]
            op.erase()
        elif control_op(op) is not None:
            _thread_control(op, values)


def _thread_control(op: ir.Operation, values: Values) -> None:
    """Let ``op`` carry and give the variables that are assigned inside of it."""
    assigned = {variable_of(inner) for inner in list_ops(op, ASSIGN)}
    names = [name for name in values if name in assigned]
    if names:
        op = _widened(op, [values[name] for name in names])
    for block in blocks_of(op):
        at_begin = dict(values)
        if names and len(block.arguments):
            at_begin.update(zip(names, list(block.arguments)[-len(names) :], strict=True))
        _thread(block, at_begin)
        if names:
            _hand_on(block, [at_begin[name] for name in names])
    if names:
        values.update(zip(names, list(op.results)[-len(names) :], strict=True))


def _widened(op: ir.Operation, carried: list[ir.Value]) -> ir.Operation:
    """``op`` with one more result for each value; a loop begins with them and has them as last arguments of its blocks.

    What its blocks yield is left as it was; the arm that a branch lacks gets a block.
    """
    row = control_op(op)
    assert row is not None, "only control flow is widened"
    types = [value.type for value in carried]
    operands = [*op.operands, *carried] if row.repeats else list(op.operands)
    attributes = dict(op.attributes)
    with ir.InsertionPoint(op):
        new = ir.Operation.create(
            op.name,
            [*(result.type for result in op.results), *types],
            operands,
            attributes,
            regions=len(op.regions),
            loc=op.location,
        )
    for old_region, region in zip(op.regions, new.regions, strict=True):
        if len(old_region.blocks):
            old_region.blocks[0].append_to(region)
        else:
            with ir.InsertionPoint(ir.Block.create_at_start(region, [])):
                ir.Operation.create(terminator(new.regions[0].blocks[0]).name, loc=op.location)
        if row.repeats:
            for kind in types:
                region.blocks[0].add_argument(kind, op.location)
    replace_op(op, list(new.results)[: len(op.results)])
    return new


def _hand_on(block: ir.Block, values: list[ir.Value]) -> ir.Operation:
    """Let ``block`` end by yielding ``values`` as well; gives its new terminator."""
    end = terminator(block)
    with ir.InsertionPoint(end):
        attributes: dict[str, Any] = dict(end.attributes)
        new = ir.Operation.create(end.name, [], [*end.operands, *values], attributes, loc=end.location)
    end.erase()
    return new
