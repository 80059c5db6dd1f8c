"""bf16 and f16: every operation rounds, whatever it is computed in."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.per_tile.executor import PerTileExecutor
from ipu_mlir.runtime.per_tile.scalar.narrow_floats import bits_of, from_bits, round_to

Run = Callable[..., list[Any]]
Text = Callable[..., str]
F32 = np.float32
HOME = "memref<4xbf16, #home4>"
PARTS = "[[1, 4, 1]], 0"


def bits(*numbers: float) -> Any:
    """Host bit patterns of numbers that are bf16."""
    return np.asarray(bits_of("bf16", np.array(numbers, F32)))


def numbers(result: Any) -> list[float]:
    """The numbers of a result of bf16."""
    assert result.dtype == ml_dtypes.bfloat16
    found: list[float] = result.astype(F32).tolist()
    return found


def each(*lines: str, ins: str = "bf16", outs: str = "bf16") -> str:
    """``y[i] = body(x[i])``; the body names them %in and %r."""
    body = "\n".join(lines)
    return f"""linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
        iterator_types = ["parallel"]}} ins(%x : memref<4x{ins}, #home4>) outs(%y : memref<4x{outs}, #home4>) {{
        ^bb0(%in: {ins}, %out: {outs}):
          {body}
          linalg.yield %r : {outs} }}"""


@pytest.fixture
def mapped(run: Run, vertices: Text) -> Callable[..., Any]:
    """``mapped(lines, x)`` is the result of ``each``."""

    def result(*lines: str, x: Any, ins: str = "bf16", outs: str = "bf16") -> Any:
        return run(
            f"""func.func @main(%x: memref<4x{ins}, #home4>) -> memref<4x{outs}, #home4> {{
            %y = memref.alloc() : memref<4x{outs}, #home4>
            {vertices(each(*lines, ins=ins, outs=outs), PARTS)}
            return %y : memref<4x{outs}, #home4> }}""",
            x,
        )[0]

    return result


def _nearest(x: float) -> float:
    """The bf16 nearest to ``x`` by trying the neighbours, ties to even bits."""
    top = int(np.array(abs(x), F32).view(np.uint32)) >> 16
    candidates = [float(from_bits("bf16", np.uint16(b))) for b in range(max(top - 1, 0), min(top + 3, 0x7F80))]
    best = min(candidates, key=lambda y: (abs(y - abs(x)), int(bits_of("bf16", np.array(y, F32))) & 1))
    return float(np.copysign(best, x))


@given(st.floats(-(2.0**100), 2.0**100))
def test_rounding_from_f64_is_to_the_nearest(x: float) -> None:
    assert float(round_to("bf16", np.float64(x))) == _nearest(x)


@given(st.floats(-(2.0**100), 2.0**100, width=32))
def test_rounding_from_f32_is_to_the_nearest(x: float) -> None:
    assert float(round_to("bf16", np.float32(x))) == _nearest(x)


@pytest.mark.parametrize(
    ("x", "expected"),
    [(np.inf, np.inf), (-np.inf, -np.inf), (3.4e38, np.inf), (-0.0, -0.0), (1e300, np.inf), (np.nan, np.nan)],
)
def test_rounding_of_special_numbers(x: float, expected: float) -> None:
    for wide in (np.float32, np.float64):
        with np.errstate(over="ignore"):
            found = round_to("bf16", np.array(x).astype(wide))
        np.testing.assert_array_equal(found, np.float32(expected))
        assert np.signbit(found) == np.signbit(expected)


def test_nan_keeps_its_high_bits_and_stays_nan() -> None:
    assert np.isnan(round_to("bf16", np.uint32(0x7F800001).view(F32)))


def test_every_bit_pattern_survives_memory(run: Run) -> None:
    x = np.array([0x7FC1, 0xFF80, 0x0001, 0x8000], np.uint16)
    result = run(f"func.func @main(%x: {HOME}) -> {HOME} {{ return %x : {HOME} }}", x)[0]
    assert result.view(np.uint16).tolist() == x.tolist()


