"""The error function and its complement; NumPy has neither."""

from typing import Any

import numpy as np

# erf(x) / x = P(x*x) / Q(x*x) for |x| <= 4, relative error below 1e-9: evaluated in f64 it rounds to f32 correctly
# but for rare ties. Fitted by iteratively weighted least squares on Chebyshev points. erf(4) rounds to 1 in f32.
_P = (1.1283791681438904, 0.16690449785466913, 0.05093872002599012, 0.0029560736769121796,
      0.00030576480093498325, -2.883220185193002e-07, -4.483766638301616e-08)  # fmt: skip
_Q = (1.0, 0.48124863207495805, 0.10555921040514898, 0.013491532666907273,
      0.0010398833228702643, 4.1001715065911366e-05, -6.200433123796085e-07)  # fmt: skip
_LIMIT = 4.0
_CHUNK = 16384  # elements: two f64 temporaries stay in the first two cache levels

# f64: the rational approximations of Sun's fdlibm (s_erf.c, 1993), each P/Q in ascending powers, error below 1 ulp.
_NEAR_0 = (
    (1.28379167095512558561e-01, -3.25042107247001499370e-01, -2.84817495755985104766e-02,
     -5.77027029648944159157e-03, -2.37630166566501626084e-05),
    (1.0, 3.97917223959155352819e-01, 6.50222499887672944485e-02, 5.08130628187576562776e-03,
     1.32494738004321644526e-04, -3.96022827877536812320e-06),
)  # fmt: skip
_NEAR_1 = (
    (-2.36211856075265944077e-03, 4.14856118683748331666e-01, -3.72207876035701323847e-01, 3.18346619901161753674e-01,
     -1.10894694282396677476e-01, 3.54783043256182359371e-02, -2.16637559486879084300e-03),
    (1.0, 1.06420880400844228286e-01, 5.40397917702171048937e-01, 7.18286544141962662868e-02,
     1.26171219808761642112e-01, 1.36370839120290507362e-02, 1.19844998467991074170e-02),
)  # fmt: skip
_MIDDLE = (
    (-9.86494403484714822705e-03, -6.93858572707181764372e-01, -1.05586262253232909814e01, -6.23753324503260060396e01,
     -1.62396669462573470355e02, -1.84605092906711035994e02, -8.12874355063065934246e01, -9.81432934416914548592e00),
    (1.0, 1.96512716674392571292e01, 1.37657754143519042600e02, 4.34565877475229228821e02, 6.45387271733267880336e02,
     4.29008140027567833386e02, 1.08635005541779435134e02, 6.57024977031928170135e00, -6.04244152148580987438e-02),
)  # fmt: skip
_FAR = (
    (-9.86494292470009928597e-03, -7.99283237680523006574e-01, -1.77579549177547519889e01, -1.60636384855821916062e02,
     -6.37566443368389627722e02, -1.02509513161107724954e03, -4.83519191608651397019e02),
    (1.0, 3.03380607434824582924e01, 3.25792512996573918826e02, 1.53672958608443695994e03, 3.19985821950859553908e03,
     2.55305040643316442583e03, 4.74528541206955367215e02, -2.24409524465858183362e01),
)  # fmt: skip
_ERF_1 = 8.45062911510467529297e-01  # erf(1) in 24 bits


def erf(a: np.ndarray, out: np.ndarray) -> np.ndarray:
    """The error function of ``a``; within 1 ulp of ``out``'s type (f16, f32 or f64).

    >>> erf(np.float32([0, 1, -9]), np.empty(3, np.float32)).round(6).tolist()
    [0.0, 0.8427010178565979, -1.0]
    """
    if out.dtype == np.float64:
        np.copyto(out, _erf_double(np.asarray(a)))
        return out
    if out.size > _CHUNK and a.shape == out.shape and a.flags.c_contiguous and out.flags.c_contiguous:
        flat, result = a.reshape(-1), out.reshape(-1)
        for start in range(0, flat.size, _CHUNK):
            _erf_single(flat[start : start + _CHUNK], result[start : start + _CHUNK])
    else:
        _erf_single(np.asarray(a), out)
    return out


def _erf_single(a: np.ndarray, out: np.ndarray) -> None:
    x = np.clip(a.astype(np.float64), -_LIMIT, _LIMIT)
    square = x * x
    x *= _polynomial(_P, square)
    np.divide(x, _polynomial(_Q, square), out, casting="same_kind")


def erfc(a: np.ndarray, out: np.ndarray) -> np.ndarray:
    """The complement, 1 - erf(``a``), without cancellation for large ``a``.

    >>> float(f"{erfc(np.array([5.0]), np.empty(1))[0]:.6g}")
    1.53746e-12
    """
    x = np.asarray(a, np.float64)
    size = np.abs(x)
    result = np.where(x < 0, 2.0, 0.0)
    result[np.isnan(x)] = np.nan
    near = size < 0.84375
    result[near] = 1.0 - _small(x[near])
    tail = (size >= 0.84375) & (size < 28.0)
    result[tail] = np.where(x[tail] < 0, 2.0 - _tail(size[tail]), _tail(size[tail]))
    np.copyto(out, result, casting="same_kind")
    return out


def _erf_double(x: np.ndarray) -> np.ndarray:
    size = np.abs(x)
    result = np.asarray(np.sign(x))
    near = size < 0.84375
    result[near] = _small(x[near])
    tail = (size >= 0.84375) & (size < 6.0)
    result[tail] = np.copysign(1.0 - _tail(size[tail]), x[tail])
    return result


def _small(x: np.ndarray) -> np.ndarray:
    """erf(x) for \\|x\\| < 0.84375."""
    square = x * x
    return x + x * (_polynomial(_NEAR_0[0], square) / _polynomial(_NEAR_0[1], square))


def _tail(size: np.ndarray) -> np.ndarray:
    """erfc(size) for 0.84375 <= size < 28."""
    result = np.empty_like(size)
    near = size < 1.25
    s = size[near] - 1.0
    result[near] = 1.0 - _ERF_1 - _polynomial(_NEAR_1[0], s) / _polynomial(_NEAR_1[1], s)
    for (p, q), chosen in ((_MIDDLE, ~near & (size < 1 / 0.35)), (_FAR, size >= 1 / 0.35)):
        x = size[chosen]
        s = 1.0 / (x * x)
        # x*x in two parts: the head has few enough bits that its square is exact
        head = (x.view(np.uint64) & np.uint64(0xFFFFFFFF00000000)).view(np.float64)
        power = np.exp(-head * head - 0.5625) * np.exp((head - x) * (head + x) + _polynomial(p, s) / _polynomial(q, s))
        result[chosen] = power / x
    return result


def _polynomial(coefficients: tuple[float, ...], x: np.ndarray) -> Any:
    """Horner's rule; coefficients in ascending powers."""
    total = x * coefficients[-1]
    total += coefficients[-2]
    for coefficient in coefficients[-3::-1]:
        total *= x
        total += coefficient
    return total
