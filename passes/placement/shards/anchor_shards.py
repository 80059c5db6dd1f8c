"""``ipu-anchor-shards``: the shards of ops, kept through fusion."""

from ipu_mlir.dialects.analysis.control_flow import blocks_of, control_op, flows
from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.analysis.shards import ALL_IPUS, SHARD, TO_SHARD, argument_shards, shard_of
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.placement.shards.belonging import (
    FOLLOWERS,
    SINKS,
    Belonging,
    crossings,
    is_free,
    is_sharded,
    is_tensor,
)
from ipu_mlir.passes.placement.shards.moves import Moves
from ipu_mlir.passes.support.malformed import refuse_malformed
from ipu_mlir.passes.support.rewriting import list_ops, list_outside_bodies, replace_op
from ipu_mlir.passes.support.value_attributes import set_value_attributes, value_attributes


class AnchorShards(Pass):
    """Turn ``ipu.shard`` on ops into ``ipu.to_shard`` of the values that come to a shard or leave it.

    Fusion makes new ops without the attributes of the old ones; it does not look through ``ipu.to_shard``. So ops of
    different shards never become one, and where each belongs follows from its operands, or from its users.

    Needs:  a program on tensors, ``ipu.target``.
    Leaves: ``ipu.to_shard`` on all values of known sizes that come to the ops of a shard from elsewhere or leave them,
            and no ``ipu.shard``; on a target of one IPU neither of them. An argument and what a loop carries come from
            elsewhere, unless all in the loop belongs to one shard.
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
    inside = _Inside(belonging)
    for op in belonging.ops:
        if op.name == TO_SHARD:
            continue
        shard = belonging.of_op(op)
        for user, number, target in crossings(op):
            value = user.operands[number]
            home = belonging.of_value.get(value)
            wanted = shard if target is None else belonging.of_value.get(target)
            maker, reader = inside.made(value), inside.read(op, target)
            stays = maker == reader and (maker is not None or (home == wanted and op.name not in SINKS))
            if stays or is_free(defining_op(value)) or not value.type.has_static_shape:
                continue
            for stop in dict.fromkeys((home, wanted)):
                if stop is not None:
                    value = moves.to(value, stop)
            user.operands[number] = value


class _Inside:
    """The shards of values that are made and read where all is of one shard, so that anchors around it say which.

    Ops that compute are such places, and so are loops and branches in which all ops belong to one shard. Arguments of a
    function, what other loops and branches carry, and what comes from variables, the host or a call are on no side: who
    reads them needs an anchor of its own, wherever they are thought to lie.
    """

    def __init__(self, belonging: Belonging) -> None:
        self._belonging = belonging
        self._carried = {
            target: shard
            for op in belonging.ops
            if flows(op) and (shard := self._only_shard(op)) is not None
            for flow in flows(op)
            for target in flow.targets
        }

    def made(self, value: ir.Value) -> int | None:
        """The shard of what makes ``value``, or what it is a view of."""
        op = defining_op(value)
        while op is not None and op.name in FOLLOWERS:
            value = op.operands[0]
            op = defining_op(value)
        if op is None or flows(op):
            return self._carried.get(value)
        if op.name == TO_SHARD:
            return shard_of(op)
        return self._belonging.of_value.get(value) if _computes(op) else None

    def read(self, op: ir.Operation, target: ir.Value | None) -> int | None:
        """The shard of ``op``, which reads a value that becomes ``target`` if that is not None."""
        if target is not None:
            return self._carried.get(target)
        return self._belonging.of_op(op) if _computes(op) else None

    def _only_shard(self, op: ir.Operation) -> int | None:
        """The shard of all that loop or branch ``op`` runs and carries; None if there are several."""
        shards = {
            self._belonging.of_value.get(target) for flow in flows(op) for target in flow.targets if is_tensor(target)
        }
        waiting = [each.operation for block in blocks_of(op) for each in block.operations]
        while waiting:
            each = waiting.pop()
            if control_op(each) is not None:
                shards |= {self._only_shard(each)}
            elif any(True for _ in crossings(each)):
                shards |= {self._belonging.of_op(each)}
        return shards.pop() if len(shards) == 1 else None


def _computes(op: ir.Operation) -> bool:
    """True if ``op`` stays an op on tensors until shards are assigned; others belong to programs."""
    return op.name.partition(".")[0] not in ("ipu", "func") or op.name == "ipu.library_call"


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
