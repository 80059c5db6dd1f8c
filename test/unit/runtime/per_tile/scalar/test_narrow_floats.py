"""Rounding to bf16 and the f8 types, their bits, and programs on them tile by tile."""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.dialects.support.narrow_floats import ML_DTYPES, host_dtype
from ipu_mlir.runtime.per_tile.scalar.narrow_floats import (
    bits_dtype,
    bits_of,
    from_bits,
    from_integers,
    is_host_array,
    round_to,
    to_host,
)

Run = Callable[..., list[Any]]
Text = Callable[..., str]

F8 = tuple(name for name in ML_DTYPES if name != "bf16")
PARTS = "[[1, 4, 1]], 0"


def finite_numbers(name: str) -> list[float]:
    """All finite numbers of an f8 type, ascending, but 2**-127: ml_dtypes takes subnormal f32 anywhere."""
    numbers = from_bits(name, np.arange(256, dtype=np.uint8))
    return sorted(set(numbers[np.isfinite(numbers) & (numbers != 2.0**-127)].tolist()))


def home(name: str) -> str:
    return f"memref<4x{name}, #home4>"


@pytest.fixture
def each(run: Run, vertices: Text) -> Callable[..., Any]:
    """``each(lines, x, source, dest)``: element by element, from %in to %r."""

    def result(*lines: str, x: Any, source: str, dest: str) -> Any:
        body = "\n".join(lines)
        op = f"""linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
            iterator_types = ["parallel"]}} ins(%x : {home(source)}) outs(%y : {home(dest)}) {{
            ^bb0(%in: {source}, %out: {dest}):
              {body}
              linalg.yield %r : {dest} }}"""
        return run(
            f"""func.func @main(%x: {home(source)}) -> {home(dest)} {{
            %y = memref.alloc() : {home(dest)}
            {vertices(op, PARTS)}
            return %y : {home(dest)} }}""",
            x,
        )[0]

    return result


@pytest.mark.parametrize("name", F8)
def test_between_two_neighbours_the_nearest_is_taken(name: str) -> None:
    """Just below and above the middle in f64: through f32 both would be the middle itself."""
    numbers = finite_numbers(name)
    middles = [(low + high) / 2 for low, high in pairwise(numbers)]
    near = [x * (1 + side * 2.0**-50) for x in middles for side in (-1, 1)]
    expected = [min(numbers, key=lambda y, x=x: abs(Fraction(y) - Fraction(x))) for x in near]
    assert round_to(name, np.array(near)).tolist() == expected


@pytest.mark.parametrize("name", F8)
def test_a_tie_goes_to_the_even_number(name: str) -> None:
    """Powers of two have no last bit that could be odd: there the larger one is taken."""
    numbers = [x for x in finite_numbers(name) if x >= 0]
    middles = [(low + high) / 2 for low, high in pairwise(numbers)]
    pairs = pairwise(numbers)
    has_even = name != "f8E8M0FNU"
    expected = [low if has_even and bits_of(name, np.float32(low)) % 2 == 0 else high for low, high in pairs]
    for wide in (np.float32, np.float64):
        assert round_to(name, np.array(middles, wide)).tolist() == expected


@pytest.mark.parametrize(
    ("name", "largest", "beyond"),
    [
        ("f8E3M4", 15.5, np.inf),
        ("f8E4M3", 240, np.inf),
        ("f8E4M3B11FNUZ", 30, np.nan),
        ("f8E4M3FN", 448, np.nan),
        ("f8E4M3FNUZ", 240, np.nan),
        ("f8E5M2", 57344, np.inf),
        ("f8E5M2FNUZ", 57344, np.nan),
        ("f8E8M0FNU", 2.0**127, np.nan),
    ],
)
def test_what_is_too_large(name: str, largest: float, beyond: float) -> None:
    found = round_to(name, np.array([largest, 2 * largest, np.inf, 1e300, np.nan]))
    np.testing.assert_array_equal(found, np.float32([largest, beyond, beyond, beyond, np.nan]))


