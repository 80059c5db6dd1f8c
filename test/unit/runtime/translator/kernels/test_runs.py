"""Which statements outside of blocks become kernels without being asked for: those that save more than they cost."""

import numpy as np
import pytest
from support.statement_text import program_of

import ipu_mlir as ipu
from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.translator.kernels import choose
from ipu_mlir.runtime.translator.kernels.scalar.code import Code
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.translate import translate_statements
from ipu_mlir.runtime.translator.translation import Translation


def momentum(elements: int) -> str:
    """A step on a weight that nobody else reads, as an optimizer writes it."""
    return f"""program @main(%g, %v, %w) -> (%w2[d0] : {elements}) {{
  argument %g : float32[{elements}]
  state %v : float32[{elements}] mutable
  argument %w : float32[{elements}]
  temporary %w2 : float32[{elements}]
  elementwise {elements} {{
    store add(multiply(%v[d0], float32(0.9)), multiply(%g[d0], float32(0.1))), %v[d0]
  }}
  elementwise {elements} {{
    store subtract(%w[d0], divide(%v[d0], add(sqrt(multiply(%g[d0], %g[d0])), float32(1.0)))), %w2[d0]
  }}
}}"""


def translated(text: str, kernels: str = "auto") -> Translation:
    return translate_statements(program_of(text), TranslatorOptions(kernels=kernels, narrow_blas=False))


def test_a_step_on_a_large_weight_is_one_pass_over_memory() -> None:
    found = translated(momentum(1 << 16))
    assert "run0.run(v, g, w, result0)" in found.source
    assert found.temporary_bytes == 0
    assert found.kernels.count("scf.for") == 1


def test_a_step_on_a_small_weight_is_one_kernel_too() -> None:
    assert "run0.run(v, g, w, result0)" in translated(momentum(256)).source
    assert "run(" not in translated(momentum(256), "never").source


def test_parts_of_one_array_are_copied_without_holding_them() -> None:
    """Columns 126, 125 of 200 rows become 128, 129 of the same rows, as the padding that reflects what is inside."""
    found = translated(
        """program @main(%x) -> (%x[d0] : 26000) {
  state %x : float32[26000] mutable
  elementwise 200x2 {
    store %x[130*d0 + -1*d1 + 126], %x[130*d0 + d1 + 128]
  }
}""",
        "always",
    )
    assert found.kernels.count("alloca") == 0


def test_statements_on_many_arrays_are_several_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "_MOST_ARRAYS", 4)
    results = ", ".join(f"%y{place}[d0] : 4" for place in range(5))
    lines = [f"argument %x{place} : float32[4]\n  temporary %y{place} : float32[4]" for place in range(5)]
    lines += [f"elementwise 4 {{\n    store add(%x{n}[d0], float32({n}.0)), %y{n}[d0]\n  }}" for n in range(5)]
    given = ", ".join(f"%x{place}" for place in range(5))
    found = translated(f"program @main({given}) -> ({results}) {{\n  " + "\n  ".join(lines) + "\n}", "always")
    assert found.source.count(".run(") == 3
    x = np.arange(4, dtype=np.float32)
    for number, result in enumerate(Engine.of(found, 1).run([x] * 5)):
        assert np.array_equal(result, x + number)


def looped(rounds: int) -> str:
    """A product that is left to BLAS, so that the loop is not one kernel, and a little work beside it."""
    return f"""program @main(%x, %w) -> (%y[64*d0 + d1] : 32x64) {{
  argument %x : float32[32x64]
  argument %w : float32[64x64]
  temporary %y : float32[32x64] mutable
  temporary %i : int64[scalar] mutable
  temporary %p : float32[32x64] in #0
  elementwise 32x64 {{
    store %x[64*d0 + d1], %y[64*d0 + d1]
  }}
  for %i[0] = 0 to {rounds} step 1 #0 {{
    dot 32x64x64 %y[64*d0 + d2], %w[64*d1 + d2], %p[64*d0 + d1]
    elementwise 32x64 {{
      store multiply(add(multiply(%p[64*d0 + d1], float32(0.5)), float32(0.1)), %y[64*d0 + d1]), %y[64*d0 + d1]
    }}
  }}
}}"""


def test_what_a_loop_repeats_often_enough_is_a_kernel() -> None:
    assert "loop0.run(" in translated(looped(1000).replace("32x64", "4x64")).source
    assert "run0.run(" in translated(looped(1000)).source
    assert "run0.run(" not in translated(looped(1)).source


def test_kernels_beside_products_compute_what_numpy_does() -> None:
    rng = np.random.default_rng(0)
    x, w = rng.normal(0, 1, (32, 64)).astype("f4"), rng.normal(0, 0.1, (64, 64)).astype("f4")
    auto, never = (Engine.of(translated(looped(300), kernels)).run([x, w])[0] for kernels in ("auto", "never"))
    np.testing.assert_array_equal(auto, never)


