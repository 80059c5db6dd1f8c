"""Loops, branches and calls of the function: values that are carried, buffers that are written where others lie."""

import numpy as np
import pytest

from ipu_mlir.dialects.errors import CompileError, RunError

RNG = np.random.default_rng(11)

BOUNDS = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %one = arith.constant 1.0 : f32
"""
V = "memref<6xf32>"


def f32(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def func(signature: str, body: str) -> str:
    return f"func.func @main({signature} {{{BOUNDS}{body}}}"


def add(a: str, b: str, out: str, of: str = V) -> str:
    return f"linalg.add ins({a}, {b} : {of}, {of}) outs({out} : {of})"


def copy(source: str, dest: str, of: str = V) -> str:
    return f"memref.copy {source}, {dest} : {of} to {of}"


FIRST = "affine_map<(d0) -> (d0)>"
BACKWARDS = "affine_map<(d0) -> (5 - d0)>"
SCALAR = "affine_map<() -> ()>"


def generic(maps: list[str], kinds: str, ins: str, outs: str, body: str) -> str:
    return (
        f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}} {ins} outs({outs}) {{\n"
        f"{body}\n}}"
    )


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
    assert inside.count("(") == 1, "one call per round"
    assert made.translation.temporary_bytes == 0


def test_a_loop_that_starts_with_an_argument_leaves_it_as_it_is(run_plain):
    text = func(
        f"%x: {V}) -> ({V}, {V})",
        f"""
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %x) -> ({V}) {{
    %t = memref.alloc() : {V}
    {add("%s", "%s", "%t")}
    scf.yield %t : {V}
  }}
  %o = memref.alloc() : {V}
  {add("%r", "%x", "%o")}
  return %r, %o : {V}, {V}
""",
    )
    x = f32(6)
    doubled, both = run_plain(text, x)
    np.testing.assert_array_equal(doubled, x * 32)
    np.testing.assert_array_equal(both, x * 33)


def test_a_neighbour_is_read_before_it_is_replaced(run_plain):
    """The new value needs all of the old one: they cannot share memory."""
    body = "^bb0(%p: f32, %q: f32, %z: f32):\n %w = arith.addf %p, %q : f32\n linalg.yield %w : f32"
    turned = generic([FIRST, BACKWARDS, FIRST], '"parallel"', f"ins(%s, %s : {V}, {V})", f"%t : {V}", body)
    text = func(
        f"%x: {V}) -> {V}",
        f"""
  %a = memref.alloc() : {V}
  {copy("%x", "%a")}
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %a) -> ({V}) {{
    %t = memref.alloc() : {V}
    {turned}
    scf.yield %t : {V}
  }}
  return %r : {V}
""",
    )
    x = f32(6)
    expected = x.copy()
    for _ in range(5):
        expected = expected + expected[::-1]
    np.testing.assert_array_equal(run_plain(text, x)[0], expected)


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


def test_loops_in_loops_with_a_buffer_of_the_outer_one(run_plain):
    text = func(
        f"%x: {V}, %y: {V}) -> {V}",
        f"""
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %x) -> ({V}) {{
    %h = memref.alloc() : {V}
    {add("%s", "%s", "%h")}
    %q = scf.for %j = %c0 to %c5 step %c1 iter_args(%u = %s) -> ({V}) {{
      %t = memref.alloc() : {V}
      {add("%u", "%h", "%t")}
      scf.yield %t : {V}
    }}
    %w = memref.alloc() : {V}
    {add("%q", "%y", "%w")}
    scf.yield %w : {V}
  }}
  return %r : {V}
