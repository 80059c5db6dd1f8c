"""Loops: values and scalars that are carried, rounds whose number is data, what runs in each of them."""

from pathlib import Path

import numpy as np
import pytest
from memref_text import FIRST, V, add, copy, f32, func, generic

import ipu_mlir as ipu
from ipu_mlir.dialects.support.errors import CompileError, RunError


def test_a_carried_value_is_updated_where_it_is(engine):
    text = func(
        f"%x: {V}, %y: {V}) -> {V}",
        f"""
  %a = memref.alloc() : {V}
  {copy("%x", "%a")}
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %a) -> ({V}) {{
    %t = memref.alloc() : {V}
    {add("%s", "%y", "%t")}
    scf.yield %t : {V}
  }}
  return %r : {V}
""",
    )
    made = engine(text)
    x, y = f32(6), f32(6)
    expected = x.copy()
    for _ in range(5):
        expected += y
    before = x.copy()
    np.testing.assert_array_equal(made.run([x, y])[0], expected)
    np.testing.assert_array_equal(x, before)
    inside = made.source.split("for i in range(5):")[1]
    assert inside.count("(") == 1, "one call per iteration"
    assert made.translation.temporary_bytes == 0


def test_two_carried_values_change_places(run_plain):
    text = func(
        f"%x: {V}, %y: {V}) -> ({V}, {V})",
        f"""
  %r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %x, %b = %y) -> ({V}, {V}) {{
    scf.yield %b, %a : {V}, {V}
  }}
  return %r#0, %r#1 : {V}, {V}
""",
    )
    x, y = f32(6), f32(6)
    first, second = run_plain(text, x, y)
    np.testing.assert_array_equal(first, y)
    np.testing.assert_array_equal(second, x)


def test_fibonacci_one_value_moves_while_the_other_is_new(run_plain):
    text = func(
        f"%x: {V}, %y: {V}) -> {V}",
        f"""
  %r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %x, %b = %y) -> ({V}, {V}) {{
    %t = memref.alloc() : {V}
    {add("%a", "%b", "%t")}
    scf.yield %b, %t : {V}, {V}
  }}
  return %r#1 : {V}
""",
    )
    x, y = f32(6), f32(6)
    a, b = x, y
    for _ in range(5):
        a, b = b, a + b
    np.testing.assert_array_equal(run_plain(text, x, y)[0], b)


@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_a_number_of_rounds_that_is_data(run_plain, rounds):
    text = func(
        f"%x: {V}, %n: memref<i32>) -> ({V}, {V})",
        f"""
  %v = memref.load %n[] : memref<i32>
  %k = arith.index_cast %v : i32 to index
  %a = memref.alloc() : {V}
  {copy("%x", "%a")}
  %r = scf.for %i = %c0 to %k step %c1 iter_args(%s = %a) -> ({V}) {{
    %t = memref.alloc() : {V}
    {add("%s", "%x", "%t")}
    scf.yield %t : {V}
  }}
  %o = memref.alloc() : {V}
  {add("%r", "%r", "%o")}
  return %o, %r : {V}, {V}
""",
    )
    x = f32(6)
    expected = x.copy()
    for _ in range(rounds):
        expected += x
    twice, once = run_plain(text, x, np.array(rounds, np.int32))
    np.testing.assert_array_equal(once, expected)
    np.testing.assert_array_equal(twice, expected * 2)


def test_the_number_of_a_round_and_a_carried_scalar(run_plain):
    """Integers wrap around; the index is seen by the body of an op."""
    body = """^bb0(%z: i32):
      %j = linalg.index 0 : index
      %k = arith.addi %j, %i : index
      %l = arith.index_cast %k : index to i32
      %m = arith.addi %l, %n : i32
      linalg.yield %m : i32"""
    row = "memref<3xi32>"
    text = func(
        f") -> {row}",
        f"""
  %big = arith.constant 2000000000 : i32
  %o = memref.alloc() : {row}
  %r = scf.for %i = %c1 to %c5 step %c2 iter_args(%n = %big) -> (i32) {{
    {generic([FIRST], '"parallel"', "", f"%o : {row}", body)}
    %t = arith.addi %n, %big : i32
    scf.yield %t : i32
  }}
  return %o : {row}
""",
    )
    (found,) = run_plain(text)
    with np.errstate(over="ignore"):
        expected = np.arange(3, dtype=np.int32) + np.int32(3) + np.int32(2000000000) + np.int32(2000000000)
    np.testing.assert_array_equal(found, expected)


WHILE = f"""
  %a = memref.alloc() : {V}
  {copy("%x", "%a")}
  %r = scf.while (%s = %a) : ({V}) -> {V} {{
    %m = memref.alloc() : memref<f32>
    %low = arith.constant 0xFF800000 : f32
    linalg.fill ins(%low : f32) outs(%m : memref<f32>)
    linalg.reduce {{ arith.maximumf }} ins(%s : {V}) outs(%m : memref<f32>) dimensions = [0]
    %v = memref.load %m[] : memref<f32>
    %limit = arith.constant 10.0 : f32
    %go = arith.cmpf olt, %v, %limit : f32
    FORWARD
    scf.condition(%go) %f : {V}
  }} do {{
  ^bb0(%u: {V}):
    %t = memref.alloc() : {V}
    {add("%u", "%y", "%t")}
    scf.yield %t : {V}
  }}
  return %r : {V}
"""


