"""``ipu-spread-shards``: the shard of a loop, a branch or a call is that of the ops that it runs."""

from itertools import count

from ipu_mlir.dialects.analysis.control_flow import blocks_of, control_op, is_terminator
from ipu_mlir.dialects.analysis.matchers import symbol_of
from ipu_mlir.dialects.analysis.outlined_calls import callee_of, callees_first
from ipu_mlir.dialects.analysis.shards import SHARD
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_ops, list_outside_bodies


class SpreadShards(Pass):
    """Write ``ipu.shard`` of loops, branches and calls on the ops that they run and that have none of their own.

    Of two around an op the inner one counts. A function that is called on several shards becomes one function for each
    of them.

    Needs:  nothing; calls are not inlined yet.
    Leaves: ``ipu.shard`` on every op in a loop or a branch that has it, and in a function all of whose calls have it.
    """

    name = "ipu-spread-shards"

    def run(self, module: ir.Operation) -> None:
        if not any(SHARD in op.attributes for op in list_outside_bodies(module)):
            return
        with module.context:
            for function in reversed(callees_first(list_ops(module, "func.func"))):
                _spread_calls(function, [op for op in list_ops(module, "func.call") if _calls(op, function)])
                _spread(function, None)


def _calls(call: ir.Operation, function: ir.Operation) -> bool:
    return callee_of(call) == symbol_of(function)


def _spread_calls(function: ir.Operation, calls: list[ir.Operation]) -> None:
    """Write the shards of ``calls`` in ``function``, or in copies of it where not all have the same."""
    of_shard: dict[ir.Attribute | None, list[ir.Operation]] = {}
    for call in calls:
        of_shard.setdefault(call.attributes.get(SHARD, None), []).append(call)
    is_entry = "sym_visibility" not in function.attributes
    for shard, each in of_shard.items():
        if shard is not None:
            _spread(_copy_for(each, function) if is_entry or len(of_shard) > 1 else function, shard)


def _copy_for(calls: list[ir.Operation], function: ir.Operation) -> ir.Operation:
    """A copy of ``function`` that only ``calls`` call."""
    taken = {symbol_of(op) for op in list_ops(function.parent.operation, "func.func")}
    name = next(name for number in count() if (name := f"{symbol_of(function)}_on_shard_{number}") not in taken)
    with ir.InsertionPoint(function):
        copy = function.clone()
    copy.attributes["sym_name"] = ir.StringAttr.get(name)
    copy.attributes["sym_visibility"] = ir.StringAttr.get("private")
    for call in calls:
        call.attributes["callee"] = ir.FlatSymbolRefAttr.get(name)
    return copy


def _spread(around: ir.Operation, shard: ir.Attribute | None) -> None:
    """Write ``shard`` on all ops in ``around`` that have none, unless a loop or a branch between has one."""
    for block in blocks_of(around):
        for each in block.operations:
            op = each.operation
            own = op.attributes.get(SHARD, shard)
            if own is not None and not is_terminator(op):
                op.attributes[SHARD] = own
            if control_op(op) is not None:
                _spread(op, own)
