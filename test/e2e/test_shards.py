"""Ops on shards that were drawn by chance: both executors give what NumPy gives, wherever the ops run."""

from dataclasses import replace
from random import Random

import pytest
from support.case import Case
from test_cases import CASES

import ipu_mlir as ipu
from ipu_mlir.dialects import ipu as dialect
from ipu_mlir.dialects.analysis.shards import SHARD, shard_attribute
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.support.rewriting import list_outside_bodies

TARGET = ipu.Target(ipus=3, tiles_per_ipu=4)
OFTEN = [*CASES][::12]
"""A few of the cases; the long run takes all of them."""


def with_shards(case: Case, seed: int) -> Case:
    """``case`` with a shard on most of its ops."""
    random = Random(f"{case.name} {seed}")
    with dialect.context() as context, ir.Location.unknown():
        module = ir.Module.parse(case.text, context)
        for op in list_outside_bodies(module.operation):
            if op.name not in ("builtin.module", "func.func") and random.random() < 0.7:
                op.attributes[SHARD] = shard_attribute(random.choice([-1, 0, 1, 1, 2]))
        return replace(case, text=str(module))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", [n if n in OFTEN else pytest.param(n, marks=pytest.mark.slow) for n in CASES])
def test_any_shards_give_what_numpy_gives(name: str) -> None:
    with_shards(CASES[name], seed=1).check(TARGET)
