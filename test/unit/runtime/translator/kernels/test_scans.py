"""Reductions with any body and running values as kernels: the bits of NumPy calls, whatever lies side by side."""

from math import prod

import numpy as np
import pytest
from support.statement_text import program_of

from ipu_mlir.dialects.codelets.library import LIBRARY
from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.translator.kernels.scans import RUNNING
from ipu_mlir.runtime.translator.statements.access import Access, Buffer, Role, row_major
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.statements.statements import LibraryCall, Origin, Program
from ipu_mlir.runtime.translator.translate import translate_statements
from ipu_mlir.runtime.translator.translation import Translation


def largest_and_place(rows: int, columns: int, source: str, out: str) -> str:
    """The largest of three, and which of them it is, as a gradient of a pooling looks for it."""
    return f"""program @main(%x) -> (%m[d0] : {rows * columns}, %p[d0] : {rows * columns}) {{
  argument %x : float32[{3 * rows * columns}]
  constant %n : int64[3] = [7, 5, 9]
  temporary %m : float32[{rows * columns}] mutable
  temporary %p : int64[{rows * columns}] mutable
  elementwise {rows * columns} {{
    store float32(-inf), %m[d0]
  }}
  elementwise {rows * columns} {{
    store int64(0), %p[d0]
  }}
  scan {rows}x{columns}x3 over d2 {{
    %0 = greater(%x[{source}], %m[{out}]) : bool
    store select(%0, %x[{source}], %m[{out}]) : float32, %m[{out}]
    store select(%0, %n[d2], %p[{out}]) : int64, %p[{out}]
  }}
}}"""


def of(text: str, kernels: str) -> Translation:
    return translate_statements(program_of(text), TranslatorOptions(kernels=kernels))


@pytest.mark.parametrize("columns", [1, 3, 16, 37])
@pytest.mark.parametrize("kind", ["apart", "side by side", "turned"])
def test_running_values_are_those_of_numpy(kind: str, columns: int) -> None:
    rows = 5
    source, out = {
        "apart": (f"{3 * columns}*d0 + 3*d1 + d2", f"{columns}*d0 + d1"),
        "side by side": (f"{3 * columns}*d0 + d1 + {columns}*d2", f"{columns}*d0 + d1"),
        "turned": (f"{3 * columns}*d0 + d1 + {columns}*d2", f"d0 + {rows}*d1"),
    }[kind]
    text = largest_and_place(rows, columns, source, out)
    x = np.random.default_rng(columns).integers(0, 4, 3 * rows * columns).astype("f4")
    always, never = of(text, "always"), of(text, "never")
    assert ".run(" in always.source and "for " in never.source and "for " not in always.source
    for got, want in zip(Engine.of(always).run([x]), Engine.of(never).run([x]), strict=True):
        np.testing.assert_array_equal(got, want)


def test_points_are_reduced_in_their_order() -> None:
    text = """program @main(%x) -> (%y[d0] : 20) {
  argument %x : float32[20x3x4]
  temporary %y : float32[20] mutable
  elementwise 20 {
    store float32(1.0), %y[d0]
  }
  scan 20x3x4 over d1, d2 {
    store subtract(%x[12*d0 + 4*d1 + d2], multiply(%y[d0], float32(0.5))), %y[d0]
  }
}"""
    x = np.random.default_rng(0).normal(0, 1, (20, 12)).astype("f4")
    want = np.ones(20, "f4")
    for n in range(12):
        want = x[:, n] - want * np.float32(0.5)
    (got,) = Engine.of(of(text, "always")).run([x.reshape(20, 3, 4)])
    np.testing.assert_array_equal(got, want)


def test_a_reduction_that_reads_other_results_stays_calls() -> None:
    text = """program @main(%x) -> (%y[d0] : 20) {
  argument %x : float32[20x3]
  temporary %y : float32[20] mutable
  elementwise 20 {
    store float32(1.0), %y[d0]
  }
  scan 20x3 over d1 {
    store add(%x[3*d0 + d1], %y[-1*d0 + 19]), %y[d0]
  }
}"""
    x = np.arange(60, dtype="f4").reshape(20, 3)
    want = np.ones(20, "f4")
    for n in range(3):
        want = x[:, n] + want[::-1]
    found = of(text, "always")
    assert "for " in found.source
    np.testing.assert_array_equal(Engine.of(found).run([x])[0], want)


def test_a_gather_moves_with_loops_that_no_read_moves_with() -> None:
    """Two loops act as one only if they do so where elements are gathered, too."""
    text = """program @main(%x) -> (%y[d0] : 3) {
  argument %x : float32[4]
  constant %n : int64[3] = [0, 1, 1]
  temporary %y : float32[3] mutable
  elementwise 3 {
    store float32(0.0), %y[d0]
  }
  scan 3x2x2 over d1, d2 {
    store gather(%x[d1] + 2*%n[d0], limit 2), %y[d0]
  }
}"""
    x = np.array([1, 2, 3, 4], "f4")
    for kernels in ("never", "always"):
        translation = of(text, kernels)
        assert bool(translation.kernels) == (kernels == "always")
        np.testing.assert_array_equal(Engine.of(translation).run([x])[0], [2, 4, 4])


def running(codelet: str, dtype: str, shape: tuple[int, ...], source: tuple[int, ...], kernels: str) -> Translation:
    """The translation of one scan, whose elements lie at the strides ``source``."""
    whole = Buffer("x", prod(shape), np.dtype(dtype), Role.ARGUMENT, shape)
    out = Access(Buffer("y", prod(shape), np.dtype(dtype), Role.TEMPORARY, shape), 0, row_major(shape))
    call = LibraryCall((), Origin("scan", ""), codelet, (Access(whole, 0, source),), (out,), (shape, shape), (False,))
    program = Program("main", (whole,), (call,), (out,), (shape,))
    return translate_statements(program, TranslatorOptions(kernels=kernels))


@pytest.mark.parametrize(
    ("codelet", "dtype"),
    [*((codelet, "float32") for codelet in RUNNING), ("scan_add", "float16"), ("scan_mul_from_end", "int8")],
)
def test_running_elements_are_those_of_the_codelet(dtype: str, codelet: str) -> None:
    rng = np.random.default_rng(3)
    for shape in ((7, 9, 1), (2, 5, 21), (1, 1, 1), (37, 45, 1), (16, 16, 2)):
        x = rng.normal(0, 2, shape).astype(dtype)
        if dtype.startswith("float"):
            x[rng.random(shape) < 0.05] = np.nan
        found = running(codelet, dtype, shape, row_major(shape), "always")
        assert "run0.run(" in found.source
        (got,) = Engine.of(found).run([x])
        np.testing.assert_array_equal(got, LIBRARY[codelet].per_tile(x)[0])


def test_running_elements_of_turned_planes_are_those_of_the_codelet() -> None:
    x = np.random.default_rng(4).normal(0, 1, (5, 6, 20)).astype("f4")
    (got,) = Engine.of(running("scan_add", "float32", (5, 20, 6), (120, 1, 20), "always")).run([x.reshape(5, 20, 6)])
    np.testing.assert_array_equal(got, LIBRARY["scan_add"].per_tile(x.swapaxes(1, 2))[0])
