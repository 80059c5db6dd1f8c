"""Branches, switches, assertions, and functions that are called."""

import numpy as np
import pytest
from memref_text import V, add, copy, f32, func

from ipu_mlir.dialects.support.errors import CompileError, RunError


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


@pytest.mark.parametrize("flag", [True, False])
def test_one_of_two_buffers_is_chosen(run_plain, flag):
    """And changed after it was chosen, which neither the other nor the argument sees."""
    text = func(
        f"%x: {V}, %p: memref<i1>) -> ({V}, {V})",
        f"""
  %c = memref.load %p[] : memref<i1>
  %t = memref.alloc() : {V}
  {add("%x", "%x", "%t")}
  %r = arith.select %c, %t, %x : {V}
  %o = memref.alloc() : {V}
  {copy("%r", "%o")}
  {add("%o", "%x", "%o")}
  return %o, %r : {V}, {V}
""",
    )
    x = f32(6)
    changed, chosen = run_plain(text, x, np.array(flag))
    np.testing.assert_array_equal(chosen, x + x if flag else x)
    np.testing.assert_array_equal(changed, chosen + x)


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
