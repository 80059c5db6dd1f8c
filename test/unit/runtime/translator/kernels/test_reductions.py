"""Reductions of what is computed as they go: in the order, and with the bits, of terms that are an array."""

import numpy as np
import pytest
from support.statement_text import program_of

from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.translate import translate_statements
from ipu_mlir.runtime.translator.translation import Translation

RNG = np.random.default_rng(3)


def numbers(*shape: int) -> np.ndarray:
    return RNG.normal(0, 1, shape).astype(np.float32)


def translated(text: str, kernels: str = "always") -> Translation:
    return translate_statements(program_of(text), TranslatorOptions(kernels=kernels, narrow_blas=False))


def of_differences(rows: int, columns: int, length: int, call: str) -> str:
    """``call`` over the last axis of ``|x[:, None] - y[None]|``."""
    return f"""program @main(%x, %y) -> (%z[{columns}*d0 + d1] : {rows}x{columns}) {{
  argument %x : float32[{rows}x{length}]
  argument %y : float32[{columns}x{length}]
  temporary %t : float32[{rows}x{columns}x{length}]
  temporary %z : float32[{rows}x{columns}]
  elementwise {rows}x{columns}x{length} {{
    store absolute(subtract(%x[{length}*d0 + d2], %y[{length}*d1 + d2])), \
%t[{columns * length}*d0 + {length}*d1 + d2]
  }}
  reduce {call} {rows}x{columns}x{length} over d2 %t[{columns * length}*d0 + {length}*d1 + d2], %z[{columns}*d0 + d1]
}}"""


def of_array(rows: int, length: int, call: str) -> str:
    return f"""program @main(%t) -> (%z[d0] : {rows}) {{
  argument %t : float32[{rows}x{length}]
  temporary %z : float32[{rows}]
  reduce {call} {rows}x{length} over d1 %t[{length}*d0 + d1], %z[d0]
}}"""


@pytest.mark.parametrize("call", ["add", "maximum"])
@pytest.mark.parametrize(("rows", "columns", "length"), [(3, 21, 3), (5, 35, 16), (2, 7, 19), (4, 6, 2100), (2, 33, 1)])
def test_terms_are_no_array_and_results_have_the_same_bits(rows: int, columns: int, length: int, call: str) -> None:
    found = translated(of_differences(rows, columns, length, call))
    is_wide = columns >= 16 or length >= 16
    assert (found.temporary_bytes == 0) == is_wide
    x, y = numbers(rows, length), numbers(columns, length)
    terms = np.abs(x[:, None] - y[None])
    (got,) = Engine.of(found, 1).run([x, y])
    plain = translated(of_array(rows * columns, length, call))
    (want,) = Engine.of(plain, 1).run([terms.reshape(rows * columns, length)])
    np.testing.assert_array_equal(got.reshape(-1), want)


TWO_SUMS = """program @main(%x) -> (%s[d0] : 40, %q[d0] : 40) {
  argument %x : float32[40x70]
  temporary %d : float32[40x70]
  temporary %e : float32[40x70]
  temporary %s : float32[40]
  temporary %q : float32[40]
  elementwise 40x70 {
    store subtract(%x[70*d0 + d1], float32(0.5)), %d[70*d0 + d1]
  }
  reduce add 40x70 over d1 %d[70*d0 + d1], %s[d0]
  elementwise 40x70 {
    store multiply(%x[70*d0 + d1], %x[70*d0 + d1]), %e[70*d0 + d1]
  }
  reduce add 40x70 over d1 %e[70*d0 + d1], %q[d0]
}"""


