"""Copies that need not be made, and those that must."""

import numpy as np

RNG = np.random.default_rng(2)


def f32(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


ONE = "affine_map<(d0) -> (d0)>"
DOUBLE = """linalg.add ins({0}, {0} : memref<{1}xf32>, memref<{1}xf32>) outs({2} : memref<{1}xf32>)"""


def test_copies_of_unchanging_data_are_not_made(engine):
    text = f"""func.func @main(%x: memref<6xf32>) -> memref<6xf32> {{
      %a = memref.alloc() : memref<6xf32>
      memref.copy %x, %a : memref<6xf32> to memref<6xf32>
      %b = memref.alloc() : memref<6xf32>
      memref.copy %a, %b : memref<6xf32> to memref<6xf32>
      %o = memref.alloc() : memref<6xf32>
      {DOUBLE.format("%b", 6, "%o")}
      return %o : memref<6xf32>
    }}"""
    made = engine(text)
    assert "copyto" not in made.source
    assert made.translation.temporary_bytes == 0


def test_a_copy_is_made_if_its_source_changes_while_it_lives(run_plain):
    text = f"""func.func @main(%x: memref<6xf32>) -> (memref<6xf32>, memref<6xf32>) {{
      %s = memref.alloc() : memref<6xf32>
      {DOUBLE.format("%x", 6, "%s")}
      %a = memref.alloc() : memref<6xf32>
      memref.copy %s, %a : memref<6xf32> to memref<6xf32>
      %c = arith.constant 1.0 : f32
      %head = memref.subview %s[0] [3] [1] : memref<6xf32> to memref<3xf32, strided<[1]>>
      linalg.fill ins(%c : f32) outs(%head : memref<3xf32, strided<[1]>>)
      %o = memref.alloc() : memref<6xf32>
      {DOUBLE.format("%a", 6, "%o")}
      return %o, %s : memref<6xf32>, memref<6xf32>
    }}"""
    x = f32(6)
    doubled, changed = run_plain(text, x)
    np.testing.assert_array_equal(doubled, 4 * x)
    np.testing.assert_array_equal(changed, np.concatenate([np.ones(3, np.float32), 2 * x[3:]]))


def test_a_copy_that_is_written_into_is_made(run_plain):
    text = """func.func @main(%x: memref<6xf32>, %y: memref<2xf32>) -> memref<6xf32> {
      %a = memref.alloc() : memref<6xf32>
      memref.copy %x, %a : memref<6xf32> to memref<6xf32>
      %part = memref.subview %a[1] [2] [2] : memref<6xf32> to memref<2xf32, strided<[2], offset: 1>>
      memref.copy %y, %part : memref<2xf32> to memref<2xf32, strided<[2], offset: 1>>
      return %a : memref<6xf32>
    }"""
    x, y = f32(6), f32(2)
    want = x.copy()
    want[1:5:2] = y
    np.testing.assert_array_equal(run_plain(text, x, y)[0], want)


def test_arguments_constants_and_repeated_results_are_copied(run_plain):
    text = """memref.global "private" constant @k : memref<2xf32> = dense<[1.0, 2.0]>
    func.func @main(%x: memref<2xf32>) -> (memref<2xf32>, memref<2xf32>, memref<2xf32>, memref<2xf32>, memref<2xf32>) {
      %k = memref.get_global @k : memref<2xf32>
      %o = memref.alloc() : memref<2xf32>
      linalg.add ins(%x, %k : memref<2xf32>, memref<2xf32>) outs(%o : memref<2xf32>)
      return %x, %o, %o, %k, %k : memref<2xf32>, memref<2xf32>, memref<2xf32>, memref<2xf32>, memref<2xf32>
    }"""
    x = f32(2)
    results = run_plain(text, x)
    np.testing.assert_array_equal(results[0], x)
    for result in results:
        assert not np.shares_memory(result, x)
    for first in range(5):
        for second in range(first):
            assert not np.shares_memory(results[first], results[second])


def test_a_result_that_is_part_of_a_buffer(run_plain):
    text = """func.func @main(%x: memref<2x3xf32>) -> memref<3xf32> {
      %o = memref.alloc() : memref<2x3xf32>
      linalg.exp ins(%x : memref<2x3xf32>) outs(%o : memref<2x3xf32>)
      %row = memref.subview %o[0, 0] [1, 3] [1, 1] : memref<2x3xf32> to memref<3xf32, strided<[1]>>
      %r = memref.cast %row : memref<3xf32, strided<[1]>> to memref<3xf32>
      return %r : memref<3xf32>
    }"""
    x = f32(2, 3)
    np.testing.assert_array_equal(run_plain(text, x)[0], np.exp(x[0]))


def test_a_transposed_copy_that_is_collapsed_is_read_in_place(engine):
    """The single loop of the reader becomes two, because it runs over both digits of the copy."""
    text = """func.func @main(%x: memref<3x4xf32>) -> memref<12xf32> {
      %t = memref.alloc() : memref<4x3xf32>
      linalg.transpose ins(%x : memref<3x4xf32>) outs(%t : memref<4x3xf32>) permutation = [1, 0]
      %f = memref.collapse_shape %t [[0, 1]] : memref<4x3xf32> into memref<12xf32>
      %o = memref.alloc() : memref<12xf32>
      linalg.exp ins(%f : memref<12xf32>) outs(%o : memref<12xf32>)
      return %o : memref<12xf32>
    }"""
    made = engine(text)
    assert "copyto" not in made.source
    x = f32(3, 4)
    np.testing.assert_array_equal(made.run([x])[0], np.exp(x.T.ravel()))


def test_a_reversed_or_straddling_read_gets_a_real_copy(run_plain):
    """Six elements from the middle of a transposed copy are no strided window of the source."""
    text = """func.func @main(%x: memref<3x4xf32>) -> memref<7xf32> {
      %t = memref.alloc() : memref<4x3xf32>
      linalg.transpose ins(%x : memref<3x4xf32>) outs(%t : memref<4x3xf32>) permutation = [1, 0]
      %f = memref.collapse_shape %t [[0, 1]] : memref<4x3xf32> into memref<12xf32>
      %s = memref.subview %f[2] [7] [1] : memref<12xf32> to memref<7xf32, strided<[1], offset: 2>>
      %o = memref.alloc() : memref<7xf32>
      linalg.exp ins(%s : memref<7xf32, strided<[1], offset: 2>>) outs(%o : memref<7xf32>)
      return %o : memref<7xf32>
    }"""
    x = f32(3, 4)
    np.testing.assert_array_equal(run_plain(text, x)[0], np.exp(x.T.ravel()[2:9]))


def test_a_padded_copy_keeps_its_border(run_plain):
    text = """func.func @main(%x: memref<2x3xf32>) -> memref<4x5xf32> {
      %c = arith.constant 7.0 : f32
      %p = memref.alloc() : memref<4x5xf32>
      linalg.fill ins(%c : f32) outs(%p : memref<4x5xf32>)
      %i = memref.subview %p[1, 1] [2, 3] [1, 1] : memref<4x5xf32> to memref<2x3xf32, strided<[5, 1], offset: 6>>
      memref.copy %x, %i : memref<2x3xf32> to memref<2x3xf32, strided<[5, 1], offset: 6>>
      return %p : memref<4x5xf32>
    }"""
    x = f32(2, 3)
    np.testing.assert_array_equal(run_plain(text, x)[0], np.pad(x, 1, constant_values=7))


def test_one_buffer_filled_twice(run_plain):
    """The second fill starts a new value; the first must still reach its reader."""
    text = f"""func.func @main(%x: memref<2x3xf32>) -> (memref<2xf32>, memref<2xf32>) {{
      %low = arith.constant 0xFF800000 : f32
      %zero = arith.constant 0.0 : f32
      %s = memref.alloc() : memref<2xf32>
      %first = memref.alloc() : memref<2xf32>
      linalg.fill ins(%low : f32) outs(%s : memref<2xf32>)
      linalg.reduce {{ arith.maximumf }} ins(%x : memref<2x3xf32>) outs(%s : memref<2xf32>) dimensions = [1]
      {DOUBLE.format("%s", 2, "%first")}
      linalg.fill ins(%zero : f32) outs(%s : memref<2xf32>)
      linalg.reduce {{ arith.addf }} ins(%x : memref<2x3xf32>) outs(%s : memref<2xf32>) dimensions = [1]
      return %first, %s : memref<2xf32>, memref<2xf32>
    }}"""
    x = np.float32([[1, 5, 2], [-3, -1, -2]])
    first, second = run_plain(text, x)
    np.testing.assert_array_equal(first, [10, -2])
    np.testing.assert_array_equal(second, [8, -6])


def test_exchanges_between_views_of_larger_buffers(run_plain):
    part = "#ipu.mapping<12, [[12, 12, 1, 0]], 0, 0>"
    text = f"""func.func @main(%x: memref<3x4xf32, {part}>) -> memref<3x4xf32, {part}> {{
      %o = memref.alloc() : memref<3x4xf32, {part}>
      "ipu.exchange"(%x, %o) : (memref<3x4xf32, {part}>, memref<3x4xf32, {part}>) -> ()
      %a = memref.subview %x[0, 0] [3, 2] [1, 1] : memref<3x4xf32, {part}> to memref<3x2xf32, strided<[4, 1]>, {part}>
      %b = memref.subview %o[0, 2] [3, 2] [1, 1]
        : memref<3x4xf32, {part}> to memref<3x2xf32, strided<[4, 1], offset: 2>, {part}>
      "ipu.exchange"(%a, %b) : (memref<3x2xf32, strided<[4, 1]>, {part}>,
        memref<3x2xf32, strided<[4, 1], offset: 2>, {part}>) -> ()
      return %o : memref<3x4xf32, {part}>
    }}"""
    x = f32(3, 4)
    np.testing.assert_array_equal(run_plain(text, x)[0], np.hstack([x[:, :2], x[:, :2]]))


def test_a_copy_is_not_made_if_its_source_changes_only_after_its_last_use(engine):
    text = f"""func.func @main(%x: memref<6xf32>) -> (memref<6xf32>, memref<6xf32>) {{
      %s = memref.alloc() : memref<6xf32>
      {DOUBLE.format("%x", 6, "%s")}
      %a = memref.alloc() : memref<6xf32>
      memref.copy %s, %a : memref<6xf32> to memref<6xf32>
      %o = memref.alloc() : memref<6xf32>
      {DOUBLE.format("%a", 6, "%o")}
      %c = arith.constant 1.0 : f32
      %head = memref.subview %s[0] [3] [1] : memref<6xf32> to memref<3xf32, strided<[1]>>
      linalg.fill ins(%c : f32) outs(%head : memref<3xf32, strided<[1]>>)
      return %o, %s : memref<6xf32>, memref<6xf32>
    }}"""
    made = engine(text)
    assert made.source.count("copyto(") == 1, "only the fill"
    x = f32(6)
    doubled, changed = made.run([x])
    np.testing.assert_array_equal(doubled, 4 * x)
    np.testing.assert_array_equal(changed, np.concatenate([np.ones(3, np.float32), 2 * x[3:]]))
