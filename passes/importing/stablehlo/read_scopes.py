"""``ipu-read-scopes``: name scopes that say where ops belong, as attributes."""

import re

from ipu_mlir.dialects.analysis.control_flow import is_terminator
from ipu_mlir.dialects.analysis.locations import name_scope
from ipu_mlir.dialects.analysis.shards import SHARD, shard_attribute
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_outside_bodies

_SHARD = re.compile(r"(?:^|/)ipu\.shard\.(-?\d+)(?=_|/|$)")


class ReadScopes(Pass):
    """Write ``ipu.shard`` on ops in whose names a scope ``ipu.shard.1`` stands; of several, the innermost one holds.

    TensorFlow and JAX have no attributes of ops that gradients would have as well. Gradients do have the name scopes.

    Needs:  linalg on tensors, as it came from StableHLO.
    Leaves: ``ipu.shard`` on these ops; on all others what was there.
    """

    name = "ipu-read-scopes"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in list_outside_bodies(module):
                found = _SHARD.findall(name_scope(op.location))
                if found and op.name not in ("builtin.module", "func.func") and not is_terminator(op):
                    op.attributes[SHARD] = shard_attribute(int(found[-1]))
