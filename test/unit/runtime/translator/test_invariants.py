"""What every iteration of a loop computes alike, and what is known before a run."""

import numpy as np
import pytest

RNG = np.random.default_rng(8)
V, FIRST = "memref<16xf32>", "affine_map<(d0) -> (d0)>"


def loop(body: str, before: str = "") -> str:
    return f"""func.func @main(%x: {V}, %y: {V}, %n: memref<i32>) -> {V} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %v = memref.load %n[] : memref<i32>
      %rounds = arith.index_cast %v : i32 to index
      {before}
      %r = scf.for %i = %c0 to %rounds step %c1 iter_args(%s = %x) -> ({V}) {{
        {body}
      }}
      return %r : {V}
    }}"""


INVARIANT = loop(f"""
  %w = memref.alloc() : {V}
  linalg.exp ins(%y : {V}) outs(%w : {V})
  %u = memref.alloc() : {V}
  linalg.add ins(%w, %y : {V}, {V}) outs(%u : {V})
  %t = memref.alloc() : {V}
  linalg.add ins(%s, %u : {V}, {V}) outs(%t : {V})
  scf.yield %t : {V}""")


@pytest.mark.parametrize("rounds", [0, 1, 4])
def test_what_a_loop_computes_alike(run_plain, rounds):
    x, y = (RNG.standard_normal(16).astype(np.float32) for _ in range(2))
    expected = x
    for _ in range(rounds):
        expected = expected + (np.exp(y) + y)
    np.testing.assert_array_equal(run_plain(INVARIANT, x, y, np.array(rounds, np.int32))[0], expected)


def test_what_is_hoisted_keeps_its_memory_in_all_rounds(run_plain):
    """Temporaries of the iterations are of the same size and must not take its place."""
    text = loop(f"""
      %w = memref.alloc() : {V}
      linalg.exp ins(%y : {V}) outs(%w : {V})
      %a = memref.alloc() : {V}
      linalg.mul ins(%s, %w : {V}, {V}) outs(%a : {V})
      %b = memref.alloc() : {V}
      linalg.tanh ins(%a : {V}) outs(%b : {V})
      %t = memref.alloc() : {V}
      linalg.add ins(%b, %a : {V}, {V}) outs(%t : {V})
      scf.yield %t : {V}""")
    x, y = (RNG.standard_normal(16).astype(np.float32) for _ in range(2))
    s = x
    for _ in range(3):
        a = s * np.exp(y)
        s = np.tanh(a) + a
    np.testing.assert_array_equal(run_plain(text, x, y, np.array(3, np.int32))[0], s)


def test_what_the_loop_changes_is_not_hoisted(run_plain):
    text = loop(
        f"""
      linalg.add ins(%state, %y : {V}, {V}) outs(%state : {V})
      %w = memref.alloc() : {V}
      linalg.exp ins(%state : {V}) outs(%w : {V})
      %t = memref.alloc() : {V}
      linalg.add ins(%s, %w : {V}, {V}) outs(%t : {V})
      scf.yield %t : {V}""",
        before=f"%state = memref.alloc() : {V}\n memref.copy %x, %state : {V} to {V}",
    )
    x, y = (RNG.standard_normal(16).astype(np.float32) for _ in range(2))
    state, s = x.copy(), x
    for _ in range(3):
        state = state + y
        s = s + np.exp(state)
    np.testing.assert_array_equal(run_plain(text, x, y, np.array(3, np.int32))[0], s)
