"""Products of a large matrix by few rows or columns, beside NumPy, whole and in blocks."""

import numpy as np
import pytest
from blocks_of_any_size import in_blocks
from support.statement_text import program_of

from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.translator.kernels.thin_products import thin
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.statements.statements import Dot
from ipu_mlir.runtime.translator.translate import translate_statements

ACROSS, ALONG = False, True
CASES = {  # rows, columns, terms; the strides of both factors, by those loops; how the large one is read
    "two rows": ((2, 1003, 531), (531, 0, 1), (0, 1, 1003), ACROSS),
    "three rows, by columns": ((3, 1003, 531), (1, 0, 3), (0, 1, 1003), ACROSS),
    "four columns": ((1008, 4, 531), (531, 0, 1), (0, 1, 4), ALONG),
    "seven columns that lie side by side": ((1008, 7, 531), (531, 0, 1), (0, 531, 1), ALONG),
    "five rows by a turned factor": ((5, 1008, 531), (531, 0, 1), (0, 531, 1), ALONG),
    "four rows": ((4, 1003, 531), (531, 0, 1), (0, 1, 1003), None),
    "nine columns": ((1003, 9, 531), (531, 0, 1), (0, 1, 9), None),
    "a factor that stays in the cache": ((2, 1003, 31), (31, 0, 1), (0, 1, 1003), None),
}


def program(name: str, dtype: str) -> str:
    (rows, columns, terms), a, b, _ = CASES[name]
    places = [" + ".join(f"{stride}*d{loop}" for loop, stride in enumerate(each) if stride) for each in (a, b)]
    return f"""program @main(%a, %b) -> (%z[{columns}*d0 + d1] : {rows}x{columns}) {{
  argument %a : {dtype}[{rows * terms}]
  argument %b : {dtype}[{terms * columns}]
  temporary %z : {dtype}[{rows}x{columns}]
  dot {rows}x{columns}x{terms} %a[{places[0]}], %b[{places[1]}], %z[{columns}*d0 + d1]
}}"""


def factors(name: str, dtype: str) -> tuple[list[np.ndarray], np.ndarray]:
    """Both, and their product."""
    (rows, columns, terms), a, b, _ = CASES[name]
    rng = np.random.default_rng(3)
    given = [rng.standard_normal(size).astype(dtype) for size in (rows * terms, terms * columns)]
    step = np.dtype(dtype).itemsize
    x = np.lib.stride_tricks.as_strided(given[0], (rows, terms), (a[0] * step, a[2] * step))
    y = np.lib.stride_tricks.as_strided(given[1], (terms, columns), (b[2] * step, b[1] * step))
    return given, x.astype("float64") @ y.astype("float64")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CASES)
def test_a_thin_product_is_the_sum_of_products(name: str, dtype: str) -> None:
    translation = translate_statements(program_of(program(name, dtype)), TranslatorOptions(kernels="auto"))
    given, expected = factors(name, dtype)
    (got,) = Engine.of(translation).run(given)
    np.testing.assert_allclose(got, expected, rtol=0, atol=2e-4)
    (dot,) = program_of(program(name, dtype)).statements
    assert isinstance(dot, Dot)
    form = thin(dot)
    assert (form and form.is_along) is CASES[name][3]
    assert form is None or ".run(" in translation.source


@pytest.mark.parametrize("name", ["four columns", "seven columns that lie side by side"])
def test_blocks_of_any_size_have_the_same_bits(name: str) -> None:
    given, expected = factors(name, "float32")
    found = []
    for threads, size in ((1, 1), (2, 5000), (3, 10_000_000)):
        translation = in_blocks(program(name, "float32"), threads, size)
        assert threads == 1 or "block0.run(lo, hi, " in translation.source
        found.append(Engine.of(translation, threads).run(given)[0])
    np.testing.assert_allclose(found[0], expected, rtol=0, atol=2e-4)
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])
