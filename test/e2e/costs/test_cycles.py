"""What the machine takes for real programs is what it took before, and does not depend on how a program is written.

``IPU_MLIR_WRITE_CYCLES=1 pytest test/e2e/costs/test_cycles.py`` writes ``cycles.json`` anew; the commit says why it
changed.
"""

import json
import os
from pathlib import Path

import pytest
from support.corpus import FOLDER

import ipu_mlir as ipu

GOLDEN = Path(__file__).parent / "cycles.json"
LONG = {"pt_resnet18w4_eval_bn_train", "pt_resnet18w8_params_as_args"}
PROGRAMS = sorted(path.parent.name for path in FOLDER.glob("*/module.mlir"))


def golden() -> dict[str, dict[str, int]]:
    return json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}


def measured(source: str | Path, tiles: int) -> dict[str, int]:
    """Cycles without those of the host, and the bytes of the fullest tile."""
    profile = ipu.compile(source, target=ipu.Target(tiles_per_ipu=tiles)).profile()
    cycles = profile.execution.cycles
    return {"cycles": cycles.total - cycles.host, "bytes": int(profile.tile_bytes().max())}


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=pytest.mark.slow if each in LONG else ()) for each in PROGRAMS]
)
@pytest.mark.filterwarnings("ignore")
def test_cycles_and_memory_of_a_program(name: str) -> None:
    found = measured(FOLDER / name / "module.mlir", tiles=64)
    if os.environ.get("IPU_MLIR_WRITE_CYCLES"):
        GOLDEN.write_text(json.dumps({**golden(), name: found}, indent=1, sort_keys=True) + "\n")
    assert found == {key: pytest.approx(value, rel=0.01) for key, value in golden()[name].items()}


MATRIX = "tensor<64x64xf32>"
FOR = f"""
func.func @main(%w: {MATRIX}, %y: {MATRIX}) -> {MATRIX} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  BEFORE
  %r = scf.for %i = %c0 to %c10 step %c1 iter_args(%a = %y) -> {MATRIX} {{
    INSIDE
    %b = arith.mulf %a, %e : {MATRIX}
    scf.yield %b : {MATRIX}
  }}
  return %r : {MATRIX}
}}
"""
WHILE = f"""
func.func @main(%w: {MATRIX}, %y: {MATRIX}) -> {MATRIX} {{
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c10 = arith.constant 10 : i32
  BEFORE
  %r:2 = scf.while (%i = %c0, %a = %y) : (i32, {MATRIX}) -> (i32, {MATRIX}) {{
    %more = arith.cmpi slt, %i, %c10 : i32
    scf.condition(%more) %i, %a : i32, {MATRIX}
  }} do {{
  ^bb0(%i: i32, %a: {MATRIX}):
    INSIDE
    %b = arith.mulf %a, %e : {MATRIX}
    %n = arith.addi %i, %c1 : i32
    scf.yield %n, %b : i32, {MATRIX}
  }}
  return %r#1 : {MATRIX}
}}
"""
EXP = f"%e = math.exp %w : {MATRIX}"


def loop(form: str, before: str = "", inside: str = "") -> dict[str, int]:
    return measured(form.replace("BEFORE", before).replace("INSIDE", inside), tiles=16)


def test_what_every_round_computes_alike_is_computed_once_however_the_loop_is_written() -> None:
    once = loop(FOR, before=EXP)
    every_round = loop(FOR, inside=EXP.replace("%w", "%a"))
    assert once["cycles"] < 0.6 * every_round["cycles"]
    assert once == loop(FOR, inside=EXP) == loop(WHILE, before=EXP) == loop(WHILE, inside=EXP)


def test_an_empty_before_a_loop_costs_what_one_inside_costs() -> None:
    body = f"%e = linalg.exp ins(%w : {MATRIX}) outs(%o : {MATRIX}) -> {MATRIX}"
    empty = f"%o = tensor.empty() : {MATRIX}"
    assert loop(FOR, before=empty, inside=body) == loop(FOR, inside=f"{empty}\n{body}")


def test_the_update_of_a_row_costs_the_row_and_not_the_tensor() -> None:
    """Also in a loop, where it is in place; and so does a row that is read."""
    row = "tensor<1x64xf32>"
    update = """func.func @main(%x: T, %u: ROW, %n: tensor<index>) -> T {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %r = scf.for %i = %c0 to %c10 step %c1 iter_args(%a = %x) -> T {
    %b = tensor.insert_slice %u into %a[%i, 0] [1, 64] [1, 1] : ROW into T
    scf.yield %b : T
  }
  return %r : T
}""".replace("ROW", row)
    read = """func.func @main(%x: T, %n: tensor<index>) -> ROW {
  %i = tensor.extract %n[] : tensor<index>
  %b = tensor.extract_slice %x[%i, 0] [1, 64] [1, 1] : T to ROW
  return %b : ROW
}""".replace("ROW", row)
    for text in (update, read):
        compute = {}
        for rows in (64, 640):
            exe = ipu.compile(text.replace("T", f"tensor<{rows}x64xf32>"), target=ipu.Target(tiles_per_ipu=16))
            compute[rows] = exe.profile().execution.cycles.compute
        copy = 600 * 64 // 16 * 2  # of the tensor, once
        assert compute[640] < compute[64] + copy, text
