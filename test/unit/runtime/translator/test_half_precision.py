"""f16, bf16 and the f8 types: rounded after each operation, sums in f32."""

import numpy as np
import pytest

from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.dialects.support.narrow_floats import ML_DTYPES, host_dtype

RNG = np.random.default_rng(3)
FIRST = "affine_map<(d0) -> (d0)>"


def bf16(*values: float) -> np.ndarray:
    return np.array(values, np.float32).astype(host_dtype("bf16"))


def from_host(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float32)


def unary(source: str, dest: str, body: str, size: int = 3) -> str:
    return f"""func.func @main(%x: memref<{size}x{source}>) -> memref<{size}x{dest}> {{
      %o = memref.alloc() : memref<{size}x{dest}>
      linalg.generic {{indexing_maps = [{FIRST}, {FIRST}], iterator_types = ["parallel"]}}
        ins(%x : memref<{size}x{source}>) outs(%o : memref<{size}x{dest}>) {{
      ^bb0(%a: {source}, %z: {dest}):
        {body}
        linalg.yield %r : {dest}
      }}
      return %o : memref<{size}x{dest}>
    }}"""


def test_bf16_is_rounded_after_each_operation(run_plain):
    """1 + 2^-8 rounds to 1, so adding it twice in bf16 changes nothing; in one step it would."""
    body = """%c = arith.constant 0.00390625 : bf16
        %s = arith.addf %a, %c : bf16
        %r = arith.addf %s, %c : bf16"""
    found = run_plain(unary("bf16", "bf16", body), bf16(1, 2, -1))[0]
    assert from_host(found).tolist() == [1, 2, -0.9921875]


def test_bf16_from_wider_types_is_rounded_once(run_plain):
    """A tie only after rounding to f32 first: 1 + 2^-8 + 2^-40."""
    x = np.array([1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-8, np.nan])
    found = from_host(run_plain(unary("f64", "bf16", "%r = arith.truncf %a : f64 to bf16"), x)[0])
    assert found[:2].tolist() == [1.0078125, 1.0] and np.isnan(found[2])
    n = np.array([2**24 + 2**16 + 1, 3, -7], np.int32)
    found = from_host(run_plain(unary("i32", "bf16", "%r = arith.sitofp %a : i32 to bf16"), n)[0])
    assert found.tolist() == [2**24 + 2**17, 3, -7]


def test_f32_is_rounded_to_bf16_without_a_detour(engine):
    made = engine(unary("f32", "bf16", "%r = arith.truncf %a : f32 to bf16", size=4))
    x = np.float32([1 + 2.0**-8, 1 + 3 * 2.0**-8, -(1 + 2.0**-8 + 2.0**-20), np.inf])
    assert from_host(made.run([x])[0]).tolist() == [1.0, 1.015625, -1.0078125, np.inf]
    assert "'f8'" not in made.source


def test_the_bits_of_bf16(run_plain):
    found = run_plain(unary("bf16", "i16", "%r = arith.bitcast %a : bf16 to i16"), bf16(1, -2, 0))[0]
    assert found.view(np.uint16).tolist() == [0x3F80, 0xC000, 0]
    back = run_plain(unary("i16", "bf16", "%r = arith.bitcast %a : i16 to bf16"), found)[0]
    assert from_host(back).tolist() == [1, -2, 0]


@pytest.mark.parametrize("kind", ["f16", "bf16", "f8E4M3FN"])
def test_constants_of_rank_0(kind, run_plain):
    text = f"""memref.global "private" constant @c : memref<{kind}> = dense<5.000000e-01>
    func.func @main() -> memref<{kind}> {{
      %c = memref.get_global @c : memref<{kind}>
      return %c : memref<{kind}>
    }}"""
    assert from_host(run_plain(text)[0]).tolist() == 0.5


