"""Operators and ufuncs on traced tensors give what they give on arrays: values, shapes and element types."""

import operator

import numpy as np
import pytest


def _names(text):
    return text.split()


RNG = np.random.default_rng(7)
FLOATS = RNG.uniform(-3, 3, (3, 5)).astype(np.float32)
POSITIVE = RNG.uniform(0.1, 3, (3, 5)).astype(np.float32)
UNIT = RNG.uniform(-0.9, 0.9, (3, 5)).astype(np.float32)
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.5, -2.5, 0.5], np.float32)
INTS = RNG.integers(-20, 20, (3, 5)).astype(np.int32)
OTHERS = RNG.integers(-4, 4, (3, 5)).astype(np.int32)  # zeros included
BOOLS = RNG.integers(0, 2, (3, 5)).astype(np.bool_)

ON_ANY_FLOAT = _names(
    "negative positive absolute fabs sign square exp exp2 expm1 sin cos tan arctan sinh cosh tanh arcsinh "
    "cbrt floor ceil trunc rint degrees radians isnan isinf isfinite logical_not"
)


def all_of(names):
    """A function of arrays that applies every ufunc of ``names``."""
    return lambda *arrays: {name: getattr(np, name)(*arrays) for name in names}


def test_unary_functions_of_any_float(agrees):
    agrees(all_of(ON_ANY_FLOAT), FLOATS, tolerance=1e-5)


def test_unary_functions_of_positive_floats(agrees):
    agrees(all_of(_names("log log2 log10 log1p sqrt reciprocal")), POSITIVE, tolerance=1e-5)
    agrees(lambda x: np.arccosh(x), POSITIVE + 1, tolerance=1e-5)


def test_unary_functions_of_the_unit_interval(agrees):
    agrees(all_of(_names("arcsin arccos arctanh")), UNIT, tolerance=1e-5)


def test_unary_functions_of_special_floats(agrees):
    names = _names("absolute sign floor ceil trunc rint isnan isinf isfinite logical_not exp")
    agrees(all_of(names), SPECIAL)


def signs_and_values(results):
    """The results, and which of them are -0: those compare as equal to 0."""
    return results | {f"sign of {name}": np.copysign(np.ones_like(x), x) for name, x in results.items()}


def test_zeros_have_the_sign_that_numpy_gives_them(agrees):
    zeros = np.array([0.0, -0.0, 0.5, -0.5, 3.0, -3.0], np.float32)
    agrees(
        lambda x: signs_and_values(all_of(_names("sign negative absolute floor ceil trunc rint sqrt"))(abs(x))), zeros
    )
    agrees(lambda x: signs_and_values(all_of(_names("sign negative absolute floor ceil trunc rint"))(x)), zeros)
    divisions = all_of(_names("floor_divide remainder fmod copysign multiply"))
    agrees(lambda x, y: signs_and_values(divisions(x, y)), zeros[:, None], np.array([1, -1, 2, -2, 0.3], np.float32))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_integers_beside_numbers_that_their_type_cannot_hold(agrees, dtype):
    numbers = [int(limit) + step for limit in (np.iinfo(dtype).min, np.iinfo(dtype).max) for step in (-1, 0, 1)]
    compare = all_of(COMPARISONS)
    agrees(
        lambda x: {
            f"{name} {number} {turned}": found
            for number in [*numbers, 2**70, -(2**70)]
            for turned in (False, True)
            for name, found in (compare(number, x) if turned else compare(x, number)).items()
        },
        np.array([0, 1, -1, numbers[1], numbers[-2]], dtype),
    )


def test_unary_functions_of_integers(agrees):
    agrees(all_of(_names("negative absolute sign square invert floor isnan isinf isfinite logical_not")), INTS)


def test_functions_of_integers_that_are_floats_compute_in_float64(agrees):
    agrees(lambda x: (np.tanh(x), np.exp(x), x / 3), INTS)


def test_unary_functions_of_bools(agrees):
    agrees(all_of(_names("invert logical_not absolute")), BOOLS)


ARITHMETIC = _names("add subtract multiply divide floor_divide remainder fmod maximum minimum fmax fmin")
COMPARISONS = _names("equal not_equal less less_equal greater greater_equal")
LOGIC = _names("logical_and logical_or logical_xor")
BITS = _names("bitwise_and bitwise_or bitwise_xor")


def test_binary_functions_of_floats(agrees):
    names = [*ARITHMETIC, *COMPARISONS, *LOGIC, *_names("arctan2 copysign hypot logaddexp")]
    agrees(all_of(names), FLOATS, UNIT[1:2], tolerance=1e-5)


def test_binary_functions_of_special_floats(agrees):
    agrees(all_of([*ARITHMETIC, *COMPARISONS, "hypot", "logaddexp"]), SPECIAL[:, None], SPECIAL, tolerance=1e-5)


def test_binary_functions_of_integers(agrees):
    agrees(all_of([*ARITHMETIC, *COMPARISONS, *LOGIC, *BITS]), INTS, OTHERS)