""",
    )
    x, y = f32(6), f32(6)
    s = x
    for _ in range(2):
        h, u = s + s, s
        for _ in range(5):
            u = u + h
        s = u + y
    np.testing.assert_array_equal(run_plain(text, x, y)[0], s)


def test_a_buffer_from_outside_keeps_what_a_round_leaves(run_plain):
    """The accumulator is allocated outside and updated in place; what is read in the loop must outlive each round."""
    text = func(
        f"%x: {V}) -> ({V}, {V})",
        f"""
  %acc = memref.alloc() : {V}
  {copy("%x", "%acc")}
  %w = memref.alloc() : {V}
  {add("%x", "%x", "%w")}
  scf.for %i = %c0 to %c5 step %c1 {{
    {add("%acc", "%w", "%acc")}
    %t = memref.alloc() : {V}
    {add("%w", "%w", "%t")}
    {add("%acc", "%t", "%acc")}
  }}
  %o = memref.alloc() : {V}
  {copy("%acc", "%o")}
  return %acc, %o : {V}, {V}
""",
    )
    x = f32(6)
    w, acc = x + x, x.copy()
    for _ in range(5):
        acc = acc + w
        acc = acc + (w + w)
    for found in run_plain(text, x):
        np.testing.assert_array_equal(found, acc)


def test_what_the_loop_reads_last_is_not_overwritten_for_the_next_round(run_plain):
    """``%w`` has the size of ``%t`` and its last use in the text is the statement that makes ``%t``."""
    text = func(
        f"%x: {V}) -> {V}",
        f"""
  %w = memref.alloc() : {V}
  {add("%x", "%x", "%w")}
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %x) -> ({V}) {{
    %t = memref.alloc() : {V}
    {add("%w", "%s", "%t")}
    scf.yield %t : {V}
  }}
  return %r : {V}
""",
    )
    x = f32(6)
    expected = x
    for _ in range(5):
        expected = (x + x) + expected
    np.testing.assert_array_equal(run_plain(text, x)[0], expected)


def test_a_copy_inside_a_loop_of_what_the_loop_changes_later(run_plain):
    text = func(
        f"%x: {V}) -> ({V}, {V})",
        f"""
  %s = memref.alloc() : {V}
  {copy("%x", "%s")}
  %sum = memref.alloc() : {V}
  {copy("%x", "%sum")}
  scf.for %i = %c0 to %c5 step %c1 {{
    %old = memref.alloc() : {V}
    {copy("%s", "%old")}
    {add("%s", "%x", "%s")}
    {add("%old", "%sum", "%sum")}
  }}
  return %s, %sum : {V}, {V}
""",
    )
    x = f32(6)
    s, total = x.copy(), x.copy()
    for _ in range(5):
        old = s
        s = s + x
        total = old + total
    found, summed = run_plain(text, x)
    np.testing.assert_array_equal(found, s)
    np.testing.assert_array_equal(summed, total)


def test_a_copy_before_a_loop_of_what_the_loop_changes(run_plain):
    text = func(
        f"%x: {V}) -> {V}",
        f"""
  %s = memref.alloc() : {V}
  {add("%x", "%x", "%s")}
  %old = memref.alloc() : {V}
  {copy("%s", "%old")}
  scf.for %i = %c0 to %c2 step %c1 {{
    {add("%old", "%s", "%s")}
  }}
  return %s : {V}
""",
    )
    x = f32(6)
    np.testing.assert_array_equal(run_plain(text, x)[0], x * 6)


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


@pytest.mark.parametrize("flag", [True, False])
def test_a_branch_with_results_and_one_without(run_plain, flag):
    text = func(
        f"%x: {V}, %p: memref<i1>) -> ({V}, {V})",
        f"""
  %c = memref.load %p[] : memref<i1>
  %state = memref.alloc() : {V}
  {copy("%x", "%state")}
  %r, %n = scf.if %c -> ({V}, f32) {{
    %t = memref.alloc() : {V}
    {add("%x", "%x", "%t")}
    scf.yield %t, %one : {V}, f32
  }} else {{
    %zero = arith.constant 0.0 : f32
    scf.yield %x, %zero : {V}, f32
  }}
  scf.if %c {{
    {add("%state", "%x", "%state")}
  }}
  %o = memref.alloc() : {V}
  linalg.fill ins(%n : f32) outs(%o : {V})
  {add("%o", "%r", "%o")}
  return %o, %state : {V}, {V}
