"""NumPy's ufuncs and what is near them, as users write them: traced, they agree with NumPy on both executors."""

import pytest

_UNARY = (
    "negative positive absolute fabs rint sign conj conjugate exp exp2 expm1 sin cos tan sinh cosh tanh arctan arcsinh "
    "square cbrt floor ceil trunc isfinite isinf isnan signbit spacing degrees radians deg2rad rad2deg logical_not abs"
)
_POSITIVE = "log log2 log10 log1p sqrt reciprocal arccosh"
_WITHIN_ONE = "arcsin arccos arctanh asin acos atanh"
_BINARY = (
    "add subtract multiply divide true_divide floor_divide remainder mod fmod maximum minimum fmax fmin copysign hypot "
    "arctan2 atan2 nextafter logaddexp logaddexp2 heaviside greater greater_equal less less_equal equal not_equal "
    "logical_and logical_or logical_xor float_power"
)
_OF_INTEGERS = "bitwise_and bitwise_or bitwise_xor left_shift right_shift floor_divide remainder fmod maximum minimum"

CALLS: dict[str, list[str]] = {
    "one operand": [f"np.{name}(x)" for name in _UNARY.split()],
    "one positive operand": [f"np.{name}(y + (np.{name} is np.arccosh))" for name in _POSITIVE.split()]
    + [f"np.{name}(z)" for name in _WITHIN_ONE.split()],
    "two operands": [f"np.{name}(x, y)" for name in _BINARY.split()] + ["np.power(y, x)", "np.pow(y, 2)"],
    "integers": [f"np.{name}(i, np.abs(j))" for name in _OF_INTEGERS.split()]
    + ["np.invert(i)", "np.bitwise_not(b)", "np.bitwise_count(i)", "np.bitwise_count(u)", "np.bitwise_invert(i)"]
    + [
        "np.gcd(i, 6)",
        "np.gcd(i, i[::-1])",
        "np.lcm(i, j)",
        "np.gcd(u, 12)",
        "np.absolute(i)",
        "np.sign(i)",
        "np.square(i)",
        "np.power(i, 3)",
        "np.bitwise_left_shift(i, 2)",
        "u + u",
        "u // 7",
    ]
    + ["np.divmod(i, 3)", "u > 100", "np.maximum(u, 9)", "i @ i.T", "~u", "u >> 3", "np.negative(u)", "i % -3"],
    "parts of numbers": [
        *("np.modf(g)", "np.frexp(g)", "np.frexp(x)", "np.ldexp(x, j)", "np.ldexp(g, -3)", "np.fix(x)", "np.sinc(x)"),
        *("np.i0(x * 9)", "np.real(x)", "np.imag(x)", "np.angle(x)", "np.angle(x, deg=True)", "np.isposinf(g)"),
        *("np.isneginf(g)", "np.isreal(x)", "np.iscomplex(x)", "np.real_if_close(x)", "np.nan_to_num(g)"),
        *("np.nan_to_num(g, nan=1.0, posinf=2.0, neginf=3.0)", "np.clip(x, -1, 1)", "np.clip(x, None, 0.5)"),
        *("np.clip(i, -1, None)", "np.clip(x, min=0)", "np.round(x, 2)", "np.around(x, 1)", "np.round(i, -1)"),
        *("np.unwrap(v * 4)", "np.unwrap(p * 5, axis=1)", "np.signbit(g)", "np.sign(g)", "np.copysign(1.0, g)"),
    ],
    "comparisons": [
        *("np.isclose(x, y)", "np.isclose(n, n, equal_nan=True)", "np.allclose(x, x + 1e-9)", "np.array_equal(x, x)"),
        *("np.array_equal(n, n, equal_nan=True)", "np.array_equiv(x, x[:1])", "np.isin(i, [1, 2, 3])"),
        *("np.isin(i, j, invert=True)", "np.where(x > 0, x, y)", "np.where(b, 1, 0)", "np.any(x > 1)", "np.all(b)"),
        *("np.select([x > 1, x > 0], [x, y], -1.0)", "np.choose(j, [j, j + 1, j * 2])", "np.array_equal(x, v)"),
        *("np.piecewise(x, [x < 0, x >= 1], [lambda t: -t, lambda t: t * t, 0.0])", "np.iscomplexobj(x)"),
    ],
    "methods of ufuncs": [
        *(
            "np.add.reduce(x)",
            "np.add.reduce(x, axis=1)",
            "np.multiply.reduce(x, axis=None)",
            "np.maximum.reduce(x, axis=1)",
        ),
        *(
            "np.minimum.reduce(x)",
            "np.logical_and.reduce(b)",
            "np.logical_or.reduce(b, axis=1)",
            "np.logical_xor.reduce(b)",
        ),
        *(
            "np.bitwise_or.reduce(i)",
            "np.bitwise_and.reduce(i, axis=1)",
            "np.bitwise_xor.reduce(u)",
            "np.logaddexp.reduce(x)",
        ),
        *("np.hypot.reduce(x)", "np.add.outer(v, w)", "np.subtract.outer(v, x)", "np.add.reduce(x, keepdims=True)"),
        *("np.add(x, y, dtype=np.float64)", "np.add.reduce(x, initial=2.0)", "np.add.reduce(x, where=b)"),
    ],
}
"""Expressions of the inputs by what they are about; each is a number, an array, or several of them."""


@pytest.mark.parametrize("group", CALLS)
def test_calls_agree(group, assert_calls_agree):
    assert_calls_agree(CALLS[group])