def test_constants_of_bf16(run_plain):
    text = """
    memref.global "private" constant @c : memref<3xbf16> = dense<[1.5, -0.0, 0x7F80]>
    func.func @main() -> memref<3xbf16> {
      %c = memref.get_global @c : memref<3xbf16>
      return %c : memref<3xbf16>
    }"""
    found = from_host(run_plain(text)[0])
    assert found.tolist() == [1.5, 0.0, np.inf] and np.signbit(found[1])


MATMUL = """func.func @main(%a: memref<8x64xT>, %b: memref<64x8xT>) -> memref<8x8xT> {
  %zero = arith.constant 0.0 : T
  %o = memref.alloc() : memref<8x8xT>
  linalg.fill ins(%zero : T) outs(%o : memref<8x8xT>)
  linalg.matmul ins(%a, %b : memref<8x64xT>, memref<64x8xT>) outs(%o : memref<8x8xT>)
  return %o : memref<8x8xT>
}"""


def test_products_of_f16_are_one_product_of_f32_that_is_rounded(engine):
    made = engine(MATMUL.replace("T>", "f16>").replace(": T", ": f16"))
    a, b = (RNG.standard_normal(shape).astype(np.float16) for shape in ((8, 64), (64, 8)))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(made.run([a, b])[0], exact.astype(np.float16), rtol=1e-3, atol=1e-3)
    assert made.source.count("dot(") == 1 and "'f4', (8, 8)" in made.source


def test_products_of_bf16(run_plain):
    a, b = (bf16(*RNG.standard_normal(512)).reshape(shape) for shape in ((8, 64), (64, 8)))
    exact = from_host(a).astype(np.float64) @ from_host(b).astype(np.float64)
    (found,) = run_plain(MATMUL.replace("T>", "bf16>").replace(": T", ": bf16"), a, b)
    np.testing.assert_allclose(from_host(found), exact, rtol=2**-8, atol=2**-8)


@pytest.mark.parametrize(("op", "expected"), [("arith.addf", 2050), ("arith.maximumf", 1)])
def test_sums_of_f16_do_not_stop_where_f16_stops_counting(run_plain, op, expected):
    low = "0.0" if op == "arith.addf" else "0xFC00"
    text = f"""func.func @main(%x: memref<2050xf16>) -> memref<f16> {{
      %low = arith.constant {low} : f16
      %o = memref.alloc() : memref<f16>
      linalg.fill ins(%low : f16) outs(%o : memref<f16>)
      linalg.reduce {{ {op} }} ins(%x : memref<2050xf16>) outs(%o : memref<f16>) dimensions = [0]
      return %o : memref<f16>
    }}"""
    assert run_plain(text, np.ones(2050, np.float16))[0] == expected


def test_every_operation_on_f16_is_rounded_as_numpy_does(run_plain):
    body = """%s = arith.addf %a, %a : f16
        %e = math.exp %s : f16
        %r = arith.divf %e, %a : f16"""
    x = RNG.standard_normal(64).astype(np.float16)
    np.testing.assert_array_equal(run_plain(unary("f16", "f16", body, 64), x)[0], np.exp(x + x) / x)


F8 = [name for name in ML_DTYPES if name.startswith("f8")]


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize("name", F8)
def test_every_operation_on_f8_is_rounded_as_ml_dtypes_does(name, run_plain):
    body = f"""%s = arith.addf %a, %a : {name}
        %e = math.exp %s : {name}
        %n = arith.negf %e : {name}
        %r = arith.mulf %n, %a : {name}"""
    x = np.abs(RNG.standard_normal(64)).astype(np.float32).astype(host_dtype(name))
    expected = -np.exp((x + x).astype(np.float32)).astype(x.dtype).astype(np.float32)
    expected = expected.astype(x.dtype) * x
    found = run_plain(unary(name, name, body, 64), x)[0]
    assert found.dtype == x.dtype
    np.testing.assert_array_equal(from_host(found), from_host(expected))


