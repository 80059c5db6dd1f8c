"""Products of matrices as kernels: every size and layout, nothing written beside the result, the same bits always."""

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
import pytest
from support.statement_text import program_of

from ipu_mlir.runtime.engine.checked_kernels import CheckedKernel
from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.engine.native import machine_code
from ipu_mlir.runtime.translator.kernels.matrices.product_text import packed_elements, product_parts, product_text
from ipu_mlir.runtime.translator.kernels.module import KernelText, module_text
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.translate import translate_statements
from ipu_mlir.runtime.translator.translation import Translation

Product = Callable[[np.ndarray, np.ndarray, np.ndarray], None]


def product(dtype: str, level: int = 1, batch: tuple[tuple[int | None, ...], ...] = ()) -> Product:
    """The kernel for arrays with ``batch`` axes in front, in memory with guards."""
    kind = np.dtype(dtype)
    ranks = [2 + sum(axes[array] is not None for axes in batch) for array in range(3)]
    text = product_text("product0", kind, ranks, batch)
    code = machine_code(module_text([KernelText("product0", 0, 4, text, product_parts(kind))]), level)
    kernel = CheckedKernel("product0", code["product0"])

    def run(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        packed = np.full(packed_elements(out.shape[-1], a.shape[-1], kind), np.nan, kind)
        kernel.run(a, b, out, packed)

    return run


def matrix(rng: np.random.Generator, rows: int, columns: int, dtype: str, by_columns: bool) -> np.ndarray:
    """Random numbers, with gaps between the rows or the columns, beginning anywhere."""
    shape = (columns, rows) if by_columns else (rows, columns)
    gap, skipped = rng.integers(0, 5, 2)
    memory = rng.normal(0, 1, skipped + shape[0] * (shape[1] + gap)).astype(dtype)
    found = memory[skipped:].reshape(shape[0], -1)[:, : shape[1]]
    return found.T if by_columns else found


SIZES = [
    *((1, 1, 1), (8, 32, 256), (9, 33, 257), (7, 31, 255), (16, 512, 16), (5, 513, 40), (3, 1100, 2), (64, 64, 600)),
    *(tuple(int(n) for n in np.random.default_rng(seed).integers(1, 140, 3)) for seed in range(12)),
]


@pytest.mark.parametrize("layout", ["rows, rows", "rows, columns", "columns, rows", "columns, columns"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_of_all_sizes_and_layouts(dtype: str, layout: str) -> None:
    rng = np.random.default_rng(0)
    of = product(dtype)
    a_by_columns, b_by_columns = (each == "columns" for each in layout.split(", "))
    for rows, columns, terms in SIZES:
        a = matrix(rng, rows, terms, dtype, a_by_columns)
        b = matrix(rng, terms, columns, dtype, b_by_columns)
        out = matrix(rng, rows, columns, dtype, by_columns=False)
        out[...] = np.nan  # what was there is not read
        of(a, b, out)
        want = a.astype("f8") @ b.astype("f8")
        bound = (np.abs(a).astype("f8") @ np.abs(b).astype("f8")) * np.finfo(dtype).eps * (2 + np.sqrt(terms))
        assert (np.abs(out - want) <= bound).all(), (rows, columns, terms)


@pytest.mark.parametrize("level", [0, 2, 3])
def test_a_result_has_the_same_bits_in_all_cuts_and_at_all_levels(level: int) -> None:
    rng = np.random.default_rng(1)
    a, b = (rng.normal(0, 1, shape).astype("f4") for shape in ((37, 530), (530, 600)))
    want, found = np.empty((37, 600), "f4"), np.empty((37, 600), "f4")
    product("float32")(a, b, want)
    of = product("float32", level)
    for rows, columns in ((37, 600), (10, 600), (37, 70), (1, 1)):
        found[...] = 0
        for row in range(0, 37, rows):
            for column in range(0, 600, columns) if rows > 1 else (0, 31, 32, 511, 512, 599):
                part = np.s_[row : row + rows, column : column + columns]
                of(a[part[0]], b[:, part[1]], found[part])
                np.testing.assert_array_equal(found[part], want[part])


def test_a_sum_has_the_terms_in_one_order_whatever_the_layout() -> None:
    rng = np.random.default_rng(2)
    a, b = (rng.normal(0, 1, shape).astype("f4") for shape in ((40, 300), (300, 50)))
    found = []
    for left in (a, np.asfortranarray(a)):
        for right in (b, np.asfortranarray(b)):
            found.append(np.empty((40, 50), "f4"))
            product("float32")(left, right, found[-1])
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


def test_what_is_beyond_an_edge_does_not_reach_a_result() -> None:
    a, b = np.full((16, 24), np.nan, "f4"), np.full((24, 64), np.inf, "f4")
    a[:9, :5], b[:5, :33] = 1, 2
    for left in (a[:9, :5], np.asfortranarray(a)[:9, :5]):
        for right in (b[:5, :33], np.asfortranarray(b)[:5, :33]):
            out = np.empty((9, 33), "f4")
            product("float32")(left, right, out)
            np.testing.assert_array_equal(out, 10)


def test_infinite_terms_give_what_numpy_gives() -> None:
    a, b = np.ones((8, 40), "f4"), np.ones((40, 40), "f4")
    a[0, 3], a[1, 4], b[7, 7], b[4, 9] = np.inf, np.nan, -np.inf, 0
    a[2, 7] = 0
    out = np.empty((8, 40), "f4")
    product("float32")(a, b, out)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(out, a @ b)


@pytest.mark.parametrize(
    ("batch", "a_shape", "b_shape"),
    [
        (((0, 0, 0),), (3, 9, 20), (3, 20, 40)),
        (((0, None, 0),), (3, 9, 20), (20, 40)),
        (((0, 0, 0), (1, 1, 1)), (2, 3, 9, 20), (2, 3, 20, 40)),
        (((None, 0, 0), (0, 1, 1)), (3, 9, 20), (2, 3, 20, 40)),
    ],
)
def test_stacks_of_matrices(batch: tuple, a_shape: tuple[int, ...], b_shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-9, 9, shape).astype("f4") for shape in (a_shape, b_shape))
    want = a @ b
    out = np.empty_like(want)
    product("float32", batch=batch)(a, b, out)
    np.testing.assert_array_equal(out, want)


# -- which products they are

SHAPES = {  # extents, then how two factors and the result move with the loops
    "matrices": ((300, 290, 310), (310, 0, 1), (0, 1, 290), (290, 1, 0)),
    "the second by columns": ((300, 290, 310), (310, 0, 1), (0, 310, 1), (290, 1, 0)),
    "the first by columns": ((300, 290, 310), (1, 0, 300), (0, 1, 290), (290, 1, 0)),
    "the result by columns": ((300, 290, 310), (310, 0, 1), (0, 1, 290), (1, 300, 0)),
    "a stack": ((6, 100, 70, 80), (8000, 80, 0, 1), (5600, 0, 1, 70), (7000, 70, 1, 0)),
    "a stack by one": ((6, 100, 70, 80), (80, 480, 0, 1), (5600, 0, 1, 70), (7000, 70, 1, 0)),
}


def text(shape: Sequence[tuple[int, ...]], dtype: str = "float32") -> str:
    extents, *strides = shape
    a, b, out = (1 + sum((n - 1) * s for n, s in zip(extents, each, strict=True)) for each in strides)
    places = [" + ".join(f"{s}*d{n}" for n, s in enumerate(each) if s) for each in strides]
    return f"""program @main(%a, %b) -> (%z[d0] : {out}) {{
  argument %a : {dtype}[{a}]
  argument %b : {dtype}[{b}]
  temporary %z : {dtype}[{out}]
  dot {"x".join(map(str, extents))} %a[{places[0]}], %b[{places[1]}], %z[{places[2]}]
}}"""


def translated(program: str, kernels: str = "auto", **options: object) -> Translation:
    chosen = TranslatorOptions(kernels=kernels, **options)  # type: ignore[arg-type]
    return translate_statements(program_of(program), chosen)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SHAPES)
def test_where_blas_is_narrow_large_products_are_kernels(name: str, dtype: str, threads: int) -> None:
    rng = np.random.default_rng(4)
    found = translated(text(SHAPES[name], dtype), narrow_blas=True, threads=threads)
    assert "product0.run(" in found.source and "dot(" not in found.source and "matmul(" not in found.source
    is_large = 2 * prod(SHAPES[name][0]) / 100e3 >= 200
    assert ("run_blocks(" in found.source) == (threads > 1 and is_large)
    shapes = [argument.shape for argument in found.arguments]
    a, b = (rng.integers(-9, 9, shape).astype(dtype) for shape in shapes)
    (got,) = Engine.of(found, threads).run([a, b])
    (want,) = Engine.of(translated(text(SHAPES[name], dtype), "never")).run([a, b])
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("extents", "a", "b", "is_cut_by_columns"),
    [
        ((40, 600, 500), (500, 0, 1), (0, 1, 600), True),
        ((600, 40, 500), (500, 0, 1), (0, 1, 40), False),
        ((520, 600, 60), (60, 0, 1), (0, 1, 600), False),
    ],
)
def test_threads_share_the_columns_where_rows_are_few(
    extents: tuple[int, ...], a: tuple[int, ...], b: tuple[int, ...], is_cut_by_columns: bool
) -> None:
    """Each would pack all of a factor for its part of the rows."""
    rows, columns, terms = extents
    found = translated(text((extents, a, b, (columns, 1, 0))), narrow_blas=True)
    assert "run_blocks(" in found.source and ("[:, lo:hi]" in found.source) == is_cut_by_columns
    rng = np.random.default_rng(5)
    given = [rng.integers(-9, 9, shape).astype("f4") for shape in ((rows, terms), (terms, columns))]
    (got,) = Engine.of(found).run([each.reshape(-1) for each in given])
    np.testing.assert_array_equal(got.reshape(rows, columns), given[0] @ given[1])