def test_two_sums_are_one_pass() -> None:
    found = translated(TWO_SUMS)
    assert found.temporary_bytes == 0
    assert found.kernels.count("llvm.func internal @reduced") == 1
    x = numbers(40, 70)
    total, squares = Engine.of(found, 1).run([x])
    np.testing.assert_allclose(total, (x - np.float32(0.5)).sum(1), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(squares, (x * x).sum(1), rtol=1e-5)


def test_a_sum_that_is_read_by_what_follows_is_known_before() -> None:
    text = """program @main(%x) -> (%y[32*d0 + d1] : 8x32) {
  argument %x : float32[8x32]
  temporary %e : float32[8x32]
  temporary %s : float32[8]
  temporary %y : float32[8x32]
  elementwise 8x32 {
    store exp(%x[32*d0 + d1]), %e[32*d0 + d1]
  }
  reduce add 8x32 over d1 %e[32*d0 + d1], %s[d0]
  elementwise 8x32 {
    store divide(%e[32*d0 + d1], %s[d0]), %y[32*d0 + d1]
  }
}"""
    x = numbers(8, 32)
    e = np.exp(x)
    (got,) = Engine.of(translated(text), 1).run([x])
    np.testing.assert_allclose(got, e / e.sum(1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("step", [2, 3, 16, 17])
@pytest.mark.parametrize("kind", ["float32", "float64", "int8"])
def test_lanes_that_are_apart_in_memory(step: int, kind: str) -> None:
    text = f"""program @main(%x) -> (%m[d0] : 37) {{
  argument %x : {kind}[37x{step}]
  temporary %m : {kind}[37]
  reduce maximum 37x{step} over d1 %x[{step}*d0 + d1], %m[d0]
}}"""
    x = RNG.integers(-99, 99, (37, step)).astype(kind)
    (got,) = Engine.of(translated(text), 1).run([x])
    np.testing.assert_array_equal(got, x.max(1))


def test_many_short_rows_are_a_kernel_without_being_asked_for() -> None:
    text = of_array(20000, 7, "maximum")
    assert ".run(" in translated(text, "auto").source
    assert "reduce(" in translated(text, "never").source


def test_terms_are_no_array_in_loops_either() -> None:
    text = """program @main(%x) -> (%y[d0] : 40) {
  argument %x : float32[40]
  temporary %y : float32[40] mutable
  temporary %t : float32[40x40]
  temporary %m : float32[40]
  temporary %i : int64[scalar] mutable
  elementwise 40 {
    store %x[d0], %y[d0]
  }
  for %i[0] = 0 to 10 step 1 #0 {
    elementwise 40x40 {
      store add(%y[d0], multiply(%x[d1], float32(0.5))), %t[40*d0 + d1]
    }
    reduce minimum 40x40 over d1 %t[40*d0 + d1], %m[d0]
    elementwise 40 {
      store %m[d0], %y[d0]
    }
  }
}"""
    found = translated(text)
    assert "loop1.run(" in found.source and found.temporary_bytes < 40 * 40 * 4
    x = numbers(40)
    want = x
    for _ in range(10):
        want = (want[:, None] + x[None] * np.float32(0.5)).min(1)
    np.testing.assert_array_equal(Engine.of(found, 1).run([x])[0], want)


def test_stacks_of_small_products_are_kernels_and_others_calls() -> None:
    def stacked(count: int, size: int) -> str:
        square = size * size
        return f"""program @main(%a, %b) -> (%c[{square}*d0 + {size}*d1 + d2] : {count}x{size}x{size}) {{
  argument %a : float32[{count}x{size}x{size}]
  argument %b : float32[{count}x{size}x{size}]
  temporary %c : float32[{count}x{size}x{size}]
  dot {count}x{size}x{size}x{size} %a[{square}*d0 + {size}*d1 + d3], %b[{square}*d0 + d2 + {size}*d3], \
%c[{square}*d0 + {size}*d1 + d2]
}}"""

    assert "matmul(" in translated(stacked(100, 64), "auto").source
    for size in (2, 3, 8):
        found = translated(stacked(1000, size), "auto")
        assert "run0.run(" in found.source
        a, b = numbers(1000, size, size), numbers(1000, size, size)
        np.testing.assert_allclose(Engine.of(found, 1).run([a, b])[0], a @ b, rtol=1e-4, atol=1e-5)
