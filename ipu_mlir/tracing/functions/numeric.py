"""Functions of one element that are made of others, and comparisons of whole tensors."""

from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import upstream
from ipu_mlir.specs.tensor_types import finfo, kind_of
from ipu_mlir.tracing import views
from ipu_mlir.tracing.control.loops import while_loop
from ipu_mlir.tracing.elements.reading import gather_along
from ipu_mlir.tracing.elementwise import as_float, as_ufunc_float, astype, where
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.functions.orders import searchsorted
from ipu_mlir.tracing.graph import Symbol
from ipu_mlir.tracing.operands import common_dtype, common_float, operand, tensor, trace_of, warn_if_widened
from ipu_mlir.tracing.pairs import as_pairs, from_pairs, is_complex, part

arith = upstream("arith")


def clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None, dtype: Any = None) -> Any:
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    raised = a if low is None else np.maximum(a, low)
    found = raised if high is None else np.minimum(raised, high)
    return found if dtype is None else astype(found, dtype)


def round(a: Any, decimals: int = 0) -> Any:
    if is_complex(a):
        return from_pairs(round(as_pairs(a), decimals))
    if kind_of(a.dtype) == "b" and decimals == 0:
        return astype(a, np.float16)
    if kind_of(a.dtype) != "f":
        return a if decimals >= 0 else astype(np.rint(a / 10.0**-decimals) * 10.0**-decimals, a.dtype)
    if decimals < 0:
        return np.rint(a / 10.0**-decimals) * 10.0**-decimals
    return np.rint(a) if decimals == 0 else np.rint(a * 10.0**decimals) / 10.0**decimals


around = round


def fix(x: Any) -> Any:
    return np.trunc(x)


def nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Any:
    if kind_of(x.dtype) != "f":
        return x
    most = float(finfo(x.dtype).max)
    high, low = most if posinf is None else posinf, -most if neginf is None else neginf
    return where(x == np.inf, high, where(x == -np.inf, low, where(np.isnan(x), nan, x)))


def sinc(x: Any) -> Any:
    """Near 0 its power series, which has derivatives there; the first term left out is below 1e-20."""
    angle = np.pi * as_float(x)
    is_near = np.abs(angle) < 0.25
    square = np.square(where(is_near, angle, 0.0))
    near = np.ones_like(square)
    for term in range(12, 0, -2):
        near = 1.0 - near * (square / float(term * (term + 1)))
    far = where(is_near, 1.0, angle)
    return where(is_near, near, np.sin(far) / far)


def i0(x: Any) -> Any:
    """The modified Bessel function of order 0: its power series up to 20, beyond it that in 1 / x.

    Source: https://dlmf.nist.gov/10.25.E2 and 10.40.E1; with 50 and 30 terms both are exact to float64 there.
    """
    x = np.abs(as_float(x))
    quarter = np.square(np.minimum(x, 20.0)) / 4.0
    near = np.ones_like(x)
    for term in range(50, 0, -1):
        near = 1.0 + near * (quarter / float(term * term))
    inverse = 1.0 / (8.0 * np.maximum(x, 20.0))
    far = np.ones_like(x)
    for term in range(30, 0, -1):
        far = 1.0 + far * (inverse * float((2 * term - 1) ** 2 / term))
    half = np.exp(x / 2.0)  # exp(x) would overflow before the result does
    return where(x <= 20.0, near, half * (half / np.sqrt(2.0 * np.pi * np.maximum(x, 20.0))) * far)


def gcd(x1: Any, x2: Any, /) -> Any:
    """Euclid's algorithm on all elements at once, until none has a remainder."""
    trace = trace_of((x1, x2))
    common = common_dtype([operand(trace, each) for each in (x1, x2)])
    if common.kind not in "iu":
        raise TraceTypeError(f"np.gcd of {common}: give integers")
    pair = np.broadcast_arrays(*(np.abs(astype(tensor(trace, each, common), common)) for each in (x1, x2)))

    def step(state: Any) -> Any:
        large, small = state
        return where(small == 0, large, small), where(small == 0, 0, large % small)

    return while_loop(lambda state: np.any(state[1] != 0), step, tuple(pair))[0]


