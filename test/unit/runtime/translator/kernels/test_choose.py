"""What becomes a kernel, and what it computes: each program as kernels, as NumPy calls, and in blocks of any size."""

from collections.abc import Sequence

import numpy as np
import pytest
from support.statement_text import program_of

from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.translate import translate_statements

SMALL_BLOCKS = {
    "block_elements": 512,
    "block_min_elementwise_us": 0.0,
    "block_min_us": 0.0,
    "block_min_array": 64,
    "block_min_run": 1,
}
NORM = """
program @main(%x) -> (%z[24*d0 + d1] : 37x24) {
  argument %x : float32[37x24]
  temporary %m : float32[37]
  temporary %s : float32[37]
  temporary %y : float32[37x24]
  temporary %e : float32[37x24]
  temporary %z : float32[37x24]
  reduce maximum 37x24 over d1 %x[24*d0 + d1], %m[d0]
  elementwise 37x24 {
    store subtract(%x[24*d0 + d1], %m[d0]), %y[24*d0 + d1]
  }
  elementwise 37x24 {
    store exp(%y[24*d0 + d1]), %e[24*d0 + d1]
  }
  reduce add 37x24 over d1 %e[24*d0 + d1], %s[d0]
  elementwise 37x24 {
    store divide(%e[24*d0 + d1], %s[d0]), %z[24*d0 + d1]
  }
}
"""


def outputs(text: str, inputs: Sequence[np.ndarray], kernels: str, **options: float) -> tuple[str, list[np.ndarray]]:
    chosen = TranslatorOptions(kernels=kernels, **options)  # type: ignore[arg-type]
    translation = translate_statements(program_of(text), chosen)
    return translation.source, Engine.of(translation, chosen.threads).run(inputs)


def test_a_softmax_has_the_same_bits_in_all_blocks_and_threads() -> None:
    x = np.random.default_rng(0).normal(0, 3, (37, 24)).astype(np.float32)
    _, (want,) = outputs(NORM, [x], "never")
    found = []
    for threads in (1, 2, 3):
        for elements in (24, 100, 512, 4096):
            small = SMALL_BLOCKS | {"block_elements": elements, "threads": threads}
            source, (got,) = outputs(NORM, [x], "always", **small)
            assert "block0.run(lo, hi, " in source
            found.append(got)
    np.testing.assert_allclose(found[0], want, rtol=2e-6)
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


def test_nothing_is_a_kernel_unless_asked_for() -> None:
    x = np.ones((37, 24), np.float32)
    assert "kernel" not in outputs(NORM, [x], "never", **SMALL_BLOCKS)[0]
    assert "run0.run(x, " in outputs(NORM, [x], "auto")[0]


@pytest.mark.parametrize(("columns", "factor", "is_kernel"), [(3, "d1", True), (3, "0", False), (3000, "d1", False)])
def test_a_product_is_a_kernel_where_rows_are_short(columns: int, factor: str, is_kernel: bool) -> None:
    """NumPy begins each row anew: 100,000 rows of 3 times one row take ten times as long as 300,000 times a number."""
    rows, count = 30_000 // columns, columns if factor == "d1" else 1
    text = f"""
program @main(%x, %w) -> (%y[{columns}*d0 + d1] : {rows}x{columns}) {{
  argument %x : float32[{rows}x{columns}]
  argument %w : float32[{count}]
  temporary %y : float32[{rows}x{columns}]
  elementwise {rows}x{columns} {{
    store multiply(%x[{columns}*d0 + d1], %w[{factor}]), %y[{columns}*d0 + d1]
  }}
}}
"""
    x, w = np.ones((rows, columns), np.float32), np.arange(count, dtype=np.float32)
    source, (got,) = outputs(text, [x, w], "auto")
    assert ("kernel" in source) == is_kernel
    np.testing.assert_array_equal(got, x * w)


