"""Reductions in two steps, as a partition over tiles leaves them: by blocks of the long axis, then over the blocks."""

import re

import numpy as np
import pytest

from ipu_mlir.dialects.support.narrow_floats import host_dtype

RNG = np.random.default_rng(17)
DTYPES = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "i8": np.int8, "i1": np.bool_}


def ints(*shape: int, kind: str = "f32") -> np.ndarray:
    return RNG.integers(-9, 10, shape).astype(DTYPES[kind])


def blocks(extent: int, block: int) -> int:
    return -(-extent // block)


def literal(value: str, kind: str) -> str:
    return value if kind == "i1" else f"{value} : {kind}"


def calls(source: str) -> list[str]:
    """The functions that a run calls with ``out``, in order."""
    return re.findall(r"^ +([\w.]+)\(", source.split("def main")[1], re.MULTILINE)


def products(source: str) -> int:
    """How many calls of BLAS a run makes."""
    return sum(call in ("matmul", "dot", "vecdot", "vdot") for call in calls(source))


def fill(value: str, kind: str, buffer: str, shape: str) -> str:
    return f"""%{buffer} = memref.alloc() : memref<{shape}x{kind}>
      %{buffer}_c = arith.constant {literal(value, kind)}
      linalg.fill ins(%{buffer}_c : {kind}) outs(%{buffer} : memref<{shape}x{kind}>)"""


def nest(maps: list[str], kinds: str, ins: list[tuple[str, str]], out: tuple[str, str], body: str) -> str:
    """A generic whose loops are d0, d1, ..., of the ``kinds`` p and r."""
    loops = ", ".join(f"d{i}" for i in range(len(kinds)))
    spelled = ", ".join(f"affine_map<({loops}) -> ({m})>" for m in maps)
    iterators = ", ".join({"p": '"parallel"', "r": '"reduction"'}[k] for k in kinds)
    types = [t for _, t in ins] + [out[1]]
    arguments = ", ".join(f"%e{i}: {t.split('x')[-1]}" for i, t in enumerate(types))
    return f"""linalg.generic {{indexing_maps = [{spelled}], iterator_types = [{iterators}]}}
        ins({", ".join(f"%{n}" for n, _ in ins)} : {", ".join(f"memref<{t}>" for _, t in ins)})
        outs(%{out[0]} : memref<{out[1]}>) {{
      ^bb0({arguments}):
        {body}
      }}"""


def partial_products(m: int, n: int, k: int, block: int) -> str:
    """``p[s, m, n] += a[m, k] b[k, n]`` over the k of block s."""
    body = "%0 = arith.mulf %e0, %e1 : f32\n%1 = arith.addf %e2, %0 : f32\nlinalg.yield %1 : f32"
    maps = ["d0, d2", "d2, d1", f"d2 floordiv {block}, d0, d1"]
    parts = f"{blocks(k, block)}x{m}x{n}"
    op = nest(maps, "ppr", [("a", f"{m}x{k}xf32"), ("b", f"{k}x{n}xf32")], ("p", f"{parts}xf32"), body)
    return fill("0.0", "f32", "p", parts) + "\n" + op


def sum_of_parts(m: int, n: int, count: int, order: str = "mns") -> str:
    loop = {name: f"d{position}" for position, name in enumerate(order)}
    kinds = "".join("r" if name == "s" else "p" for name in order)
    maps = [f"{loop['s']}, {loop['m']}, {loop['n']}", f"{loop['m']}, {loop['n']}"]
    body = "%0 = arith.addf %e1, %e0 : f32\nlinalg.yield %0 : f32"
    return nest(maps, kinds, [("p", f"{count}x{m}x{n}xf32")], ("o", f"{m}x{n}xf32"), body)


def product(m: int, n: int, k: int, block: int, order: str = "mns", between: str = "") -> str:
    return f"""func.func @main(%a: memref<{m}x{k}xf32>, %b: memref<{k}x{n}xf32>) -> memref<{m}x{n}xf32> {{
      {partial_products(m, n, k, block)}
      {fill("0.0", "f32", "o", f"{m}x{n}")}
      {between}
      {sum_of_parts(m, n, blocks(k, block), order)}
      return %o : memref<{m}x{n}xf32>
    }}"""


@pytest.mark.parametrize("order", ["mns", "smn"])
@pytest.mark.parametrize(("k", "block"), [(6, 3), (7, 3), (2, 3), (5, 1), (6, 6)])
def test_a_product_is_one_product_again(k, block, order, run, engine):
    text = product(5, 4, k, block, order)
    a, b = ints(5, k), ints(k, 4)
    np.testing.assert_array_equal(run(text, a, b)[0], a @ b)
    source = engine(text).source
    assert len(calls(source)) == products(source) == 1 and " 0 bytes of temporaries" in source


def test_the_sum_goes_on_from_what_is_there(run, engine):
    """The accumulator is an earlier value, here an argument that must stay as it is."""
    text = f"""func.func @main(%a: memref<5x7xf32>, %b: memref<7x4xf32>, %c: memref<5x4xf32>) -> memref<5x4xf32> {{
      {partial_products(5, 4, 7, 2)}
      %o = memref.alloc() : memref<5x4xf32>
      memref.copy %c, %o : memref<5x4xf32> to memref<5x4xf32>
      {sum_of_parts(5, 4, 4)}
      return %o : memref<5x4xf32>
    }}"""
    a, b, c = ints(5, 7), ints(7, 4), ints(5, 4)
    np.testing.assert_array_equal(run(text, a, b, c)[0], c + a @ b)
    source = engine(text).source
    assert products(source) == 1 and "p_" not in source


REDUCTIONS = [
    ("arith.addf", "0.0", "f32", lambda x: x.sum(1)),
    ("arith.mulf", "1.0", "f32", lambda x: x.prod(1)),
    ("arith.maximumf", "0xFF800000", "f32", lambda x: x.max(1)),
    ("arith.minimumf", "0x7F800000", "f32", lambda x: x.min(1)),
    ("arith.maxnumf", "0xFF800000", "f32", lambda x: x.max(1)),
    ("arith.maxnumf", "0x7FC00000", "f32", lambda x: x.max(1)),
    ("arith.addi", "0", "i8", lambda x: x.sum(1, dtype=np.int8)),
    ("arith.muli", "1", "i32", lambda x: x.prod(1, dtype=np.int32)),
    ("arith.maxsi", "-2147483648", "i32", lambda x: x.max(1)),
    ("arith.minui", "-1", "i32", lambda x: x.view(np.uint32).min(1).view(np.int32)),
    ("arith.andi", "-1", "i32", lambda x: np.bitwise_and.reduce(x, 1)),
    ("arith.xori", "0", "i32", lambda x: np.bitwise_xor.reduce(x, 1)),
    ("arith.andi", "true", "i1", lambda x: x.all(1)),
    ("arith.ori", "false", "i1", lambda x: x.any(1)),
]


def reduction(op: str, init: str, kind: str, n: int, block: int, start: str | None = None) -> str:
    """``o[i] = op over j of x[i, j]``, by blocks of j."""
    count = blocks(n, block)
    body = f"%0 = {op} %e1, %e0 : {kind}\nlinalg.yield %0 : {kind}"
    return f"""func.func @main(%x: memref<4x{n}x{kind}>) -> memref<4x{kind}> {{
      {fill(init, kind, "p", f"{count}x4")}
      {nest(["d0, d1", f"d1 floordiv {block}, d0"], "pr", [("x", f"4x{n}x{kind}")], ("p", f"{count}x4x{kind}"), body)}
      {fill(start or init, kind, "o", "4")}
      {nest(["d1, d0", "d0"], "pr", [("p", f"{count}x4x{kind}")], ("o", f"4x{kind}"), body)}
      return %o : memref<4x{kind}>
    }}"""


@pytest.mark.parametrize(("op", "init", "kind", "want"), REDUCTIONS)
@pytest.mark.parametrize(("n", "block"), [(12, 4), (11, 4)])
def test_reductions(op, init, kind, want, n, block, run, engine):
    x = RNG.integers(-90, 91, (4, n)).astype(DTYPES[kind])
    text = reduction(op, init, kind, n, block)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(run(text, x)[0], want(x), rtol=1e-6)
    source = engine(text).source
    first, *others = calls(source)
    assert first.endswith(".reduce") or products(source)
    assert others == (["fmax"] if init == "0xFF800000" and op == "arith.maxnumf" else [])  # of all NaN it makes -inf
    assert " 0 bytes of temporaries" in source


def test_a_maximum_with_nan(run):
    x = np.zeros((4, 5), np.float32)
    x[0], x[1, 0], x[2, 4], x[3] = range(1, 6), np.nan, np.nan, np.nan
    np.testing.assert_array_equal(run(reduction("arith.maximumf", "0xFF800000", "f32", 5, 2), x)[0], x.max(1))
    numbers = run(reduction("arith.maxnumf", "0xFF800000", "f32", 5, 2), x)[0]
    np.testing.assert_array_equal(numbers, np.array([5, 0, 0, -np.inf], np.float32))


def test_partial_results_that_do_not_begin_neutral_stay(run_plain):
    """Each of the three blocks counts what it began with."""
    x = ints(4, 7)
    got = run_plain(reduction("arith.addf", "10.0", "f32", 7, 3, start="0.0"), x)[0]
    np.testing.assert_array_equal(got, x.sum(1) + 30)


def test_partial_results_that_are_read_twice_stay(run, engine):
    text = product(5, 4, 7, 3).replace("-> memref<5x4xf32> {", "-> (memref<5x4xf32>, memref<3x5x4xf32>) {")
    text = text.replace("return %o : memref<5x4xf32>", "return %o, %p : memref<5x4xf32>, memref<3x5x4xf32>")
    a, b = ints(5, 7), ints(7, 4)
    want = np.stack([a[:, lo:hi] @ b[lo:hi] for lo, hi in ((0, 3), (3, 6), (6, 7))])
    total, parts = run(text, a, b)
    np.testing.assert_array_equal(total, a @ b)
    np.testing.assert_array_equal(parts, want)
    assert products(engine(text).source) == 3  # full blocks, the rest, the sum


def test_something_else_between_the_halves(run, engine):
    """An unrelated op, and a second product in the same compute set."""
    between = fill("3.0", "f32", "u", "5x4")
    text = product(5, 4, 7, 3, between=between)
    a, b = ints(5, 7), ints(7, 4)
    np.testing.assert_array_equal(run(text, a, b)[0], a @ b)
    assert products(engine(text).source) == 1


def test_what_changes_between_the_halves_is_read_before(run_plain):
    """One element of a factor is overwritten before the partial results are summed."""
    corner = "memref<1x1xf32, strided<[7, 1]>>"
    change = f"""%v = memref.subview %a[0, 0] [1, 1] [1, 1] : memref<5x7xf32> to {corner}
      %seven = arith.constant 7.0 : f32
      linalg.fill ins(%seven : f32) outs(%v : {corner})"""
    text = product(5, 4, 7, 3, between=change).replace("(%a:", "(%x:")
    copy = "%a = memref.alloc() : memref<5x7xf32>\nmemref.copy %x, %a : memref<5x7xf32> to memref<5x7xf32>\n"
    text = text.replace("-> memref<5x4xf32> {", "-> memref<5x4xf32> {\n" + copy, 1)
    x, b = ints(5, 7), ints(7, 4)
    np.testing.assert_array_equal(run_plain(text, x, b)[0], x @ b)


@pytest.mark.parametrize("outside", [False, True], ids=["own buffers", "buffers from outside"])
@pytest.mark.parametrize("block", [2, 3])
def test_in_a_loop(outside, block, run_plain, engine):
    """``x = x @ b`` three times; the partial results may lie in a buffer that is made before the loop."""
    count = blocks(4, block)
    halves = partial_products(5, 4, 4, block)
    alloc = f"%p = memref.alloc() : memref<{count}x5x4xf32>"
    text = f"""func.func @main(%x: memref<5x4xf32>, %b: memref<4x4xf32>) -> memref<5x4xf32> {{
      %i0 = arith.constant 0 : index
      %i1 = arith.constant 1 : index
      %i3 = arith.constant 3 : index
      {alloc if outside else ""}
      %r = scf.for %i = %i0 to %i3 step %i1 iter_args(%a = %x) -> (memref<5x4xf32>) {{
        {halves.replace(alloc, "") if outside else halves}
        {fill("0.0", "f32", "o", "5x4")}
        {sum_of_parts(5, 4, count)}
        scf.yield %o : memref<5x4xf32>
      }}
      return %r : memref<5x4xf32>
    }}"""
    x, b = ints(5, 4) % 3, ints(4, 4) % 3
    np.testing.assert_array_equal(run_plain(text, x, b)[0], x @ b @ b @ b)
    source = engine(text).source
    assert products(source) == 3, "two rounds, from one buffer to the other and back, and the third"
    assert "p_" not in source and "reduce(" not in source and "ones" not in source


def test_one_fill_for_both_halves_and_for_two_products(run, engine):
    """What cse leaves: equal fills are one, and the buffers that begin with it are copies."""
    parts, whole = "memref<3x5x4xf32>", "memref<5x4xf32>"
    first = partial_products(5, 4, 7, 3)
    second = first.replace(fill("0.0", "f32", "p", "3x5x4"), "").replace("%p ", "%q ")
    total = sum_of_parts(5, 4, 3)
    text = f"""func.func @main(%a: memref<5x7xf32>, %b: memref<7x4xf32>) -> ({whole}, {whole}) {{
      {fill("0.0", "f32", "p", "3x5x4")}
      %q = memref.alloc() : {parts}
      memref.copy %p, %q : {parts} to {parts}
      {first.replace(fill("0.0", "f32", "p", "3x5x4"), "")}
      {second}
      {fill("0.0", "f32", "o", "5x4")}
      %t = memref.alloc() : {whole}
      memref.copy %o, %t : {whole} to {whole}
      {total}
      {total.replace("%p ", "%q ").replace("%o ", "%t ")}
      return %o, %t : {whole}, {whole}
    }}"""
    a, b = ints(5, 7), ints(7, 4)
    for got in run(text, a, b):
        np.testing.assert_array_equal(got, a @ b)
    source = engine(text).source
    assert products(source) == 2 and " 0 bytes of temporaries" in source


def halves(kind: str, *shape: int) -> np.ndarray:
    numbers = RNG.standard_normal(shape).astype(np.float32)
    return numbers.astype(np.float16) if kind == "f16" else numbers.astype(host_dtype("bf16"))


def numbers_of(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float32)


@pytest.mark.parametrize(("half", "rtol"), [("f16", 2e-3), ("bf16", 1e-2)])
def test_half_precision_with_partial_sums_in_f32(half, rtol, run, engine):
    """The partial sums are f32, and the total is rounded to f16 or bf16 where it is kept, in both spellings."""
    widen = "%x = arith.extf %e0 : f16 to f32\n%y = arith.extf %e1 : f16 to f32\n"
    body = widen + "%0 = arith.mulf %x, %y : f32\n%1 = arith.addf %e2, %0 : f32\nlinalg.yield %1 : f32"
    maps = ["d0, d2", "d2, d1", "d2 floordiv 16, d0, d1"]
    op = nest(maps, "ppr", [("a", "5x40xf16"), ("b", "40x4xf16")], ("p", "3x5x4xf32"), body)
    spellings = (
        "%0 = arith.truncf %e0 : f32 to f16\n%1 = arith.addf %e1, %0 : f16\nlinalg.yield %1 : f16",
        "%0 = arith.extf %e1 : f16 to f32\n%1 = arith.addf %0, %e0 : f32\n"
        "%2 = arith.truncf %1 : f32 to f16\nlinalg.yield %2 : f16",
    )
    a, b = (halves(half, *shape) for shape in ((5, 40), (40, 4)))
    want = numbers_of(a) @ numbers_of(b)
    for total in spellings:
        text = f"""func.func @main(%a: memref<5x40xf16>, %b: memref<40x4xf16>) -> memref<5x4xf16> {{
          {fill("0.0", "f32", "p", "3x5x4")}
          {op}
          {fill("0.0", "f16", "o", "5x4")}
          {nest(["d2, d0, d1", "d0, d1"], "ppr", [("p", "3x5x4xf32")], ("o", "5x4xf16"), total)}
          return %o : memref<5x4xf16>
        }}""".replace("f16", half)
        np.testing.assert_allclose(numbers_of(run(text, a, b)[0]), want, rtol=rtol, atol=2e-3)
        assert products(engine(text).source) == 1


def test_a_batch_of_products(run, engine):
    body = "%0 = arith.mulf %e0, %e1 : f32\n%1 = arith.addf %e2, %0 : f32\nlinalg.yield %1 : f32"
    maps = ["d0, d1, d3", "d0, d3, d2", "d3 floordiv 3, d0, d1, d2"]
    op = nest(maps, "pppr", [("a", "2x5x7xf32"), ("b", "2x7x4xf32")], ("p", "3x2x5x4xf32"), body)
    add = "%0 = arith.addf %e1, %e0 : f32\nlinalg.yield %0 : f32"
    text = f"""func.func @main(%a: memref<2x5x7xf32>, %b: memref<2x7x4xf32>) -> memref<2x5x4xf32> {{
      {fill("0.0", "f32", "p", "3x2x5x4")}
      {op}
      {fill("0.0", "f32", "o", "2x5x4")}
      {nest(["d3, d0, d1, d2", "d0, d1, d2"], "pppr", [("p", "3x2x5x4xf32")], ("o", "2x5x4xf32"), add)}
      return %o : memref<2x5x4xf32>
    }}"""
    a, b = ints(2, 5, 7), ints(2, 7, 4)
    np.testing.assert_array_equal(run(text, a, b)[0], a @ b)
    assert products(engine(text).source) == 1


@pytest.mark.parametrize(
    ("split", "parts"),
    [("d6 floordiv 2", "3"), ("d4", "3"), ("d4 floordiv 2, d6 floordiv 2", "2x3"), ("d4, d6 floordiv 3", "3x2")],
    ids=["channels", "kernel rows", "rows and channels", "each row, channels"],
)
def test_a_convolution(split, parts, run, engine):
    """2 x 6 x 7 images of 5 channels, a kernel of 3 x 2, 4 results; the sum runs over d4, d5 and d6."""
    body = "%0 = arith.mulf %e0, %e1 : f32\n%1 = arith.addf %e2, %0 : f32\nlinalg.yield %1 : f32"
    maps = ["d0, d1 + d4, d2 + d5, d6", "d4, d5, d6, d3", f"{split}, d0, d1, d2, d3"]
    kinds = "pppp" + ("p" if split.startswith("d4,") or split == "d4" else "r") + "rr"
    operands = [("a", "2x6x7x5xf32"), ("b", "3x2x5x4xf32")]
    op = nest(maps, kinds, operands, ("p", f"{parts}x2x4x6x4xf32"), body)
    rank = parts.count("x") + 1
    outer = ", ".join(f"d{4 + i}" for i in range(rank))
    add = "%0 = arith.addf %e1, %e0 : f32\nlinalg.yield %0 : f32"
    total = nest(
        [f"{outer}, d0, d1, d2, d3", "d0, d1, d2, d3"],
        "pppp" + "r" * rank,
        [("p", f"{parts}x2x4x6x4xf32")],
        ("o", "2x4x6x4xf32"),
        add,
    )
    text = f"""func.func @main(%a: memref<2x6x7x5xf32>, %b: memref<3x2x5x4xf32>) -> memref<2x4x6x4xf32> {{
      {fill("0.0", "f32", "p", f"{parts}x2x4x6x4")}
      {op}
      {fill("0.0", "f32", "o", "2x4x6x4")}
      {total}
      return %o : memref<2x4x6x4xf32>
    }}"""
    a, b = ints(2, 6, 7, 5), ints(3, 2, 5, 4)
    windows = np.lib.stride_tricks.sliding_window_view(a, (3, 2), (1, 2))
    np.testing.assert_array_equal(run(text, a, b)[0], np.einsum("nhwcij,ijcf->nhwf", windows, b))
    assert products(engine(text).source) == 1


def test_partial_results_combined_in_two_steps(run, engine):
    """12 = 6 blocks of 2, which are 3 pairs of blocks, which are one sum."""
    add = "%0 = arith.addf %e1, %e0 : f32\nlinalg.yield %0 : f32"
    text = f"""func.func @main(%x: memref<4x12xf32>) -> memref<4xf32> {{
      {fill("0.0", "f32", "p", "6x4")}
      {nest(["d0, d1", "d1 floordiv 2, d0"], "pr", [("x", "4x12xf32")], ("p", "6x4xf32"), add)}
      {fill("0.0", "f32", "q", "3x4")}
      {nest(["d1, d0", "d1 floordiv 2, d0"], "pr", [("p", "6x4xf32")], ("q", "3x4xf32"), add)}
      {fill("0.0", "f32", "o", "4")}
      {nest(["d1, d0", "d0"], "pr", [("q", "3x4xf32")], ("o", "4xf32"), add)}
      return %o : memref<4xf32>
    }}"""
    x = ints(4, 12)
    np.testing.assert_array_equal(run(text, x)[0], x.sum(1))
    source = engine(text).source
    assert len(calls(source)) == products(source) == 1


def test_partial_results_combined_in_two_ragged_steps(run, engine):
    """28 = 14 blocks of 2, which are 5 groups of up to 3 blocks, which are one sum."""
    add = "%0 = arith.addf %e1, %e0 : f32\nlinalg.yield %0 : f32"
    text = f"""func.func @main(%x: memref<4x28xf32>) -> memref<4xf32> {{
      {fill("0.0", "f32", "p", "14x4")}
      {nest(["d0, d1", "d1 floordiv 2, d0"], "pr", [("x", "4x28xf32")], ("p", "14x4xf32"), add)}
      {fill("0.0", "f32", "q", "5x4")}
      {nest(["d1, d0", "d1 floordiv 3, d0"], "pr", [("p", "14x4xf32")], ("q", "5x4xf32"), add)}
      {fill("0.0", "f32", "o", "4")}
      {nest(["d1, d0", "d0"], "pr", [("q", "5x4xf32")], ("o", "4xf32"), add)}
      return %o : memref<4xf32>
    }}"""
    x = ints(4, 28)
    np.testing.assert_array_equal(run(text, x)[0], x.sum(1))
    source = engine(text).source
    assert len(calls(source)) == products(source) == 1


def test_partial_results_that_are_read_collapsed(run_plain, engine):
    """The second half has one loop where the first has two."""
    add = "%0 = arith.addf %e1, %e0 : f32\nlinalg.yield %0 : f32"
    text = f"""func.func @main(%a: memref<5x7xf32>, %b: memref<7x4xf32>) -> memref<20xf32> {{
      {partial_products(5, 4, 7, 3)}
      %flat = memref.collapse_shape %p [[0], [1, 2]] : memref<3x5x4xf32> into memref<3x20xf32>
      {fill("0.0", "f32", "o", "20")}
      {nest(["d1, d0", "d0"], "pr", [("flat", "3x20xf32")], ("o", "20xf32"), add)}
      return %o : memref<20xf32>
    }}"""
    a, b = ints(5, 7), ints(7, 4)
    np.testing.assert_array_equal(run_plain(text, a, b)[0], (a @ b).ravel())
    assert products(engine(text).source) == 1


def test_other_bodies_stay_as_they_are(run_plain):
    """The sum of the squares of partial sums is not a sum of terms."""
    add = "%0 = arith.addf %e1, %e0 : f32\nlinalg.yield %0 : f32"
    squares = "%0 = arith.mulf %e0, %e0 : f32\n%1 = arith.addf %e1, %0 : f32\nlinalg.yield %1 : f32"
    text = f"""func.func @main(%x: memref<4x7xf32>) -> memref<4xf32> {{
      {fill("0.0", "f32", "p", "3x4")}
      {nest(["d0, d1", "d1 floordiv 3, d0"], "pr", [("x", "4x7xf32")], ("p", "3x4xf32"), add)}
      {fill("0.0", "f32", "o", "4")}
      {nest(["d1, d0", "d0"], "pr", [("p", "3x4xf32")], ("o", "4xf32"), squares)}
      return %o : memref<4xf32>
    }}"""
    x = ints(4, 7)
    parts = np.stack([x[:, lo:hi].sum(1) for lo, hi in ((0, 3), (3, 6), (6, 7))])
    np.testing.assert_array_equal(run_plain(text, x)[0], (parts**2).sum(0))