def test_each_operation_rounds(mapped: Callable[..., Any]) -> None:
    """1 + 2**-8 is a tie that goes down to 1, so adding it twice changes nothing."""
    add = ("%e = arith.constant 3.906250e-03 : bf16", "%0 = arith.addf %in, %e : bf16", "%r = arith.addf %0, %e : bf16")
    found = mapped(*add, x=bits(1, 2, 0.5, 0))
    assert numbers(found) == [1, 2, 0.5078125, 0.0078125]


def test_functions_round_too(mapped: Callable[..., Any]) -> None:
    found = mapped("%r = math.exp %in : bf16", x=bits(1, 0, -1, 2))
    assert numbers(found) == [2.71875, 1.0, 0.3671875, 7.375]


def test_widening_is_exact_and_narrowing_rounds_once(mapped: Callable[..., Any]) -> None:
    assert mapped("%r = arith.extf %in : bf16 to f32", x=bits(1.5, 2, 3, 4), outs="f32").tolist() == [1.5, 2, 3, 4]
    x = np.array([1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-8, 1 + 3 * 2.0**-8, -1 - 2.0**-8 - 2.0**-40])
    found = mapped("%r = arith.truncf %in : f64 to bf16", x=x, ins="f64")
    assert numbers(found) == [1.0078125, 1.0, 1.015625, -1.0078125]


def test_integers_become_bf16_and_back(mapped: Callable[..., Any]) -> None:
    x = np.array([257, 258, -259, 2**24 + 2**16 + 1], np.int32)
    assert numbers(mapped("%r = arith.sitofp %in : i32 to bf16", x=x, ins="i32")) == [256, 258, -260, 2**24 + 2**17]
    found = mapped("%r = arith.fptosi %in : bf16 to i32", x=bits(1.5, -2.5, 256, 0), outs="i32")
    assert found.tolist() == [1, -2, 256, 0]


def test_bits_are_those_of_bf16(mapped: Callable[..., Any]) -> None:
    x = bits(1, -2, 0.5, 0)
    assert mapped("%r = arith.bitcast %in : bf16 to i16", x=x, outs="i16").view(np.uint16).tolist() == x.tolist()
    back = mapped("%r = arith.bitcast %in : i16 to bf16", x=x.view(np.int16), ins="i16")
    assert numbers(back) == [1, -2, 0.5, 0]


def test_a_sum_rounds_after_each_step(run: Run, vertices: Text) -> None:
    """In f32 it would be 260: 256 and 1 are 257, which bf16 does not have."""
    total = """linalg.reduce {arith.addf} ins(%x : memref<4xbf16, #tile0_4>) outs(%y : memref<bf16, #one>)
               dimensions = [0]"""
    result = run(
        f"""func.func @main(%x: memref<4xbf16, #tile0_4>) -> memref<bf16, #one> {{
        %y = memref.alloc() : memref<bf16, #one>
        %c = arith.constant 256.0 : bf16
        {vertices("linalg.fill ins(%c : bf16) outs(%y : memref<bf16, #one>)", "[], 0")}
        {vertices(total, "[[4, 4, 0]], 0")}
        return %y : memref<bf16, #one> }}""",
        bits(1, 1, 1, 1),
    )
    assert numbers(result[0]) == 256


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("dense<[1.0, -2.5, 0.0, 1.0e-3]>", [1.0, -2.5, 0.0, 0.00099945068359375]),
        ("dense<3.5>", [3.5] * 4),
        ('dense<"0x803F004080400000">', [1.0, 2.0, 4.0, 0.0]),
        ("dense<[0x7F80, 0xFF80, 1.0, 2.0]>", [np.inf, -np.inf, 1.0, 2.0]),
    ],
)
def test_constants_of_every_spelling(run: Run, value: str, expected: list[float]) -> None:
    result = run(
        f"""memref.global "private" constant @c : {HOME} = {value}
        func.func @main() -> {HOME} {{
        %c = memref.get_global @c : {HOME}
        return %c : {HOME} }}"""
    )
    assert numbers(result[0]) == expected