def test_zero_where_the_type_has_one() -> None:
    signs = {name: np.signbit(round_to(name, np.float32(-0.0))) for name in ML_DTYPES if name != "f8E8M0FNU"}
    assert {name for name, sign in signs.items() if not sign} == {"f8E4M3B11FNUZ", "f8E4M3FNUZ", "f8E5M2FNUZ"}
    assert np.isnan(round_to("f8E8M0FNU", np.float32([0.0, -1.0]))).all()


@pytest.mark.parametrize("name", F8)
def test_bits_come_back(name: str) -> None:
    bits = np.arange(256, dtype=np.uint8)
    numbers = from_bits(name, bits)
    known = ~np.isnan(numbers)
    np.testing.assert_array_equal(bits_of(name, numbers)[known], bits[known])
    assert np.isnan(from_bits(name, bits_of(name, numbers[~known]))).all()


def test_integers_of_64_bits_are_rounded_once() -> None:
    """Next to the middle of 2**61 and 2**62, which f64 would make of all three."""
    middle = 3 << 60
    numbers = np.array([middle - 1, middle, middle + 1, 3], np.int64)
    assert from_integers("f8E8M0FNU", numbers).tolist() == [2.0**61, 2.0**62, 2.0**62, 4]
    assert from_integers("f8E4M3FN", np.array([17, 19, -21, 465], np.int16)).tolist()[:3] == [16, 20, -20]


@pytest.mark.parametrize("name", ML_DTYPES)
def test_host_arrays_of_every_kind(name: str) -> None:
    dtype = host_dtype(name)
    assert dtype is not None
    x = np.array([1, 2, 4]).astype(dtype)
    assert all(is_host_array(name, x.view(kind)) for kind in (dtype, bits_dtype(name), f"V{dtype.itemsize}"))
    others = [other for other in ML_DTYPES if other != name]
    assert not any(is_host_array(name, np.zeros(3, host_dtype(other))) for other in others)
    assert not any(is_host_array(name, np.zeros(3, kind)) for kind in (np.float32, np.int8, np.int16, np.uint32, "V3"))
    assert to_host(name, np.float32([1, 2, 4])).tolist() == x.tolist()


@pytest.mark.parametrize("held", ["same", np.uint8, "V1"])
@pytest.mark.parametrize("name", F8)
def test_arguments_and_results(run: Run, name: str, held: Any) -> None:
    x = np.array([1, 2, 0.5, 8]).astype(host_dtype(name))
    text = f"func.func @main(%x: {home(name)}) -> {home(name)} {{ return %x : {home(name)} }}"
    (result,) = run(text, x if held == "same" else x.view(held))
    assert result.dtype == host_dtype(name)
    assert result.tolist() == x.tolist()


def test_an_argument_of_another_type(run: Run) -> None:
    text = f"func.func @main(%x: {home('f8E4M3FN')}) -> {home('f8E4M3FN')} {{ return %x : {home('f8E4M3FN')} }}"
    expected = r"input 0 is float8_e5m2 \(4,\), expected float8_e4m3fn \(or uint8 bit patterns\) \(4,\)"
    with pytest.raises(RunError, match=expected):
        run(text, np.zeros(4, host_dtype("f8E5M2")))


def test_each_operation_rounds(each: Callable[..., Any]) -> None:
    """In f8E4M3FN, 16 + 1 is a tie that goes down to 16."""
    lines = ("%one = arith.constant 1.0 : f8E4M3FN", "%0 = arith.addf %in, %one : f8E4M3FN")
    x = np.array([16, 18, 448, -1]).astype(host_dtype("f8E4M3FN"))
    found = each(*lines, "%r = arith.addf %0, %one : f8E4M3FN", x=x, source="f8E4M3FN", dest="f8E4M3FN")
    assert found.tolist() == [16, 20, 448, 1]


