"""Loops that cannot compute the next value where the value of before is read."""

import numpy as np
import pytest

RNG = np.random.default_rng(37)


def smoothing(rounds: int, more: str = "", results: str = "", kinds: str = "", carried: str = "") -> str:
    """x[i] = (x[i - 1] + 2 x[i] + x[i + 1]) / 4 between fixed ends, ``rounds`` times."""
    return f"""func.func @main(%x: memref<8xf32>) -> (memref<8xf32>{kinds}) {{
      %i0 = arith.constant 0 : index
      %i1 = arith.constant 1 : index
      %n = arith.constant {rounds} : index
      %half = arith.constant 0.5 : f32
      %quarter = arith.constant 0.25 : f32
      %zero = arith.constant 0.0 : f32
      %start = memref.alloc() : memref<f32>
      linalg.fill ins(%zero : f32) outs(%start : memref<f32>)
      %r{":2" if carried else ""} = scf.for %i = %i0 to %n step %i1
          iter_args(%y = %x{carried and ", %s = %start"}) -> (memref<8xf32>{carried}) {{
        %z = memref.alloc() : memref<8xf32>
        linalg.generic {{indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>],
            iterator_types = ["parallel"]}} ins(%y : memref<8xf32>) outs(%z : memref<8xf32>) {{
        ^bb0(%v: f32, %o: f32):
          %j = linalg.index 0 : index
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c7 = arith.constant 7 : index
          %before = arith.subi %j, %c1 : index
          %low = arith.maxsi %before, %c0 : index
          %after = arith.addi %j, %c1 : index
          %high = arith.minsi %after, %c7 : index
          %l = memref.load %y[%low] : memref<8xf32>
          %h = memref.load %y[%high] : memref<8xf32>
          %0 = arith.addf %l, %h : f32
          %1 = arith.mulf %0, %quarter : f32
          %2 = arith.mulf %v, %half : f32
          %3 = arith.addf %1, %2 : f32
          linalg.yield %3 : f32
        }}
        {more}
        scf.yield %z{", %t" if carried else ""} : memref<8xf32>{carried}
      }}
      return %r{"#0, %r#1" if carried else ""} : memref<8xf32>{kinds}
    }}"""


def smoothed(x: np.ndarray, rounds: int) -> np.ndarray:
    for _ in range(rounds):
        padded = np.pad(x, 1, mode="edge")
        x = (padded[:-2] + padded[2:]) * np.float32(0.25) + x * np.float32(0.5)
    return x


@pytest.mark.parametrize("rounds", [0, 1, 2, 3, 10, 11])
def test_any_number_of_rounds(rounds, run_plain):
    x = RNG.standard_normal(8).astype(np.float32)
    np.testing.assert_allclose(run_plain(smoothing(rounds), x)[0], smoothed(x, rounds), rtol=1e-5)


NUMBER = """%t = memref.alloc() : memref<f32>
        linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
            ins(%s : memref<f32>) outs(%t : memref<f32>) {
        ^bb0(%v: f32, %o: f32):
          %j = arith.index_cast %i : index to i32
          %f = arith.sitofp %j : i32 to f32
          %w = arith.addf %v, %f : f32
          linalg.yield %w : f32
        }"""

CHANGE = """%t = memref.alloc() : memref<f32>
        linalg.fill ins(%zero : f32) outs(%t : memref<f32>)
        linalg.generic {indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> (a)>, affine_map<(a) -> ()>],
            iterator_types = ["reduction"]} ins(%y, %z : memref<8xf32>, memref<8xf32>) outs(%t : memref<f32>) {
        ^bb0(%v: f32, %w: f32, %o: f32):
          %d = arith.subf %w, %v : f32
          %a = math.absf %d : f32
          %m = arith.maximumf %o, %a : f32
          linalg.yield %m : f32
        }"""


@pytest.mark.parametrize("rounds", [2, 5, 6])
def test_the_number_of_a_round_is_that_of_the_round(rounds, run_plain):
    text = smoothing(rounds, NUMBER, kinds=", memref<f32>", carried=", memref<f32>")
    x = RNG.standard_normal(8).astype(np.float32)
    got, total = run_plain(text, x)
    np.testing.assert_allclose(got, smoothed(x, rounds), rtol=1e-5)
    assert total == sum(range(rounds))


@pytest.mark.parametrize("rounds", [2, 5, 6])
def test_both_values_are_read_in_a_round(rounds, run_plain):
    """The largest change of the last iteration."""
    text = smoothing(rounds, CHANGE, kinds=", memref<f32>", carried=", memref<f32>")
    x = RNG.standard_normal(8).astype(np.float32)
    got, change = run_plain(text, x)
    want, before = smoothed(x, rounds), smoothed(x, rounds - 1)
    np.testing.assert_allclose(got, want, rtol=1e-5)
    np.testing.assert_allclose(change, np.abs(want - before).max(), rtol=1e-3)
