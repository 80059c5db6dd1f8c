"""Types: NumPy's names for those of MLIR, and back."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ipu_mlir.dialects.support.errors import CompileError, RunError
from ipu_mlir.dialects.support.narrow_floats import ML_DTYPES, finite_range, host_dtype
from ipu_mlir.specs.specs import TensorSpec

if TYPE_CHECKING:
    from ipu_mlir.dialects.support.bindings import ir

# NumPy's types of what programs take and give. MLIR's integers have no sign of their own: the ops on them know it.
DTYPES: dict[str, np.dtype[Any]] = {
    "f64": np.dtype(np.float64),
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "i64": np.dtype(np.int64),
    "i32": np.dtype(np.int32),
    "i16": np.dtype(np.int16),
    "i8": np.dtype(np.int8),
    "i1": np.dtype(np.bool_),
    "index": np.dtype(np.int64),
}

ELEMENT_TYPES = (*DTYPES, *ML_DTYPES)
"""What programs may be made of that come as MLIR."""

_MLIR_NAMES = {dtype: name for name, dtype in reversed(DTYPES.items()) if name != "index"}
_MLIR_NAMES |= {np.dtype(f"u{dtype}"): name for dtype, name in _MLIR_NAMES.items() if dtype.kind == "i"}
_PARTS = {np.dtype(np.complex64): np.dtype(np.float32), np.dtype(np.complex128): np.dtype(np.float64)}
_WHOLES = {part: whole for whole, part in _PARTS.items()}
_NARROW_FLOATS = {theirs: name for name, theirs in ML_DTYPES.items()}


def is_supported(dtype: np.dtype[Any]) -> bool:
    """True if tensors of this NumPy type can be part of a traced program."""
    return dtype in _MLIR_NAMES or dtype in _PARTS or is_of_ml_dtypes(dtype)


def part_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of the real and the imaginary part; a real type is its own."""
    return _PARTS.get(dtype, dtype)