def test_binary_functions_of_bools(agrees):
    agrees(all_of(["add", "multiply", "maximum", "minimum", *COMPARISONS, *LOGIC, *BITS]), BOOLS, BOOLS[::-1])


OPERATORS = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.eq,
    operator.ne,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.and_,
    operator.or_,
    operator.xor,
]


def test_operators_with_tensors_arrays_and_numbers_on_both_sides(agrees):
    def program(x, y):
        results = {}
        for apply in OPERATORS:
            sides = [(x, y), (x, 3), (7, y), (x, np.int32(2)), (INTS[0], y)]
            results.update({f"{apply.__name__} {place}": apply(*pair) for place, pair in enumerate(sides)})
        return results

    agrees(program, INTS, OTHERS)


def test_unary_operators(agrees):
    agrees(lambda x: (-x, +x, abs(x), ~x), INTS)


def test_divmod(agrees):
    agrees(lambda x: (*divmod(x, 3), *divmod(7, x), *np.divmod(x, 3)), INTS)


def test_shifts_within_and_beyond_the_width(agrees):
    amounts = np.array([0, 1, 5, 31, 32], np.int32)
    agrees(lambda x, y: (x << 2, x >> 2, x << y, x >> y, 1 << y), INTS, amounts)


def test_powers_of_floats(agrees):
    exponents = [0, 1, 2, 3, 4, 0.5, -1, 1.5, np.float32(2.5)]
    agrees(lambda x: {str(each): x**each for each in exponents}, POSITIVE, tolerance=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_powers_by_multiples_of_a_half_at_edges(agrees, dtype):
    normal = np.finfo(dtype).tiny
    edges = [0.0, -0.0, np.inf, -np.inf, np.nan, -1.5, -1.0, 1.0, normal, 1 / normal, 1e9, -1e9, 3e-9, -3e-9]
    exponents = [*np.arange(-4, 4.5, 0.5), 8, 11.5, 12, -12, 12.5, 13]

    def powers(x):
        found = [np.power(x, np.full_like(x, each)) for each in exponents]
        return found + [
            np.where(power == 0, np.copysign(dtype(1), power), dtype(2)) for power in found
        ]  # signs of zeros

    with np.errstate(all="ignore"):
        agrees(powers, np.array(edges, dtype), tolerance=10 * np.finfo(dtype).eps)


def test_powers_of_tensors_and_integers(agrees):
    agrees(lambda x, n: (x**n, 2.0**x, n**2, n**3, n**5, 2**n), POSITIVE, np.abs(OTHERS), tolerance=1e-5)


@pytest.mark.parametrize(
    "shapes", [((3, 5), (5,)), ((3, 1), (1, 5)), ((), (2, 3)), ((4, 1, 3), (2, 1)), ((1,), (1, 1)), ((), ())], ids=str
)
def test_broadcasting(agrees, shapes):
    arrays = [np.asarray(RNG.standard_normal(shape), np.float32) for shape in shapes]
    agrees(lambda x, y: (x + y, np.maximum(y, x)), *arrays)


DTYPES = [np.bool_, np.int8, np.int16, np.int32, np.int64, np.float32, np.float64]


@pytest.mark.parametrize("left", DTYPES, ids=lambda dtype: dtype.__name__)
def test_mixed_element_types_are_promoted_as_in_numpy(agrees, left):
    x = OTHERS.astype(left)
    others = [OTHERS[0].astype(dtype) for dtype in DTYPES]
    agrees(lambda x, *others: [x + other for other in others] + [x * 2, x * 2.5, x < 1.5], x, *others)


def test_astype(agrees):
    sources = [(FLOATS * 3).astype(dtype) for dtype in DTYPES]
    agrees(lambda *xs: {f"{x.dtype} to {dtype}": x.astype(dtype) for x in xs for dtype in DTYPES}, *sources)
    agrees(lambda x: np.astype(x, np.float64), FLOATS)


def test_where_with_tensors_arrays_and_numbers(agrees):
    agrees(lambda x, y: (np.where(x > y, x, y), np.where(x > 0, x, 0), np.where(x, 1, FLOATS)), FLOATS, POSITIVE)
    agrees(lambda m, i: (np.where(m, i, 2.5), np.where(m, np.float32(1), i)), BOOLS, INTS)


def test_clip(agrees):
    agrees(lambda x: (np.clip(x, -1, 1), x.clip(0), x.clip(max=2), np.clip(x, min=-2)), FLOATS)


def test_nan_to_num_and_round(agrees):
    agrees(lambda x: (np.nan_to_num(x), np.nan_to_num(x, nan=1, posinf=2, neginf=3)), SPECIAL)
    agrees(lambda x: (np.round(x), x.round(1)), FLOATS)


def test_constants_that_are_not_splats_keep_the_sign_of_zero(agrees):
    agrees(lambda x: np.copysign(x, np.array([0.0, -0.0], np.float32)), np.ones(2, np.float32))


def test_the_array_namespace_takes_traced_tensors(agrees):
    agrees(lambda x: x.__array_namespace__().permute_dims(x, (1, 0)), FLOATS)
