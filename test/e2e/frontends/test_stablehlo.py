"""Programs that come as StableHLO: those of the corpus, and ops that upstream leaves to us."""

from pathlib import Path

import numpy as np
import pytest
from support.compare import disagreements
from support.corpus import FOLDER, programs

import ipu_mlir as ipu
from ipu_mlir.tools.npz import random_inputs

TARGET = ipu.Target(tiles_per_ipu=16)
SOURCES = sorted(FOLDER.glob("*/source.stablehlo.mlir"))
"""Programs that draw no random bits: the stored linalg has those of upstream, which differ from XLA's."""


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.parent.name)
def test_a_program_of_the_corpus_is_what_its_stablehlo_is(source: Path):
    """It computes what the stored linalg of another importer does, and what the framework did."""
    name = source.parent.name
    imported, stored = (ipu.compile(each, target=TARGET) for each in (source, source.parent / "module.mlir"))
    inputs = programs()[name].inputs if name in programs() else random_inputs(stored.argument_specs, 7)
    expected = programs()[name].expected if name in programs() else stored.run(inputs)
    atol = [2e-5 * max(1.0, float(np.max(np.abs(each.astype(np.float64)), initial=0))) for each in expected]
    assert disagreements(imported.run(inputs), expected, tuple(atol), frozenset()) == []


@pytest.mark.parametrize("kind", ["i8", "ui8", "i64", "ui64"])
def test_powers_of_integers_wrap_around(kind: str):
    dtype = np.dtype(kind.replace("i", "int")) if kind[0] == "i" else np.dtype(f"uint{kind[2:]}")
    least, largest = np.iinfo(dtype).min, np.iinfo(dtype).max
    bases = [0, 1, 3, 7, largest, largest - 2, least, *([-1, -2] if least else [])]
    exponents = [0, 1, 2, 5, 70, largest, *([-1, -2, least] if least else [])]
    base, exponent = np.meshgrid(np.array(bases, dtype), np.array(exponents, dtype))
    kinds = f"tensor<{'x'.join(map(str, base.shape))}x{kind}>"
    body = f"%0 = stablehlo.power %a, %b : {kinds} return %0 : {kinds}"
    exe = ipu.compile(f"func.func @main(%a: {kinds}, %b: {kinds}) -> {kinds} {{ {body} }}", target=TARGET)

    def power(x: int, n: int) -> int:
        found = pow(x, n, 2 ** (8 * dtype.itemsize)) if n >= 0 else (x**-n if abs(x) == 1 else 0)
        return found % 2 ** (8 * dtype.itemsize)

    signless = f"i{dtype.itemsize}"
    wanted = np.vectorize(power, otypes="O")(base.astype("O"), exponent.astype("O")).astype(f"u{dtype.itemsize}")
    for run in (exe.run, exe.run_per_tile):
        (found,) = run([base.view(signless), exponent.view(signless)])
        np.testing.assert_array_equal(found, wanted.view(signless))


def scatter(kind: str, mode: str, operand: str, indices: str, updates: str, numbers: str) -> str:
    """A program with one scatter; ``mode`` is what its region gives."""
    return f"""func.func @main(%x: {operand}, %i: {indices}, %u: {updates}) -> {operand} {{
  %0 = "stablehlo.scatter"(%x, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<{numbers}>}}> ({{
  ^bb0(%a: tensor<{kind}>, %b: tensor<{kind}>):
    %r = stablehlo.{mode} %a, %b : tensor<{kind}>
    stablehlo.return %r : tensor<{kind}>
  }}) : ({operand}, {indices}, {updates}) -> {operand}
  return %0 : {operand}
}}"""


ROWS = "update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1"
WINDOWS = "update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1"
COMBINE = {
    "add": np.add,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "subtract": np.subtract,
}


