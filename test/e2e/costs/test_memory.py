"""Programs that are gone leave no memory behind."""

import gc

from support.tensor_text import one_generic

import ipu_mlir as ipu
from ipu_mlir.dialects.support.bindings import ir

PROGRAM = one_generic("i j", ["5x13xf32[i, j]", "13xf32[j]"], "5x13xf32[i, j]", "arith.addf %x0, %x1 : f32")


def test_no_context_outlives_its_executable() -> None:
    def compile_and_drop() -> None:
        ipu.compile(PROGRAM, target=ipu.Target(tiles_per_ipu=4)).mlir("l2")

    compile_and_drop()
    gc.collect()
    before = ir.Context._get_live_count()
    for _ in range(3):
        compile_and_drop()
    gc.collect()
    assert ir.Context._get_live_count() <= before