@pytest.mark.parametrize("changed", [False, True], ids=["as-it-is", "made-in-the-condition"])
@pytest.mark.parametrize("start", [0.0, 20.0], ids=["some-rounds", "no-round"])
def test_while_with_a_condition_on_data(run_plain, changed, start):
    make = add("%s", "%one6", "%f") if changed else copy("%s", "%f")
    ones = f"%one6 = memref.alloc() : {V}\n linalg.fill ins(%one : f32) outs(%one6 : {V})\n"
    text = func(f"%x: {V}, %y: {V}) -> {V}", ones + WHILE.replace("FORWARD", f"%f = memref.alloc() : {V}\n {make}"))
    x, y = f32(6) + np.float32(start), np.abs(f32(6)) + np.float32(1)
    s = x
    while True:
        forwarded = s + np.float32(1) if changed else s
        if not s.max() < 10:
            break
        s = forwarded + y
    np.testing.assert_array_equal(run_plain(text, x, y)[0], forwarded)


def test_an_op_inside_a_loop_that_is_unknown_is_reported_once(engine):
    text = func(
        f"%x: {V}) -> {V}",
        f"""
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %x) -> ({V}) {{
    memref.prefetch %s[%c0], read, locality<3>, data : {V}
    scf.yield %s : {V}
  }}
  return %r : {V}
""",
    )
    with pytest.raises(CompileError, match=r"cannot run 1 op of this program:\n  'memref.prefetch'"):
        engine(text)


def test_blocks_of_a_loop_run_in_block_loops(run_plain, small_blocks):
    of = "memref<8x16xf32>"
    text = func(
        f"%x: {of}, %y: {of}) -> {of}",
        f"""
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %x) -> ({of}) {{
    %t = memref.alloc() : {of}
    {add("%s", "%y", "%t", of)}
    %u = memref.alloc() : {of}
    linalg.tanh ins(%t : {of}) outs(%u : {of})
    %v = memref.alloc() : {of}
    {add("%u", "%t", "%v", of)}
    scf.yield %v : {of}
  }}
  return %r : {of}
""",
    )
    x, y = f32(8, 16), f32(8, 16)
    s = x
    for _ in range(5):
        t = s + y
        s = np.tanh(t) + t
    np.testing.assert_array_equal(run_plain(text, x, y, options=small_blocks)[0], s)


def test_an_element_that_a_loop_chooses(run_plain):
    """The function itself loads it, at an index that is computed from the number of the iteration."""
    text = func(
        f"%x: {V}) -> memref<f32>",
        f"""
  %o = memref.alloc() : memref<f32>
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c5 step %c2 iter_args(%s = %zero) -> (f32) {{
    %k = affine.apply affine_map<(d0)[s0] -> (s0 - d0)>(%i)[%c5]
    %e = memref.load %x[%k] : {V}
    %t = arith.addf %s, %e : f32
    scf.yield %t : f32
  }}
  linalg.fill ins(%r : f32) outs(%o : memref<f32>)
  return %o : memref<f32>
""",
    )
    x = f32(6)
    assert run_plain(text, x)[0] == (np.float32(0) + x[5] + x[3]) + x[1]


def _stepping(step: str, unsigned: str = "") -> str:
    return func(
        f"%x: {V}, %by: memref<i64>) -> {V}",
        f"""
  %i = memref.load %by[] : memref<i64>
  %given = arith.index_cast %i : i64 to index
  %none = arith.constant 0 : index
  %a = memref.alloc() : {V}
  {copy("%x", "%a")}
  scf.for {unsigned} %k = %c0 to %c5 step {step} {{
    memref.store %one, %a[%k] : {V}
  }}
  return %a : {V}
""",
    )


@pytest.mark.parametrize("unsigned", ["", "unsigned"])
def test_a_step_that_only_the_run_knows_must_be_positive(unsigned, engine):
    made = engine(_stepping("%given", unsigned))
    np.testing.assert_array_equal(made.run([np.zeros(6, np.float32), np.array(2)])[0], [1, 0, 1, 0, 1, 0])
    for step in (0, -1) if not unsigned else (0,):
        with pytest.raises(RunError, match="the step of a loop must be positive"):
            made.run([np.zeros(6, np.float32), np.array(step)])


def test_a_step_of_0_is_refused(engine):
    with pytest.raises(CompileError, match=r"'scf\.for' at -:\d+:3: its step is 0; it must be positive"):
        engine(_stepping("%none"))


def test_elements_at_the_numbers_of_loops_are_indexed_as_by_hand() -> None:
    table = Path(__file__).parents[4] / "benchmarks" / "workloads" / "loops" / "table.mlir"
    source = ipu.compile(table.read_text(), target=ipu.Target(tiles_per_ipu=2), kernels="never").source()
    assert "result0[i, i_2 + 1]" in source and "result0[i + 1, i_2 + 1] = " in source
    assert "maximum(" not in source and "count" not in source
