"""``while`` loops that count, and slices at the number of an iteration."""

import numpy as np
import pytest

RNG = np.random.default_rng(31)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def counting(body: str, condition: str = "slt, %i, %limit", step: int = 1, start: int = 0, limit: int = 5) -> str:
    """``while i < limit: x = body(x); i += step``; answers x and the last i."""
    return f"""func.func @main(%x: memref<4xf32>, %n: memref<i32>) -> (memref<4xf32>, memref<i32>) {{
      %start = arith.constant {start} : i32
      %limit = arith.constant {limit} : i32
      %step = arith.constant {step} : i32
      %first = memref.alloc() : memref<i32>
      linalg.fill ins(%start : i32) outs(%first : memref<i32>)
      %r:2 = scf.while (%c = %first, %y = %x) : (memref<i32>, memref<4xf32>) -> (memref<i32>, memref<4xf32>) {{
        %flag = memref.alloc() : memref<i1>
        linalg.generic {{indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>],
          iterator_types = []}} ins(%c, %n : memref<i32>, memref<i32>) outs(%flag : memref<i1>) {{
        ^bb0(%i: i32, %data: i32, %o: i1):
          %0 = arith.cmpi {condition} : i32
          linalg.yield %0 : i1
        }}
        %go = memref.load %flag[] : memref<i1>
        scf.condition(%go) %c, %y : memref<i32>, memref<4xf32>
      }} do {{
      ^bb0(%c: memref<i32>, %y: memref<4xf32>):
        %d = memref.alloc() : memref<i32>
        linalg.generic {{indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}}
          ins(%c : memref<i32>) outs(%d : memref<i32>) {{
        ^bb0(%i: i32, %o: i32):
          %0 = arith.addi %i, %step : i32
          linalg.yield %0 : i32
        }}
        %z = memref.alloc() : memref<4xf32>
        linalg.generic {{indexing_maps = [affine_map<(a) -> (a)>, affine_map<(a) -> ()>, affine_map<(a) -> ()>,
          affine_map<(a) -> (a)>], iterator_types = ["parallel"]}}
          ins(%y, %c, %d : memref<4xf32>, memref<i32>, memref<i32>) outs(%z : memref<4xf32>) {{
        ^bb0(%v: f32, %i: i32, %next: i32, %o: f32):
          {body}
        }}
        scf.yield %d, %z : memref<i32>, memref<4xf32>
      }}
      return %r#1, %r#0 : memref<4xf32>, memref<i32>
    }}"""


ADD = "%f = arith.sitofp %i : i32 to f32\n%w = arith.addf %v, %f : f32\nlinalg.yield %w : f32"
ADD_NEXT = ADD.replace("sitofp %i", "sitofp %next")


@pytest.mark.parametrize(("start", "limit", "step"), [(0, 5, 1), (2, 9, 3), (7, 3, 1), (-4, 0, 2)])
def test_a_loop_that_counts_is_a_loop_over_numbers(start, limit, step, run_plain):
    text = counting(ADD, start=start, limit=limit, step=step)
    x, n = np.zeros(4, np.float32), np.int32(0)
    got, last = run_plain(text, x, n)
    numbers = range(start, limit, step)
    np.testing.assert_array_equal(got, np.full(4, sum(numbers), np.float32))
    assert last == start + len(numbers) * step


def test_the_next_number_is_read_too(run_plain):
    text = counting(ADD_NEXT)
    np.testing.assert_array_equal(run_plain(text, np.zeros(4, np.float32), np.int32(0))[0], np.full(4, 15, np.float32))


@pytest.mark.parametrize(
    ("condition", "data", "want"),
    [("slt, %i, %data", 3, 3), ("sgt, %limit, %i", 0, 10), ("ne, %i, %limit", 0, 10), ("ult, %i, %limit", 0, 10)],
)
def test_other_conditions(condition, data, want, run_plain):
    """A limit that is data, the sides swapped, and conditions that are left alone."""
    got, _ = run_plain(counting(ADD, condition), np.zeros(4, np.float32), np.int32(data))
    np.testing.assert_array_equal(got, np.full(4, want, np.float32))


