"""``ipu-outline-functions``: functions whose code stands in the program once, however often they are called."""

from collections.abc import Sequence

from ipu_mlir.dialects.analysis.control_flow import op_around
from ipu_mlir.dialects.analysis.effects import effects_of
from ipu_mlir.dialects.analysis.matchers import function_type, is_used, symbol_of
from ipu_mlir.dialects.analysis.outlined_calls import OUTLINED, callee_of, callees_first, calls_in, meaning_of
from ipu_mlir.dialects.analysis.shards import SHARD
from ipu_mlir.dialects.analysis.variables import ASSIGN, READ, UPDATED, updated_arguments, variables_in
from ipu_mlir.dialects.ipu import AssignOp, ReadOp
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.programs.promote_variables import broken_use, with_values
from ipu_mlir.passes.support.calls import inline_call
from ipu_mlir.passes.support.rewriting import list_ops, replace_op
from ipu_mlir.passes.support.value_attributes import Which, set_function_type, set_value_attributes, value_attributes

_STATE = (READ, ASSIGN)
_VALUES: tuple[Which, ...] = ("arg_attrs", "res_attrs")


class OutlineFunctions(Pass):
    """Keep calls that are marked ``ipu.outlined``, and let functions that do the same be one.

    One that reads and assigns variables takes their values and gives the new ones, as its callers read and assign
    them. What has other state, moves data of the host, or takes or gives anything but tensors of static shape is
    inlined all the same: each call of it has state of its own. So are other calls of what has ops of ours, which
    upstream's inliner leaves alone, or is on an IPU that is asked for, and gets such ops. What calls itself or has
    several blocks is left to be refused.

    Needs:  nothing.
    Leaves: ``no_inline`` on the marked calls that stay, no mark on others; one function for all that are alike;
            ``ipu.updated`` on the arguments and results of functions that are the old and the new value of a variable.
    """

    name = "ipu-outline-functions"

    def run(self, module: ir.Operation) -> None:
        functions = {symbol_of(op): op for op in list_ops(module, "func.func")}
        if not list_ops(module, "func.call"):
            return
        types = {name: ir.TypeAttr(op.attributes["type"]).value for name, op in variables_in(module).items()}
        known = _Functions(functions)
        with module.context:
            for function in callees_first(list(functions.values())):  # what is alike calls what is one already
                _take_variables(function, known, types)
                for call in list_ops(function, "func.call"):
                    if OUTLINED in call.attributes or known.is_ours_to_inline(call):
                        _keep_or_inline(call, known)


def _keep_or_inline(call: ir.Operation, known: "_Functions") -> None:
    name, functions = callee_of(call), known.functions
    if OUTLINED in call.attributes and known.can_stand_alone(name):
        call.attributes["no_inline"] = ir.UnitAttr.get()
        first = known.first_alike(name)
        call.attributes["callee"] = ir.FlatSymbolRefAttr.get(first)
    elif name in functions and len(functions[name].regions[0].blocks) == 1 and not _calls(name, name, functions):
        inline_call(call, functions[name])
    elif OUTLINED in call.attributes:
        del call.attributes[OUTLINED]


def _take_variables(function: ir.Operation, known: "_Functions", types: dict[str, ir.Type]) -> None:
    """Let what calls ``function`` hand it the variables that it uses, if it can stand alone then."""
    name, uses = symbol_of(function), list_ops(function, *_STATE)
    if "sym_visibility" not in function.attributes or not uses:
        return
    calls = [op for each in known.functions.values() for op in calls_in(each) if callee_of(op) == name]
    if not calls or any(OUTLINED not in op.attributes for op in calls):
        return
    if any(op_around(op) != function or broken_use(op, types) for op in uses):
        return
    if not known.can_stand_alone(name, but=_STATE):
        return
    for which in _VALUES:
        if which in function.attributes:
            del function.attributes[which]
    pass_variables(function, calls, types)


