"""Marks that say on which of several IPUs the ops of a program run."""

import random

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.analysis.control_flow import control_op
from ipu_mlir.dialects.analysis.shards import SHARD
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes.support.rewriting import list_outside_bodies

_NOWHERE = ("arith.constant", "builtin.module", "func.func", "linalg.fill", "tensor.empty")


def on_ipus(text: str, ipus: int, seed: int) -> str:
    """The program ``text``, with marks on three quarters of its ops on tensors, which follow from it and ``seed``."""
    module, draw = parse_module(text, ipu.context()), random.Random(f"{seed} {text}")
    with module.context:
        for op in list_outside_bodies(module.operation):
            is_tensor = any(isinstance(result.type, ir.RankedTensorType) for result in op.results)
            if is_tensor and op.name not in _NOWHERE and control_op(op) is None and draw.random() < 0.75:
                op.attributes[SHARD] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), draw.randrange(ipus))
    return str(module)
