"""Complex tensors, which are pairs of reals, give what NumPy gives, on both executors."""

import numpy as np
import pytest

import ipu_mlir as ipu

RNG = np.random.default_rng(9)
X = RNG.uniform(-2, 2, (2, 3)).astype(np.float32)
C = (RNG.uniform(-2, 2, (2, 3)) + 1j * RNG.uniform(-2, 2, (2, 3))).astype(np.complex64)
C[0, 0], C[1, 2] = 0, -1.5
WIDE = np.array([[1 + 2j, -0.5j, 3], [0.25, -1 - 1j, 2j]])
UNARY = (
    "negative positive conjugate absolute sign square sqrt exp exp2 expm1 sin cos tan sinh cosh tanh arcsin arccos "
    "arctan arcsinh arccosh arctanh isnan isinf isfinite logical_not rint"
)
OF_ALL_BUT_ZERO = "reciprocal log log2 log10 log1p"


def test_functions_of_one_operand(both_agree):
    def program(c, d):
        with_zero = {name: getattr(np, name)(c) for name in UNARY.split()}
        return with_zero | {name: getattr(np, name)(d) for name in OF_ALL_BUT_ZERO.split()}

    both_agree(program, C, C + np.complex64(0.3 + 0.2j), tolerance=2e-5)


def test_functions_of_two_operands(both_agree):
    def program(c, x, d):
        pairs = {
            "cd": (c, d),
            "cx": (c, x + 3),
            "xc": (x, d),
            "known": (c, WIDE),
            "number": (c, 1.5j),
            "real": (2.0, d),
        }
        names = ("add", "subtract", "multiply", "divide", "equal", "not_equal", "logical_and", "logical_xor")
        found = {f"{name} {key}": getattr(np, name)(*pair) for name in names for key, pair in pairs.items()}
        return found | {"power": c**d, "square": c**2, "of real": x * 1j, "root": np.power(d, 0.5), "none": c**0}

    both_agree(program, C, X, C[::-1] + np.complex64(0.3 + 3j), tolerance=3e-5)


def test_parts_and_shapes(both_agree):
    def program(c, x):
        return {
            "itself": c,
            "real": c.real,
            "imag": c.imag,
            "angle": np.angle(c),
            "T": c.T,
            "reshape": c.reshape(3, 2),
            "number": c.sum().reshape(1, 1),
            "slice": c[1:, ::-1],
            "arrays": c[[0, 1], [1, 1]],
            "places": np.take(c, [0, 1, 0], axis=0),
            "traced": c[np.argmax(x, 1) * 0],
            "empty": c[:0],
            "concatenate": np.concatenate([c, x]),
            "stack": np.stack([c, c]),
            "where": np.where(x > 0, c, x),
            "where number": np.where(x > 0, 1j, c),
            "pad": np.pad(c, 1),
            "pad with": np.pad(c, 1, constant_values=2 + 1j),
            "flip": np.flip(c),
            "roll": np.roll(c, 1),
            "diagonal": np.diagonal(c),
            "tril": np.tril(c),
            "tile": np.tile(c, 2),
            "like": np.full_like(c, 1 + 2j),
            "zeros": np.zeros_like(c),
            "to complex": x.astype(np.complex64),
            "to wide": c.astype(np.complex128),
            "to bool": c.astype(np.bool_),
        }

    both_agree(program, C, X, tolerance=1e-6)