@pytest.mark.parametrize(
    ("shape", "over"), [("5x4000", "d1"), ("4000x5", "d0"), ("70000", "d0"), ("3x5x7", "d1"), ("9", "d0")]
)
@pytest.mark.parametrize("call", ["add", "maximum", "minimum", "multiply"])
def test_reductions(shape: str, over: str, call: str) -> None:
    extents = tuple(map(int, shape.split("x")))
    axis = int(over[1])
    strides = [int(np.prod(extents[i + 1 :])) for i in range(len(extents))]
    kept = [i for i in range(len(extents)) if i != axis]
    steps = {loop: int(np.prod([extents[i] for i in kept[n + 1 :]])) for n, loop in enumerate(kept)}
    source = " + ".join(f"{stride}*d{i}" for i, stride in enumerate(strides))
    out = " + ".join(f"{steps[i]}*d{i}" for i in kept) or "0"
    count = "x".join(str(extents[i]) for i in kept) or "scalar"
    text = f"""
program @main(%x) -> (%y[{" + ".join(f"{steps[i]}*d{n}" for n, i in enumerate(kept)) or 0}] : {count}) {{
  argument %x : float32[{shape}]
  temporary %y : float32[{count}]
  reduce {call} {shape} over {over} %x[{source}], %y[{out}]
}}
"""
    x = np.random.default_rng(1).normal(0, 1, extents).astype(np.float32)
    if call == "multiply":
        x = np.exp(x / 100)
    source_text, (got,) = outputs(text, [x], "always")
    assert "run0.run(" in source_text
    exact = getattr(np, call).reduce(x.astype(np.float64), axis)
    scale = np.abs(x).astype(np.float64).sum(axis) if call == "add" else np.abs(exact) * extents[axis]
    assert np.all(np.abs(got - exact) <= 2e-7 * scale)
    if call in ("maximum", "minimum"):
        np.testing.assert_array_equal(got, exact.astype(np.float32))


def test_values_that_are_read_elsewhere_are_held_until_all_are_known() -> None:
    text = """
program @main(%x) -> (%a[d0] : 40) {
  argument %x : float32[40]
  temporary %a : float32[40] mutable
  elementwise 40 {
    store %x[d0], %a[d0]
  }
  elementwise 39 {
    store add(%a[d0], float32(1.0)), %a[d0 + 1]
  }
  elementwise 20 {
    store %a[d0 + 20], %a[d0]
    store %a[d0], %a[d0 + 20]
  }
}
"""
    x = np.arange(40, dtype=np.float32)
    source, (got,) = outputs(text, [x], "always")
    assert ".run(" in source
    want = x.copy()
    want[1:] = x[:-1] + 1
    want = np.concatenate([want[20:], want[:20]])
    np.testing.assert_array_equal(got, want)


def test_long_sums_lose_no_digits() -> None:
    text = """
program @main(%x) -> (%y[0] : scalar) {
  argument %x : float32[1000000]
  temporary %y : float32[scalar]
  reduce add 1000000 over d0 %x[d0], %y[0]
}
"""
    _, (got,) = outputs(text, [np.full(1_000_000, 0.1, np.float32)], "always")
    assert abs(float(got) - 1_000_000 * float(np.float32(0.1))) < 0.1
    x = np.ones(1_000_000, np.float32)
    x[500_000] = np.inf
    assert outputs(text, [x], "always")[1][0] == np.inf


def test_unknown_calls_stay_calls_beside_products() -> None:
    text = """
program @main(%x) -> (%z[160*d0 + d1] : 160x160) {
  argument %x : float32[160x160]
  temporary %y : float32[160x160]
  temporary %c : float32[160x160]
  temporary %z : float32[160x160]
  dot 160x160x160 %x[160*d0 + d2], %x[d1 + 160*d2], %y[160*d0 + d1]
  elementwise 160x160 {
    store deg2rad(%y[160*d0 + d1]), %c[160*d0 + d1]
  }
  elementwise 160x160 {
    store multiply(%c[160*d0 + d1], %c[160*d0 + d1]), %z[160*d0 + d1]
  }
}
"""
    x = np.random.default_rng(2).normal(0, 1, (160, 160)).astype(np.float32)
    source, (got,) = outputs(text, [x], "always")
    assert "product0.run(" in source and "deg2rad(" in source and "run1.run(" in source and "multiply" not in source
    np.testing.assert_allclose(got, np.deg2rad(x @ x) ** 2, rtol=1e-3, atol=1e-4)