def test_where_blas_uses_whole_vectors_it_does_large_products() -> None:
    found = translated(text(SHAPES["matrices"]), narrow_blas=False)
    assert "dot(" in found.source and not found.kernels


def test_a_narrow_blas_with_many_threads_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ipu_mlir.runtime.translator.codegen.emit.plan_schedule.default_threads", lambda: 8)
    assert "dot(" in translated(text(SHAPES["matrices"]), narrow_blas=True, threads=2).source
    assert "product0.run(" in translated(text(SHAPES["matrices"]), narrow_blas=True, threads=4).source


@pytest.mark.parametrize(
    ("rows", "columns", "terms", "is_kernel"),
    [(32, 32, 32, True), (8, 64, 64, True), (31, 32, 32, False), (4, 512, 512, False), (512, 16, 512, False)],
)
def test_small_and_narrow_products_are_for_blas(rows: int, columns: int, terms: int, is_kernel: bool) -> None:
    program = text(((rows, columns, terms), (terms, 0, 1), (0, 1, columns), (columns, 1, 0)))
    both = program.replace("%b) -> (", "%b, %l) -> (%m[d0] : 16384, ").removesuffix("}")
    both = both.replace("  temporary", "  argument %l : float32[128x128]\n  temporary %m : float32[16384]\n  temporary")
    both += "  dot 128x128x128 %l[128*d0 + d2], %l[128*d2 + d1], %m[128*d0 + d1]\n}"
    source = translated(both, narrow_blas=True).source
    assert source.count("product0.run(") == 1 + is_kernel and source.count("dot(") == 1 - is_kernel


def test_a_kernel_is_not_made_for_a_product_of_microseconds() -> None:
    program = text(((64, 64, 64), (64, 0, 1), (0, 1, 64), (64, 1, 0)))
    found = translated(program, narrow_blas=True)
    assert "dot(" in found.source and not found.kernels


def test_products_of_one_kind_are_one_kernel_and_share_its_code() -> None:
    program = """program @main(%a, %b) -> (%z[40*d0 + d1] : 150x40, %y[60*d0 + d1] : 150x60) {
  argument %a : float32[150x190]
  argument %b : float32[190x60]
  temporary %z : float32[150x40]
  temporary %y : float32[150x60]
  dot 1150x40x190 %a[190*d0 + d2], %b[60*d2 + d1], %z[40*d0 + d1]
  dot 150x60x190 %a[190*d0 + d2], %b[60*d2 + d1], %y[60*d0 + d1]
}"""
    found = translated(program, narrow_blas=True)
    assert found.source.count("product0.run(") == 2 and "product1" not in found.source
    assert found.kernels.count("func internal @f32_tile") == found.kernels.count("func internal @f32_product") == 1
