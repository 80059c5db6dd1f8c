"""What the error of a program that does not fit advises makes it fit, and is advised where it can."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.compilation.tried_advice import tried
from ipu_mlir.dialects.memory.advice import Advice
from ipu_mlir.dialects.memory.problems import Problem
from ipu_mlir.dialects.support.errors import Settings

SMALL = ipu.Target(tiles_per_ipu=16)


@ipu.function
def layers(x: Any, weights: Any) -> Any:
    """Dense layers."""
    for w in weights:
        x = np.tanh(x @ w)
    return x


def specs(rows: int, columns: int, count: int, dtype: Any = np.float32) -> list[Any]:
    return [ipu.TensorSpec((rows, columns), dtype), [ipu.TensorSpec((columns, columns), dtype)] * count]


def problem(function: Any, args: list[Any], **options: Any) -> Problem:
    """Why it does not fit; kept only as plain values."""
    with pytest.raises(ipu.OutOfMemoryError) as refused:
        ipu.compile(function, args=args, **options)
    (found,) = refused.value.problems
    return found


def fits(function: Any, args: list[Any], **options: Any) -> bool:
    try:
        ipu.compile(function, args=args, **options)
    except ipu.OutOfMemoryError:
        return False
    return True


def advised(found: Problem, text: str) -> str:
    """The advice that begins so."""
    (advice,) = (each for each in found.tries if each.startswith(text))
    return advice


@pytest.mark.parametrize("args", [specs(16, 1024, 4), specs(16384, 256, 2)], ids=["weights", "results"])
def test_whoever_takes_the_tiles_that_are_named_soon_has_enough(args: list[Any]) -> None:
    """What every tile has to hold, whatever their number, is seen only when more of them are tried."""
    target, tried = SMALL, 0
    while not fits(layers, args, target=target):
        found = problem(layers, args, target=target)
        assert found.kind == "tiles"
        advice = advised(found, "more tiles")
        needed = int(re.findall(r"at least about ([\d,]+) are needed", advice)[0].replace(",", ""))
        assert not fits(layers, args, target=replace(SMALL, tiles_per_ipu=needed * 8 // 10))
        target, tried = replace(SMALL, tiles_per_ipu=needed * 11 // 10), tried + 1
    assert 1 <= tried <= 3


@pytest.mark.slow
def test_a_part_of_a_chip_is_told_of_the_whole_chip() -> None:
    args, part = specs(4096, 512, 8), ipu.Target(name="ipu1", tiles_per_ipu=16, bytes_per_tile=638_976)
    found = problem(layers, args, target=part)
    first, *others = found.tries
    assert re.fullmatch(r"more tiles: at least about \d+ are needed, an ipu1 has 1,216 \(tiles_per_ipu=1216\)", first)
    assert not any(each.startswith("more ") for each in others)
    assert fits(layers, args, target=replace(part, tiles_per_ipu=1216))


def test_a_chip_that_is_too_small_is_told_how_many_would_do() -> None:
    args, chip = specs(16, 10240, 1), ipu.Target(name="ipu1", tiles_per_ipu=1216, bytes_per_tile=262_144)
    *_, last = problem(layers, args, target=chip).tries
    match = re.fullmatch(
        r"more IPUs: at least about ([\d,]+) tiles are needed, (\d) IPUs have ([\d,]+) \(ipus=\2\)", last
    )
    assert match and int(match[2]) * 1216 == int(match[3].replace(",", "")) >= int(match[1].replace(",", ""))
    assert fits(layers, args, target=replace(chip, ipus=int(match[2])))
    first, *_ = problem(layers, args, target=replace(chip, tiles_per_ipu=1000)).tries
    assert re.search(r"(\d) IPUs of the kind ipu1 have [\d,]+ \(tiles_per_ipu=1216, ipus=\1\)$", first)


def test_16_bit_types_are_advised_where_they_save_enough() -> None:
    found = problem(layers, specs(16, 1024, 4), target=SMALL)
    advised(found, "16-bit types")
    assert fits(layers, specs(16, 1024, 4, np.float16), target=SMALL)
    found = problem(layers, specs(16, 1024, 8, np.float16), target=SMALL)
    assert not any("16-bit" in each for each in found.tries)


def test_a_smaller_proportion_and_a_smaller_batch_are_advised_where_they_save_enough() -> None:
    args = specs(2048, 256, 2)
    found = problem(layers, args, target=SMALL)
    assert "available_memory_proportion=0.1 " in advised(found, "a smaller available_memory_proportion")
    assert {"available_memory_proportion": 0.1} in found.settings
    assert fits(layers, args, target=SMALL, available_memory_proportion=0.1)
    advised(found, "a smaller batch")
    assert fits(layers, specs(1024, 256, 2), target=SMALL)
    weights_alone = problem(layers, specs(16, 1024, 8), target=SMALL)
    assert not any("batch" in each or "proportion" in each for each in weights_alone.tries)


def test_a_program_that_is_placed_already_does_not_fit_either() -> None:
    """Settings of the placement, which are advised else, cannot be tried."""
    with pytest.warns(ipu.MemoryWarning):
        placed = ipu.compile(layers, args=specs(2048, 256, 2), target=replace(SMALL, emulated=True)).mlir("l2")
    with pytest.raises(ipu.OutOfMemoryError) as refused:
        ipu.compile(placed.replace("emulated = true", "emulated = false"))
    assert not any("proportion" in each for each in refused.value.problems[0].tries)


def test_settings_are_told_only_where_they_were_compiled_and_fit() -> None:
    def ipus(count: int) -> Advice:
        return Advice(f"ipus={count}", Settings(ipus=count))

    proportion = Settings(available_memory_proportion=0.1)
    useless = Advice("less", proportion, choices=(Advice("less=0.1", proportion),))
    several = replace(ipus(2), choices=(ipus(2), ipus(4), ipus(8)))
    other = Advice("a smaller batch")
    found = tuple(tried([useless, several, other], lambda settings: settings.get("ipus", 0) > 3))
    assert [(each.text, each.compiled) for each in found] == [("ipus=4", True), ("a smaller batch", False)]
    not_known = tuple(tried([several, other], lambda settings: False if settings.get("ipus") == 2 else None))
    assert [(each.text, each.compiled) for each in not_known] == [("ipus=2", False), ("a smaller batch", False)]
    told = Problem("tiles", 0, None, 5, "is too large", (), found, None, tried=True)
    assert told.message == "is too large; try ipus=4 (compiled: it fits); or, which was not compiled, a smaller batch"
    none = replace(told, advice=(other,))
    assert none.message.startswith("is too large; no setting that was compiled fits; or, which was not compiled, a ")


def test_code_that_is_too_much_moves_into_a_loop() -> None:
    target = ipu.Target(tiles_per_ipu=64, bytes_per_tile=40_000)
    found = problem(layers, specs(64, 64, 60), target=target)
    assert found.kind == "code"
    advised(found, "a loop (scf.for)")
    loop = """