@pytest.mark.parametrize("mode", COMBINE)
def test_scatters_of_rows_leave_out_those_outside(mode: str):
    exe = ipu.compile(scatter("f32", mode, "tensor<5x4xf32>", "tensor<6xi32>", "tensor<6x4xf32>", ROWS), target=TARGET)
    rng = np.random.default_rng(3)
    x, u = rng.standard_normal((5, 4)).astype(np.float32), rng.standard_normal((6, 4)).astype(np.float32)
    i = np.array([0, 4, -1, 0, 5, 2], np.int32)
    expected = x.copy()
    for row, update in zip(i, u, strict=True):
        if 0 <= row < 5:
            expected[row] = COMBINE[mode](expected[row], update)
    for run in (exe.run, exe.run_per_tile):
        np.testing.assert_allclose(run([x, i, u])[0], expected, rtol=1e-6)


def test_a_window_that_reaches_over_the_end_is_left_out_whole():
    exe = ipu.compile(
        scatter("i32", "add", "tensor<6xi32>", "tensor<3x1xi32>", "tensor<3x2xi32>", WINDOWS), target=TARGET
    )
    inputs = [np.zeros(6, np.int32), np.array([[0], [5], [4]], np.int32), np.ones((3, 2), np.int32)]
    for run in (exe.run, exe.run_per_tile):
        assert run(inputs)[0].tolist() == [1, 1, 0, 0, 1, 1]


@pytest.mark.parametrize("padding", [0, 1])
def test_select_and_scatter_is_the_gradient_of_a_max_pooling(padding: int):
    sources = 4 if padding else 3
    text = f"""func.func @main(%x: tensor<7xf32>, %s: tensor<{sources}xf32>) -> tensor<7xf32> {{
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %s, %z) <{{window_dimensions = array<i64: 3>,
      window_strides = array<i64: 2>, padding = dense<{padding}> : tensor<1x2xi64>}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }}, {{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }}) : (tensor<7xf32>, tensor<{sources}xf32>, tensor<f32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}}"""
    exe = ipu.compile(text, target=TARGET)
    x, s = np.array([5, -1, -9, 3, 3, 0, 7], np.float32), np.arange(1, sources + 1, dtype=np.float32)
    expected = np.zeros(7, np.float32)
    for number in range(sources):
        window = [p for p in range(2 * number - padding, 2 * number - padding + 3) if 0 <= p < 7]
        expected[max(window, key=lambda p: x[p])] += s[number]
    for run in (exe.run, exe.run_per_tile):
        assert run([x, s])[0].tolist() == expected.tolist()


def test_a_sort_by_the_first_operand_moves_the_others_along():
    text = """func.func @main(%x: tensor<3x8xf32>, %y: tensor<3x8xi32>) -> (tensor<3x8xf32>, tensor<3x8xi32>) {
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %1 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<3x8xf32>, tensor<3x8xi32>) -> (tensor<3x8xf32>, tensor<3x8xi32>)
  return %0#0, %0#1 : tensor<3x8xf32>, tensor<3x8xi32>
}"""
    exe = ipu.compile(text, target=TARGET)
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 4, (3, 8)).astype(np.float32), np.arange(24, dtype=np.int32).reshape(3, 8)
    order = np.argsort(-x, axis=1, kind="stable")
    for run in (exe.run, exe.run_per_tile):
        values, others = run([x, y])
        assert np.array_equal(values, np.take_along_axis(x, order, 1))
        assert np.array_equal(others, np.take_along_axis(y, order, 1))
    assert 'library_call = "rank"' in exe.mlir("l2")


@pytest.mark.parametrize(("which", "expected"), [(0, -3.0), (1, 3.0), (2, 9.0), (-1, 9.0), (7, 9.0)])
def test_a_case_out_of_range_takes_the_last_branch(which: int, expected: float):
    text = """func.func @main(%i: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.case"(%i) ({
    %1 = stablehlo.negate %x : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }, {
    %1 = stablehlo.multiply %x, %x : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  return %0 : tensor<f32>
}"""
    exe = ipu.compile(text, target=TARGET)
    for run in (exe.run, exe.run_per_tile):
        assert run([np.array(which, np.int32), np.array(3.0, np.float32)])[0] == expected


