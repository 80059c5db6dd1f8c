"""Products in registers: every kind of loop, beside NumPy, with the same bits in all blocks and threads."""

from dataclasses import replace

import numpy as np
import pytest
from blocks_of_any_size import in_blocks
from support.statement_text import program_of

from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.translator.kernels import product_forms
from ipu_mlir.runtime.translator.kernels.product_forms import (
    beats_blas,
    copied_elements,
    gained_by_threads_us,
    saved_product_us,
    turned,
)
from ipu_mlir.runtime.translator.kernels.products import sizes
from ipu_mlir.runtime.translator.statements.access import Access, Buffer, Role
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.statements.statements import Dot, Origin
from ipu_mlir.runtime.translator.translate import translate_statements
from ipu_mlir.runtime.translator.translation import Translation

Strides = tuple[int, ...]

CASES: dict[str, tuple[Strides, Strides, Strides, Strides]] = {
    # loops, then how the two factors and the result move with them
    "matrices": ((13, 37, 5), (5, 0, 1), (0, 1, 37), (37, 1, 0)),
    "the second factor has the rows": ((37, 13, 5), (1, 0, 37), (0, 5, 1), (1, 37, 0)),
    "the first factor lies by columns": ((13, 16, 5), (1, 0, 13), (0, 1, 16), (16, 1, 0)),
    "more columns than registers": ((9, 200, 3), (3, 0, 1), (0, 1, 200), (200, 1, 0)),
    "one row": ((70, 6), (0, 1), (1, 70), (1, 0)),
    "a stack of matrices": ((3, 4, 20, 5), (20, 5, 0, 1), (100, 0, 1, 20), (80, 20, 1, 0)),
    "a stack of tiny matrices": ((40, 3, 2, 4), (12, 4, 0, 1), (8, 0, 1, 2), (6, 2, 1, 0)),
    "a stack of pairs of rows": ((12, 2, 2, 150), (300, 150, 0, 1), (300, 0, 150, 1), (4, 2, 1, 0)),
    "tiny matrices by vectors, in two stacks": ((5, 7, 3, 3), (9, 45, 3, 1), (3, 15, 0, 1), (21, 3, 1, 0)),
    "windows": ((6, 7, 20, 3, 3, 2), (18, 2, 0, 18, 2, 1), (0, 0, 1, 120, 40, 20), (140, 20, 1, 0, 0, 0)),
    "windows with gaps": ((3, 4, 16, 2, 2, 2), (36, 4, 0, 54, 6, 1), (0, 0, 1, 64, 32, 16), (64, 16, 1, 0, 0, 0)),
    "windows that move by two": (
        (6, 7, 20, 3, 3, 2),
        (18, 0, 0, 3, 1, 9),
        (0, 82, 2, 41, 1, 615),
        (140, 20, 1, 0, 0, 0),
    ),
    "windows of a short row that move by three": ((9, 5, 4), (4, 0, 1), (0, 3, 1), (5, 1, 0)),
    "windows of a channel that move by two": (
        (4, 6, 21, 3, 3),
        (559, 86, 2, 43, 1),
        (9, 0, 0, 3, 1),
        (126, 21, 1, 0, 0),
    ),
    "a window for each channel": ((5, 6, 21, 3, 3), (168, 21, 1, 168, 21), (0, 0, 1, 63, 21), (126, 21, 1, 0, 0)),
    "gradients of weights": ((3, 3, 4, 18, 6, 5), (28, 4, 1, 0, 28, 4), (0, 0, 0, 1, 90, 18), (216, 72, 18, 1, 0, 0)),
    "a factor that is turned": ((9, 9, 8, 3, 3, 5), (55, 5, 0, 55, 5, 1), (0, 0, 5, 120, 40, 1), (72, 8, 1, 0, 0, 0)),
    "windows, and results of channels": (
        (2, 8, 4, 18, 5, 2, 3),
        (0, 30, 0, 0, 6, 3, 1),
        (500, 0, 20, 1, 100, 20, 1),
        (576, 72, 18, 1, 0, 0, 0),
    ),
    "channels of images, all pixels as one": (
        (2, 8, 4, 18, 5),
        (0, 5, 0, 0, 1),
        (360, 0, 18, 1, 72),
        (576, 72, 18, 1, 0),
    ),
    "sums of a channel over images and pixels": ((5, 7, 30), (30, 150, 1), (30, 150, 1), (1, 0, 0)),
    "no sum": ((7, 19), (1, 0), (0, 1), (19, 1)),
}


