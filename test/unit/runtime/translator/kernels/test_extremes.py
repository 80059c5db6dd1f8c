"""Places of extremes, one or several, in kernels, beside the library codelets that define them."""

from math import prod

import numpy as np
import pytest
from support.statement_text import program_of

from ipu_mlir.dialects.codelets.library import LIBRARY
from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.translator.statements.access import Access, Buffer, Role, row_major
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.statements.statements import LibraryCall, Origin, Program
from ipu_mlir.runtime.translator.translate import translate_statements
from ipu_mlir.runtime.translator.translation import Translation

CALLS = [f"first_{call}{nan}" for call in ("maximum", "minimum") for nan in ("", "_after_nan", "_or_nan")]


def text(call: str, dtype: str, shape: tuple[int, int, int]) -> str:
    m, n, k = shape
    return f"""program @main(%x) -> (%p[{k}*d0 + d1] : {m}x{k}) {{
  argument %x : {dtype}[{m}x{n}x{k}]
  temporary %p : int32[{m}x{k}]
  first_extreme {call} {m}x{n}x{k} over d1 %x[{n * k}*d0 + {k}*d1 + d2], %p[{k}*d0 + d2]
}}"""


def translated(call: str, dtype: str, shape: tuple[int, int, int], kernels: str = "always") -> Translation:
    return translate_statements(program_of(text(call, dtype, shape)), TranslatorOptions(kernels=kernels))


@pytest.mark.parametrize("shape", [(3, 7, 21), (5, 40, 1), (5, 48, 1), (21, 9, 1), (1, 5, 5), (2, 1, 5)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "int16"])
@pytest.mark.parametrize("call", CALLS)
def test_kernels_find_what_the_codelet_finds(call: str, dtype: str, shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(5)
    x = rng.integers(-3, 4, shape).astype(dtype)
    if dtype.startswith("float"):
        x[rng.random(shape) < 0.2] = np.nan
        x[rng.random(shape) < 0.2] = np.inf
        x[rng.random(shape) < 0.3] = -np.inf
        x[0, :, 0] = -np.inf if "maximum" in call else np.inf
    found = translated(call, dtype, shape)
    assert "run0.run(" in found.source
    (got,) = Engine.of(found).run([x])
    np.testing.assert_array_equal(got, LIBRARY[call].per_tile(x)[0])


@pytest.mark.parametrize(("shape", "is_kernel"), [((1, 64, 64), True), ((64, 64, 1), True), ((64, 4096, 1), False)])
def test_long_rows_are_left_to_numpy(shape: tuple[int, int, int], is_kernel: bool) -> None:
    assert ("run0.run(" in translated("first_maximum_or_nan", "float32", shape, "auto").source) == is_kernel


@pytest.mark.parametrize("kept", [1, 4, 20])
@pytest.mark.parametrize("shape", [(1, 20), (3, 21), (2, 2, 40)])
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_the_largest_elements_are_those_of_the_codelet(dtype: str, shape: tuple[int, ...], kept: int) -> None:
    rng = np.random.default_rng(7)
    found = largest(dtype, shape, kept)
    assert "run0.run(" in found.source
    for keys in (
        rng.integers(-3, 4, shape),
        np.full(shape, np.iinfo(dtype).min),
        np.broadcast_to(range(shape[-1]), shape),
    ):
        given = keys.astype(dtype)
        (got,) = Engine.of(found).run([given])
        np.testing.assert_array_equal(got, np.argsort(~given, -1, kind="stable")[..., :kept])


def test_many_of_the_largest_are_left_to_numpy() -> None:
    assert "run_codelet('top_k'" in largest("int32", (2, 200), 65).source


@pytest.mark.parametrize(("shape", "calls"), [((64, 5000), False), ((256, 1000), True)])
def test_fifty_of_a_long_row_are_worth_a_kernel(shape: tuple[int, ...], calls: bool) -> None:
    assert ("run_codelet('top_k'" in largest("int32", shape, 50, "auto").source) == calls


def largest(dtype: str, shape: tuple[int, ...], kept: int, kernels: str = "always") -> Translation:
    """The translation of one call of ``top_k``."""
    out = (*shape[:-1], kept)
    keys = Access(Buffer("x", prod(shape), np.dtype(dtype), Role.ARGUMENT, shape), 0, row_major(shape))
    places = Access(Buffer("p", prod(out), np.dtype(np.int32), Role.TEMPORARY, out), 0, row_major(out))
    call = LibraryCall((), Origin("top", ""), "top_k", (keys,), (places,), (shape, out), (False,))
    program = Program("main", (keys.buffer,), (call,), (places,), (out,))
    return translate_statements(program, TranslatorOptions(kernels=kernels))