@pytest.mark.parametrize("name", F8)
def test_casts_from_and_to_every_width(each: Callable[..., Any], name: str) -> None:
    x = np.array([1 + 2.0**-1 + 2.0**-40, 1.25 + 2.0**-40, 3 - 2.0**-40, 9.9])
    expected = round_to(name, x).tolist()
    narrow = each(f"%r = arith.truncf %in : f64 to {name}", x=x, source="f64", dest=name)
    assert narrow.astype(np.float32).tolist() == expected
    for wide, dtype in (("f16", np.float16), ("f32", np.float32), ("f64", np.float64)):
        found = each(f"%r = arith.extf %in : {name} to {wide}", x=narrow, source=name, dest=wide)
        assert found.dtype == dtype
        assert found.tolist() == expected
    found = each(f"%r = arith.extf %in : {name} to bf16", x=narrow, source=name, dest="bf16")
    assert found.astype(np.float32).tolist() == expected


def test_integers_and_bits(each: Callable[..., Any]) -> None:
    name = "f8E5M2"
    x = np.array([9, -11, 13, 100000], np.int32)
    found = each(f"%r = arith.sitofp %in : i32 to {name}", x=x, source="i32", dest=name)
    assert found.astype(np.float32).tolist() == [8, -12, 12, np.inf]
    back = each(f"%r = arith.fptosi %in : {name} to i32", x=found[:3].repeat(2)[:4], source=name, dest="i32")
    assert back.tolist() == [8, 8, -12, -12]
    bits = each(f"%r = arith.bitcast %in : {name} to i8", x=found, source=name, dest="i8")
    assert bits.view(np.uint8).tolist() == found.view(np.uint8).tolist()
    again = each(f"%r = arith.bitcast %in : i8 to {name}", x=bits, source="i8", dest=name)
    assert again.tolist() == found.tolist()


@pytest.mark.parametrize(("name", "normal"), [("f8E5M2", 2.0**-14), ("f8E4M3FN", 2.0**-6), ("bf16", 2.0**-126)])
def test_numbers_that_have_all_their_precision(each: Callable[..., Any], name: str, normal: float) -> None:
    x = np.array([normal, normal / 2, np.nan, -2 * normal]).astype(host_dtype(name))
    found = each(f"%r = math.isnormal %in : {name}", x=x, source=name, dest="i1")
    assert found.tolist() == [True, False, False, True]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("f8E4M3FN", "dense<[1.0, -2.5, 0.0, 1.1]>", [1, -2.5, 0, 1.125]),
        ("f8E4M3FN", 'dense<"0x38404850">', [1, 2, 4, 8]),
        ("f8E5M2", "dense<3.5>", [3.5] * 4),
        ("f8E5M2", "dense<[0x7C, 0xFC, 1.0, -0.0]>", [np.inf, -np.inf, 1, -0.0]),
        ("f8E4M3FNUZ", "dense<[0x80, 1.0, 2.0, 4.0]>", [np.nan, 1, 2, 4]),
        ("f8E8M0FNU", "dense<[1.0, 4.0, 0xFF, 0.5]>", [1, 4, np.nan, 0.5]),
    ],
)
def test_constants_of_every_spelling(run: Run, name: str, value: str, expected: list[float]) -> None:
    (result,) = run(
        f"""memref.global "private" constant @c : {home(name)} = {value}
        func.func @main() -> {home(name)} {{
        %c = memref.get_global @c : {home(name)}
        return %c : {home(name)} }}"""
    )
    np.testing.assert_array_equal(result.astype(np.float32), np.float32(expected))


def test_a_codelet_of_the_library(run: Run, vertices: Text) -> None:
    name, line = "f8E4M3FN", "memref<4xf8E4M3FN, #tile0_4>"
    sort = f"""linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
        iterator_types = ["reduction"], library_call = "sort"}} ins(%x : {line}) outs(%y : {line}) {{
        ^bb0(%in: {name}, %out: {name}):
          linalg.yield %in : {name} }}"""
    x = np.array([3, np.nan, -2, 0.5]).astype(host_dtype(name))
    (result,) = run(
        f"""func.func @main(%x: {line}) -> {line} {{
        %y = memref.alloc() : {line}
        {vertices(sort, "[[4, 4, 0]], 0")}
        return %y : {line} }}""",
        x,
    )
    np.testing.assert_array_equal(result.astype(np.float32), np.float32([-2, 0.5, 3, np.nan]))