def pass_variables(function: ir.Operation, calls: Sequence[ir.Operation], types: dict[str, ir.Type]) -> None:
    """Let ``calls`` of ``function``, which are all that there are, hand it the variables that it uses.

    Args:
        types: those of the variables.
    """
    names, changed = with_values(function, types)
    block = function.regions[0].blocks[0]
    for name, argument in list(zip(names, list(block.arguments)[-len(names) :], strict=True))[::-1]:
        if not is_used(argument):  # it may have no value yet
            names.remove(name)
            block.erase_argument(argument.arg_number)
    set_function_type(function)
    _mark_updates(function, names, changed)
    gives = [types[each] for each in changed]
    for call in calls:
        with ir.InsertionPoint(call), call.location:
            symbols = [ir.FlatSymbolRefAttr.get(each) for each in names]
            values = [ReadOp(variable=each, value=types[each.value]).value for each in symbols]
            found = [result.type for result in call.results]
            attributes = {entry: call.attributes[entry] for entry in call.attributes if entry not in _VALUES}
            new = ir.Operation.create("func.call", [*found, *gives], [*call.operands, *values], attributes)
            for each, value in zip(changed, list(new.results)[len(found) :], strict=True):
                AssignOp(variable=ir.FlatSymbolRefAttr.get(each), value=value)
        replace_op(call, list(new.results)[: len(found)])


def _mark_updates(function: ir.Operation, names: Sequence[str], changed: Sequence[str]) -> None:
    """Say which of the last results of ``function`` are new values of which of its last arguments."""
    before = len(updated_arguments(function))
    for which, of in zip(_VALUES, (names, changed), strict=True):
        entries = value_attributes(function, which)
        for entry, name in zip(entries[len(entries) - len(of) :], of, strict=True):
            if name in names and name in changed:
                entry[UPDATED] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), before + names.index(name))
        set_value_attributes(function, which, entries)


def _calls(name: str, wanted: str, functions: dict[str, ir.Operation]) -> bool:
    """True if ``name`` calls ``wanted``, by way of others too."""
    pending, seen = [name], {name}
    while pending:
        called = {callee_of(op) for op in calls_in(functions[pending.pop()])}
        if wanted in called:
            return True
        pending += [each for each in called - seen if each in functions]
        seen |= called
    return False


class _Functions:
    """The functions of a module: each is asked about once, when those that it calls have been dealt with."""

    def __init__(self, functions: dict[str, ir.Operation]) -> None:
        self.functions = functions
        self._stand_alone: dict[str, bool] = {}
        self._first: dict[str, str] = {}
        self._ours: dict[str, bool] = {}
        self._same: dict[str, str] = {}
        """By the meaning of a function, the first one that has it."""

    def is_ours_to_inline(self, call: ir.Operation) -> bool:
        """True if upstream's inliner would leave ``call`` as it is, which nobody has asked for."""
        name = callee_of(call)
        if name not in self._ours:
            ops = list_ops(self.functions[name]) if name in self.functions else []
            self._ours[name] = any(op.name.startswith("ipu.") or SHARD in op.attributes for op in ops)
        return self._ours[name] and "no_inline" not in call.attributes

    def first_alike(self, name: str) -> str:
        """The first function that does the same as the function ``name``."""
        if name not in self._first:
            self._first[name] = self._same.setdefault(meaning_of(self.functions[name]), name)
        return self._first[name]

    def can_stand_alone(self, name: str, but: Sequence[str] = ()) -> bool:
        """True if a call of ``name`` may stay, as far as its ops that are called ``but`` do not matter."""
        if but:
            return self._can(name, but)
        if name not in self._stand_alone:
            self._stand_alone[name] = False  # for the time in which it is asked about: what calls itself cannot
            self._stand_alone[name] = self._can(name)
        return self._stand_alone[name]

    def _can(self, name: str, but: Sequence[str] = ()) -> bool:
        function = self.functions.get(name)
        if function is None or len(function.regions[0].blocks) != 1:
            return False
        kind = function_type(function)
        if not all(
            isinstance(each, ir.RankedTensorType) and each.has_static_shape for each in (*kind.inputs, *kind.results)
        ):
            return False
        for op in list_ops(function):
            if op.name in but:
                continue
            effects = effects_of(op) if op.name.startswith("ipu.") else None
            if op.name in _STATE or (effects is not None and not effects.is_free_to_move):
                return False
            if op.name == "func.call" and not self.can_stand_alone(callee_of(op)):
                return False
        return True