@pytest.mark.parametrize("value", ["dense<5.0e-01>", 'dense<"0x003F">', "dense<0x3F00>"])
def test_constants_of_rank_0(run: Run, value: str) -> None:
    kind = "memref<bf16, #one>"
    result = run(
        f"""memref.global "private" constant @c : {kind} = {value}
        func.func @main() -> {kind} {{
        %c = memref.get_global @c : {kind}
        return %c : {kind} }}"""
    )
    assert result[0].shape == () and float(result[0]) == 0.5


def test_a_large_constant_is_read_from_its_raw_data() -> None:
    x = np.arange(200, dtype=np.uint16)
    with ipu.context(), ir.Location.unknown():
        module = ir.Module.parse(
            """#m = #ipu.mapping<200, [[200, 200, 1, 0]], 0, 0>
            memref.global "private" constant @c : memref<200xbf16, #m> = dense<1.0>
            func.func @main() -> memref<200xbf16, #m> {
            %c = memref.get_global @c : memref<200xbf16, #m>
            return %c : memref<200xbf16, #m> }"""
        )
        constant = next(iter(module.body.operations))
        constant.attributes["initial_value"] = ir.DenseElementsAttr.get(x, type=ir.BF16Type.get())
        result = PerTileExecutor(module).run([])[0]
    assert result.view(np.uint16).tolist() == x.tolist()


def test_a_host_array_of_another_type(run: Run) -> None:
    text = f"func.func @main(%x: {HOME}) -> {HOME} {{ return %x : {HOME} }}"
    with pytest.raises(RunError, match=r"input 0 is float32 \(4,\), expected bfloat16 \(or uint16 bit patterns\)"):
        run(text, np.zeros(4, F32))


@pytest.mark.parametrize("held", [ml_dtypes.bfloat16, np.uint16, "V2"])
def test_arrays_of_every_kind_come_as_those_of_ml_dtypes(run: Run, held: Any) -> None:
    x = np.array([1, 2.5, -3, 0]).astype(ml_dtypes.bfloat16)
    result = run(f"func.func @main(%x: {HOME}) -> {HOME} {{ return %x : {HOME} }}", x.view(held))[0]
    assert result.dtype == ml_dtypes.bfloat16
    assert result.tolist() == x.tolist()


@pytest.mark.parametrize(
    ("kind", "dtype", "factors", "expected"),
    [
        ("bf16", ml_dtypes.bfloat16, (7, 37), [260, 258, 260]),
        ("f16", np.float16, (3, 683), [2050, 2048, 2048]),
        ("f32", F32, (97, 172961), [2**24 + 2, 2**24, 2**24]),
        ("f8E4M3FN", ml_dtypes.float8_e4m3fn, (5, 5), [26, 24, 24]),
    ],
)
def test_a_fused_sum_is_rounded_once(
    run: Run, vertices: Text, kind: str, dtype: Any, factors: tuple[float, float], expected: list[float]
) -> None:
    """The product alone would be a tie; to bf16 and f32 something is added that is too little for f64 to show."""
    tiny = 2.0**-100 if kind in ("bf16", "f32") else 2.0**-9
    alias = f"memref<4x{kind}, #home4>"
    fused = f"""linalg.generic {{indexing_maps = [{", ".join(["affine_map<(i) -> (i)>"] * 4)}],
        iterator_types = ["parallel"]}} ins(%a, %b, %c : {alias}, {alias}, {alias}) outs(%y : {alias}) {{
        ^bb0(%0: {kind}, %1: {kind}, %2: {kind}, %out: {kind}):
          %r = math.fma %0, %1, %2 : {kind}
          linalg.yield %r : {kind} }}"""
    text = f"""func.func @main(%a: {alias}, %b: {alias}, %c: {alias}) -> {alias} {{
        %y = memref.alloc() : {alias}
        {vertices(fused, PARTS)}
        return %y : {alias} }}"""
    addends = np.array([tiny, -tiny, 0, np.nan]).astype(dtype)
    found = run(text, *(np.full(4, factor).astype(dtype) for factor in factors), addends)[0].astype(np.float64)
    assert found[:3].tolist() == expected
    assert np.isnan(found[3])


