"""What ``x.__array_namespace__()`` gives: the Python array API standard, 2024.12, for traced tensors.

Its functions are NumPy's, which take traced tensors, where NumPy says what the standard says. What makes tensors
(``zeros``, ``arange``, ``asarray``) gives traced ones while a function is traced, and arrays outside.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np

from ipu_mlir.specs.tensor_types import finfo as _finfo
from ipu_mlir.tracing.elementwise import astype as _astype
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.functions.orders import argsort_descending
from ipu_mlir.tracing.graph import Symbol, current_trace, supported_dtype

__array_api_version__ = "2024.12"
_DEVICE = "ipu"

_CONSTANTS = ("e", "inf", "nan", "newaxis", "pi")
_DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)
_FUNCTIONS = (
    *("abs", "acos", "acosh", "add", "all", "any", "argmax", "argmin", "asin", "asinh", "atan", "atan2", "atanh"),
    *("bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor"),
    *("broadcast_arrays", "broadcast_to", "can_cast", "ceil", "clip", "concat", "conj", "copysign", "cos", "cosh"),
    *("count_nonzero", "cumulative_prod", "cumulative_sum", "diff", "divide", "equal", "exp", "expand_dims", "expm1"),
    *("flip", "floor", "floor_divide", "greater", "greater_equal", "hypot", "imag", "isdtype", "isfinite", "isinf"),
    *("isnan", "less", "less_equal", "log", "log10", "log1p", "log2", "logaddexp", "logical_and", "logical_not"),
    *(
        "logical_or",
        "logical_xor",
        "matmul",
        "matrix_transpose",
        "max",
        "maximum",
        "mean",
        "meshgrid",
        "min",
        "minimum",
    ),
    *("moveaxis", "multiply", "negative", "nextafter", "nonzero", "not_equal", "permute_dims", "positive", "pow"),
    *("prod", "real", "reciprocal", "remainder", "repeat", "reshape", "result_type", "roll", "round", "searchsorted"),
    *("sign", "signbit", "sin", "sinh", "sqrt", "square", "squeeze", "stack", "std", "subtract", "sum", "take"),
    *("take_along_axis", "tan", "tanh", "tensordot", "tile", "tril", "triu", "trunc", "unique_all", "unique_counts"),
    *("unique_inverse", "unique_values", "unstack", "var", "vecdot", "where"),
)
_LINALG = (
    *("cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power"),
    *("matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot"),
    *("trace", "vecdot", "vector_norm"),
)
_FFT = (
    *("fft", "ifft", "fftn", "ifftn", "rfft", "irfft", "rfftn", "irfftn", "hfft", "ihfft", "fftshift", "ifftshift"),
)

globals().update({name: getattr(np, name) for name in (*_CONSTANTS, *_DTYPES, *_FUNCTIONS)})
linalg = SimpleNamespace(**{name: getattr(np.linalg, name) for name in _LINALG})


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Any:
    """A tensor of numbers, an array or a tensor."""
    if isinstance(obj, Symbol):
        return obj if dtype is None else _astype(obj, dtype)
    return _made(np.asarray(obj, dtype), device)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """A tensor of an array of another library, whose values are known; a traced tensor is one already."""
    return x if isinstance(x, Symbol) else _made(np.from_dlpack(x), device)


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None) -> Any:
    return _made(np.arange(start, stop, step, dtype=dtype), device)


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """As ``zeros``: nothing is without values."""
    return zeros(shape, dtype=dtype, device=device)


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None) -> Any:
    return _made(np.eye(n_rows, n_cols, k, np.float64 if dtype is None else dtype), device)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    if isinstance(fill_value, Symbol):
        return np.broadcast_to(fill_value if dtype is None else _astype(fill_value, dtype), shape)
    return _made(np.full(shape, fill_value, dtype), device)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    return _made(np.zeros(shape, np.float64 if dtype is None else dtype), device)


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
    return _made(np.ones(shape, np.float64 if dtype is None else dtype), device)


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None, endpoint: bool = True
) -> Any:
    return _made(np.linspace(start, stop, num, endpoint, dtype=dtype), device)


def empty_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    return zeros(x.shape, dtype=x.dtype if dtype is None else dtype, device=device)


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    return zeros(x.shape, dtype=x.dtype if dtype is None else dtype, device=device)


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
    return ones(x.shape, dtype=x.dtype if dtype is None else dtype, device=device)


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    return full(x.shape, fill_value, dtype=x.dtype if dtype is None else dtype, device=device)


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """Complex numbers become no reals: take ``real(x)`` or ``imag(x)``."""
    if x.dtype.kind == "c" and np.dtype(dtype).kind not in "bc":
        raise TraceTypeError(f"astype of {x}: complex numbers are no {np.dtype(dtype)}; use real(x) or imag(x)")
    _checked(device)
    return x.astype(dtype)


def finfo(type: Any, /) -> Any:
    return _finfo(type.dtype if isinstance(type, Symbol | np.ndarray) else type)


def iinfo(type: Any, /) -> Any:
    return np.iinfo(type.dtype if isinstance(type, Symbol | np.ndarray) else type)


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    found = np.sort(x, axis=axis)
    return np.flip(found, axis=axis) if descending else found


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    return argsort_descending(asarray(x), axis) if descending else np.argsort(x, axis=axis, kind="stable")


def _fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    return _made(np.fft.fftfreq(n, d).astype(np.float64 if dtype is None else dtype), device)


def _rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    return _made(np.fft.rfftfreq(n, d).astype(np.float64 if dtype is None else dtype), device)


fft = SimpleNamespace(**{name: getattr(np.fft, name) for name in _FFT}, fftfreq=_fftfreq, rfftfreq=_rfftfreq)


class _Info:
    """What the standard asks a namespace about itself."""

    def capabilities(self) -> dict[str, Any]:
        return {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": None}

    def default_device(self) -> str:
        return _DEVICE

    def devices(self) -> list[str]:
        return [_DEVICE]

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        return {
            "real floating": np.dtype(np.float64),
            "complex floating": np.dtype(np.complex128),
            "integral": np.dtype(np.int64),
            "indexing": np.dtype(np.int64),
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        every = {name: np.dtype(getattr(np, name)) for name in _DTYPES}
        return {name: each for name, each in every.items() if kind is None or np.isdtype(each, kind)}


__array_namespace_info__ = _Info


def _made(array: np.ndarray, device: Any = None) -> Any:
    """``array`` as a tensor of the function that is traced; itself, if none is."""
    _checked(device)
    supported_dtype(array.dtype)
    trace = current_trace()
    return array if trace is None else trace.constant(array)


def _checked(device: Any) -> None:
    if device not in (None, _DEVICE):
        raise TraceValueError(f"there is no device {device!r}; a program is on one, {_DEVICE!r}")
