"""What may stand beside a traced tensor: other traced tensors, arrays, and numbers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.specs.specs import TensorSpec
from ipu_mlir.specs.tensor_types import is_of_ml_dtypes, is_supported, kind_of
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError, framework_of, refusal_of
from ipu_mlir.tracing.graph import USED_AFTERWARDS, Symbol, Trace, unsupported_dtype
from ipu_mlir.tracing.widths import WIDE, has_numpy_widths, is_outside, stand_ins, warn_of_width


@dataclass(frozen=True)
class Scalar:
    """A number that is known while tracing; it becomes a constant in the code of an element.

    Attributes:
        value: a Python number, or a NumPy scalar.
        weak: a Python number, which takes the element type of what it meets, as in NumPy 2.
    """

    value: Any
    weak: bool

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type it has by itself."""
        return np.asarray(self.value).dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def as_type(self, dtype: np.dtype[Any]) -> Any:
        """The value as a NumPy scalar of ``dtype``."""
        try:
            return np.asarray(self.value, dtype)[()] if self.weak else np.asarray(self.value).astype(dtype)[()]
        except OverflowError as error:
            raise TraceValueError(f"the number {self.value} does not fit into {dtype}") from error

    def __str__(self) -> str:
        return repr(self.value) if self.weak else f"{self.dtype}({self.value})"


Operand = Symbol | Scalar


def trace_of(values: Iterable[Any]) -> Trace:
    """The trace that the traced tensors among ``values`` belong to.

    Raises:
        TraceValueError: they belong to different calls of traced functions, or to a body that has ended.
    """
    symbols = [value for value in values if isinstance(value, Symbol)]
    if not symbols or not all(map(symbols[0].program.holds, symbols)):
        raise TraceValueError(USED_AFTERWARDS)
    return symbols[0].program


def operand(trace: Trace, value: Any) -> Operand:
    """``value`` as an operand: arrays become constants of the program, numbers stay numbers."""
    if isinstance(value, Symbol | Scalar):
        return value
    if isinstance(value, bool | int | float | complex) and not isinstance(value, np.generic):
        return Scalar(value, weak=not isinstance(value, bool))
    array = np.asarray(known_values(value))
    if not is_supported(array.dtype):
        raise TraceTypeError(unsupported_dtype(array.dtype))
    return Scalar(array[()], weak=False) if array.ndim == 0 else trace.constant(array)


def known_values(value: Any) -> Any:
    """``value``; of an array of a framework, an array of NumPy.

    Raises:
        TraceTypeError: its values come later, as those of a traced one do.
    """
    if (framework := framework_of(value)) is None:
        return value
    try:
        return np.asarray(value)
    except Exception as error:
        raise TraceTypeError(refusal_of(framework)) from error


def tensor(trace: Trace, value: Any, dtype: np.dtype[Any] | None = None) -> Any:
    """``value`` as a tensor, numbers included."""
    given = operand(trace, value)
    if isinstance(given, Scalar):
        return trace.constant(np.asarray(given.as_type(dtype or given.dtype)))
    return given


def tensor_of(trace: Trace, value: Any, spec: TensorSpec, what: str) -> Any:
    """``value`` as a tensor of the shape and type ``spec``, which a Python number takes on.

    Raises:
        TraceTypeError, TraceValueError: it has another one; ``what`` begins the message.
    """
    weak = isinstance(value, bool | int | float) and not isinstance(value, np.generic)
    found = tensor(trace, value, spec.dtype if weak else None)
    if found.shape != spec.shape:
        raise TraceValueError(f"{what} is {spec}, and becomes {found}; give it the shape {spec.shape}")
    if found.dtype != spec.dtype:
        raise TraceTypeError(f"{what} is {spec}, and becomes {found}; use astype(np.{spec.dtype})")
    return found


def common_dtype(operands: Sequence[Operand]) -> np.dtype[Any]:
    """The element type of a mixture of ``operands``: NumPy's, but that float64 comes from tensors alone."""
    kinds = kinds_of(operands)
    try:
        dtype = np.result_type(*kinds)
    except TypeError as error:
        shown = " and ".join(str(each) for each in kinds)
        raise TraceTypeError(f"{shown} have no common element type; use astype(np.float32)") from error
    if not is_supported(dtype):
        raise TraceTypeError(unsupported_dtype(dtype))
    warn_if_widened("a mixture", operands, dtype)
    return dtype


def common_float(operands: Sequence[Operand]) -> np.dtype[Any]:
    """The type that functions compute in which NumPy computes in float64: of the float tensors among ``operands``."""
    if has_numpy_widths():
        return np.result_type(np.float64, *(op.dtype for op in operands))
    common = common_dtype(operands)
    if kind_of(common) in "fc":
        return common
    warn_if_widened("a function of floats", operands, np.dtype(np.float64))
    return np.dtype(np.float64)


def kinds_of(operands: Sequence[Operand]) -> list[Any]:
    """The element types of ``operands``, and Python numbers, as they take part in the choice of a common type."""
    kinds = [op.value if isinstance(op, Scalar) and op.weak else op.dtype for op in operands]
    return with_numbers(stand_ins(kinds, [_decides(op) for op in operands]))


def warn_if_widened(name: str, operands: Sequence[Operand], dtype: np.dtype[Any]) -> None:
    """Say it where ``name`` of ``operands`` becomes float64, and no tensor among them is."""
    if dtype in WIDE and not any(op.dtype in WIDE and _decides(op) for op in operands):
        symbols = [op for op in operands if isinstance(op, Symbol)]
        if symbols and not all(map(is_outside, symbols)):
            warn_of_width(symbols[0].program, name, " and ".join(map(str, operands)))


def _decides(op: Operand) -> bool:
    """False for float64 from outside of the function."""
    return op.dtype not in WIDE or (isinstance(op, Symbol) and not is_outside(op))


def with_numbers(kinds: Sequence[Any]) -> list[Any]:
    """``kinds``, element types and Python numbers (or their classes), as NumPy's promotion takes them.

    NumPy does not know that a Python float beside a narrow float, a type of ml_dtypes, takes that type.

    >>> with_numbers([np.dtype("float32"), 0.5])
    [dtype('float32'), 0.5]
    """
    narrow = [kind for kind in kinds if isinstance(kind, np.dtype) and is_of_ml_dtypes(kind)]
    return [kind if isinstance(kind, np.dtype) or not narrow else narrow[0] for kind in kinds]