def elements(extents: Strides, strides: Strides) -> int:
    return 1 + sum((n - 1) * s for n, s in zip(extents, strides, strict=True))


def place(strides: Strides) -> str:
    return " + ".join(f"{s}*d{n}" for n, s in enumerate(strides) if s) or "0"


def program(name: str, dtype: str) -> str:
    extents, a, b, out = CASES[name]
    size = elements(extents, out)
    return f"""program @main(%a, %b) -> (%z[d0] : {size}) {{
  argument %a : {dtype}[{elements(extents, a)}]
  argument %b : {dtype}[{elements(extents, b)}]
  temporary %z : {dtype}[{size}]
  dot {"x".join(map(str, extents))} %a[{place(a)}], %b[{place(b)}], %z[{place(out)}]
}}"""


def of(text: str, kernels: str) -> Translation:
    return translate_statements(program_of(text), TranslatorOptions(kernels=kernels))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint16"])
@pytest.mark.parametrize("name", CASES)
def test_a_product_in_registers_is_the_sum_of_products(name: str, dtype: str) -> None:
    extents, *strides = CASES[name]
    rng = np.random.default_rng(0)
    a, b = (rng.integers(0, 9, elements(extents, each)).astype(dtype) for each in strides[:2])
    found = of(program(name, dtype), "always")
    assert "run0.run(" in found.source and "dot(" not in found.source and "matmul(" not in found.source
    (got,) = Engine.of(found).run([a, b])
    want = np.zeros(elements(extents, strides[2]), dtype)
    places = np.indices(extents).reshape(len(extents), -1)
    at = [np.asarray(each) @ places for each in strides]
    np.add.at(want, at[2], a[at[0]] * b[at[1]])
    np.testing.assert_array_equal(got, want)


CONVOLUTION = """program @main(%x, %k, %b) -> (%z[60*d0 + 20*d1 + d2] : 5x3x20) {
  argument %x : float32[5x6x8x3]
  argument %k : float32[3x3x3x20]
  argument %b : float32[20]
  temporary %p : float32[5x8x8x3] mutable
  temporary %y : float32[5x6x6x20]
  temporary %m : float32[5x3x20]
  temporary %z : float32[5x3x20]
  elementwise 5x8x8x3 {
    store float32(0.0), %p[192*d0 + 24*d1 + 3*d2 + d3]
  }
  elementwise 5x6x8x3 {
    store %x[144*d0 + 24*d1 + 3*d2 + d3], %p[192*d0 + 24*d1 + 3*d2 + d3 + 24]
  }
  dot 5x6x6x20x3x3x3 %p[192*d0 + 24*d1 + 3*d2 + 24*d4 + 3*d5 + d6], %k[d3 + 180*d4 + 60*d5 + 20*d6],\
 %y[720*d0 + 120*d1 + 20*d2 + d3]
  reduce maximum 5x3x20x2x6 over d3, d4 %y[720*d0 + 240*d1 + d2 + 120*d3 + 20*d4], %m[60*d0 + 20*d1 + d2]
  elementwise 5x3x20 {
    store add(%m[60*d0 + 20*d1 + d2], %b[d2]), %z[60*d0 + 20*d1 + d2]
  }
}"""
KERNEL_BY_COLUMNS = "%k[27*d3 + 9*d4 + 3*d5 + d6]"