def test_loops_with_branches_slices_and_gathers() -> None:
    text = """
program @main(%x, %at) -> (%a[d0] : 30, %total[0] : scalar) {
  argument %x : float32[30]
  argument %at : int32[100]
  temporary %a : float32[30] mutable
  temporary %total : int32[scalar] mutable
  temporary %i : int64[scalar] counts mutable
  temporary %odd : bool[scalar] in #0
  temporary %v : float32[scalar] in #0
  elementwise 30 {
    store %x[d0], %a[d0]
  }
  elementwise scalar {
    store int32(0), %total[0]
  }
  for %i[0] = 0 to 100 step 1 #0 {
    elementwise scalar {
      store equal(bitwise_and(gather(%at[0] + 1*%i[0], limit 100), int32(1)), int32(1)) : bool, %odd[0]
    }
    if %odd[0] #1 {
      elementwise scalar {
        store gather(%a[0] + 1*gather(%at[0] + 1*%i[0], limit 100), limit 30), %v[0]
      }
      slice_update 30 {
        replace %a[d0] along d0 from gather(%at[0] + 1*%i[0], limit 100) for 1 by add(%v[0], float32(1.0)), %a[d0]
      }
    } else #2 {
      elementwise scalar {
        store add(%total[0], int32(1)), %total[0]
      }
    }
  }
}
"""
    rng = np.random.default_rng(3)
    x, at = rng.normal(0, 1, 30).astype(np.float32), rng.integers(-5, 40, 100).astype(np.int32)
    source, (a, total) = outputs(text, [x, at], "auto")
    assert "loop0.run(" in source and "for " not in source
    want = x.copy()
    for i in at:
        if i & 1 and 0 <= i < 30:
            want[i] = want[i] + np.float32(1)
    np.testing.assert_array_equal(a, want)
    assert total == np.sum(at & 1 == 0)
    for given, expected in zip(outputs(text, [x, at], "never")[1], (a, total), strict=True):
        np.testing.assert_array_equal(given, expected)


def test_a_loop_that_changes_elements_of_a_large_array_is_one_kernel() -> None:
    text = """
program @main(%x) -> (%a[d0] : 200000) {
  argument %x : float32[200000]
  temporary %a : float32[200000] mutable
  temporary %i : int64[scalar] counts mutable
  elementwise 200000 {
    store %x[d0], %a[d0]
  }
  for %i[0] = 0 to 1000 step 1 #0 {
    slice_update 200000 {
      replace %a[d0] along d0 from multiply(%i[0], int64(7)) for 1 by cast(%i[0]) : float32, %a[d0]
    }
  }
}
"""
    x = np.zeros(200_000, np.float32)
    source, (got,) = outputs(text, [x], "auto")
    assert "loop0.run(" in source
    want = x.copy()
    want[np.arange(1000) * 7] = np.arange(1000)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(("terms", "is_kernel"), [(1, False), (2, True), (30, True)])
def test_more_than_one_or_two_calls_on_a_small_array_are_a_kernel(terms: int, is_kernel: bool) -> None:
    value = "%x[d0]"
    for _ in range(terms):
        value = f"add(multiply({value}, float32(0.5)), %x[d0])"
    text = f"""
program @main(%x) -> (%y[d0] : 1024) {{
  argument %x : float32[1024]
  temporary %y : float32[1024]
  elementwise 1024 {{
    store {value}, %y[d0]
  }}
}}
"""
    x = np.linspace(-1, 1, 1024, dtype=np.float32)
    source, (got,) = outputs(text, [x], "auto")
    assert ("run0.run(" in source) == is_kernel
    np.testing.assert_array_equal(got, outputs(text, [x], "never")[1][0])


def test_a_search_along_long_rows_takes_nothing_beside_it_from_kernels() -> None:
    text = """program @main(%x) -> (%z[5000*d0 + d1] : 100x5000) {
  argument %x : float32[100x5000]
  temporary %p : int64[100]
  temporary %z : float32[100x5000]
  first_extreme first_maximum_or_nan 100x5000 over d1 %x[5000*d0 + d1], %p[d0]
  elementwise 100x5000 {
    %c = cast(%p[d0]) : float32
    store multiply(add(%x[5000*d0 + d1], %c), %x[5000*d0 + d1]), %z[5000*d0 + d1]
  }
}"""
    x = np.random.default_rng(0).standard_normal((100, 5000)).astype(np.float32)
    source, (got,) = outputs(text, [x], "auto")
    assert "first_maximum_or_nan(" in source and ".run(" in source
    np.testing.assert_allclose(got, (x + x.argmax(1)[:, None]) * x, rtol=1e-6)
