"""The IPU that an op belongs to: its *shard*, counted from 0 in the IPUs of one replica."""

from ipu_mlir.dialects.support.bindings import ir

SHARD = "ipu.shard"
"""Attribute of an op, or of an argument of a function, with the shard that it belongs to."""

ALL_IPUS = -1
"""The shard of what may lie and run on all IPUs."""

TO_SHARD = "ipu.to_shard"

LINKS = "ipu.links"
"""Attribute of a cast of tensors and of an exchange: data goes over the links between IPUs."""


def shard_of(op: ir.Operation) -> int | None:
    """The shard that is written on ``op``; None where none is. That of ``ipu.to_shard`` is where its result lies."""
    name = "shard" if op.name == TO_SHARD else SHARD
    found = op.attributes.get(name, None)
    return found.value if isinstance(found, ir.IntegerAttr) else None


def argument_shards(function: ir.Operation) -> dict[int, int]:
    """By number of the argument of ``function``, the shard that is written on it."""
    entries = function.attributes.get("arg_attrs", ())
    written = ((number, each[SHARD]) for number, each in enumerate(entries) if SHARD in each)
    return {number: shard.value for number, shard in written if isinstance(shard, ir.IntegerAttr)}


def shard_attribute(shard: int) -> ir.Attribute:
    """``shard`` as an attribute of the current context."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), shard)
