"""Damaged programs, damaged bytecode and odd command lines end no tool by a signal or with a traceback.

``IPU_MLIR_FUZZ`` is the number of runs of each slow test, ``IPU_MLIR_FUZZ_SEED`` the first seed.
"""

import io
import os
import random
import re
import shlex
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from cases import elementwise, gathers, integer_ops, reductions, scans, sorts, views, windows
from support.damage.call import CALL
from support.damage.fuzz import Run, damaged_bytes, damaged_text, died
from support.damage.hostile_text import superstep_program, tensor_program, texts
from support.damage.kinds import KINDS

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.parsing import parse_module

pytestmark = pytest.mark.deadly

_SEED = int(os.environ.get("IPU_MLIR_FUZZ_SEED", "1"))
_MANY = int(os.environ.get("IPU_MLIR_FUZZ", "10000"))
_FLAGS = {
    "ipu-opt": [
        (),
        ("--ipu-compile",),
        ("--ipu-set-target=tiles=4", "--ipu-compile"),
        ("--canonicalize", "--cse"),
        ("--mlir-print-debuginfo",),
    ],
    "ipu-run": [("--tiles", "4"), ("--tiles", "2", "--per-tile"), ("--profile", "p.json", "--chrome-trace", "t.json")],
    "ipu-translate": [("--to-numpy", "--compile"), ("--to-numpy",)],
}
_OUTPUTS = {"ipu-opt": "-o", "ipu-run": "--outputs", "ipu-translate": "-o"}


@cache
def _programs() -> list[str]:
    tables = (elementwise, gathers, integer_ops, reductions, scans, sorts, views, windows)
    small = [case.text for table in tables for case in table.CASES] + [case.text for case in KINDS.values()]
    named = [make(texts(seed), "main") for seed in range(4) for make in (tensor_program, superstep_program)]
    return [*small, *named, CALL.supersteps]


@cache
def _bytecodes() -> list[bytes]:
    found = []
    for text in _programs()[::7]:
        buffer = io.BytesIO()
        parse_module(text, ipu.context()).operation.write_bytecode(buffer)
        found.append(buffer.getvalue())
    return found


def _run(generator: random.Random, content: bytes) -> Run:
    tool = generator.choice(list(_FLAGS))
    flags = (*generator.choice(_FLAGS[tool]), _OUTPUTS[tool], "output")
    return Run(tool, ("input.mlir", *flags), content)


def _text(seed: int) -> Run:
    generator = random.Random(seed)
    return _run(generator, damaged_text(generator.choice(_programs()), generator).encode(errors="replace"))


def _bytecode(seed: int) -> Run:
    generator = random.Random(seed)
    return _run(generator, damaged_bytes(generator.choice(_bytecodes()), generator))


@cache
def _filecheck_inputs() -> list[tuple[str, tuple[str, ...]]]:
    """Inputs of FileCheck tests, with the flags that ipu-opt is given there."""
    found = []
    for path in sorted((Path(__file__).parents[2] / "filecheck").rglob("*.mlir")):
        text = path.read_text(encoding="utf-8")
        for flags in re.findall(r"^// RUN: (?:not )?ipu-opt %s([^|>%]*?)(?:\||2?>|$)", text, re.MULTILINE):
            found.append((text, tuple(shlex.split(flags))))
    return found


def _filecheck(seed: int) -> Run:
    generator = random.Random(seed)
    text, flags = generator.choice(_filecheck_inputs())
    damaged = damaged_text(text, generator).encode(errors="replace")
    return Run("ipu-opt", ("input.mlir", *flags, "-o", "output"), damaged)


_WORDS = [
    "input.mlir",
    "-",
    "--",
    "absent",
    ".",
    "/",
    "/dev/null",
    "''",
    "--help",
    "-h",
    "-o",
    "output",
    "-o",
    "--entry",
    "main",
    "@main",
    "--tiles",
    "4",
    "0",
    "-1",
    "1000000",
    "--ipus",
    "2",
    "--inputs",
    "input.mlir",
    "--seed",
    "1",
    "-5",
    "x",
    "--check",
    "--atol",
    "1e-3",
    "nan",
    "--per-tile",
    "--emulated",
    "--time",
    "--profile",
    "p.json",
    "--chrome-trace",
    "t.json",
    "--pass-pipeline",
    "builtin.module(canonicalize)",
    "builtin.module(",
    "canonicalize)",
    "--ipu-compile",
    "--ipu-compile=x=1",
    "--canonicalize",
    "--cse",
    "--to-numpy",
    "--compile",
    "--ipu-set-target=tiles=4",
    "--ipu-set-target",
    "--ipu-partition=explain",
    "--ipu-place=,,=",
    "--list-passes",
    "--split-input-file",
    "--verify-diagnostics",
    "--verify-each=0",
    "--verify-each=x",
    "--allow-unregistered-dialect",
    "--emit-bytecode",
    "--mlir-timing",
    "--mlir-print-ir-after=cse",
    "--mlir-print-ir-before-all",
    "--mlir-elide-elementsattrs-if-larger=-1",
    "--load-pass",
    "input.mlir",
    "--available-memory-proportion",
    "0.5",
    "1,2",
    "--most-partials",
    "none",
    "0",
    "--chip",
    "c600",
    "ipu2",
    "-o",
    "output.html",
    "é",
    "\x1b[31m",
    "�",
    "{}",
    "%s",
    "--tiles=4,8",
    "--run-reproducer",
    "--trust-reproducer",
    "--mlir-pass-pipeline-crash-reproducer=again.mlir",
    "--mlir-pass-pipeline-crash-reproducer=.",
    "again.mlir",
    "absent/output",
    "input.mlir/output",
]


def _command(seed: int) -> Run:
    generator = random.Random(seed)
    tool = generator.choice(["ipu-opt", "ipu-run", "ipu-translate", "ipu-report", "ipu-sweep"])
    words = generator.choices(_WORDS, k=generator.randrange(6))
    if generator.random() < 0.7:
        words.insert(generator.randrange(len(words) + 1), "input.mlir")
    content = generator.choice(_programs()).encode() if generator.random() < 0.9 else b""
    return Run(tool, tuple(word for word in words if word != "/"), content, "output")


_KINDS: dict[str, Callable[[int], Run]] = {
    "text": _text,
    "filecheck": _filecheck,
    "bytecode": _bytecode,
    "command": _command,
}


def _check(kind: str, count: int, folder: Path) -> None:
    runs = [_KINDS[kind](seed) for seed in range(_SEED, _SEED + count)]
    assert "\n".join(died(runs, folder)) == ""


@pytest.mark.parametrize("kind", _KINDS)
def test_a_few_damaged_inputs(kind: str, tmp_path: Path) -> None:
    _check(kind, 3, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", _KINDS)
def test_many_damaged_inputs(kind: str, tmp_path: Path) -> None:
    _check(kind, _MANY, tmp_path)