def test_a_number_that_is_set_in_the_loop_does_not_count(run_plain):
    """Each iteration doubles it."""
    text = counting(ADD, start=1, limit=9).replace("arith.addi %i, %step", "arith.addi %i, %i")
    got, last = run_plain(text, np.zeros(4, np.float32), np.int32(0))
    np.testing.assert_array_equal(got, np.full(4, 1 + 2 + 4 + 8, np.float32))
    assert last == 16


def test_a_condition_that_is_also_handed_on(run_plain):
    """The flag of the last test is a result."""
    text = """func.func @main(%x: memref<i32>) -> memref<i1> {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %five = arith.constant 5 : i32
      %first = memref.alloc() : memref<i32>
      linalg.fill ins(%zero : i32) outs(%first : memref<i32>)
      %r:2 = scf.while (%c = %first) : (memref<i32>) -> (memref<i32>, memref<i1>) {
        %flag = memref.alloc() : memref<i1>
        linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
          ins(%c : memref<i32>) outs(%flag : memref<i1>) {
        ^bb0(%i: i32, %o: i1):
          %0 = arith.cmpi slt, %i, %five : i32
          linalg.yield %0 : i1
        }
        %go = memref.load %flag[] : memref<i1>
        scf.condition(%go) %c, %flag : memref<i32>, memref<i1>
      } do {
      ^bb0(%c: memref<i32>, %unused: memref<i1>):
        %d = memref.alloc() : memref<i32>
        linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
          ins(%c : memref<i32>) outs(%d : memref<i32>) {
        ^bb0(%i: i32, %o: i32):
          %0 = arith.addi %i, %one : i32
          linalg.yield %0 : i32
        }
        scf.yield %d : memref<i32>
      }
      return %r#1 : memref<i1>
    }"""
    assert not run_plain(text, np.int32(0))[0]


def rows(body: str, rounds: int = 6, result: str = "6x5xf32") -> str:
    """Six rounds over the rows of x; ``out`` is carried."""
    return f"""func.func @main(%x: memref<6x5xf32>) -> memref<{result}> {{
      %i0 = arith.constant 0 : index
      %i1 = arith.constant 1 : index
      %i5 = arith.constant 5 : index
      %n = arith.constant {rounds} : index
      %zero = arith.constant 0.0 : f32
      %c1 = arith.constant 1 : index
      %start = memref.alloc() : memref<{result}>
      linalg.fill ins(%zero : f32) outs(%start : memref<{result}>)
      %r = scf.for %k = %i0 to %n step %i1 iter_args(%out = %start) -> (memref<{result}>) {{
        %row = memref.alloc() : memref<5xf32>
        linalg.generic {{indexing_maps = [affine_map<(a) -> (a)>], iterator_types = ["parallel"]}}
          outs(%row : memref<5xf32>) {{
        ^bb0(%o: f32):
          %a = linalg.index 0 : index
          %v = memref.load %x[%k, %a] : memref<6x5xf32>
          %w = arith.addf %v, %v : f32
          linalg.yield %w : f32
        }}
        %new = memref.alloc() : memref<{result}>
        {body}
        scf.yield %new : memref<{result}>
      }}
      return %r : memref<{result}>
    }}"""


def update(test: str, result: str = "6x5xf32", target: str = "affine_map<(a, b) -> (a, b)>", row: str = "b") -> str:
    """``new = out``, but ``row`` where ``test`` holds."""
    return f"""linalg.generic {{indexing_maps = [affine_map<(a, b) -> ({row})>, {target}, {target}],
          iterator_types = ["parallel", "parallel"]}} ins(%row, %out : memref<5xf32>, memref<{result}>)
          outs(%new : memref<{result}>) {{
        ^bb0(%v: f32, %old: f32, %o: f32):
          %a = linalg.index 0 : index
          %b = linalg.index 1 : index
          {test}
          %w = arith.select %here, %v, %old : f32
          linalg.yield %w : f32
        }}"""


DISTANCE = "%d = arith.subi %a, %k : index\n%here = arith.cmpi ult, %d, %c1 : index"


