"""f16 and bf16: rounded after each operation, sums in f32."""

import numpy as np
import pytest

from ipu_mlir.runtime.numeric.bfloat16 import from_host, round_to_bf16, to_host

RNG = np.random.default_rng(3)
FIRST = "affine_map<(d0) -> (d0)>"


def bf16(*values: float) -> np.ndarray:
    return to_host(round_to_bf16(np.float64(values), np.empty(len(values), np.float32)))


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