def test_a_while_may_hand_on_fewer_values_than_it_carries():
    text = """func.func @main(%x: tensor<f32>, %n: tensor<i32>) -> tensor<f32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant dense<1> : tensor<i32>
  %0 = scf.while (%a = %x, %i = %n) : (tensor<f32>, tensor<i32>) -> tensor<f32> {
    %left = tensor.extract %i[] : tensor<i32>
    %goes = arith.cmpi sgt, %left, %zero : i32
    scf.condition(%goes) %a : tensor<f32>
  } do {
  ^bb0(%a: tensor<f32>):
    %b = arith.addf %a, %a : tensor<f32>
    %c = arith.fptosi %b : tensor<f32> to tensor<i32>
    %d = arith.subi %one, %c : tensor<i32>
    scf.yield %b, %d : tensor<f32>, tensor<i32>
  }
  return %0 : tensor<f32>
}"""
    exe = ipu.compile(text, target=TARGET)
    for run in (exe.run, exe.run_per_tile):
        assert run([np.float32(0.125), np.int32(1)])[0] == 1.0
        assert run([np.float32(0.125), np.int32(0)])[0] == 0.125


def test_an_element_may_go_where_numbers_of_the_program_say():
    numbers = "inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 0"
    exe = ipu.compile(scatter("f32", "add", "tensor<5x4xf32>", "tensor<2xi32>", "tensor<f32>", numbers), target=TARGET)
    x = np.arange(20, dtype=np.float32).reshape(5, 4)
    for place in ((0, 2), (4, 3), (5, 0), (0, -1)):
        expected = x.copy()
        if 0 <= place[0] < 5 and 0 <= place[1] < 4:
            expected[place] += 100
        for run in (exe.run, exe.run_per_tile):
            assert np.array_equal(run([x, np.array(place, np.int32), np.float32(100)])[0], expected)


