"""``ipu-assign-shards``: every op says which IPU it runs on."""

from collections import defaultdict

from ipu_mlir.dialects.analysis.control_flow import flows
from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.analysis.shards import ALL_IPUS, SHARD, TO_SHARD, shard_attribute, shard_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.placement.shards.belonging import (
    FOLLOWERS,
    Belonging,
    crossings,
    is_free,
    is_sharded,
    is_tensor,
    ops_of,
)
from ipu_mlir.passes.placement.shards.moves import Moves
from ipu_mlir.passes.support.rewriting import has_uses, list_ops, replace_op
from ipu_mlir.passes.support.value_attributes import set_value_attributes, value_attributes

_FIRST = 0
"""The shard of ops that nothing joins to one of a known shard."""


class AssignShards(Pass):
    """Write on every op which shard it belongs to, and move what it reads there.

    An op without a shard goes where most elements of its operands are; what has none, an argument or a loop's first
    value, goes where it is used first. Constants, fills and numbers of loops are made on each shard that reads them.
    Running the pass again gives their shards to ops that have been added.

    Needs:  linalg on tensors; ``ipu.to_shard`` (``ipu-anchor-shards``) or ``ipu.shard``. Functions without either stay.
    Leaves: ``ipu.shard`` on all arguments and ops that make tensors, but views, which lie where their source does, and
            loops and branches, which carry values of any shard; ``ipu.to_shard`` exactly where a value moves to another
            IPU.
    """

    name = "ipu-assign-shards"

    def run(self, module: ir.Operation) -> None:
        with module.context, ir.Location.unknown():
            for function in list_ops(module, "func.func"):
                if len(function.regions[0].blocks) and is_sharded(function):
                    _drop_free_moves(function)
                    _own_free_ops(Belonging(function))
                    _write(function, Belonging(function))
                    _drop_idle_moves(function, Belonging(function))
                    _move(Belonging(function))


def _drop_free_moves(function: ir.Operation) -> None:
    """Make what is made of nothing on the shard that it would move to."""
    for op in list_ops(function, TO_SHARD):
        source, shard = defining_op(op.operands[0]), shard_of(op)
        if source is not None and is_free(source) and shard != ALL_IPUS:
            with ir.InsertionPoint(op):
                own = source.clone()
            own.attributes[SHARD] = shard_attribute(_FIRST if shard is None else shard)
            replace_op(op, [own.results[0]])


def _own_free_ops(belonging: Belonging) -> None:
    """Let each shard have for itself what it reads that is made of nothing."""
    readers: defaultdict[ir.Value, list[tuple[ir.Operation, int, int | None]]] = defaultdict(list)
    for op in belonging.ops:
        for user, number, target in crossings(op):
            shard = belonging.of_op(op) if target is None else belonging.of_value.get(target)
            readers[user.operands[number]].append((user, number, shard))
    for op in reversed(belonging.ops):
        if not is_free(op):
            continue
        first = belonging.of_op(op)
        own = {first: op}
        for user, number, wanted in readers[op.results[0]]:
            shard = first if wanted is None else wanted
            if shard not in own:
                with ir.InsertionPoint.after(op):
                    own[shard] = op.clone()
                own[shard].attributes[SHARD] = shard_attribute(_FIRST if shard is None else shard)
            user.operands[number] = own[shard].results[0]
        if not has_uses(op):
            del own[first]
            op.erase()
        for shard, each in own.items():
            for number, value in enumerate(each.operands):
                readers[value].append((each, number, shard))


def _drop_idle_moves(function: ir.Operation, belonging: Belonging) -> None:
    """Remove moves to where the value is already, and to anywhere."""
    for op in list_ops(function, TO_SHARD):
        wanted = belonging.of_value[op.results[0]]
        if wanted in (ALL_IPUS, belonging.of_value.get(op.operands[0], _FIRST)):
            replace_op(op, [op.operands[0]])


def _move(belonging: Belonging) -> None:
    """Move what ops read from another shard."""
    moves = Moves()
    for op in belonging.ops:
        if op.name == TO_SHARD:
            continue
        shard = belonging.of_op(op)
        for user, number, target in crossings(op):
            value = user.operands[number]
            wanted = shard if target is None else belonging.of_value.get(target, _FIRST)
            if wanted in (None, ALL_IPUS, belonging.of_value.get(value, _FIRST)) or is_free(defining_op(value)):
                continue
            user.operands[number] = moves.to(value, wanted)


def _write(function: ir.Operation, belonging: Belonging) -> None:
    for op in ops_of(function):
        if op.name in FOLLOWERS or op.name == TO_SHARD or flows(op) or not any(map(is_tensor, op.results)):
            continue
        shard = belonging.of_op(op)
        if shard is not None or op.name != "func.call":  # what a call does is where its function has it
            op.attributes[SHARD] = shard_attribute(_FIRST if shard is None else shard)
    entries = value_attributes(function, "arg_attrs")
    for argument, entry in zip(function.regions[0].blocks[0].arguments, entries, strict=True):
        if is_tensor(argument):
            entry[SHARD] = shard_attribute(belonging.of_value.get(argument, _FIRST))
    set_value_attributes(function, "arg_attrs", entries)
