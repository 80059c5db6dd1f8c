"""Traced programs of unsigned integers and of the floats of ml_dtypes."""

import ml_dtypes
import numpy as np
import pytest

import ipu_mlir as ipu

UNSIGNED = [np.uint8, np.uint16, np.uint32, np.uint64]
NARROW = [ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn]
BINARY = [
    *(np.add, np.subtract, np.multiply, np.divide, np.floor_divide, np.remainder, np.fmod, np.power),
    *(np.maximum, np.minimum, np.fmax, np.fmin, np.less, np.less_equal, np.greater, np.greater_equal, np.equal),
    *(np.left_shift, np.right_shift, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.logical_and),
]
UNARY = [
    *(np.sum, np.prod, np.max, np.min, np.argmax, np.argmin, np.any, np.all, np.mean, np.std),
    *(np.abs, np.negative, np.positive, np.sign, np.square, np.invert, np.isnan, np.sqrt),
]


def _pair(dtype):
    """Numbers from all of the range of an unsigned type, and others beside them; 0 among both."""
    scale = np.iinfo(dtype).max // 255
    first = np.array([0, 1, 100, 127, 128, 200, 255, 7], dtype) * dtype(scale)
    return first, np.array([1, 3, 130, 2, 255, 200, 3, 0], dtype)


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_unsigned_functions(both_agree, dtype):
    def program(x, y):
        return {u.__name__: u(x, y) for u in BINARY} | {f.__name__: f(x) for f in UNARY}

    both_agree(program, *_pair(dtype), tolerance=1e-6)


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_unsigned_casts_and_mixtures(both_agree, dtype):
    x, y = _pair(dtype)
    to = [*UNSIGNED, np.int8, np.int16, np.int32, np.int64, np.float16, np.float32, np.float64, np.bool_]

    def program(x, i, b, f):
        cast = {np.dtype(each).name: x.astype(each) for each in to}
        mixed = {"+": x + 1, "<": x < 300, ">": x > -1, "@": x @ x, "f": x + f, "b": x + b, "where": np.where(b, x, 7)}
        return cast | mixed | {"known": x * np.asarray(y), "stack": np.stack([x, x[::-1]]), "i": x + i}

    i = np.arange(-4, 4).astype(np.int16 if dtype is np.uint64 else np.int8)
    both_agree(program, x, i, i > 0, i.astype(np.float32), tolerance=1e-6)


def test_unsigned_results_of_floats_beyond_the_type_are_the_nearest(both_agree):
    x = np.array([-3, 0.7, 254.9, 256, 1e9, np.nan], np.float32)
    nearest = np.array([0, 0, 254, 255, 255, 0], np.uint8)
    both_agree(lambda x: {"u8": x.astype(np.uint8)}, x, known={"u8": nearest})


@pytest.mark.parametrize("dtype", NARROW)
def test_narrow_floats(both_agree, dtype):
    z = np.array([1.5, -2, 3.25, 100, 0, 7, 0.125, 9], np.float32)
    x = z.astype(dtype)

    def program(x, z):
        return {
            "product": x * x,
            "exp": np.exp(-np.abs(x)),
            "to f32": x.astype(np.float32) + z,
            "with f32": x + z,
            "to f16": x.astype(np.float16),
            "from f32": z.astype(dtype),
            "less": x < 2.5,
            "max": np.max(x),
            "min": np.min(x),
            "known": np.asarray(x) * x if isinstance(x, np.ndarray) else z.astype(dtype) * x,
            "whole": x + 2,
            "where": np.where(x > 0, x, 0),
        }

    both_agree(program, x, z, tolerance=0.02)


def test_python_numbers_take_the_narrow_type(both_agree):
    x = np.array([1.5, -2, 3.25], ml_dtypes.bfloat16)
    exact = {"+": x + x.dtype.type(1.5), "/": x.dtype.type(2.5) / x, "where": x.dtype.type(0.5) * (x > 0)}
    both_agree(lambda x: {"+": x + 1.5, "/": 2.5 / x, "where": np.where(x > 0, 0.5, x * 0)}, x, known=exact)


def test_functions_that_ask_for_the_limits_of_a_narrow_type(both_agree):
    x = np.array([[1.5, -2, 3e-39], [3e38, np.inf, np.nan]], ml_dtypes.bfloat16)
    y = np.array([[2, 1], [1, 4]], ml_dtypes.bfloat16)
    fraction, exponent = np.frexp(x)
    wide = y.astype(np.float32)
    exact = {"fraction": fraction, "exponent": exponent, "times 8": np.ldexp(x, 3), "rank": np.int64(2)}
    exact["inverse"] = np.linalg.pinv(wide).astype(y.dtype)
    exact["known"] = np.nan_to_num(x.astype(np.float32), posinf=float(ml_dtypes.finfo(x.dtype).max)).astype(x.dtype)

    def program(x, y):
        parts = dict(zip(("fraction", "exponent"), np.frexp(x), strict=True))
        matrices = {"rank": np.linalg.matrix_rank(y), "inverse": np.linalg.pinv(y)}
        return {**parts, "times 8": np.ldexp(x, 3), **matrices, "known": np.nan_to_num(x)}

    both_agree(program, x, y, known=exact, tolerance=0.02)
    layer = ipu.layers.Attention(4, 2, causal=True)
    parameters = layer.init(0)
    narrow = {name: {each: part.astype(x.dtype) for each, part in parts.items()} for name, parts in parameters.items()}
    rows = np.linspace(-1, 1, 12).reshape(1, 3, 4).astype(x.dtype)
    found = ipu.compile(layer, args=[narrow, rows], target=ipu.Target(tiles_per_ipu=4))(narrow, rows)
    expected = ipu.compile(layer, args=[parameters, rows.astype(np.float32)])(parameters, rows.astype(np.float32))
    np.testing.assert_allclose(found.astype(np.float32), expected, atol=0.05)


def test_types_without_a_common_one_are_refused():
    @ipu.function
    def program(x, y):
        return np.where(x > 0, x, y)

    with pytest.raises(TypeError, match=r"test_element_types.py:\d+: .*use astype"):
        program.trace(ipu.TensorSpec(3, ml_dtypes.bfloat16), ipu.TensorSpec(3, np.float16))


def test_an_unknown_type_is_refused_where_it_stands():
    with pytest.raises(TypeError, match=r"test_element_types.py:\d+: 'float33' names no element type"):
        ipu.function(lambda x: x.astype("float33")).trace(ipu.TensorSpec(3))
    with pytest.raises(ipu.CompileError, match="'float33' names no element type"):
        ipu.TensorSpec(3, "float33")
