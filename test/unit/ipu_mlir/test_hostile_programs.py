"""Types, sizes and machines that nothing can compile are refused, each in one line that says what is wrong."""

import re
import subprocess
import sys

import pytest

import ipu_mlir
from ipu_mlir.compilation.lowering import plan_lowering
from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.mapping.factors import family_of
from ipu_mlir.dialects.mapping.loops import MappingLoop
from ipu_mlir.dialects.support.errors import CompileError, TargetError
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes.core.pipeline_text import PipelineError, parse_pipeline

DIMENSIONS = "x".join(["2"] * 70)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("*xf32", "whose rank is not known"),
        ("8xf4E2M1FN", "whose elements no tile computes with; they can be f64, f32, f16"),
        ("8xtf32", "whose elements no tile computes with"),
        ("4611686018427387904xi8", "which has 4,611,686,018,427,387,904 elements"),
        ("4294967296x4294967296xf32", "which has 18,446,744,073,709,551,616 elements"),
        (f"{DIMENSIONS}xf32", "with 70 dimensions"),
    ],
)
def test_a_type_that_cannot_be_placed(kind: str, said: str) -> None:
    module = parse_module(f"func.func @main(%x: tensor<{kind}>) {{\n  return\n}}", ipu.context(), "t.mlir")
    with pytest.raises(CompileError) as refused:
        plan_lowering().run(module.operation)
    (line,) = str(refused.value).splitlines()
    assert re.match(r"t\.mlir:1:1: error: 'func\.func' op has argument 0 ", line) and said in line


def test_an_argument_without_a_rank_is_refused_by_compile() -> None:
    with pytest.raises(CompileError, match=r"tensor<\*xf32>, whose rank is not known; give it a shape"):
        ipu_mlir.compile("func.func @main(%x: tensor<*xf32>) {\n  return\n}")


def test_a_buffer_without_a_mapping() -> None:
    with pytest.raises(CompileError, match=r"argument 0 on no tile: memref<4xf32>; give it a #ipu.mapping"):
        ipu_mlir.compile("func.func @main(%x: memref<4xf32>) {\n  return\n}")


@pytest.mark.parametrize(
    "mapping",
    [
        "4, [[1, 4294967296, 1, 1]], 0, 0",
        "4, [[1, 4, 1, 1], [1, 4294967296, 0, 4]], 0, 0",
        "4611686018427387904, [[4, 4, 1, 1]], 0, 0",
        "4, [[4, 4, 4611686018427387904, 1]], 0, 0",
        "4, [[1, 4, 1, 4611686018427387904]], 0, 0",
        "4, [[4, 4, 1, 1]], 0, -4611686018427387904",
        "4, [[4, 4, 1, 1]], 4611686018427387904, 0",
    ],
)
def test_a_mapping_that_no_array_holds(mapping: str) -> None:
    program = f"func.func @main(%x: memref<4xf32, #ipu.mapping<{mapping}>>) {{\n  return\n}}"
    with pytest.raises(CompileError) as refused:
        ipu_mlir.compile(program)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("loop", [MappingLoop(1, 1 << 32, 1, 1), MappingLoop(4, 4, 1 << 62, 1)])
def test_arithmetic_on_such_a_mapping(loop: MappingLoop) -> None:
    with pytest.raises(CompileError, match="has a mapping or parts "):
        family_of((loop,), 0, 0)


@pytest.mark.parametrize("tiles", [10**12, 2**62, 2**63, 2**100])
def test_a_machine_of_too_many_tiles(tiles: int) -> None:
    with pytest.raises(TargetError, match="tiles"):
        ipu_mlir.Target(tiles_per_ipu=tiles)


def test_pipelines_in_each_other() -> None:
    with pytest.raises(PipelineError, match="more than 64 pipelines stand in each other, column"):
        parse_pipeline("func.func(" * 3000 + "cse" + ")" * 3000)
    assert parse_pipeline("func.func(" * 60 + "cse" + ")" * 60)


def test_a_splat_takes_no_memory_to_compile() -> None:
    """4 TB, of which one element is stored."""
    code = """
import pathlib, re, ipu_mlir
kind = "tensor<1000000x1000000xf32>"
program = f'''func.func @main(%x: {kind}) -> ({kind}, {kind}) {{
  %c = arith.constant dense<2.5> : {kind}
  %y = arith.addf %x, %c : {kind}
  return %y, %c : {kind}, {kind}
}}'''
executable = ipu_mlir.compile(program, target=ipu_mlir.Target(emulated=True))
assert "2p5" in executable.source()
status = pathlib.Path("/proc/self/status")  # getrusage also counts the process that started this one
print(int(re.search(r"VmHWM:\\s+(\\d+)", status.read_text())[1]) // 1024 if status.exists() else 0)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 500
