"""Programs on bf16 and f8: arrays are those of ml_dtypes; bits are taken as well."""

import ml_dtypes
import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.dialects.support.narrow_floats import ML_DTYPES, host_dtype

ADD = """
func.func @main(%x: tensor<3xT>) -> tensor<3xT> {
  %c = arith.constant dense<[1.0, 2.0, TINY]> : tensor<3xT>
  %m = arith.addf %x, %c : tensor<3xT>
  return %m : tensor<3xT>
}
"""
TYPES = {
    "bf16": (ml_dtypes.bfloat16, 2.0**-8),
    "f8E4M3FN": (ml_dtypes.float8_e4m3fn, 2.0**-4),
    "f8E5M2": (ml_dtypes.float8_e5m2, 2.0**-3),
}
"""By MLIR's name: the type of arrays, and half of the step between 1 and its neighbour."""


def add(name: str, tiles: int = 2) -> ipu.Executable:
    text = ADD.replace("xT>", f"x{name}>").replace("TINY", str(TYPES[name][1]))
    return ipu.compile(text, target=ipu.Target(tiles_per_ipu=tiles))


@pytest.mark.parametrize("tiles", [1, 2])
@pytest.mark.parametrize("name", TYPES)
def test_constants_and_sums_are_rounded(name, tiles):
    program, dtype = add(name, tiles), TYPES[name][0]
    x = np.array([1, -2, 1]).astype(dtype)
    for run in (program.run, program.run_per_tile):
        (found,) = run([x])
        assert found.dtype == dtype
        assert found.tolist() == [2, 0, 1]  # a tie, which goes to even


@pytest.mark.parametrize("name", TYPES)
def test_specs_name_the_types_of_ml_dtypes(name):
    program = add(name)
    assert program.argument_specs == program.result_specs == (ipu.TensorSpec((3,), TYPES[name][0]),)


@pytest.mark.parametrize("name", TYPES)
def test_bits_and_what_numpy_loads_are_inputs_too(tmp_path, name):
    program, x = add(name), np.array([1, -2, 1]).astype(TYPES[name][0])
    np.save(tmp_path / "bits.npy", x.view(f"V{x.itemsize}"))
    for held in (x.view(f"u{x.itemsize}"), np.load(tmp_path / "bits.npy")):
        for run in (program.run, program.run_per_tile):
            assert run([held])[0].tolist() == [2, 0, 1]


def test_another_type_of_as_many_bits_is_refused():
    program, x = add("f8E5M2"), np.zeros(3, ml_dtypes.float8_e4m3fn)
    for run in (program.run, program.run_per_tile):
        with pytest.raises(RunError, match=r"float8_e4m3fn.* expected float8_e5m2"):
            run([x])


@pytest.mark.parametrize("name", ML_DTYPES)
def test_products_of_every_type_add_up_in_f32(name):
    """The sum of 300 ones, to which no f8 could count in steps of one."""
    text = f"""func.func @main(%a: tensor<4x300x{name}>, %b: tensor<300x4x{name}>) -> tensor<4x4xf32> {{
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<4x4xf32>
      %c = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
      %r = linalg.matmul ins(%a, %b : tensor<4x300x{name}>, tensor<300x4x{name}>)
          outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
      return %r : tensor<4x4xf32> }}"""
    program = ipu.compile(text, target=ipu.Target(tiles_per_ipu=4))
    ones = [np.ones(shape).astype(host_dtype(name)) for shape in ((4, 300), (300, 4))]
    for run in (program.run, program.run_per_tile):
        np.testing.assert_array_equal(run(ones)[0], np.full((4, 4), 300, np.float32))


FROM_INTEGERS = """
func.func @main(%x: tensor<40xi64>) -> (tensor<40xf32>, tensor<40xf32>) {
  %e = tensor.empty() : tensor<40xf32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
    iterator_types = ["parallel"]} ins(%x : tensor<40xi64>) outs(%e, %e : tensor<40xf32>, tensor<40xf32>) {
  ^bb0(%n: i64, %a: f32, %b: f32):
    %u = arith.uitofp %n : i64 to bf16
    %s = arith.sitofp %n : i64 to bf16
    %v = arith.extf %u : bf16 to f32
    %t = arith.extf %s : bf16 to f32
    linalg.yield %v, %t : f32, f32
  } -> (tensor<40xf32>, tensor<40xf32>)
  return %r#0, %r#1 : tensor<40xf32>, tensor<40xf32>
}"""


def nearest(n: int) -> float:
    """The bf16 next to ``n``, ties to even, by integers alone."""
    size = abs(n)
    drop = max(0, size.bit_length() - 8)
    kept, rest = size >> drop, size & ((1 << drop) - 1)
    half = (1 << drop) >> 1
    kept += drop > 0 and (rest > half or (rest == half and kept & 1))
    return float(kept << drop) * (-1 if n < 0 else 1)


def test_integers_of_64_bits_are_rounded_once():
    """Next to a tie: through f64, which has 53 bits, the one below and the one above would be ties themselves."""
    ties = [
        ((128 + 5 * k) << (bits - 8)) + (1 << (bits - 9)) for k, bits in enumerate((64, 63, 62, 60, 57, 54, 53, 20))
    ]
    numbers = [tie + near for tie in ties for near in (-1, 0, 1)] + [0, 1, 2**53 + 1, 2**64 - 1] + [3] * 12
    x = np.array(numbers, np.uint64).view(np.int64)
    executable = ipu.compile(FROM_INTEGERS, target=ipu.Target(tiles_per_ipu=4))
    for run in (executable.run, executable.run_per_tile):
        from_unsigned, from_signed = run([x])
        np.testing.assert_array_equal(from_unsigned, [nearest(n) for n in numbers])
        np.testing.assert_array_equal(from_signed, [nearest(int(n)) for n in x])
