"""Run small pieces of IR on the fast runtime, as they are written and as they look after placing."""

import re
import sys
from collections.abc import Callable, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.analysis.loop_nest import loop_nest
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions

sys.path.insert(0, str(Path(__file__).parent))  # what the tests of control flow share: ``memref_text``

Run = Callable[..., list[np.ndarray]]


@pytest.fixture(autouse=True)
def _as_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """What tests read and run are calls of NumPy, unless they ask for kernels."""
    monkeypatch.setenv("IPU_KERNELS", "never")


@pytest.fixture
def engine() -> Callable[..., Engine]:
    """``engine(text, options=None)``: the engine of ``@main`` in ``text``."""
    return _engine


@pytest.fixture
def run_plain() -> Run:
    """``run_plain(text, *inputs)``: the results of ``@main``."""
    return _run


@pytest.fixture(params=["plain", "placed"])
def run(request: pytest.FixtureRequest) -> Run:
    """The same for ``text`` as it is and for its placed form: vertices in compute sets, every operand exchanged."""
    return _run if request.param == "plain" else lambda text, *inputs, **more: _run(_placed(text), *inputs, **more)


@pytest.fixture
def small_blocks() -> TranslatorOptions:
    """Thresholds so low that everything runs in block loops on two threads."""
    return TranslatorOptions(
        block_elements=64,
        block_min_gemm_rows=1,
        block_min_elementwise_us=-1,
        block_min_us=-1,
        block_min_array=0,
        block_min_run=0,
    )


def _engine(text: str, options: TranslatorOptions | None = None) -> Engine:
    with ipu.context(), ir.Location.unknown():
        return Engine(ir.Module.parse(text), options=options)


def _run(text: str, *inputs: Any, options: TranslatorOptions | None = None) -> list[np.ndarray]:
    made = _engine(text, options)
    kept = [np.array(value, copy=True) for value in inputs]
    made.run(inputs)
    results = made.run(inputs)  # the second run finds the memory as the first left it
    for before, after in zip(kept, inputs, strict=True):
        np.testing.assert_array_equal(before, after, err_msg="an input was modified")
    return results


def _placed(text: str) -> str:
    """``text`` with all data on one tile, each linalg op in vertices of its own, each input exchanged before use."""
    parts = [_one_part(extents) for extents in _loop_extents(text)]
    lines, pending, numbers = [], [], iter(range(10**6))
    for line in text.splitlines():
        if pending or (
            line.strip().startswith("linalg.") and "linalg.yield" not in line and "linalg.index" not in line
        ):
            pending.append(line)
            block = "\n".join(pending)
            if block.count("{") == block.count("}") and "outs(" in block:
                lines += _vertices(block, parts.pop(0), numbers)
                pending = []
            continue
        lines.append(line)
    assert not parts, "a linalg op was not found in the text"
    return re.sub(r"memref<((?:\d+x)*)([a-z]+\d*)>", _with_mapping, "\n".join(lines))


def _vertices(block: str, part: str, numbers: Any) -> Sequence[str]:
    """``block`` in a compute set; its inputs are copied to new buffers by exchanges first."""
    lines = []
    ins = re.search(r"ins\(([^:]*):([^)]*)\)", block)
    if ins is not None and "linalg.fill" not in block:
        types = re.findall(r"memref<[^>]*>", ins[2])
        names = [name.strip() for name in ins[1].split(",")]
        fresh = [f"%moved{next(numbers)}" for _ in names]
        for name, new, kind in zip(names, fresh, types, strict=True):
            lines.append(f"%{new[1:]} = memref.alloc() : {kind}")
            lines.append(f'"ipu.exchange"({name}, {new}) : ({kind}, {kind}) -> ()')
        block = block.replace(ins[0], f"ins({', '.join(fresh)} :{ins[2]})")
    head = '"ipu.compute_set"() ({ "ipu.vertices"() ({'
    return [*lines, head, block, f'}}) {{codelet = "test", parts = {part}}} : () -> () }}) : () -> ()']


def _loop_extents(text: str) -> list[tuple[int, ...]]:
    found = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name.startswith("linalg.") and op.name not in ("linalg.yield", "linalg.index"):
            nest = loop_nest(op)
            assert nest is not None, f"{op.name} has no loops"
            found.append(tuple(nest.extents))
        return ir.WalkResult.ADVANCE

    with ipu.context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        module.operation.walk(visit)
    return found


def _one_part(extents: tuple[int, ...]) -> str:
    return f"#ipu.parts<[{', '.join(f'[{n}, {n}, 0]' for n in extents)}], 0>"


def _with_mapping(match: re.Match) -> str:
    count = prod(int(n) for n in match[1].split("x") if n)
    return f"memref<{match[1]}{match[2]}, #ipu.mapping<{count}, [[{count}, {count}, 1, 0]], 0, 0>>"
