"""A codelet of one's own: its declaration, made known, is all that the compiler and both executors need."""

import runpy
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import ipu_mlir
from ipu_mlir.dialects.codelets.codelet import LibraryCodelet
from ipu_mlir.dialects.codelets.library import LIBRARY, register
from ipu_mlir.dialects.costs.footprint import SUPERVISOR_CODE_BYTES
from ipu_mlir.dialects.machine.machine import IPU2
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.memory.report import memory_report
from ipu_mlir.runtime.per_tile.executor import PerTileExecutor

EXAMPLE = runpy.run_path(str(Path(__file__).parents[4] / "examples" / "custom_codelet.py"))
MEDIAN: LibraryCodelet = EXAMPLE["MEDIAN"]


@pytest.fixture
def median() -> Iterator[LibraryCodelet]:
    """The codelet, known until the test ends."""
    register(MEDIAN)
    yield MEDIAN
    del LIBRARY["median"]


def test_a_new_codelet_is_placed_run_costed_and_counted_in_memory(median: LibraryCodelet) -> None:
    exe = ipu_mlir.compile(EXAMPLE["PROGRAM"], target=Target(name="ipu2", tiles_per_ipu=4))
    x = np.random.default_rng(5).standard_normal((8, 5)).astype(np.float32)
    for (found,) in (exe.run([x]), PerTileExecutor(exe.module()).run([x])):
        np.testing.assert_array_equal(found, np.median(x, 1))
    assert "run_codelet('median'" in exe.source()
    cycles = exe.profile().execution.cycles.compute
    assert cycles == IPU2.start_cycles + 100 + 10 * 1 * 5, "two of six workers have one of two rows each"
    report = memory_report(exe.module())
    assert report.categories["scratch"].on(0) == 4 * 5
    assert report.categories["vertex_code"].on(0) == SUPERVISOR_CODE_BYTES + MEDIAN.code_bytes


def test_a_codelet_without_a_cost_is_an_error() -> None:
    known = {field.name: getattr(MEDIAN, field.name) for field in fields(MEDIAN)}
    for missing in ("cycles", "code_bytes", "source"):
        with pytest.raises(TypeError, match=missing):
            LibraryCodelet(**{name: value for name, value in known.items() if name != missing})


def test_a_name_that_is_taken_is_refused(median: LibraryCodelet) -> None:
    register(median)  # again: nothing new
    with pytest.raises(ValueError, match="there is a codelet called 'median' already"):
        register(LibraryCodelet(**{field.name: getattr(median, field.name) for field in fields(median)}))
