"""Variants of a program are what the compiler makes with the same settings."""

from pathlib import Path

import pytest

import ipu_mlir as ipu
from ipu_mlir.compilation.variants import Variants
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.passes.pipelines import PLACE
from ipu_mlir.passes.placement.partition.partition import Partition

PRODUCT = Path(__file__).parents[4] / "docs" / "product.mlir"


@pytest.mark.parametrize("proportion,tiles,most_partials", [(0.6, 16, None), (0.02, 16, None), (0.6, 64, 1)])
def test_a_variant_is_what_the_compiler_makes(proportion: float, tiles: int, most_partials: int | None) -> None:
    target = Target(tiles_per_ipu=tiles, emulated=True)
    setting = Partition(available_memory_proportion=proportion, most_partials=most_partials)
    found = Variants(PRODUCT).profile(target, setting)
    partials = "" if most_partials is None else f" most-partials={most_partials}"
    partition = f"ipu-partition{{available-memory-proportion={proportion}{partials}}}"
    place = [partition if each == "ipu-partition" else each for each in PLACE]
    expected = ipu.compile(PRODUCT, target=target, pipeline=["ipu-normalize", *place, "ipu-lower"]).profile()
    assert found.execution == expected.execution
    assert found.compilation.memory == expected.compilation.memory
    assert found.ops == expected.ops


def test_variants_leave_each_other_alone() -> None:
    variants, target = Variants(PRODUCT), Target(tiles_per_ipu=16)
    first = variants.profile(target, Partition())
    variants.profile(Target(tiles_per_ipu=8), Partition(plan="balanced"))
    assert variants.profile(target, Partition()) == first


@pytest.mark.parametrize(
    "program,message",
    [
        (
            "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }",
            "sizes that are not known",
        ),
        (
            "func.func @main(%x: tensor<4xf32, #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>>) { return }",
            "is placed on tiles already",
        ),
        ("func.func @one() { return } func.func @other() { return }", "none is called main; it has @one, @other"),
    ],
)
def test_programs_that_cannot_vary_are_refused(program: str, message: str) -> None:
    with pytest.raises(ipu.CompileError, match=message):
        Variants(program)


def test_the_machine_is_that_of_the_program() -> None:
    text = PRODUCT.read_text()
    assert Variants(text).target == Target()
    named = f"module attributes {{ipu.target = #ipu.target<{{tiles_per_ipu = 3}}>}} {{\n{text}\n}}"
    assert Variants(named).target == Target(tiles_per_ipu=3)
