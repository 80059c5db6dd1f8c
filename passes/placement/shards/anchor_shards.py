"""``ipu-anchor-shards``: the shards of ops, kept through fusion."""

from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.analysis.shards import ALL_IPUS, SHARD, TO_SHARD, argument_shards, shard_of
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.placement.shards.belonging import SINKS, Belonging, crossings, is_free, is_sharded
from ipu_mlir.passes.placement.shards.moves import Moves
from ipu_mlir.passes.support.malformed import refuse_malformed
from ipu_mlir.passes.support.rewriting import list_ops, list_outside_bodies, replace_op
from ipu_mlir.passes.support.value_attributes import set_value_attributes, value_attributes


class AnchorShards(Pass):
    """Turn ``ipu.shard`` on ops into ``ipu.to_shard`` of the values that come to a shard or leave it.

    Fusion makes new ops without the attributes of the old ones; it does not look through ``ipu.to_shard``. So ops of
    different shards never become one, and where each belongs follows from its operands, or from its users.

    Needs:  a program on tensors, ``ipu.target``.
    Leaves: ``ipu.to_shard`` on every value of known sizes that an op of another shard reads, or that leaves a function
            or goes to the host, and no ``ipu.shard``; on a target of one IPU neither of them.
    """

    name = "ipu-anchor-shards"

    def run(self, module: ir.Operation) -> None:
        functions = [op for op in list_ops(module, "func.func") if len(op.regions[0].blocks) and is_sharded(op)]
        if not functions:
            return
        with module.context, ir.Location.unknown(), Refusals() as refuse:
            refuse_malformed(module, refuse)
            if refuse.diagnostics:
                return
            target = module_target(module)
            for function in functions:
                _refuse_unknown(function, target, refuse)
            if refuse.diagnostics:
                return
            for function in functions:
                if target.ipus > 1:
                    _anchor(function)
                else:
                    for op in list_ops(function, TO_SHARD):
                        replace_op(op, [op.operands[0]])
                _forget(function)


def _refuse_unknown(function: ir.Operation, target: Target, refuse: Refusals) -> None:
    """Refuse shards that the target does not have, each where it is met first."""
    has = "1 IPU, shard 0" if target.ipus == 1 else f"{target.ipus} IPUs, shards 0 to {target.ipus - 1}"
    way_out = "compile for more IPUs, or use a smaller shard"
    for number, shard in argument_shards(function).items():
        if not ALL_IPUS <= shard < target.ipus:
            refuse(function, f"has argument {number} on shard {shard}, but the target has {has}; {way_out}")
    unknown: dict[int, ir.Operation] = {}
    for op in list_outside_bodies(function):
        shard = shard_of(op)
        if shard is None and SHARD in op.attributes:
            refuse(op, f"has {SHARD} = {op.attributes[SHARD]}; write it as 1 : i64")
        if shard is None or ALL_IPUS <= shard < target.ipus:
            continue
        if shard not in unknown or is_free(unknown[shard]):  # others say more than a constant
            unknown[shard] = op
    for shard, op in unknown.items():
        refuse(op, f"is on shard {shard}, but the target has {has}; {way_out}")


def _anchor(function: ir.Operation) -> None:
    belonging, moves = Belonging(function), Moves()
    for op in belonging.ops:
        if op.name == TO_SHARD:
            continue
        shard = belonging.of_op(op)
        for user, number, target in crossings(op):
            value = user.operands[number]
            home = belonging.of_value.get(value)
            wanted = shard if target is None else belonging.of_value.get(target)
            stays = home == wanted and op.name not in SINKS
            if stays or is_free(defining_op(value)) or not value.type.has_static_shape:
                continue
            for stop in dict.fromkeys((home, wanted)):
                if stop is not None:
                    value = moves.to(value, stop)
            user.operands[number] = value


def _forget(function: ir.Operation) -> None:
    """Remove ``ipu.shard`` from ``function``."""
    for op in list_outside_bodies(function):
        if SHARD in op.attributes:
            del op.attributes[SHARD]
    if argument_shards(function):
        entries = value_attributes(function, "arg_attrs")
        for entry in entries:
            entry.pop(SHARD, None)
        set_value_attributes(function, "arg_attrs", entries)
