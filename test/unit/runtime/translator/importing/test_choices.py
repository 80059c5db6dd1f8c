"""Names that are the memory of one of several buffers: what is written under one name is read under every other."""

import numpy as np
import pytest
from memref_text import V, add, copy, f32, func

FLAGS = pytest.mark.parametrize("flag", [True, False])
HEAD = f"""
  %c = memref.load %p[] : memref<i1>
  %a = memref.alloc() : {V}
  {add("%x", "%x", "%a")}
  %b = memref.alloc() : {V}
  {copy("%x", "%b")}
"""
SELECT = f"%s = arith.select %c, %a, %b : {V}"


def fill(dest: str, of: str = V) -> str:
    return f"linalg.fill ins(%one : f32) outs({dest} : {of})"


def results(run, body: str, flag: bool, returned: str = "%s, %a, %b") -> tuple[np.ndarray, list[np.ndarray]]:
    """The argument, and the three results of ``body``, which begins with ``%a`` = 2 ``%x`` and ``%b`` = ``%x``."""
    text = func(f"%x: {V}, %p: memref<i1>) -> ({V}, {V}, {V})", f"{HEAD}{body}\n  return {returned} : {V}, {V}, {V}")
    x = f32(6)
    return x, run(text, x, np.array(flag))


def check(run, body: str, flag: bool, expected) -> None:
    """``expected(x, a, b, flag)`` changes ``a`` and ``b`` in place and gives the chosen one."""
    x, found = results(run, body, flag)
    a, b = x + x, x.copy()
    chosen = expected(x, a, b, flag)
    for got, want in zip(found, (chosen, a, b), strict=True):
        np.testing.assert_array_equal(got, want)


@FLAGS
def test_a_chosen_buffer_is_written_after_it_was_chosen(run_plain, flag):
    def expected(x, a, b, flag):
        if flag:
            a[:] = 1
        return a if flag else b

    check(run_plain, f"{SELECT}\n  scf.if %c {{\n  {fill('%a')}\n  }}", flag, expected)


@FLAGS
def test_what_is_written_under_the_new_name_is_read_under_the_old_one(run_plain, flag):
    def expected(x, a, b, flag):
        chosen = a if flag else b
        chosen[1:3] = 1
        a += x
        return chosen

    kind = "memref<2xf32, strided<[1], offset: 1>>"
    part = f"%v = memref.subview %s[1] [2] [1] : {V} to {kind}"
    check(run_plain, f"{SELECT}\n  {part}\n  {fill('%v', kind)}\n  {add('%a', '%x', '%a')}", flag, expected)


@FLAGS
def test_a_choice_of_a_choice(run_plain, flag):
    """``%t`` is ``%s`` where ``%s`` is ``%b``, so always ``%b``; both names and both buffers are written."""

    def expected(x, a, b, flag):
        chosen = a if flag else b
        b += x
        b += chosen
        chosen += x
        return chosen

    body = f"""{SELECT}
  %t = arith.select %c, %b, %s : {V}
  {add("%b", "%x", "%b")}
  {add("%t", "%s", "%t")}
  {add("%s", "%x", "%s")}"""
    check(run_plain, body, flag, expected)


@FLAGS
def test_rounds_of_a_loop_write_under_both_names(run_plain, flag):
    def expected(x, a, b, flag):
        chosen = a if flag else b
        for _ in range(5):
            b += chosen
            chosen += x
        return chosen

    loop = f"""scf.for %i = %c0 to %c5 step %c1 {{
    {add("%b", "%s", "%b")}
    {add("%s", "%x", "%s")}
  }}"""
    check(run_plain, f"{SELECT}\n  {loop}", flag, expected)


@FLAGS
def test_blocks_of_a_branch_hand_on_memory_from_outside(run_plain, flag):
    """One of them through a branch inside; the other yields memory of its own, which nobody else sees."""

    def expected(x, a, b, flag):
        chosen = a if flag else x + x + x
        chosen += x
        a += x
        return chosen

    body = f"""%s = scf.if %c -> {V} {{
    %inner = scf.if %c -> {V} {{
      scf.yield %a : {V}
    }} else {{
      scf.yield %b : {V}
    }}
    scf.yield %inner : {V}
  }} else {{
    %t = memref.alloc() : {V}
    {add("%a", "%b", "%t")}
    scf.yield %t : {V}
  }}
  {add("%s", "%x", "%s")}
  {add("%a", "%x", "%a")}"""
    check(run_plain, body, flag, expected)