""",
    )
    x = f32(6)
    found, state = run_plain(text, x, np.array(flag))
    np.testing.assert_array_equal(found, x + x + 1 if flag else x + np.float32(0))
    np.testing.assert_array_equal(state, x + x if flag else x)


@pytest.mark.parametrize("case", [0, 2, 7])
def test_index_switch(run_plain, case):
    text = func(
        f"%x: {V}, %p: memref<i32>) -> {V}",
        f"""
  %v = memref.load %p[] : memref<i32>
  %k = arith.index_cast %v : i32 to index
  %r = scf.index_switch %k -> {V}
  case 0 {{
    scf.yield %x : {V}
  }}
  case 2 {{
    %t = memref.alloc() : {V}
    {add("%x", "%x", "%t")}
    scf.yield %t : {V}
  }}
  default {{
    %t = memref.alloc() : {V}
    linalg.fill ins(%one : f32) outs(%t : {V})
    scf.yield %t : {V}
  }}
  return %r : {V}
""",
    )
    x = f32(6)
    expected = {0: x, 2: x + x}.get(case, np.ones(6, np.float32))
    np.testing.assert_array_equal(run_plain(text, x, np.array(case, np.int32))[0], expected)


def test_a_function_is_called_twice(run_plain):
    text = f"""
func.func private @twice(%a: {V}, %b: {V}) -> {V} {{
  %t = memref.alloc() : {V}
  {add("%a", "%b", "%t")}
  return %t : {V}
}}
""" + func(
        f"%x: {V}, %y: {V}) -> {V}",
        f"""
  %p = func.call @twice(%x, %y) : ({V}, {V}) -> {V}
  %q = func.call @twice(%p, %p) : ({V}, {V}) -> {V}
  return %q : {V}
""",
    )
    x, y = f32(6), f32(6)
    np.testing.assert_array_equal(run_plain(text, x, y)[0], (x + y) + (x + y))


def test_a_function_that_calls_itself_is_refused(engine):
    text = f"func.func @main(%x: {V}) -> {V} {{\n %r = func.call @main(%x) : ({V}) -> {V}\n return %r : {V}\n}}"
    with pytest.raises(CompileError, match="@main calls itself"):
        engine(text)


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


def test_an_assertion_of_the_function_fails_the_run(engine):
    text = func(
        f"%x: {V}, %p: memref<i1>) -> {V}",
        f"""
  %c = memref.load %p[] : memref<i1>
  cf.assert %c, "the flag is down"
  %o = memref.alloc() : {V}
  {copy("%x", "%o")}
  return %o : {V}
""",
    )
    made, x = engine(text), f32(6)
    np.testing.assert_array_equal(made.run([x, np.array(True)])[0], x)
    with pytest.raises(RunError, match="the flag is down"):
        made.run([x, np.array(False)])


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
    """The function itself loads it, at an index that is computed from the number of the round."""
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


def test_a_buffer_that_is_handed_on_as_it_is_has_one_content_under_all_names(engine):
    text = func(
        f"%x: {V}) -> ({V}, {V})",
        f"""
  %a = memref.alloc() : {V}
  {copy("%x", "%a")}
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %a) -> ({V}) {{
    {add("%s", "%x", "%s")}
    scf.yield %s : {V}
  }}
  %o = memref.alloc() : {V}
  {add("%a", "%a", "%o")}
  return %r, %o : {V}, {V}
""",
    )
    made, x = engine(text), f32(6)
    expected = x.copy()
    for _ in range(5):
        expected += x
    found, twice = made.run([x])
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(twice, expected + expected)
    assert made.source.count("copyto(") == 1