def test_runs_that_do_the_same_on_other_arrays_are_one_kernel() -> None:
    def layer(number: int, source: str) -> str:
        return f"""
  dot 256x256x256 {source}[256*d0 + d2], %w[d1 + 256*d2], %p{number}[256*d0 + d1]
  elementwise 256x256 {{
    store tanh(tanh(tanh(tanh(%p{number}[256*d0 + d1])))), %t{number}[256*d0 + d1]
  }}"""

    declared = "".join(f"\n  temporary %{name} : float32[256x256]" for name in ("p0", "t0", "p1", "t1"))
    text = f"""program @main(%x, %w) -> (%t1[256*d0 + d1] : 256x256) {{
  argument %x : float32[256x256]
  argument %w : float32[256x256]{declared}{layer(0, "%x")}{layer(1, "%t0")}
}}"""
    found = translated(text)
    assert found.source.count("run0.run(") == 2 and "run1" not in found.source
    rng = np.random.default_rng(0)
    given = [rng.random((256, 256), np.float32) / 32 for _ in range(2)]
    (got,), (want,) = (Engine.of(translated(text, how)).run(given) for how in ("auto", "never"))
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_what_is_computed_twice_at_one_place_is_written_once() -> None:
    code = Code()
    one = code.value("arith.addi %a, %b : i64")
    with code.block("scf.if %c {"):
        assert code.value("arith.addi %a, %b : i64") == one
        inner = code.value("arith.muli %a, %b : i64")
        assert code.value("arith.muli %a, %b : i64") == inner
    assert code.value("arith.muli %a, %b : i64") != inner  # not known where the branch is not taken
    assert code.value("llvm.load %p : !llvm.ptr -> i64") != code.value("llvm.load %p : !llvm.ptr -> i64")


def pooling(channels: int) -> str:
    c, row = channels, 28 * channels
    return f"""program @main(%x) -> (%y[{7 * row}*d0 + {14 * c}*d1 + {c}*d2 + d3] : 2x14x14x{c}) {{
  argument %x : float32[2x28x28x{c}]
  temporary %y : float32[2x14x14x{c}]
  reduce maximum 2x14x14x{c}x2x2 over d4, d5 %x[{28 * row}*d0 + {2 * row}*d1 + {2 * c}*d2 + d3 + {row}*d4 + {c}*d5],\
 %y[{7 * row}*d0 + {14 * c}*d1 + {c}*d2 + d3]
}}"""


@pytest.mark.parametrize(("channels", "is_kernel"), [(64, True), (3, False)])
def test_a_pooling_of_many_channels_is_a_kernel(channels: int, is_kernel: bool) -> None:
    found = translated(pooling(channels))
    assert ("run0.run(" in found.source) == is_kernel
    x = np.random.default_rng(1).normal(0, 1, (2, 28, 28, channels)).astype("f4")
    want = x.reshape(2, 14, 2, 14, 2, channels).max((2, 4))
    np.testing.assert_array_equal(Engine.of(found).run([x])[0], want)


@pytest.mark.parametrize(
    ("reduce", "is_kernel"),
    [
        (lambda x: x.sum(1), True),
        (lambda x: x.sum((0, 2)), True),
        (lambda x: x.min(1), True),
        (lambda x: (x * x).sum((0, 1)), True),  # a product of two columns at a time, of more than 2 MiB
        (lambda x: x.max((1, 2)), False),
        (lambda x: x.max(0), False),
    ],
)
def test_reductions_of_axes_in_the_middle_are_kernels(reduce, is_kernel: bool) -> None:
    x = np.random.default_rng(0).standard_normal((70, 101, 90), np.float32)
    exe = ipu.compile(reduce, args=[x], kernels="auto")
    assert ("run0.run(" in exe.source()) == is_kernel
    np.testing.assert_allclose(exe(x), reduce(x), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("count", [5, 16, 37])
def test_both_parts_of_complex_numbers_are_one_pass_of_vectors(count: int) -> None:
    text = f"""program @main(%x, %y) -> (%z[d0] : {2 * count}) {{
  argument %x : float32[{2 * count}]
  argument %y : float32[{count}]
  temporary %z : float32[{2 * count}]
  elementwise {count} {{
    store multiply(%x[2*d0], %y[d0]), %z[2*d0]
  }}
  elementwise {count} {{
    store subtract(%y[d0], %x[2*d0 + 1]), %z[2*d0 + 1]
  }}
  elementwise {count} {{
    store add(%z[2*d0], %z[2*d0]), %z[2*d0]
  }}
}}"""
    x, y = (np.random.default_rng(0).normal(size=n).astype(np.float32) for n in (2 * count, count))
    found = translated(text, "always")
    assert found.kernels.count("scf.for") == (count > 16) and "vector.shuffle" in found.kernels
    want = np.stack([x[::2] * y * 2, y - x[1::2]], 1).reshape(-1)
    np.testing.assert_array_equal(Engine.of(found, 1).run([x, y])[0], want)


@pytest.mark.parametrize(("rows", "columns"), [(16, 70), (100, 133), (17, 64)])
def test_what_is_read_across_rows_is_done_in_tiles(rows: int, columns: int) -> None:
    text = f"""program @main(%x, %y) -> (%z[d0] : {2 * rows * columns}) {{
  argument %x : float32[2x{rows}x{columns}]
  argument %y : float32[{columns}]
  temporary %z : float32[{2 * rows * columns}]
  elementwise 2x{columns}x{rows} {{
    store add(%x[{rows * columns}*d0 + d1 + {columns}*d2], exp(%y[d1])), %z[{rows * columns}*d0 + {rows}*d1 + d2]
  }}
}}"""
    x, y = (np.random.default_rng(0).normal(size=s).astype(np.float32) for s in ((2, rows, columns), columns))
    found = translated(text, "always")
    assert "arith.minsi" in found.kernels
    want = np.swapaxes(x, 1, 2) + np.exp(y)[:, None]
    np.testing.assert_allclose(Engine.of(found, 1).run([x, y])[0], want.reshape(-1), rtol=1e-5, atol=1e-6)


def test_a_large_transpose_is_a_kernel_in_blocks_too() -> None:
    x = np.random.default_rng(0).normal(size=(1100, 1030)).astype(np.float32)
    exe = ipu.compile(lambda x: x.T + 1, args=[x], kernels="auto")
    assert "add(" not in exe.source()
    np.testing.assert_array_equal(exe(x), x.T + 1)
