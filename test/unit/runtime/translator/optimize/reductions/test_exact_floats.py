"""Products of integers: with floats where those are exact, and to the bit what integers give, wrapped or not."""

import numpy as np
import pytest

RNG = np.random.default_rng(5)


def product(m: int, k: int, n: int, kind: str, total: str = "i32", extend: str = "extsi") -> str:
    """A matrix product of ``kind`` with sums of type ``total``."""
    widen = [f"%{x}{x} = arith.{extend} %{x} : {kind} to {total}" for x in "xy"] if kind != total else []
    x, y = ("%x", "%y") if kind == total else ("%xx", "%yy")
    return f"""func.func @main(%a: memref<{m}x{k}x{kind}>, %b: memref<{k}x{n}x{kind}>) -> memref<{m}x{n}x{total}> {{
      %c = arith.constant 7 : {total}
      %o = memref.alloc() : memref<{m}x{n}x{total}>
      linalg.fill ins(%c : {total}) outs(%o : memref<{m}x{n}x{total}>)
      linalg.generic {{indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
          affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}}
          ins(%a, %b : memref<{m}x{k}x{kind}>, memref<{k}x{n}x{kind}>) outs(%o : memref<{m}x{n}x{total}>) {{
      ^bb0(%x: {kind}, %y: {kind}, %z: {total}):
        {" ".join(widen)}
        %p = arith.muli {x}, {y} : {total}
        %s = arith.addi %z, %p : {total}
        linalg.yield %s : {total}
      }}
      return %o : memref<{m}x{n}x{total}>
    }}"""


def extremes(dtype: np.dtype, *shape: int) -> np.ndarray:
    """Numbers of the whole range, among them many of the largest size."""
    limits = np.iinfo(dtype)
    values = RNG.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    return np.where(RNG.random(shape) < 0.6, limits.min, values).astype(dtype)


@pytest.mark.parametrize(
    ("kind", "total", "k"),
    [
        ("i8", "i32", 64),  # f32
        ("i8", "i32", 2048),  # f32 in pieces
        ("i8", "i32", 1201),  # a prime: f64
        ("i8", "i16", 2048),  # pieces that wrap around
        ("i16", "i32", 256),  # f64 whose sums wrap around
        ("i32", "i32", 100),  # halves
        ("i16", "i64", 300),
        ("i32", "i64", 64),
        ("i64", "i64", 64),
    ],
)
def test_products_of_integers_are_exact(kind, total, k, run):
    m, n = 24, 17
    a, b = extremes(np.dtype(f"int{kind[1:]}"), m, k), extremes(np.dtype(f"int{kind[1:]}"), k, n)
    whole = np.dtype(f"int{total[1:]}")
    expected = a.astype(np.int64) @ b.astype(np.int64) + 7  # modulo 2^64, and so modulo any smaller power
    np.testing.assert_array_equal(run(product(m, k, n, kind, total), a, b)[0], expected.astype(whole))


def test_unsigned_numbers_are_extended_with_zeros(run):
    a, b = RNG.integers(-128, 128, (24, 70), np.int8), RNG.integers(-128, 128, (70, 17), np.int8)
    expected = a.view(np.uint8).astype(np.int32) @ b.view(np.uint8).astype(np.int32) + 7
    np.testing.assert_array_equal(run(product(24, 70, 17, "i8", extend="extui"), a, b)[0], expected)


@pytest.mark.parametrize(("kind", "calls"), [("i8", 1), ("i32", 3)])
def test_products_of_integers_are_products_of_floats(kind, calls, engine):
    source = engine(product(32, 64, 32, kind)).source
    assert source.count("dot(") == calls
    assert "matmul" not in source


def test_few_products_stay_integers(engine):
    assert "'f4'" not in engine(product(4, 4, 4, "i8")).source


def widened_before(m: int, k: int, n: int, extend: str = "extsi") -> str:
    """The product of matrices that are widened in ops of their own."""

    def wide(name: str, rows: int, columns: int) -> str:
        kinds = f"memref<{rows}x{columns}xi8>", f"memref<{rows}x{columns}xi32>"
        return f"""%w{name} = memref.alloc() : {kinds[1]}
      linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}} ins(%{name} : {kinds[0]}) outs(%w{name} : {kinds[1]}) {{
      ^bb0(%x: i8, %z: i32):
        %y = arith.{extend} %x : i8 to i32
        linalg.yield %y : i32
      }}"""

    text = product(m, k, n, "i32").replace("ins(%a, %b", "ins(%wa, %wb")
    begin, _, rest = text.partition("{")
    begin = begin.replace(f"{m}x{k}xi32", f"{m}x{k}xi8").replace(f"{k}x{n}xi32", f"{k}x{n}xi8")
    return f"{begin}{{\n      {wide('a', m, k)}\n      {wide('b', k, n)}{rest}"


@pytest.mark.parametrize("extend", ["extsi", "extui"])
def test_factors_that_were_widened_before_are_known_to_be_small(extend, run, engine):
    text = widened_before(24, 64, 24, extend)
    a, b = extremes(np.dtype(np.int8), 24, 64), extremes(np.dtype(np.int8), 64, 24)
    wide = [x.astype(np.int32) if extend == "extsi" else x.view(np.uint8).astype(np.int32) for x in (a, b)]
    np.testing.assert_array_equal(run(text, a, b)[0], wide[0] @ wide[1] + 7)
    assert engine(text).source.count("dot(") == 1
