"""Maxima and minima of two numbers: +0 is larger than -0."""

import numpy as np
import pytest

from ipu_mlir.runtime.translator.statements.options import TranslatorOptions

ID = "affine_map<(d0) -> (d0)>"
SIGNS = np.array([0.0, -0.0, 0.0, -0.0, -1.0, 2.0, np.nan], np.float32)
OTHERS = np.array([0.0, -0.0, -0.0, 0.0, -0.0, 0.0, 1.0], np.float32)


def pointwise(body: str, inputs: int = 1) -> str:
    names = ["%x", "%y"][:inputs]
    arguments = ", ".join(f"{name}: memref<7xf32>" for name in names)
    kinds = ", ".join(["memref<7xf32>"] * inputs)
    scalars = ", ".join(f"{scalar}: f32" for scalar in ["%a", "%b"][:inputs])
    return f"""func.func @main({arguments}) -> memref<7xf32> {{
      %o = memref.alloc() : memref<7xf32>
      linalg.generic {{indexing_maps = [{", ".join([ID] * (inputs + 1))}], iterator_types = ["parallel"]}}
        ins({", ".join(names)} : {kinds}) outs(%o : memref<7xf32>) {{
      ^bb0({scalars}, %z: f32):
        %zero = arith.constant 0.0 : f32
        %minus = arith.constant -0.0 : f32
        %six = arith.constant 6.0 : f32
        {body}
        linalg.yield %r : f32
      }}
      return %o : memref<7xf32>
    }}"""


@pytest.fixture(params=["never", "always"])
def kernels(request) -> TranslatorOptions:
    """As calls of NumPy, and as machine code."""
    return TranslatorOptions(kernels=request.param)


def assert_same(found: np.ndarray, expected: list[float]) -> None:
    wanted = np.array(expected, np.float32)
    np.testing.assert_array_equal(found, wanted)
    number = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found)[number], np.signbit(wanted)[number])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("%r = arith.maximumf %a, %zero : f32", [0, 0, 0, 0, 0, 2, np.nan]),
        ("%r = arith.maximumf %minus, %a : f32", [0, -0.0, 0, -0.0, -0.0, 2, np.nan]),
        ("%r = arith.minimumf %a, %minus : f32", [-0.0, -0.0, -0.0, -0.0, -1, -0.0, np.nan]),
        ("%r = arith.minimumf %zero, %a : f32", [0, -0.0, 0, -0.0, -1, 0, np.nan]),
        ("%q = arith.maximumf %a, %zero : f32\n%r = arith.minimumf %q, %six : f32", [0, 0, 0, 0, 0, 2, np.nan]),
        (  # the limit is below 0, so that there is a sign to drop
            "%p = arith.addf %a, %zero : f32\n%low = arith.constant -0.5 : f32\n%q = arith.maximumf %p, %low : f32\n"
            "%r = math.absf %q : f32",
            [0, 0, 0, 0, 0.5, 2, np.nan],
        ),
    ],
)
def test_a_limit(body, expected, run_plain, kernels):
    assert_same(run_plain(pointwise(body), SIGNS, options=kernels)[0], expected)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("%r = arith.maximumf %a, %b : f32", [0, -0.0, 0, 0, -0.0, 2, np.nan]),
        ("%r = arith.minimumf %a, %b : f32", [0, -0.0, -0.0, -0.0, -1, 0, np.nan]),
        ("%e = math.absf %b : f32\n%r = arith.maximumf %e, %a : f32", [0, 0, 0, 0, 0, 2, np.nan]),
        ("%e = math.absf %b : f32\n%r = arith.minimumf %a, %e : f32", [0, -0.0, 0, -0.0, -1, 0, np.nan]),
        (  # the larger of a number below 0, which is never -0, and -0 is -0
            "%m = arith.mulf %b, %b : f32\n%d = arith.subf %m, %six : f32\n%e = arith.maximumf %d, %a : f32\n"
            "%z0 = math.absf %b : f32\n%r = arith.minimumf %e, %z0 : f32",
            [0, -0.0, 0, -0.0, -1, 0, np.nan],
        ),
    ],
)
def test_two_numbers(body, expected, run_plain, kernels):
    assert_same(run_plain(pointwise(body, 2), SIGNS, OTHERS, options=kernels)[0], expected)


@pytest.mark.parametrize("order", ["%old, %size", "%size, %old"])
@pytest.mark.parametrize(
    ("call", "x", "y", "expected"),
    [
        ("maximumf", 0.0, -0.0, 0.0),
        ("maximumf", -0.0, 0.0, 0.0),
        ("minimumf", -0.0, 0.0, -0.0),
        ("minimumf", 0.0, 0.0, 0.0),
    ],
)
def test_single_numbers_of_a_loop(call, x, y, expected, order, run_plain, kernels):
    text = f"""func.func @main(%x: memref<f32>, %y: memref<f32>) -> memref<f32> {{
      %low = arith.constant 0 : index
      %end = arith.constant 100 : index
      %one = arith.constant 1 : index
      %first = memref.load %x[] : memref<f32>
      %r = scf.for %i = %low to %end step %one iter_args(%old = %first) -> (f32) {{
        %b = memref.load %y[] : memref<f32>
        %size = math.absf %b : f32
        %new = arith.{call} {order} : f32
        scf.yield %new : f32
      }}
      %o = memref.alloc() : memref<f32>
      memref.store %r, %o[] : memref<f32>
      return %o : memref<f32>
    }}"""
    assert_same(run_plain(text, np.float32(x), np.float32(y), options=kernels)[0], expected)


@pytest.mark.parametrize(
    ("call", "limit", "x", "expected"),
    [("minimumf", "0.0", -0.0, -0.0), ("maximumf", "-0.0", 0.0, 0.0), ("maximumf", "0.0", -0.0, 0.0)],
)
def test_a_limit_of_a_single_number_of_a_loop(call, limit, x, expected, run_plain, kernels):
    text = f"""func.func @main(%x: memref<f32>) -> memref<f32> {{
      %low = arith.constant 0 : index
      %end = arith.constant 100 : index
      %one = arith.constant 1 : index
      %limit = arith.constant {limit} : f32
      %first = memref.load %x[] : memref<f32>
      %r = scf.for %i = %low to %end step %one iter_args(%old = %first) -> (f32) {{
        %new = arith.{call} %old, %limit : f32
        scf.yield %new : f32
      }}
      %o = memref.alloc() : memref<f32>
      memref.store %r, %o[] : memref<f32>
      return %o : memref<f32>
    }}"""
    assert_same(run_plain(text, np.float32(x), options=kernels)[0], expected)