func.func @main(%x: tensor<64x64xf32>, %w: tensor<60x64x64xf32>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c60 = arith.constant 60 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %r = scf.for %i = %c0 to %c60 step %c1 iter_args(%a = %x) -> tensor<64x64xf32> {
    %wi = tensor.extract_slice %w[%i, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<60x64x64xf32> to tensor<64x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %y = linalg.matmul ins(%a, %wi : tensor<64x64xf32>, tensor<64x64xf32>)
        outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
    %t = linalg.tanh ins(%y : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %t : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}
"""
    assert ipu.compile(loop, target=target).profile().compilation.fits


@pytest.mark.slow
def test_exchanges_with_most_code_are_named_with_their_place() -> None:
    target = ipu.Target(tiles_per_ipu=152, bytes_per_tile=40_000)
    found = problem(layers, specs(64, 64, 60), target=target)
    assert re.search(r"of their code here: [\d,]+ B at test_memory_advice.py:\d+:\d+", advised(found, "longer blocks"))


@pytest.mark.slow
def test_vertices_on_every_tile_need_a_smaller_program() -> None:
    target = ipu.Target(tiles_per_ipu=64, bytes_per_tile=10_000)
    found = problem(layers, specs(64, 64, 60), target=target)
    assert not any(each.startswith("more tiles") for each in found.tries)
    tiny = problem(layers, specs(64, 64, 1), target=replace(target, bytes_per_tile=1000))
    assert tiny.tries


def test_what_lies_on_one_tile_is_placed_elsewhere() -> None:
    @ipu.function
    def placed(x: Any, w: Any) -> Any:
        return ipu.place(x, tile=3) @ w

    @ipu.function
    def unplaced(x: Any, w: Any) -> Any:
        return x @ w

    args = [ipu.TensorSpec((512, 512)), ipu.TensorSpec((512, 64))]
    found = problem(placed, args, target=SMALL)
    assert (found.kind, found.tile) == ("one_tile", 3)
    (advice,) = found.tries
    assert advice.startswith("another placement of %x (ipu.map, or ipu_mlir.place), or none: tiles need ")
    assert fits(unplaced, args, target=SMALL)


def test_an_op_that_runs_whole_on_one_tile_is_cut() -> None:
    hint = "{ipu.parts = #ipu.parts<[[200000, 200000, 0]], 5>}"
    text = """
func.func @main(%x: tensor<200000xf32>) -> tensor<200000xf32> {
  %e = tensor.empty() : tensor<200000xf32>
  %y = linalg.tanh HINT ins(%x : tensor<200000xf32>) outs(%e : tensor<200000xf32>) -> tensor<200000xf32>
  return %y : tensor<200000xf32>
}
"""
    with pytest.raises(ipu.OutOfMemoryError) as refused:
        ipu.compile(text.replace("HINT", hint), target=SMALL)
    (found,) = refused.value.problems
    assert (found.kind, found.tile) == ("one_tile", 5)
    (advice,) = found.tries
    assert advice.startswith("more parts (ipu.parts) for the op at <text>:4:8, or a form of it that can be cut: ")
    assert ipu.compile(text.replace("HINT", ""), target=SMALL).profile().compilation.fits


def test_the_only_tile_of_a_machine_is_not_one_of_several() -> None:
    found = problem(layers, specs(512, 512, 1), target=replace(SMALL, tiles_per_ipu=1))
    assert found.kind == "tiles" and "1 of 1 tiles are too small" in found.message
    advised(found, "more tiles")