def philox(key: int, low: int, high: int, count: int) -> list[int]:
    """The first 32-bit numbers of Philox 4x32, 10 rounds."""
    half, found = 0xFFFFFFFF, []
    for number in range(-(-count // 4)):
        counter = ((high << 64 | low) + number) % (1 << 128)
        lanes, keys = [counter >> shift & half for shift in (0, 32, 64, 96)], [key & half, key >> 32]
        for _ in range(10):
            a, b = 0xD2511F53 * lanes[0], 0xCD9E8D57 * lanes[2]
            lanes = [b >> 32 ^ lanes[1] ^ keys[0], b & half, a >> 32 ^ lanes[3] ^ keys[1], a & half]
            keys = [keys[0] + 0x9E3779B9 & half, keys[1] + 0xBB67AE85 & half]
        found += lanes
    return found[:count]


def test_philox_gives_the_numbers_that_were_published():
    """The known answers of the reference implementation, Random123."""
    assert philox(0, 0, 0, 4) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert philox((1 << 64) - 1, (1 << 64) - 1, (1 << 64) - 1, 4) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


@pytest.mark.parametrize(("words", "kind"), [(2, "ui32"), (3, "ui32"), (3, "ui64"), (2, "ui8")])
def test_random_bits_are_those_of_xla(words: int, kind: str):
    state, bits = f"tensor<{words}xui64>", f"tensor<3x5x{kind}>"
    text = f"""func.func @main(%s: {state}) -> ({state}, {bits}) {{
  %after, %bits = stablehlo.rng_bit_generator %s, algorithm = PHILOX : ({state}) -> ({state}, {bits})
  return %after, %bits : {state}, {bits}
}}"""
    exe = ipu.compile(text, target=TARGET)
    key, low, high = 0x0123456789ABCDEF, (1 << 64) - 2, 5  # the counter carries
    given = np.array([key, low, high][:words], np.uint64)
    wanted = philox(key, low, high if words == 3 else key, 30 if kind == "ui64" else 15)
    expected = np.array(wanted, np.uint32)
    expected = expected.view(np.uint64) if kind == "ui64" else expected.astype(kind.replace("ui", "uint"))
    steps = 8 if kind == "ui64" else 4
    for run in (exe.run, exe.run_per_tile):
        after, drawn = run([given.view(np.int64)])
        assert np.array_equal(drawn.ravel().view(expected.dtype), expected)
        assert after.view(np.uint64).tolist() == [key, low + steps - (1 << 64), high + 1][:words]


def drawing(distribution: str, element: str, first: str, second: str) -> str:
    return f"""func.func @main() -> tensor<4000x{element}> {{
      %a = stablehlo.constant dense<{first}> : tensor<{element}>
      %b = stablehlo.constant dense<{second}> : tensor<{element}>
      %n = stablehlo.constant dense<4000> : tensor<1xi64>
      %0 = stablehlo.rng %a, %b, %n, distribution = {distribution}
          : (tensor<{element}>, tensor<{element}>, tensor<1xi64>) -> tensor<4000x{element}>
      return %0 : tensor<4000x{element}>
    }}"""


@pytest.mark.parametrize("element", ["f32", "f64", "f16", "i32", "i64"])
def test_uniform_numbers_lie_between_their_bounds(element: str):
    bounds = ("-3", "9") if element.startswith("i") else ("-3.0", "9.0")
    exe = ipu.compile(drawing("UNIFORM", element, *bounds), target=TARGET)
    (found,) = exe.run([])
    middle = 2.5 if element.startswith("i") else 3  # integers have no upper bound among them
    assert found.min() >= -3 and (found.max() < 9 or element == "f16")
    assert abs(found.mean(dtype=float) - middle) < 0.2 and abs(found.std(dtype=float) - 12 / np.sqrt(12)) < 0.1
    assert len(np.unique(found)) == 12 if element.startswith("i") else len(np.unique(found)) > 2000


def test_normal_numbers_have_their_mean_and_deviation():
    (found,) = ipu.compile(drawing("NORMAL", "f32", "2.0", "3.0"), target=TARGET).run([])
    standard = np.sort((found - 2) / 3)
    assert abs(standard.mean()) < 0.05 and abs(standard.std() - 1) < 0.03
    quantiles = standard[[90, 634, 2000, 3365, 3909]]  # of 2.275, 15.87, 50 ... percent
    np.testing.assert_allclose(quantiles, [-2, -1, 0, 1, 2], atol=0.15)


def test_draws_go_on_from_run_to_run_and_sessions_have_seeds():
    exe = ipu.compile(drawing("UNIFORM", "f32", "0.0", "1.0"), target=TARGET)
    (first,), (second,) = exe.run([]), exe.run([])
    assert not np.intersect1d(first, second).size > 10
    one, other = exe.session(), exe.session()
    np.testing.assert_array_equal(one.run("main"), other.run("main"))
    other["ipu.random"] = np.array([7, 0, 0])
    assert not np.array_equal(one.run("main"), other.run("main"))
    again = ipu.compile(drawing("UNIFORM", "f32", "0.0", "1.0"), target=TARGET)
    np.testing.assert_array_equal(again.run_per_tile([])[0], first)


def test_everything_that_cannot_be_imported_is_said_at_once():
    text = """func.func @main(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = stablehlo.cbrt %x : tensor<4xcomplex<f32>>
  %1 = stablehlo.custom_call @my_kernel() : () -> tensor<ui32>
  return %0 : tensor<4xcomplex<f32>>
}"""
    with pytest.raises(ipu.CompileError) as error:
        ipu.compile(text)
    assert [line.split(":")[1] for line in str(error.value).splitlines()] == ["2", "3"]
