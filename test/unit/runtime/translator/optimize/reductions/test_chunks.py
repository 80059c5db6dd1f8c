"""Reductions that choose in every step run in chunks where the order of steps does not matter, and nowhere else."""

import numpy as np
import pytest

from ipu_mlir.runtime.translator.array_ir.access import Access, Buffer, Role
from ipu_mlir.runtime.translator.array_ir.expression import Accumulator, Const, Read, apply
from ipu_mlir.runtime.translator.array_ir.statements import Fold, Origin
from ipu_mlir.runtime.translator.optimize.reductions.chunks import in_chunks

RNG = np.random.default_rng(8)
F32, I32, BOOL = np.dtype("f4"), np.dtype("i4"), np.dtype("?")


def arg(shape: str, compare: str, tie: str = "%less", outer: str = "parallel") -> str:
    """The place of the best element of ``%x``; of each row, or of all where ``outer`` is a reduction."""
    kept, row = ("d0", shape.split("x")[0]) if outer == "parallel" else ("", "")
    out = f"memref<{row + 'x' if row else ''}i32>"
    best = f"memref<{row + 'x' if row else ''}f32>"
    return f"""func.func @main(%x: memref<{shape}xf32>) -> ({best}, {out}) {{
      %low = arith.constant 0xFF800000 : f32
      %none = arith.constant 0 : i32
      %columns = arith.constant {shape.split("x")[1]} : i32
      %b = memref.alloc() : {best}
      %p = memref.alloc() : {out}
      linalg.fill ins(%low : f32) outs(%b : {best})
      linalg.fill ins(%none : i32) outs(%p : {out})
      linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ({kept})>,
        affine_map<(d0, d1) -> ({kept})>], iterator_types = ["{outer}", "reduction"]}}
        ins(%x : memref<{shape}xf32>) outs(%b, %p : {best}, {out}) {{
      ^bb0(%e: f32, %a: f32, %old: i32):
        %i = linalg.index 0 : index
        %j = linalg.index 1 : index
        %row = arith.index_cast %i : index to i32
        %column = arith.index_cast %j : index to i32
        %first = arith.muli %row, {"%columns" if outer == "reduction" else "%none"} : i32
        %new = arith.addi %first, %column : i32
        %more = arith.cmpf {compare}, %a, %e : f32
        %same = arith.cmpf oeq, %a, %e : f32
        %undefined = arith.cmpf une, %a, %a : f32
        %less = arith.cmpi slt, %old, %new : i32
        %tie = arith.andi %same, {tie} : i1
        %stays = arith.ori %more, %undefined : i1
        %keep = arith.ori %stays, %tie : i1
        %v = arith.select %stays, %a, %e : f32
        %n = arith.select %keep, %old, %new : i32
        linalg.yield %v, %n : f32, i32
      }}
      return %b, %p : {best}, {out}
    }}"""


def values(*shape: int) -> np.ndarray:
    """Numbers with many ties, and a few NaNs."""
    x = RNG.integers(0, 9, shape).astype(np.float32)
    x[RNG.random(shape) < 0.001] = np.nan
    return x


@pytest.mark.parametrize("columns", [64, 96, 97, 1000])
def test_argmax_of_rows(columns, run):
    x = values(3, columns)
    best, place = run(arg(f"3x{columns}", "ogt"), x)
    np.testing.assert_array_equal(place, x.argmax(1))
    np.testing.assert_array_equal(best, x.max(1))


def test_argmax_of_everything(run):
    x = values(40, 30)
    best, place = run(arg("40x30", "ogt", outer="reduction"), x)
    assert (best, place) == pytest.approx((x.max(), x.argmax()), nan_ok=True)


def test_long_loops_are_cut(engine):
    source = engine(arg("3x10000", "ogt")).source
    assert source.count("in range(100)") == 2
    assert "in range(10000)" not in source


def fold(values_of, dtypes=(F32, I32), length: int = 100) -> Fold:
    """A reduction of one loop with the step that ``values_of`` makes of running values and terms."""
    running = [Accumulator(dtype, number) for number, dtype in enumerate(dtypes)]
    terms = [
        Read(dtype, Access(Buffer(f"x{n}", length, dtype, Role.ARGUMENT), 0, (1,))) for n, dtype in enumerate(dtypes)
    ]
    outputs = tuple(Access(Buffer(f"y{n}", 1, dtype, Role.TEMPORARY), 0, (0,)) for n, dtype in enumerate(dtypes))
    inits = tuple(Const.of(0, dtype) for dtype in dtypes)
    made = tuple(values_of(*running, *terms))
    return Fold((length,), Origin("linalg.generic", "test"), (True,), outputs=outputs, values=made, inits=inits)


def choose(condition, *pairs):
    return [apply("select", condition, old, new, dtype=old.dtype) for old, new in pairs]


def at_most(a, b):
    return apply("less_equal", a, b, dtype=BOOL)


def less(a, b):
    return apply("less", a, b, dtype=BOOL)


def test_steps_in_any_grouping_are_cut():
    """The first of the largest."""
    largest = fold(lambda a, i, x, j: choose(at_most(x, a), (a, x), (i, j)), (I32, I32))
    assert len(in_chunks(largest)) == 2


def test_the_last_of_the_largest_stays_in_order():
    """The initial values would come between equal elements of two chunks."""
    largest = fold(lambda a, i, x, j: choose(less(x, a), (a, x), (i, j)), (I32, I32))
    assert in_chunks(largest) == [largest]


def test_what_forgets_at_a_nan_stays_in_order():
    """3 * (NaN * 1) is 3 here, and (3 * NaN) * 1 is 1."""
    largest = fold(lambda a, i, x, j: choose(at_most(x, a), (a, x), (i, j)))
    assert in_chunks(largest) == [largest]


@pytest.mark.parametrize(
    "step",
    [
        # whoever wins two games of three
        lambda a, i, x, j: choose(apply("not_equal", less(a, x), less(i, j), dtype=BOOL), (a, x), (i, j)),
        # a step of at least one
        lambda a, i, x, j: choose(less(apply("add", a, Const.of(1, F32)), x), (a, x), (i, j)),
        # values that are no like
        lambda a, i, x, j: choose(less(apply("cast", i, dtype=F32), x), (a, x), (i, j)),
        # a count besides
        lambda a, i, x, j: [*choose(less(x, a), (a, x)), apply("add", i, j)],
    ],
)
def test_other_steps_stay_in_order(step):
    whole = fold(step)
    assert in_chunks(whole) == [whole]


def test_one_term_for_two_values_stays_in_order():
    whole = fold(lambda a, b, x, y: choose(less(x, a), (a, x), (b, x)), (F32, F32))
    assert in_chunks(whole) == [whole]