def whole_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The complex type whose parts are of a float type: complex64, but for float64.

    >>> whole_dtype(np.dtype(np.float32)), whole_dtype(np.dtype(np.float64))
    (dtype('complex64'), dtype('complex128'))
    """
    return _WHOLES.get(dtype, np.dtype(np.complex64))


@cache
def is_of_ml_dtypes(dtype: np.dtype[Any]) -> bool:
    """True if NumPy knows this float type by the package ml_dtypes alone."""
    return dtype.name in _NARROW_FLOATS


@cache
def kind_of(dtype: np.dtype[Any]) -> str:
    """``f``, ``i``, ``u``, ``b`` or ``c``: floats (those of ml_dtypes too), integers, unsigned ones, bools, complex.

    >>> kind_of(np.dtype(np.uint8)), kind_of(host_dtype("bf16"))
    ('u', 'f')
    """
    return "f" if is_of_ml_dtypes(dtype) else dtype.kind


def is_made_of_floats(dtype: np.dtype[Any]) -> bool:
    """True of floats, and of complex numbers, which programs know as pairs of floats: what has cotangents.

    >>> is_made_of_floats(host_dtype("bf16")), is_made_of_floats(np.dtype(np.int32))
    (True, False)
    """
    return kind_of(dtype) in "fc"


def finfo(dtype: Any) -> Any:
    """What ``np.finfo`` says of a float type, of those of ml_dtypes too.

    >>> int(finfo(host_dtype("bf16")).maxexp), int(finfo(np.float32).maxexp)
    (128, 128)
    """
    if not is_of_ml_dtypes(np.dtype(dtype)):
        return np.finfo(dtype)
    import ml_dtypes

    return ml_dtypes.finfo(dtype)


def limits_of(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """The lowest and the highest value of an element type: infinities, where it has such.

    >>> limits_of(np.dtype(np.float16)), limits_of(host_dtype("f8E4M3FN"))
    ((-inf, inf), (-448.0, 448.0))
    >>> limits_of(np.dtype(np.bool_)), limits_of(np.dtype(np.uint8))
    ((False, True), (0, 255))
    """
    if dtype.kind == "b":
        return False, True
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    if dtype in _PARTS:
        low, high = limits_of(_PARTS[dtype])
        return complex(low, low), complex(high, high)
    infinite = [float(np.asarray(limit).astype(dtype)) for limit in (-np.inf, np.inf)]
    low, high = (limit if np.isinf(limit) else None for limit in infinite)
    finite = (0.0, 0.0) if low is not None and high is not None else finite_range(_NARROW_FLOATS[dtype.name])
    return finite[0] if low is None else low, finite[1] if high is None else high


def element_type(dtype: np.dtype[Any]) -> "ir.Type":
    """The MLIR type of ``dtype`` in the current context, of a part if it is complex; ``dtype`` is supported."""
    from ipu_mlir.dialects.support.bindings import ir  # who only runs programs needs no MLIR

    part = part_dtype(dtype)
    return ir.Type.parse(_MLIR_NAMES.get(part) or _NARROW_FLOATS[dtype.name])


def sizes_of(shape: Sequence[int], dtype: np.dtype[Any]) -> list[int]:
    """The sizes of the MLIR tensor: those of ``shape``, and 2 for the parts of complex elements.

    >>> sizes_of((3,), np.dtype(np.float32)), sizes_of((3,), np.dtype(np.complex64))
    ([3], [3, 2])
    """
    return [*shape, 2] if dtype in _PARTS else [*shape]


def as_in_programs(value: Any, dtype: np.dtype[Any]) -> Any:
    """A user's array of elements of ``dtype`` as programs have it: if complex, with a last dimension of both parts.

    >>> as_in_programs(np.array([1 + 2j]), np.dtype(np.complex128)).tolist()
    [[1.0, 2.0]]

    Raises:
        RunError: its elements are of another type, where they are to be complex.
    """
    if dtype.kind != "c":
        return value
    array = value if hasattr(value, "dtype") else np.asarray(value, dtype)
    if array.dtype != dtype:
        raise RunError(f"elements are {array.dtype}, expected {dtype}; convert them with .astype('{dtype}')")
    return np.ascontiguousarray(array).reshape(-1).view(array.real.dtype).reshape(*array.shape, 2)


def as_for_users(array: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """A program's array of elements of ``dtype`` as users have it: programs know bits of unsigned numbers, and parts.

    >>> as_for_users(np.int8([-1]), np.dtype(np.uint8)), as_for_users(np.float32([[1, 2]]), np.dtype(np.complex64))
    (array([255], dtype=uint8), array([1.+2.j], dtype=complex64))
    """
    if array.dtype == dtype:
        return array
    return np.ascontiguousarray(array).view(dtype)[..., 0] if dtype.kind == "c" else array.view(dtype)


def dtype_of(element: "ir.Type") -> np.dtype[Any] | None:
    """The NumPy type of an MLIR element type, or None where there is none; for bf16 and f8, that of ml_dtypes."""
    name = str(element)
    return host_dtype(name) if name in ML_DTYPES else DTYPES.get(name)


def spec_of_type(type_: "ir.Type") -> TensorSpec:
    """The spec of a tensor, memref or scalar type.

    Raises:
        CompileError: NumPy has no such element type, or the rank or a size is not known.
    """
    from ipu_mlir.dialects.support.bindings import ir

    element = getattr(type_, "element_type", type_)
    dtype = dtype_of(element)
    if dtype is None:
        raise CompileError(f"element type {element} of an argument or result is none of {', '.join(ELEMENT_TYPES)}")
    if not isinstance(type_, ir.ShapedType):
        return TensorSpec((), dtype)
    if not type_.has_rank:
        raise CompileError(f"an argument or result has type {type_}, whose rank is not known; give it a shape")
    if not type_.has_static_shape:
        raise CompileError(
            f"an argument or result has type {type_}, whose sizes are not all known; give it fixed sizes"
        )
    return TensorSpec(tuple(type_.shape), dtype)