def test_sums_and_products(both_agree):
    def program(c, x):
        return {
            "sum": c.sum(),
            "sum along": c.sum(0),
            "where": np.sum(c, where=x > 0),
            "prod": c.prod(axis=1),
            "prod all": np.prod(c, keepdims=True),
            "no prod": np.prod(c[:0], axis=0),
            "mean": c.mean(1),
            "std": c.std(),
            "any": c.any(),
            "all": c.all(1),
            "cumsum": np.cumsum(c, 1),
            "cumprod": np.cumprod(c),
            "@": c @ c.T,
            "@ real": c @ x.T,
            "vdot": np.vdot(c, c),
            "vecdot": np.vecdot(c, c),
            "einsum": np.einsum("ij,ij->i", c, c),
            "norm": np.linalg.norm(c),
            "close": np.isclose(c, c * 1.001),
        }

    both_agree(program, C, X, tolerance=3e-5)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda c: c // 2,
            "np.floor_divide is not supported for complex numbers; use x.real and x.imag; there are abs",
        ),
        (lambda c: np.hypot.reduce(c), r"hypot of complex64\[2, 3\]: the function is one of real numbers"),
        (lambda c: np.median(c), "the function is one of real numbers; use x.real and x.imag"),
        (lambda c: np.searchsorted(c[0], c), "complex numbers are only sorted; compare x.real, x.imag or np.abs"),
        (lambda c: np.maximum.accumulate(c), "complex numbers have sums and products only"),
    ],
)
def test_functions_of_real_numbers_are_refused(function, message):
    with pytest.raises(TypeError, match=rf"test_complex_numbers.py:\d+: .*{message}"):
        ipu.function(function).trace(C)


def test_comparisons_go_by_real_parts_and_then_by_imaginary_ones(both_agree):
    parts = np.array([0, 1, -1, 1, np.nan, -np.inf, np.inf], np.float32)
    grid = np.empty((7, 7), np.complex64)
    grid.real, grid.imag = parts[:, None], parts
    names = ("less", "less_equal", "greater", "greater_equal", "maximum", "minimum", "fmax", "fmin")

    def comparisons(x, y):
        return {name: getattr(np, name)(x, y) for name in names} | {"number": x < 1, "clip": np.clip(x, -1, 1)}

    both_agree(comparisons, grid.reshape(-1, 1), grid.reshape(1, -1)[:, ::3])

    def extrema(x, y):
        found = {f"{name} 1": getattr(np, name)(x, axis=1) for name in ("max", "min", "argmax", "nanmax", "nanmin")}
        found |= {"all": np.max(y), "place": np.argmin(y), "kept": np.min(y, axis=0, keepdims=True)}
        return found | {"spread": np.ptp(y, 0), "both": np.max(y, axis=(0, 1)), "from": np.max(y, 0, initial=1j)}

    both_agree(extrema, grid[:4], grid[:4, :4])


def test_orders_and_sliding_products(both_agree):
    """By real parts, then by imaginary ones, NaN last; products with the conjugate where NumPy has it."""
    nan = np.nan
    values = np.array([3 + 1j, 1 + 5j, 1 + 2j, nan + 1j, complex(1, nan), 0j, complex(nan, nan)], np.complex64)

    def orders(v):
        both = np.stack([v, v[::-1]])
        found = np.sort(v), np.argsort(v, kind="stable"), np.lexsort((v, v)), np.sort(both, axis=1), np.sort(both, 0)
        return dict(enumerate(found))

    both_agree(orders, values)

    def products(v, w):
        slid = [np.convolve(v, w), np.convolve(w, v, "same"), np.correlate(v, w), np.correlate(w, v, "full")]
        return dict(enumerate([*slid, np.cov(np.stack([v, v[::-1] * 1j])), np.vdot(v, v)]))

    both_agree(products, C.ravel(), C[0, :2], tolerance=2e-5)


def test_small_integers_become_the_floats_that_numpy_makes_of_them(both_agree):
    for dtype in (np.bool_, np.uint8, np.int16, np.int32):
        x = np.array([1, 0, 1], dtype)
        both_agree(
            lambda x: dict(enumerate((np.ldexp(x, 2), *np.frexp(x), *np.modf(x), np.angle(x), np.vdot(x, x)))), x
        )


def test_a_loop_carries_complex_tensors(both_agree):
    def program(c):
        return {"steps": ipu.fori_loop(0, 3, lambda _, z: z * z * 0.5 + c, c)}

    both_agree(program, C * np.complex64(0.3), tolerance=1e-5)
