"""Reductions over rows, a few rows at a time: the same results in blocks of any size, on any number of threads."""

import numpy as np
import pytest
from support.statement_text import program_of

from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.translate import translate_statements, with_calls

# a layer norm's gradient in short: sums over rows between work on rows
GRADIENT = """program @main(%x, %w) -> (%y[96*d0 + d1] : 512x96, %s[d0] : 96, %q[d0] : 96, %m[d0] : 96) {
  argument %x : float32[512x96]
  argument %w : float32[96]
  temporary %r : float32[512]
  temporary %c : float32[512x96]
  temporary %s : float32[96]
  temporary %q : float32[96]
  temporary %m : float32[96]
  temporary %y : float32[512x96]
  reduce add 512x96 over d1 %x[96*d0 + d1], %r[d0]
  elementwise 512x96 {
    store multiply(subtract(%x[96*d0 + d1], %r[d0]), %w[d1]), %c[96*d0 + d1]
  }
  reduce add 512x96 over d0 %c[96*d0 + d1], %s[d1]
  dot 512x96 %c[96*d0 + d1], %x[96*d0 + d1], %q[d1]
  reduce maximum 512x96 over d0 %c[96*d0 + d1], %m[d1]
  elementwise 512x96 {
    store add(exp(multiply(%c[96*d0 + d1], float32(0.001))), %x[96*d0 + d1]), %y[96*d0 + d1]
  }
}"""


def of(x: np.ndarray, w: np.ndarray) -> list[np.ndarray]:
    c = (x - x.sum(1, keepdims=True)) * w
    return [np.exp(c * 0.001) + x, c.sum(0), (c * x).sum(0), c.max(0)]


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("elements", [1, 20_000, 1 << 20])
def test_sums_over_rows_are_part_of_a_loop_over_blocks_of_rows(threads: int, elements: int) -> None:
    options = TranslatorOptions(
        kernels="auto",
        threads=threads,
        block_elements=elements,
        block_min_array=1000,
        block_min_us=1,
        block_min_elementwise_us=1,
        block_min_run=1,
    )
    translation = translate_statements(with_calls(program_of(GRADIENT), options), options)
    assert translation.source.count("memory.run_blocks(") == 1
    rng = np.random.default_rng(6)
    x, w = rng.normal(0, 1, (512, 96)).astype("f4"), rng.normal(0, 1, 96).astype("f4")
    wide = of(x.astype("f8"), w.astype("f8"))
    for got, want in zip(Engine.of(translation, threads).run([x, w]), wide, strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5 * np.abs(want).max())


@pytest.mark.parametrize(
    ("extents", "over", "source", "out"),
    [
        ("64x48x96", "d0, d1", "4608*d0 + 96*d1 + d2", "d2"),
        ("64x48x96", "d0", "4608*d0 + 96*d1 + d2", "96*d1 + d2"),
        ("64x48x96", "d0, d2", "4608*d0 + 96*d1 + d2", "d1"),
        ("64x48x96", "d0, d1, d2", "4608*d0 + 96*d1 + d2", "0"),
        ("64x48x96", "d0, d2", "96*d0 + 6144*d1 + d2", "d1"),  # what is outermost in memory is kept
        ("61x48x96", "d0", "4608*d0 + 96*d1 + d2", "96*d1 + d2"),
        ("294912", "d0", "d0", "0"),
        ("317x1009", "d0", "1009*d0 + d1", "d1"),  # the last part is shorter
        ("1999x7x31", "d0, d2", "217*d0 + 31*d1 + d2", "d1"),
    ],
)
@pytest.mark.parametrize("call", ["add", "minimum", "multiply"])
def test_reductions_of_several_dimensions(extents: str, over: str, source: str, out: str, call: str) -> None:
    shape = tuple(map(int, extents.split("x")))
    axes = tuple(int(each[1:]) for each in over.split(", "))
    kept = [n for axis, n in enumerate(shape) if axis not in axes]
    size = int(np.prod(kept, dtype=int))
    text = f"""program @main(%x) -> (%y[d0] : {size}) {{
  argument %x : float32[{np.prod(shape)}]
  temporary %y : float32[{size}]
  reduce {call} {extents} over {over} %x[{source}], %y[{out}]
}}"""
    options = TranslatorOptions(kernels="auto", block_min_array=10_000)
    values = 1 + np.random.default_rng(8).normal(0, 1e-3, np.prod(shape)).astype("f4")
    (got,) = Engine.of(translate_statements(with_calls(program_of(text), options), options)).run([values])
    array = values.reshape(shape) if "6144" not in source else values.reshape(48, 64, 96).transpose(1, 0, 2)
    want = getattr(np, call).reduce(array.astype("f8"), axis=axes).ravel()
    np.testing.assert_allclose(got, want, rtol=1e-4)
