"""A codelet of one's own: its declaration, made known, is all that the compiler and both executors need."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import ipu_mlir
from ipu_mlir.dialects.codelets.codelet import CodeletCall, LibraryCodelet
from ipu_mlir.dialects.codelets.library import LIBRARY, register
from ipu_mlir.dialects.costs.footprint import SUPERVISOR_CODE_BYTES
from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.sizes import Size, per_worker, product_over
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.memory.report import memory_report
from ipu_mlir.runtime.per_tile.executor import PerTileExecutor

Array = np.ndarray[Any, Any]


def _median_of_rows(values: Array) -> tuple[Array, ...]:
    return (np.median(values, 1).astype(values.dtype),)


def _cycles(call: CodeletCall, sizes: IntArray, machine: Machine) -> Size:
    return 1000 + 10 * per_worker(product_over(sizes, call.kept), machine) * product_over(sizes, call.reduced)


MEDIAN = LibraryCodelet(
    name="median",
    per_tile=_median_of_rows,
    vectorised=_median_of_rows,
    cycles=_cycles,
    scratch_bytes=lambda call, sizes, machine: 4 * product_over(sizes, call.reduced),
    code_bytes=444,
    source="numpy.median",
    needs="rows, and a result for each",
    takes=lambda inputs, outputs: len(inputs) == len(outputs) == 1 and inputs[0][:1] == outputs[0],
)
PROGRAM = """
  func.func @main(%x: tensor<8x5xf32>) -> tensor<8xf32> {
    %empty = tensor.empty() : tensor<8xf32>
    %median = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                              iterator_types = ["parallel", "reduction"], library_call = "median"}
        ins(%x : tensor<8x5xf32>) outs(%empty : tensor<8xf32>) {
    ^bb0(%a: f32, %old: f32):
      linalg.yield %a : f32
    } -> tensor<8xf32>
    return %median : tensor<8xf32>
  }
"""


@pytest.fixture
def median() -> Iterator[LibraryCodelet]:
    """The codelet, known until the test ends."""
    register(MEDIAN)
    yield MEDIAN
    del LIBRARY["median"]


def test_a_new_codelet_is_placed_run_costed_and_counted_in_memory(median: LibraryCodelet) -> None:
    exe = ipu_mlir.compile(PROGRAM, target=Target(name="ipu2", tiles_per_ipu=4), pipeline="ipu-place,ipu-lower")
    x = np.random.default_rng(5).standard_normal((8, 5)).astype(np.float32)
    for (found,) in (exe.run([x]), PerTileExecutor(exe.module()).run([x])):
        np.testing.assert_array_equal(found, np.median(x, 1))
    assert "run_codelet('median'" in exe.source()
    cycles = exe.profile().execution.cycles.compute
    assert cycles == 1000 + 10 * 1 * 5, "two of six workers have one of two rows each"
    report = memory_report(exe.module())
    assert report.categories["scratch"].on(0) == 4 * 5
    assert report.categories["vertex_code"].on(0) == SUPERVISOR_CODE_BYTES + 444


def test_a_codelet_without_a_cost_is_an_error() -> None:
    known = {field.name: getattr(MEDIAN, field.name) for field in fields(MEDIAN)}
    for missing in ("cycles", "code_bytes", "source"):
        with pytest.raises(TypeError, match=missing):
            LibraryCodelet(**{name: value for name, value in known.items() if name != missing})


def test_a_name_that_is_taken_is_refused(median: LibraryCodelet) -> None:
    register(median)  # again: nothing new
    with pytest.raises(ValueError, match="there is a codelet called 'median' already"):
        register(LibraryCodelet(**{field.name: getattr(median, field.name) for field in fields(median)}))
