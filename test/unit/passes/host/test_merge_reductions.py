"""Reductions that a partition has cut are whole on the host, where nothing can tell the difference."""

import numpy as np
import pytest

from ipu_mlir.compilation.lowering import to_host
from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.runtime.engine.engine import Engine

RNG = np.random.default_rng(17)
DTYPES = {"f32": np.float32, "i32": np.int32, "i8": np.int8, "i1": np.bool_}


def reductions_left(text: str, *inputs: np.ndarray) -> int:
    """How many structured ops that are no fills are on the host; holds the results to those of the program as it is."""
    module = parse_module(text, ipu.context())
    expected = Engine(module).run(inputs)
    to_host(module.operation)
    for found, wanted in zip(Engine(module).run(inputs), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    return str(module).count("linalg.generic")


def ints(*shape: int, kind: str = "f32") -> np.ndarray:
    return RNG.integers(-9, 10, shape).astype(DTYPES[kind])


def fill(value: str, kind: str, buffer: str, shape: str) -> str:
    typed = value if kind == "i1" else f"{value} : {kind}"
    return f"""%{buffer} = memref.alloc() : memref<{shape}x{kind}>
      %{buffer}_c = arith.constant {typed}
      linalg.fill ins(%{buffer}_c : {kind}) outs(%{buffer} : memref<{shape}x{kind}>)"""


def nest(
    maps: list[str], kinds: str, ins: list[tuple[str, str]], out: tuple[str, str], body: str, mark: str = ""
) -> str:
    """A generic whose loops are d0, d1, ..., of the ``kinds`` p and r."""
    loops = ", ".join(f"d{i}" for i in range(len(kinds)))
    spelled = ", ".join(f"affine_map<({loops}) -> ({m})>" for m in maps)
    iterators = ", ".join({"p": '"parallel"', "r": '"reduction"'}[k] for k in kinds)
    types = [kind.partition(",")[0].split("x")[-1] for _, kind in (*ins, out)]
    arguments = ", ".join(f"%e{i}: {kind}" for i, kind in enumerate(types))
    return f"""linalg.generic {{indexing_maps = [{spelled}], iterator_types = [{iterators}]}}
        ins({", ".join(f"%{n}" for n, _ in ins)} : {", ".join(f"memref<{t}>" for _, t in ins)})
        outs(%{out[0]} : memref<{out[1]}>) attrs = {{{mark}}} {{
      ^bb0({arguments}):
        {body}
      }}"""


ADD = "%0 = arith.addf %e1, %e0 : f32\nlinalg.yield %0 : f32"
ADD_PRODUCT = "%0 = arith.mulf %e0, %e1 : f32\n%1 = arith.addf %e2, %0 : f32\nlinalg.yield %1 : f32"
PARTIALS, COMBINES = "ipu.partials = array<i64: {}>", "ipu.combines = array<i64: {}>"


def partial_products(k: int, block: int) -> str:
    """``p[s, m, n] += a[m, k] b[k, n]`` over the k of block s; m runs to 5, n to 4."""
    parts = f"{-(-k // block)}x5x4"
    maps = ["d0, d2", "d2, d1", f"d2 floordiv {block}, d0, d1"]
    ins, mark = [("a", f"5x{k}xf32"), ("b", f"{k}x4xf32")], PARTIALS.format(f"2, {block}")
    return fill("-0.0", "f32", "p", parts) + "\n" + nest(maps, "ppr", ins, ("p", f"{parts}xf32"), ADD_PRODUCT, mark)


def sum_of_parts(k: int, block: int, parts: str = "p", out: str = "o") -> str:
    ins, mark = [(parts, f"{-(-k // block)}x5x4xf32")], COMBINES.format(f"2, {block}")
    return nest(["d2, d0, d1", "d0, d1"], "ppr", ins, (out, "5x4xf32"), ADD, mark)


def product(k: int, block: int, between: str = "", results: str = "%o : memref<5x4xf32>") -> str:
    types = results.partition(" : ")[2]
    return f"""func.func @main(%x: memref<5x{k}xf32>, %b: memref<{k}x4xf32>) -> ({types}) {{
      %a = memref.alloc() : memref<5x{k}xf32>
      memref.copy %x, %a : memref<5x{k}xf32> to memref<5x{k}xf32>
      {partial_products(k, block)}
      {fill("0.0", "f32", "o", "5x4")}
      {between}
      {sum_of_parts(k, block)}
      return {results}
    }}"""


@pytest.mark.parametrize(("k", "block"), [(6, 3), (7, 3), (2, 3), (6, 6)])
def test_halves_of_a_product_are_one_product(k, block):
    assert reductions_left(product(k, block), ints(5, k), ints(k, 4)) == 1


REDUCTIONS = [
    ("arith.addf", "-0.0", "f32"),
    ("arith.mulf", "1.0", "f32"),
    ("arith.maximumf", "0xFF800000", "f32"),
    ("arith.minnumf", "0x7F800000", "f32"),
    ("arith.addi", "0", "i8"),
    ("arith.muli", "1", "i32"),
    ("arith.maxsi", "-2147483648", "i32"),
    ("arith.minui", "-1", "i32"),
    ("arith.andi", "true", "i1"),
    ("arith.xori", "0", "i32"),
]


def reduction(op: str, init: str, kind: str, start: str | None = None) -> str:
    """``o[i] = op over j of x[i, j]``, by blocks of 4 of 11."""
    body = f"%0 = {op} %e1, %e0 : {kind}\nlinalg.yield %0 : {kind}"
    first = nest(
        ["d0, d1", "d1 floordiv 4, d0"], "pr", [("x", f"4x11x{kind}")], ("p", f"3x4x{kind}"), body,
        PARTIALS.format("1, 4"),
    )  # fmt: skip
    second = nest(["d1, d0", "d0"], "pr", [("p", f"3x4x{kind}")], ("o", f"4x{kind}"), body, COMBINES.format("1, 4"))
    return f"""func.func @main(%x: memref<4x11x{kind}>) -> memref<4x{kind}> {{
      {fill(init, kind, "p", "3x4")}
      {first}
      {fill(start or init, kind, "o", "4")}
      {second}
      return %o : memref<4x{kind}>
    }}"""


@pytest.mark.parametrize(("op", "init", "kind"), REDUCTIONS)
def test_halves_of_reductions_are_one_reduction(op, init, kind):
    assert reductions_left(reduction(op, init, kind), ints(4, 11, kind=kind)) == 1


@pytest.mark.parametrize("init", ["10.0", "0.0"])
def test_partial_results_that_do_not_begin_neutral_stay(init):
    """Each block counts what it began with; 0 + -0 is not what -0 + -0 is."""
    assert reductions_left(reduction("arith.addf", init, "f32", start="-0.0"), np.full((4, 11), -0.0, "f4")) == 2


def test_halves_with_different_combiners_stay():
    text = reduction("arith.maximumf", "0xFF800000", "f32")
    first, second = text.rsplit("arith.maximumf", 1)
    assert reductions_left(f"{first}arith.minimumf{second}", ints(4, 11)) == 2


def test_halves_with_different_blocks_stay():
    text = reduction("arith.addf", "-0.0", "f32").replace(COMBINES.format("1, 4"), COMBINES.format("1, 5"))
    assert reductions_left(text, ints(4, 11)) == 2


def test_partial_results_that_are_read_twice_stay():
    text = product(7, 3, results="%o, %p : memref<5x4xf32>, memref<3x5x4xf32>")
    assert reductions_left(text, ints(5, 7), ints(7, 4)) == 2


def test_an_op_that_does_not_matter_may_stand_between_the_halves():
    assert reductions_left(product(7, 3, fill("3.0", "f32", "u", "5x4")), ints(5, 7), ints(7, 4)) == 1


@pytest.mark.parametrize("in_loop", [False, True], ids=["in the block", "in a loop"])
def test_what_changes_between_the_halves_is_read_before(in_loop):
    """One element of a factor is overwritten before the partial results are summed."""
    corner = "memref<1x1xf32, strided<[7, 1]>>"
    change = f"""%v = memref.subview %a[0, 0] [1, 1] [1, 1] : memref<5x7xf32> to {corner}
      %seven = arith.constant 7.0 : f32
      linalg.fill ins(%seven : f32) outs(%v : {corner})"""
    if in_loop:
        numbers = "\n".join(f"%i{n} = arith.constant {n} : index" for n in (0, 1))
        change = f"{numbers}\nscf.for %i = %i0 to %i1 step %i1 {{\n{change}\n}}"
    assert reductions_left(product(7, 3, change), ints(5, 7), ints(7, 4)) == 2


def test_a_sum_that_overwrites_a_factor_stays():
    """The result of the second half lies where a factor of the first half did."""
    text = f"""func.func @main(%x: memref<5x4xf32>, %b: memref<4x4xf32>) -> memref<5x4xf32> {{
      %a = memref.alloc() : memref<5x4xf32>
      memref.copy %x, %a : memref<5x4xf32> to memref<5x4xf32>
      {partial_products(4, 2)}
      {sum_of_parts(4, 2, out="a")}
      return %a : memref<5x4xf32>
    }}"""
    assert reductions_left(text, ints(5, 4), ints(4, 4)) == 2


def test_halves_in_a_loop_are_one_product():
    """``x = x @ b`` three times."""
    text = f"""func.func @main(%x: memref<5x4xf32>, %b: memref<4x4xf32>) -> memref<5x4xf32> {{
      %i0 = arith.constant 0 : index
      %i1 = arith.constant 1 : index
      %i3 = arith.constant 3 : index
      %r = scf.for %i = %i0 to %i3 step %i1 iter_args(%a = %x) -> (memref<5x4xf32>) {{
        {partial_products(4, 3)}
        {fill("0.0", "f32", "o", "5x4")}
        {sum_of_parts(4, 3)}
        scf.yield %o : memref<5x4xf32>
      }}
      return %r : memref<5x4xf32>
    }}"""
    assert reductions_left(text, ints(5, 4) % 3, ints(4, 4) % 3) == 1


@pytest.mark.parametrize(
    ("split", "blocks", "kinds", "parts"),
    [
        ("d6 floordiv 2", "6, 2", "rrr", "3"),
        ("d4", "4, 1", "prr", "3"),
        ("d4 floordiv 2, d6 floordiv 2", "4, 2, 6, 2", "rrr", "2x3"),
        ("d4, d6 floordiv 3", "4, 1, 6, 3", "prr", "3x2"),
    ],
    ids=["channels", "kernel rows", "rows and channels", "each row, channels"],
)
def test_halves_of_a_convolution_are_one_convolution(split, blocks, kinds, parts):
    """2 x 6 x 7 images of 5 channels, a kernel of 3 x 2, 4 results; the sum runs over d4, d5 and d6."""
    maps = ["d0, d1 + d4, d2 + d5, d6", "d4, d5, d6, d3", f"{split}, d0, d1, d2, d3"]
    operands, out = [("a", "2x6x7x5xf32"), ("b", "3x2x5x4xf32")], "2x4x6x4xf32"
    rank = parts.count("x") + 1
    outer = ", ".join(f"d{4 + i}" for i in range(rank))
    total = nest(
        [f"{outer}, d0, d1, d2, d3", "d0, d1, d2, d3"], "pppp" + "r" * rank, [("p", f"{parts}x{out}")], ("o", out), ADD,
        COMBINES.format(blocks),
    )  # fmt: skip
    text = f"""func.func @main(%a: memref<2x6x7x5xf32>, %b: memref<3x2x5x4xf32>) -> memref<{out}> {{
      {fill("-0.0", "f32", "p", f"{parts}x2x4x6x4")}
      {nest(maps, "pppp" + kinds, operands, ("p", f"{parts}x{out}"), ADD_PRODUCT, PARTIALS.format(blocks))}
      {fill("0.0", "f32", "o", "2x4x6x4")}
      {total}
      return %o : memref<{out}>
    }}"""
    assert reductions_left(text, ints(2, 6, 7, 5), ints(3, 2, 5, 4)) == 1


def step(number: int, start: int, size: int, body: str = ADD_PRODUCT, says: int | None = None, halves: str = "") -> str:
    """``o += a[:, start : start + size] @ b[start : start + size]``, of copies, as exchanges leave them."""
    a, b = (
        f"memref<5x{size}xf32, strided<[7, 1], offset: {start}>>",
        f"memref<{size}x4xf32, strided<[4, 1], offset: {4 * start}>>",
    )
    ins = [(f"a{number}", f"5x{size}xf32"), (f"b{number}", f"{size}x4xf32")]
    mark = f"ipu.step = array<i64: 2, {start if says is None else says}>"
    maps, work = ["d0, d2", "d2, d1", "d0, d1"], ""
    if halves:
        parts = f"{-(-size // 2)}x5x4"
        work = fill("-0.0", "f32", f"p{number}", parts)
        maps[-1] = "d2 floordiv 2, d0, d1"
        marks = f"{PARTIALS.format('2, 2')}, {mark}"
        work += nest(maps, "ppr", ins, (f"p{number}", f"{parts}xf32"), body, marks)
        work += nest(
            ["d2, d0, d1", "d0, d1"], "ppr", [(f"p{number}", f"{parts}xf32")], ("o", "5x4xf32"), ADD,
            COMBINES.format("2, 2"),
        )  # fmt: skip
    return f"""%va{number} = memref.subview %a[0, {start}] [5, {size}] [1, 1] : memref<5x7xf32> to {a}
      %vb{number} = memref.subview %b[{start}, 0] [{size}, 4] [1, 1] : memref<7x4xf32> to {b}
      %a{number} = memref.alloc() : memref<5x{size}xf32>
      memref.copy %va{number}, %a{number} : {a} to memref<5x{size}xf32>
      %b{number} = memref.alloc() : memref<{size}x4xf32>
      memref.copy %vb{number}, %b{number} : {b} to memref<{size}x4xf32>
      {work or nest(maps, "ppr", ins, ("o", "5x4xf32"), body, mark)}"""


def steps(*each: str, between: str = "", results: str = "%o : memref<5x4xf32>") -> str:
    types = results.partition(" : ")[2]
    return f"""func.func @main(%x: memref<5x7xf32>, %b: memref<7x4xf32>) -> ({types}) {{
      %a = memref.alloc() : memref<5x7xf32>
      memref.copy %x, %a : memref<5x7xf32> to memref<5x7xf32>
      {fill("0.0", "f32", "o", "5x4")}
      {between.join(each)}
      return {results}
    }}"""


@pytest.mark.parametrize("halves", ["", "halves"])
@pytest.mark.parametrize("sizes", [(3, 4), (4, 3), (3, 3, 1), (1, 6)])
def test_steps_of_a_product_are_one_product(sizes, halves):
    starts = np.cumsum((0, *sizes))
    each = (step(i, start, size, halves=halves) for i, (start, size) in enumerate(zip(starts, sizes, strict=False)))
    assert reductions_left(steps(*each), ints(5, 7), ints(7, 4)) == 1


def test_steps_that_leave_a_gap_or_overlap_stay_whatever_they_say():
    a, b = ints(5, 7), ints(7, 4)
    assert reductions_left(steps(step(0, 0, 3), step(1, 4, 3)), a, b) == 2
    assert reductions_left(steps(step(0, 0, 3), step(1, 4, 3, says=3)), a, b) == 2
    assert reductions_left(steps(step(0, 0, 4), step(1, 3, 4, says=4)), a, b) == 2


def test_steps_with_different_bodies_stay():
    other = ADD_PRODUCT.replace("addf", "subf")
    assert reductions_left(steps(step(0, 0, 3), step(1, 3, 4, other)), ints(5, 7), ints(7, 4)) == 2


def test_what_a_step_leaves_is_read_by_something_else():
    copy = "%c = memref.alloc() : memref<5x4xf32>\nmemref.copy %o, %c : memref<5x4xf32> to memref<5x4xf32>\n"
    text = steps(step(0, 0, 3), step(1, 3, 4), between=copy, results="%o, %c : memref<5x4xf32>, memref<5x4xf32>")
    assert reductions_left(text, ints(5, 7), ints(7, 4)) == 2


def test_what_the_first_step_reads_changes_before_the_second():
    change = "linalg.fill ins(%o_c : f32) outs(%a : memref<5x7xf32>)\n"
    assert reductions_left(steps(step(0, 0, 3), step(1, 3, 4), between=change), ints(5, 7), ints(7, 4)) == 2
