"""``ipu-outline-branches``: branches that a program marks become functions whose code stands once."""

from itertools import count

from ipu_mlir.dialects.analysis.matchers import defining_op, symbol_of, terminator
from ipu_mlir.dialects.analysis.outlined_calls import meaning_of
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.text import identifier
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.importing.stablehlo.read_program_calls import is_program_call, read_call, target_of
from ipu_mlir.passes.importing.stablehlo.region_calls import outlined_call
from ipu_mlir.passes.support.clone import Known, clone_into, operands_from_outside
from ipu_mlir.passes.support.rewriting import list_ops, replace_op
from ipu_mlir.passes.support.value_attributes import set_function_type

_CONSTANTS = ("stablehlo.constant", "arith.constant")
_SAME = ("stablehlo.convert", "stablehlo.reshape")


class OutlineBranches(Pass):
    """Make a function of the branch that is taken where ``ipu.is_outlined`` is the condition, and call it there.

    A framework that inlines all its functions keeps a branch whose condition it does not know. Values from outside that
    the branch uses become arguments of the function, and so do its constants of more than one element.

    Needs:  StableHLO, with calls with which nothing is wrong (``ipu-check-stablehlo``).
    Leaves: calls marked ``ipu.outlined`` in the place of such branches, of one function for all that are alike; the
            other branch goes.
    """

    name = "ipu-outline-branches"

    def run(self, module: ir.Operation) -> None:
        same: dict[str, str] = {}
        with module.context:
            for op in list_ops(module, "stablehlo.if", "stablehlo.case"):  # inner ones first
                condition = _condition(op)
                if condition is not None:
                    with op.location:
                        _outline(op, condition, module, same)


def _condition(op: ir.Operation) -> ir.Operation | None:
    """The ``ipu.is_outlined`` that decides between two branches."""
    found = defining_op(op.operands[0]) if len(op.regions) == 2 else None
    while found is not None and found.name in _SAME:
        found = defining_op(found.operands[0])
    if found is None or not is_program_call(found) or target_of(found) != "ipu.is_outlined":
        return None
    return found


def _outline(op: ir.Operation, condition: ir.Operation, module: ir.Operation, same: dict[str, str]) -> None:
    """Put a call in the place of the branch ``op``; ``same`` are functions that there are, by their meaning."""
    func = upstream("func")
    named = read_call(condition).attributes.get("name")
    name = _new_name(module, "outlined" if named is None else ir.StringAttr(named).value)
    with ir.InsertionPoint.at_block_begin(module.regions[0].blocks[0]):
        function = func.FuncOp(name, ([], []), visibility="private").operation
    taken = op.regions[0 if op.name == "stablehlo.if" else 1]  # a case counts from the branch that is not taken
    taken.blocks[0].append_to(function.regions[0])
    block = function.regions[0].blocks[0]
    known: Known = {}
    for value in dict.fromkeys(operands_from_outside(function)):
        maker = defining_op(value, *_CONSTANTS)
        if maker is None or not getattr(maker.attributes["value"], "is_splat", True):
            known[value] = block.add_argument(value.type, op.location)
            continue
        with ir.InsertionPoint.at_block_begin(block):
            clone_into(maker, known)
    for inner in list_ops(function):
        for number, value in enumerate(inner.operands):
            if value in known:
                inner.operands[number] = known[value]
    end = terminator(block)
    with ir.InsertionPoint(end):
        func.ReturnOp(list(end.operands))
    gives = [value.type for value in end.operands]
    end.erase()
    set_function_type(function)
    given = [value for value, inside in known.items() if isinstance(inside.owner, ir.Block)]
    first = same.setdefault(meaning_of(function), name)
    if first != name:
        function.erase()
    with ir.InsertionPoint(op):
        found = outlined_call(gives, first, given)
    replace_op(op, found)


def _new_name(module: ir.Operation, wanted: str) -> str:
    """``wanted``, or with a number what nothing in ``module`` is called."""
    ops = module.regions[0].blocks[0].operations
    taken = {symbol_of(op) for op in ops if "sym_name" in op.attributes}
    base = identifier(wanted)
    return next(name for number in count() if (name := f"{base}_{number}" if number else base) not in taken)