@pytest.mark.parametrize("name", F8)
def test_the_bits_of_f8(name, run_plain):
    bits = np.arange(16, 96, dtype=np.int8)
    found = run_plain(unary("i8", name, f"%r = arith.bitcast %a : i8 to {name}", 80), bits)[0]
    np.testing.assert_array_equal(found.view(np.int8), bits)
    np.testing.assert_array_equal(
        run_plain(unary(name, "i8", f"%r = arith.bitcast %a : {name} to i8", 80), found)[0], bits
    )


def test_products_of_f8_are_one_product_of_f32(engine):
    """An f8 has no product of its own: what comes as f8 is summed in the type of the result."""
    text = MATMUL.replace("8xT>, memref<64x8xT>", "8xf8E4M3FN>, memref<64x8xf8E5M2>").replace("T", "f32")
    text = text.replace("memref<8x64xf32>", "memref<8x64xf8E4M3FN>").replace("memref<64x8xf32>", "memref<64x8xf8E5M2>")
    made = engine(text)
    a = RNG.standard_normal((8, 64)).astype(host_dtype("f8E4M3FN"))
    b = RNG.standard_normal((64, 8)).astype(host_dtype("f8E5M2"))
    np.testing.assert_allclose(made.run([a, b])[0], from_host(a) @ from_host(b), rtol=1e-5, atol=1e-5)
    assert made.source.count("dot(") == 1


@pytest.mark.parametrize("name", ["bf16", "f8E4M3FN", "f8E5M2"])
def test_what_arrays_may_be(name, engine):
    """Those of ml_dtypes, their bits, and what np.load makes of them; no others."""
    made = engine(unary(name, name, f"%r = arith.addf %a, %a : {name}"))
    x = np.float32([1, -2, 0.5]).astype(host_dtype(name))
    size = x.dtype.itemsize
    for given in (x, x.view(f"u{size}"), x.view(f"V{size}"), [1, -2, 0.5]):
        assert from_host(made.run([given])[0]).tolist() == [2, -4, 1]
    with pytest.raises(RunError, match=f"has dtype float32, expected {x.dtype.name}"):
        made.run([np.zeros(3, np.float32)])


@pytest.mark.parametrize("name", ["f16", "bf16", "f8E4M3FN"])
def test_a_table_that_is_gathered_from_stays_as_it_was_given(name, engine):
    """Only the elements that are gathered become f32; not so where something reads the whole table."""
    maps = "indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>]"
    gather = f"""%o = memref.alloc() : memref<3x8x{name}>
      linalg.generic {{{maps}, iterator_types = ["parallel", "parallel"]}}
        ins(%i : memref<3xindex>) outs(%o : memref<3x8x{name}>) {{
      ^bb0(%n: index, %z: {name}):
        %j = linalg.index 1 : index
        %v = memref.load %t[%n, %j] : memref<100x8x{name}>
        %r = arith.addf %v, %v : {name}
        linalg.yield %r : {name}
      }}"""
    kinds = f"%t: memref<100x8x{name}>, %i: memref<3xindex>"
    alone = f"func.func @main({kinds}) -> memref<3x8x{name}> {{\n{gather}\nreturn %o : memref<3x8x{name}>\n}}"
    both = f"""func.func @main({kinds}) -> (memref<3x8x{name}>, memref<100x8x{name}>) {{
      {gather}
      %w = memref.alloc() : memref<100x8x{name}>
      linalg.exp ins(%t : memref<100x8x{name}>) outs(%w : memref<100x8x{name}>)
      return %o, %w : memref<3x8x{name}>, memref<100x8x{name}>
    }}"""
    table = RNG.standard_normal((100, 8)).astype(np.float32).astype(np.float16 if name == "f16" else host_dtype(name))
    rows = np.array([7, 99, 0])
    for text, is_whole in ((alone, False), (both, True)):
        made = engine(text)
        np.testing.assert_array_equal(from_host(made.run([table, rows])[0]), from_host(table[rows] + table[rows]))
        assert ("'f4', (100, 8)" in made.source) == is_whole