@pytest.mark.parametrize("is_turned", [False, True])
def test_a_convolution_and_what_follows_is_one_kernel_with_the_same_bits_in_all_blocks(
    is_turned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    x, k, b = (rng.normal(0, 1, shape).astype("f4") for shape in ((5, 6, 8, 3), (3, 3, 3, 20), (20,)))
    text, want = CONVOLUTION, Engine.of(of(CONVOLUTION, "never")).run([x, k, b])[0]
    if is_turned:
        monkeypatch.setattr(product_forms, "_FEWEST_ROWS", 1)
        text = text.replace("[3x3x3x20]", "[20x3x3x3]").replace("%k[d3 + 180*d4 + 60*d5 + 20*d6]", KERNEL_BY_COLUMNS)
        k = np.ascontiguousarray(np.moveaxis(k, 3, 0))
    found = []
    for threads, size in ((1, 1), (2, 400), (3, 100_000)):
        translation = in_blocks(text, threads, size)
        assert "block0.run(lo, hi, " in translation.source and ("k_turned" in translation.source) == is_turned
        assert not any(f"{call}(" in translation.source for call in ("dot", "matmul", "copyto", "maximum"))
        assert translation.temporary_bytes <= of(text, "never").temporary_bytes
        found.append(Engine.of(translation, threads).run([x, k, b])[0])
    np.testing.assert_allclose(found[0], want, rtol=1e-5, atol=1e-5)
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


def test_a_block_of_rows_of_a_product_may_have_any_number_of_them() -> None:
    text = """program @main(%x, %k) -> (%z[24*d0 + d1] : 29x24) {
  argument %x : float32[29x40]
  argument %k : float32[12x24]
  temporary %y : float32[29x24]
  temporary %z : float32[29x24]
  dot 29x24x3x4 %x[40*d0 + 9*d2 + d3], %k[d1 + 96*d2 + 24*d3], %y[24*d0 + d1]
  elementwise 29x24 {
    store exp(%y[24*d0 + d1]), %z[24*d0 + d1]
  }
}"""
    rng = np.random.default_rng(2)
    x, k = rng.normal(0, 0.5, (29, 40)).astype("f4"), rng.normal(0, 0.5, (12, 24)).astype("f4")
    taken = np.concatenate([x[:, 9 * n : 9 * n + 4] for n in range(3)], axis=1)
    found = []
    for threads, size in ((1, 1), (2, 200), (3, 100_000)):
        translation = in_blocks(text, threads, size)
        assert "block0.run(lo, hi, " in translation.source and "dot(" not in translation.source
        found.append(Engine.of(translation, threads).run([x, k])[0])
    np.testing.assert_allclose(found[0], np.exp(taken @ k), rtol=1e-5)
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


def dot_of(name: str) -> Dot:
    extents, *strides = CASES[name]
    buffers = [
        Buffer(n, elements(extents, s), np.dtype("f4"), Role.ARGUMENT) for n, s in zip("abz", strides, strict=True)
    ]
    return Dot(extents, Origin("", ""), *(Access(b, 0, s) for b, s in zip(buffers, strides, strict=True)))


@pytest.mark.parametrize(
    ("name", "copied"),
    [
        ("matrices", 0),
        ("the first factor lies by columns", 0),
        ("a stack of matrices", 0),
        ("a stack of pairs of rows", 0),
        ("windows", 6 * 7 * 3 * 3 * 2),
        ("a window for each channel", 5 * 6 * 21 * 3 * 3),
        ("a factor that is turned", 9 * 9 * 3 * 3 * 5 + 3 * 3 * 8 * 5),
    ],
)
def test_what_is_copied_for_blas(name: str, copied: int) -> None:
    assert copied_elements(dot_of(name)) == copied
    assert beats_blas(dot_of(name)) == (copied > 0 or "stack" in name)  # small ones, each by itself


@pytest.mark.parametrize("total", range(1, 40))
@pytest.mark.parametrize("most", [1, 3, 4, 8])
def test_parts_cover_all_and_are_of_almost_one_size(total: int, most: int) -> None:
    parts = [(start + size * n, size) for start, size, many in sizes(total, most) for n in range(many)]
    assert [n for start, size in parts for n in range(start, start + size)] == list(range(total))
    assert max(size for _, size in parts) <= most
    assert {size for _, size in parts} <= {min(size for _, size in parts) + n for n in (0, 1)}


def test_a_factor_is_turned_for_windows_only() -> None:
    found = turned(dot_of("a factor that is turned"))
    assert found is not None and found[0].extents == (1, 1, 8, 3, 3, 5) and found[1].b.strides == (0, 0, 1, 120, 40, 8)
    matrices = replace(of_matrices(64), b=replace(of_matrices(64).b, strides=(0, 64, 1)))
    assert turned(matrices) is None and saved_product_us(matrices) == 0
    assert turned(dot_of("a factor that is turned"), loop=0) is None  # nine rows in a block


def of_matrices(side: int) -> Dot:
    size, steps = side * side, ((side, 0, 1), (0, 1, side), (side, 1, 0))
    x, y, z = (Buffer(name, size, np.dtype("f4"), Role.ARGUMENT) for name in "xyz")
    a, b, out = (Access(buffer, 0, strides) for buffer, strides in zip((x, y, z), steps, strict=True))
    return Dot((side, side, side), Origin("", ""), a, b, out)


def test_windows_of_a_small_image_are_no_large_factor() -> None:
    """However often they are read: what lies in memory has to stay in the cache."""

    def saved(channels: int, elements: int) -> float:
        extents, steps = (32, 64, 256, channels, 3, 3), ((9 * channels, 0, 0, 9, 3, 1), (0, 258, 1, 17028, 258, 1))
        w, x, z = (Buffer(name, elements, np.dtype("f4"), Role.ARGUMENT) for name in "wxz")
        out = Access(z, 0, (16384, 256, 1, 0, 0, 0))
        return saved_product_us(Dot(extents, Origin("", ""), Access(w, 0, steps[0]), Access(x, 0, steps[1]), out))

    assert saved(30, 30 * 66 * 258) > 0
    assert saved(60, 60 * 66 * 258) == 0
    assert saved(6, 1 << 20) > 0  # a tile reads few rows of it


def test_one_vector_is_for_several_channels_and_not_for_one_row_of_pixels() -> None:
    text = of(program("windows, and results of channels", "float32"), "always").kernels
    terms = text.partition("math.fma")[0].rpartition("scf.for")[2]
    assert terms.count("-> vector<16xf32>") == 2  # a factor, and the sum so far
    assert text.count("-> f32") >= 4


@pytest.mark.parametrize(("side", "gains"), [(32, False), (64, False), (512, True)])
def test_a_second_thread_of_blas_pays_for_large_products(side: int, gains: bool) -> None:
    assert (gained_by_threads_us(of_matrices(side)) > saved_product_us(of_matrices(side))) == gains


def test_a_sum_over_images_and_pixels_is_not_copied_for_blas() -> None:
    apart = dot_of("sums of a channel over images and pixels")
    side_by_side = replace(apart, **{name: replace(getattr(apart, name), strides=(210, 30, 1)) for name in "ab"})
    assert saved_product_us(apart) > 0 and beats_blas(apart)
    assert saved_product_us(side_by_side) == 0


def test_a_factor_that_leaves_the_cache_is_for_blas() -> None:
    assert saved_product_us(of_matrices(1024)) == 0 and saved_product_us(of_matrices(64)) > 0


@pytest.mark.parametrize(("kernels", "calls"), [("auto", False), ("never", True)])
def test_a_convolution_of_few_channels_is_a_kernel_unless_told_otherwise(kernels: str, calls: bool) -> None:
    text = """program @main(%x, %k) -> (%z[6272*d0 + 224*d1 + 8*d2 + d3] : 4x28x28x8) {
  argument %x : float32[4x30x30]
  argument %k : float32[3x3x8]
  temporary %z : float32[4x28x28x8]
  dot 4x28x28x8x3x3 %x[900*d0 + 30*d1 + d2 + 30*d4 + d5], %k[d3 + 24*d4 + 8*d5],\
 %z[6272*d0 + 224*d1 + 8*d2 + d3]
}"""
    source = of(text, kernels).source
    assert ("copyto(" in source) == calls and ("run0.run(" in source) != calls


def test_a_loop_of_long_rounds_asks_more_often_whether_to_go_on() -> None:
    text = """program @main(%x, %w) -> (%y[64*d0 + d1] : 64x64) {
  argument %x : float32[64x64]
  argument %w : float32[64x64]
  temporary %y : float32[64x64] mutable
  temporary %i : int64[scalar] counts mutable
  temporary %p : float32[64x64] in #0
  elementwise 64x64 {
    store %x[64*d0 + d1], %y[64*d0 + d1]
  }
  for %i[0] = 0 to 1000 step 1 #0 {
    dot 64x64x64 %y[64*d0 + d2], %w[d1 + 64*d2], %p[64*d0 + d1]
    elementwise 64x64 {
      store tanh(%p[64*d0 + d1]), %y[64*d0 + d1]
    }
  }
}"""
    found = of(text, "auto")
    assert "loop0.run(" in found.source and "dot(" not in found.source
    assert "@interrupted" in found.kernels and "arith.constant 31 : i64" in found.kernels  # of 32 rounds, in one
    rng = np.random.default_rng(3)
    x, w = rng.normal(0, 1, (64, 64)).astype("f4"), rng.normal(0, 0.05, (64, 64)).astype("f4")
    got, want = (Engine.of(each).run([x, w])[0] for each in (found, of(text, "never")))
    np.testing.assert_allclose(got, want, atol=1e-6)
