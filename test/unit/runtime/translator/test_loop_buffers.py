"""Buffers around loops: what is written where it lies, and what has to be copied before it is."""

import numpy as np
from memref_text import BACKWARDS, FIRST, V, add, copy, f32, func, generic


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
