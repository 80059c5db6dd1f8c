"""Chains of operations on one float of 16 or 8 bits are taken from tables, bit for bit."""

import numpy as np
import pytest

from ipu_mlir.dialects.support.narrow_floats import host_dtype
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions

ID = "affine_map<(d0) -> (d0)>"
ROW = "affine_map<(d0, d1) -> (d1)>"
BOTH = "affine_map<(d0, d1) -> (d0, d1)>"
COMPUTED = TranslatorOptions(table_min_reads=10**9, kernels="never")
RNG = np.random.default_rng(5)

ACTIVATION = """%half = arith.constant 0.5 : T
    %one = arith.constant 1.0 : T
    %s = arith.mulf %a, %half : T
    %t = math.tanh %s : T
    %u = arith.addf %t, %one : T
    %v = arith.mulf %u, %half : T
    %w = arith.mulf %v, %a : T
    %e = math.exp %w : T
    %r = arith.divf %e, %u : T"""


def dtype_of(name: str) -> np.dtype:
    return np.dtype(np.float16) if name == "f16" else host_dtype(name)


def unary(name: str, size: int, body: str = ACTIVATION) -> str:
    return f"""func.func @main(%x: memref<{size}xT>) -> memref<{size}xT> {{
      %o = memref.alloc() : memref<{size}xT>
      linalg.generic {{indexing_maps = [{ID}, {ID}], iterator_types = ["parallel"]}}
        ins(%x : memref<{size}xT>) outs(%o : memref<{size}xT>) {{
      ^bb0(%a: T, %z: T):
        {body}
        linalg.yield %r : T
      }}
      return %o : memref<{size}xT>
    }}""".replace("xT", f"x{name}").replace(": T", f": {name}")


def every_value(name: str, size: int) -> np.ndarray:
    """All bits, again and again: NaN, infinities, zeros and subnormal numbers among them."""
    bits = np.arange(size, dtype=np.uint32).astype(f"u{dtype_of(name).itemsize}")
    return bits.view(dtype_of(name))


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize(
    ("name", "size"), [("f16", 131072), ("bf16", 131072), ("f8E4M3FN", 1024), ("f8E5M2", 512), ("f8E4M3FNUZ", 512)]
)
def test_tables_hold_what_is_computed(name, size, engine):
    with_table, computed = engine(unary(name, size)), engine(unary(name, size), COMPUTED)
    assert "table0.take(" in with_table.source and "tanh(" not in with_table.source
    assert "table" not in computed.source and "tanh(" in computed.source
    x = every_value(name, size)
    found, expected = with_table.run([x])[0], computed.run([x])[0]
    np.testing.assert_array_equal(found.astype(np.float32), expected.astype(np.float32))
    np.testing.assert_array_equal(np.signbit(found[found == 0]), np.signbit(expected[found == 0]))


def test_an_argument_is_looked_up_by_the_bits_that_it_comes_as(engine):
    source = engine(unary("f16", 131072)).source
    assert "f16_of_bits(" not in source and source.count("bits_of_f16(") == 1  # of the result


def test_what_is_short_or_small_is_computed(engine):
    assert "table" not in engine(unary("f16", 1000)).source
    assert "table" not in engine(unary("f16", 131072, "%r = arith.addf %a, %a : T")).source


def test_what_follows_from_two_numbers_is_computed(engine, run_plain):
    """Their product is not in a table; what follows from the product is, and from a row that was added as well."""
    text = f"""func.func @main(%x: memref<512x512xf16>, %y: memref<512xf16>) -> memref<512x512xf16> {{
      %o = memref.alloc() : memref<512x512xf16>
      linalg.generic {{indexing_maps = [{BOTH}, {ROW}, {BOTH}], iterator_types = ["parallel", "parallel"]}}
        ins(%x, %y : memref<512x512xf16>, memref<512xf16>) outs(%o : memref<512x512xf16>) {{
      ^bb0(%p: f16, %q: f16, %z: f16):
        %a = arith.mulf %p, %q : f16
        {ACTIVATION.replace("T", "f16")}
        %k = math.tanh %r : f16
        %l = arith.addf %k, %q : f16
        linalg.yield %l : f16
      }}
      return %o : memref<512x512xf16>
    }}"""
    source = engine(text).source
    assert source.count(".take(") == 1 and "multiply(" in source and "tanh(" not in source
    x, y = RNG.standard_normal((512, 512)).astype(np.float16), RNG.standard_normal(512).astype(np.float16)
    np.testing.assert_array_equal(run_plain(text, x, y)[0], run_plain(text, x, y, options=COMPUTED)[0])


def test_equal_functions_share_a_table(engine):
    one = unary("f16", 131072).removesuffix("}").rstrip()
    body = one[one.index("%o =") : one.index("return")]
    kind = "memref<131072xf16>"
    text = f"""func.func @main(%x: {kind}, %y: {kind}) -> ({kind}, {kind}) {{
      {body}
      {body.replace("%o", "%o2").replace("%x", "%y")}
      return %o, %o2 : {kind}, {kind}
    }}"""
    source = engine(text).source
    assert source.count(".take(") == 2 and source.count("memory.constant(") == 1


def test_numbers_of_equally_small_arguments_are_made_in_their_order(engine):
    names = [f"%x{number}" for number in range(6)]
    kinds = ", ".join(["memref<9xf16>"] * 6)
    scalars = [f"%a{number}" for number in range(6)]
    sums = [f"%s{n} = arith.addf %{'s' if n > 1 else 'a'}{n - 1}, %a{n} : f16" for n in range(1, 6)]
    text = f"""func.func @main({", ".join(f"{name}: memref<9xf16>" for name in names)}) -> memref<9xf16> {{
      %o = memref.alloc() : memref<9xf16>
      linalg.generic {{indexing_maps = [{", ".join([ID] * 7)}], iterator_types = ["parallel"]}}
        ins({", ".join(names)} : {kinds}) outs(%o : memref<9xf16>) {{
      ^bb0({", ".join(f"{scalar}: f16" for scalar in scalars)}, %z: f16):
        {chr(10).join(sums)}
        linalg.yield %s5 : f16
      }}
      return %o : memref<9xf16>
    }}"""
    lines = [line.strip() for line in engine(text).source.splitlines() if "f16_of_bits(" in line]
    assert [line.split("(")[1][:4] for line in lines] == [f"arg{number}" for number in range(6)]


def test_numbers_of_an_argument_are_made_in_the_loop_that_reads_them(engine):
    """Also behind a small argument, whose own loop would fit to that of the large one, but to nothing after it."""
    text = f"""func.func @main(%y: memref<1024xf16>, %x: memref<1024x1024xf16>) -> memref<1024x1024xf16> {{
      %o = memref.alloc() : memref<1024x1024xf16>
      linalg.generic {{indexing_maps = [{BOTH}, {ROW}, {BOTH}], iterator_types = ["parallel", "parallel"]}}
        ins(%x, %y : memref<1024x1024xf16>, memref<1024xf16>) outs(%o : memref<1024x1024xf16>) {{
      ^bb0(%p: f16, %q: f16, %z: f16):
        %a = arith.mulf %p, %q : f16
        %b = arith.addf %a, %p : f16
        linalg.yield %b : f16
      }}
      return %o : memref<1024x1024xf16>
    }}"""
    source = engine(text).source
    assert source.count("memory.run_blocks(") == 1 and "memory.temporary(0, 'f4', (1024,))" in source