def test_an_element_takes_two_bytes(executor: Callable[..., PerTileExecutor]) -> None:
    make = executor(
        f"""func.func @main(%x: {HOME}) -> memref<4xbf16, #tile1_4> {{
        %y = memref.alloc() : memref<4xbf16, #tile1_4>
        "ipu.exchange"(%x, %y) : ({HOME}, memref<4xbf16, #tile1_4>) -> ()
        return %y : memref<4xbf16, #tile1_4> }}"""
    )
    make.run([bits(1, 2, 3, 4)])
    assert make.traffic[0].received_bytes.tolist() == [0, 6, 0, 0]
    assert make.memory_held()[0].per_tile.tolist() == [2, 10, 2, 2]


def test_f16_rounds_after_each_operation(mapped: Callable[..., Any]) -> None:
    add = ("%e = arith.constant 4.882810e-04 : f16", "%0 = arith.addf %in, %e : f16", "%r = arith.addf %0, %e : f16")
    found = mapped(*add, x=np.array([1, 2, 0.5, 0], np.float16), ins="f16", outs="f16")
    assert found.dtype == np.float16
    assert found.tolist() == [1, 2, 0.5009765625, 0.0009765625]


def test_a_function_of_f16_rounds_once(mapped: Callable[..., Any]) -> None:
    """Through the nearest square root, the first one would be 1."""
    x = np.array([1 + 2.0**-10, 1.25, 3, 7], np.float16)
    found = mapped("%r = math.rsqrt %in : f16", x=x, ins="f16", outs="f16")
    assert found.tolist() == (1 / np.sqrt(x.astype(np.float64))).astype(np.float16).tolist()
    assert found[0] == 1 - 2.0**-11


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_a_contraction_adds_up_in_f32(run: Run, vertices: Text, kind: str) -> None:
    """The sum of 3000 products of ones: neither type could count that far in steps of one."""
    product = f"""linalg.generic {{indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>,
        affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"]}}
        ins(%x, %w : memref<2x3000x{kind}, #x>, memref<3000x{kind}, #w>) outs(%y : memref<2xf32, #y>) {{
        ^bb0(%a: {kind}, %b: {kind}, %acc: f32):
          %0 = arith.extf %a : {kind} to f32
          %1 = arith.extf %b : {kind} to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          linalg.yield %3 : f32 }}"""
    text = f"""func.func @main(%x: memref<2x3000x{kind}, #x>, %w: memref<3000x{kind}, #w>) -> memref<2xf32, #y> {{
        %y = memref.alloc() : memref<2xf32, #y>
        %c = arith.constant 0.0 : f32
        {vertices("linalg.fill ins(%c : f32) outs(%y : memref<2xf32, #y>)", "[[1, 2, 1]], 0")}
        {vertices(product, "[[1, 2, 1], [3000, 3000, 0]], 0")}
        return %y : memref<2xf32, #y> }}"""
    for alias, mapping in {
        "#x": "#ipu.mapping<6000, [[1, 2, 3000, 1], [3000, 3000, 1, 0]], 0, 0>",
        "#w": "#ipu.mapping<3000, [[3000, 3000, 1, 0], [1, 2, 0, 1]], 0, 0>",
        "#y": "#ipu.mapping<2, [[1, 2, 1, 1]], 0, 0>",
    }.items():
        text = text.replace(alias, mapping)
    ones = np.ones(6000)
    x = ones.astype(np.float16) if kind == "f16" else bits(*ones)
    found = run(text, x.reshape(2, 3000), x[:3000])[0]
    assert found.dtype == F32
    assert found.tolist() == [3000, 3000]