@pytest.mark.parametrize("case", [0, 2, 7])
def test_a_switch_hands_on_memory_from_outside(run_plain, case):
    text = func(
        f"%x: {V}, %k: memref<index>) -> ({V}, {V}, {V})",
        f"""
  %n = memref.load %k[] : memref<index>
  %a = memref.alloc() : {V}
  {add("%x", "%x", "%a")}
  %b = memref.alloc() : {V}
  {copy("%x", "%b")}
  %s = scf.index_switch %n -> {V}
  case 0 {{
    scf.yield %a : {V}
  }}
  case 2 {{
    scf.yield %b : {V}
  }}
  default {{
    %t = memref.alloc() : {V}
    {copy("%x", "%t")}
    scf.yield %t : {V}
  }}
  {add("%a", "%x", "%a")}
  {add("%s", "%x", "%s")}
  return %s, %a, %b : {V}, {V}, {V}
""",
    )
    x = f32(6)
    a, b = x + x, x.copy()
    chosen = {0: a, 2: b}.get(case, x.copy())
    a += x
    chosen += x
    for got, want in zip(run_plain(text, x, np.array(case)), (chosen, a, b), strict=True):
        np.testing.assert_array_equal(got, want)


@FLAGS
def test_a_loop_hands_on_a_chosen_buffer_that_it_replaces(run_plain, flag):
    body = f"""%s, %t = scf.for %i = %c0 to %c5 step %c1 iter_args(%k = %a, %m = %b) -> ({V}, {V}) {{
    %u = arith.select %c, %k, %m : {V}
    scf.yield %m, %u : {V}, {V}
  }}"""
    x, found = results(run_plain, body, flag, "%s, %t, %t")
    k, m = x + x, x
    for _ in range(5):
        k, m = m, (k if flag else m)
    np.testing.assert_array_equal(found[0], k)
    np.testing.assert_array_equal(found[1], m)


@FLAGS
def test_nothing_is_copied_twice_where_nobody_writes(engine, flag):
    text = func(
        f"%x: {V}, %p: memref<i1>) -> {V}",
        f"""{HEAD}
  {SELECT}
  %o = memref.alloc() : {V}
  {fill("%o")}
  scf.for %i = %c0 to %c5 step %c1 {{
    {add("%o", "%s", "%o")}
  }}
  return %o : {V}
""",
    )
    made, x = engine(text), f32(6)
    before, _, inside = made.source.partition("for ")
    assert before.count("arg1:") == 1 and "arg1:" not in inside
    expected = np.ones(6, np.float32)
    for _ in range(5):
        expected += x + x if flag else x
    np.testing.assert_array_equal(made.run([x, np.array(flag)])[0], expected)


def test_what_a_while_updates_in_place_is_seen_under_its_first_name(run_plain):
    text = func(
        f"%x: {V}, %n: memref<index>) -> ({V}, {V})",
        f"""
  %end = memref.load %n[] : memref<index>
  %a = memref.alloc() : {V}
  {copy("%x", "%a")}
  %i, %r = scf.while (%i = %c0, %k = %a) : (index, {V}) -> (index, {V}) {{
    %more = arith.cmpi slt, %i, %end : index
    scf.condition(%more) %i, %k : index, {V}
  }} do {{
  ^bb0(%i: index, %k: {V}):
    {add("%k", "%x", "%k")}
    {add("%a", "%x", "%a")}
    %next = arith.addi %i, %c1 : index
    scf.yield %next, %k : index, {V}
  }}
  {add("%a", "%x", "%a")}
  return %r, %a : {V}, {V}
""",
    )
    x = np.arange(6, dtype=np.float32)
    for got in run_plain(text, x, np.array(3)):
        np.testing.assert_array_equal(got, 8 * x)