def lcm(x1: Any, x2: Any, /) -> Any:
    shared = gcd(x1, x2)
    return np.abs(x1 // where(shared == 0, 1, shared) * x2)


def real(val: Any) -> Any:
    return part(val, 0) if is_complex(val) else val


def imag(val: Any) -> Any:
    return part(val, 1) if is_complex(val) else np.zeros_like(val)


def angle(z: Any, deg: bool = False) -> Any:
    if is_complex(z):
        return np.arctan2(imag(z), real(z)) * (180 / np.pi if deg else 1.0)
    z = as_float(z) if z.dtype == bool else as_ufunc_float(z)
    found = where(np.isnan(z), np.nan, where(np.signbit(z), 180.0 if deg else np.pi, 0.0 * np.abs(np.sign(z))))
    return astype(found, z.dtype)


def isreal(x: Any) -> Any:
    return imag(x) == 0


def iscomplex(x: Any) -> Any:
    return imag(x) != 0


def iscomplexobj(x: Any) -> bool:
    return x.dtype.kind == "c"


def isrealobj(x: Any) -> bool:
    return not iscomplexobj(x)


def real_if_close(a: Any, tol: float = 100) -> Any:
    return a


def isposinf(x: Any) -> Any:
    return x == np.inf


def isneginf(x: Any) -> Any:
    return x == -np.inf


def isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    trace = trace_of((a, b))
    operands = [operand(trace, each) for each in (a, b)]
    if all(kind_of(each.dtype) == "b" for each in operands):
        return a == b
    a, b = (tensor(trace, each) if not isinstance(each, Symbol) else each for each in (a, b))
    common = common_dtype([a, b])
    if kind_of(common) not in "fc":
        common = np.dtype(np.float64)
        warn_if_widened("isclose", [a, b], common)
    a, b = astype(a, common), astype(b, common)
    close = (np.abs(a - b) <= atol + rtol * np.abs(b)) & np.isfinite(b) | (a == b)
    return close | (np.isnan(a) & np.isnan(b)) if equal_nan else close


def allclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    return np.all(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    if np.shape(a1) != np.shape(a2):
        return False
    same = a1 == a2
    return np.all(same | ((a1 != a1) & (a2 != a2)) if equal_nan else same)


def array_equiv(a1: Any, a2: Any) -> Any:
    try:
        np.broadcast_shapes(np.shape(a1), np.shape(a2))
    except ValueError:
        return False
    return np.all(a1 == a2)


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    if period is not None:
        raise TraceTypeError("np.interp while tracing: period= is not supported; use np.remainder, and repeat the ends")
    trace = trace_of((x, xp, fp, left, right))
    x, xp, fp = (tensor(trace, each) for each in (x, xp, fp))
    kind = common_float([x, xp, fp])
    x, xp, fp = (astype(each, kind) for each in (x, xp, fp))
    if len(xp.shape) != 1 or xp.shape != fp.shape or not xp.shape[0]:
        raise TraceValueError(f"interp: {xp} and {fp} are not two vectors of one size, which is 1 or more")
    last = xp.shape[0] - 1
    flat = views.reshape(x, (-1,))
    at = np.clip(searchsorted(xp, flat, "right") - 1, 0, max(last - 1, 0))
    after = np.minimum(at + 1, last)
    x0, x1, y0, y1 = (
        gather_along(xp, at, 0),
        gather_along(xp, after, 0),
        gather_along(fp, at, 0),
        gather_along(fp, after, 0),
    )
    slope = (y1 - y0) / where(x1 == x0, 1.0, x1 - x0)
    near_x, near_y = where(flat == x1, x1, x0), where(flat == x1, y1, y0)  # at the last point the slope before it
    between = where((flat == near_x) & ~np.isfinite(slope), near_y, near_y + slope * (flat - near_x))
    found = where(flat < xp[0], fp[0] if left is None else left, between)
    found = where(flat > xp[last], fp[last] if right is None else right, found)
    return views.reshape(where(np.isnan(flat), np.nan, found), x.shape)


def astype_(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    return astype(x, dtype)


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    trace = trace_of(arrays_and_dtypes)
    kinds = [each for each in arrays_and_dtypes if isinstance(each, np.dtype | type | str)]
    values = [operand(trace, each) for each in arrays_and_dtypes if not isinstance(each, np.dtype | type | str)]
    return np.result_type(common_dtype(values), *kinds)


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    return np.can_cast(from_.dtype if isinstance(from_, Symbol) else from_, to, casting)


def min_scalar_type(a: Any, /) -> np.dtype[Any]:
    if not a.shape:
        raise TraceTypeError(f"np.min_scalar_type of {a}: its value is not known while tracing; use its dtype")
    return a.dtype


def common_type(*arrays: Any) -> type[np.generic]:
    return np.common_type(*(np.empty(0, each.dtype) for each in arrays))


def shape(a: Any) -> tuple[int, ...]:
    return a.shape


def ndim(a: Any) -> int:
    return len(a.shape)


def size(a: Any, axis: int | None = None) -> int:
    return a.size if axis is None else a.shape[views.axis_of("size", a, axis)]


def shares_memory(a: Any, b: Any, /, max_work: int | None = None) -> bool:
    """Only with itself: tensors do not change."""
    return a is b


may_share_memory = shares_memory