@pytest.mark.parametrize("test", [DISTANCE, "%here = arith.cmpi eq, %a, %k : index"])
def test_only_the_slice_of_the_round_is_written(test, run_plain):
    text = rows(update(test), rounds=3)
    x = floats(6, 5)
    np.testing.assert_array_equal(run_plain(text, x)[0][:3], x[:3] + x[:3])
    np.testing.assert_array_equal(run_plain(text, x)[0][3:], 0)


def test_slices_in_another_order_and_along_another_dimension(run_plain):
    backwards = "%m = arith.subi %i5, %k : index\n%here = arith.cmpi eq, %a, %m : index"
    x = floats(6, 5)
    text = rows(update(backwards))
    np.testing.assert_array_equal(run_plain(text, x)[0], (x + x)[::-1])
    columns = update("%here = arith.cmpi eq, %b, %k : index", "5x6xf32", row="a")
    text = rows(columns, result="5x6xf32")
    np.testing.assert_array_equal(run_plain(text, x)[0], (x + x).T)
    text = rows(columns, rounds=3, result="5x6xf32")
    np.testing.assert_array_equal(run_plain(text, x)[0][:, :3], (x + x).T[:, :3])


def test_a_slice_that_may_lie_outside_is_chosen(run_plain):
    """The last iteration writes to row 6, which there is not; a negative number is not counted from the end."""
    after = "%m = arith.addi %k, %c1 : index\n%here = arith.cmpi eq, %a, %m : index"
    x = floats(6, 5)
    want = np.zeros((6, 5), np.float32)
    want[1:] = (x + x)[:5]
    np.testing.assert_array_equal(run_plain(rows(update(after)), x)[0], want)
    before = "%m = arith.subi %k, %c1 : index\n%here = arith.cmpi eq, %a, %m : index"
    want = np.zeros((6, 5), np.float32)
    want[:5] = (x + x)[1:]
    np.testing.assert_array_equal(run_plain(rows(update(before)), x)[0], want)


def test_the_old_value_is_needed_after_the_update(run_plain):
    """What is outside of the slice comes from a buffer that stays as it is."""
    text = rows(update(DISTANCE).replace("%row, %out :", "%row, %x :"))
    x = floats(6, 5)
    want = x.copy()
    want[5] += x[5]
    np.testing.assert_array_equal(run_plain(text, x)[0], want)


@pytest.mark.parametrize("position", [-3, 0, 4, 9])
def test_an_update_at_a_position_that_is_data(position, run_plain):
    """As of a cache of keys: the position is an argument, kept inside by clamping."""
    text = """func.func @main(%cache: memref<3x5x2xf32>, %new: memref<3x2xf32>, %p: memref<i32>) -> memref<3x5x2xf32> {
      %zero = arith.constant 0 : i32
      %four = arith.constant 4 : i32
      %o = memref.alloc() : memref<3x5x2xf32>
      linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, c)>,
          affine_map<(a, b, c) -> ()>, affine_map<(a, b, c) -> (a, b, c)>],
          iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%cache, %new, %p : memref<3x5x2xf32>, memref<3x2xf32>, memref<i32>) outs(%o : memref<3x5x2xf32>) {
      ^bb0(%old: f32, %v: f32, %at: i32, %u: f32):
        %low = arith.maxsi %at, %zero : i32
        %in = arith.minsi %low, %four : i32
        %place = arith.index_cast %in : i32 to index
        %b = linalg.index 1 : index
        %here = arith.cmpi eq, %b, %place : index
        %w = arith.negf %v : f32
        %r = arith.select %here, %w, %old : f32
        linalg.yield %r : f32
      }
      return %o : memref<3x5x2xf32>
    }"""
    cache, new = floats(3, 5, 2), floats(3, 2)
    want = cache.copy()
    want[:, min(max(position, 0), 4)] = -new
    np.testing.assert_array_equal(run_plain(text, cache, new, np.int32(position))[0], want)


def test_slices_in_block_loops(run_plain, small_blocks):
    x = floats(6, 5)
    np.testing.assert_array_equal(run_plain(rows(update(DISTANCE)), x, options=small_blocks)[0], x + x)
