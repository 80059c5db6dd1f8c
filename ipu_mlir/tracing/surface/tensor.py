"""The tensor that users see while their function is traced."""

import functools
import inspect
import math
import reprlib
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from ipu_mlir.tracing import elementwise, views
from ipu_mlir.tracing.elements import reading
from ipu_mlir.tracing.elements.writing import AtIndexer
from ipu_mlir.tracing.errors import TraceAttributeError, TraceTypeError, TraceValueError, located
from ipu_mlir.tracing.functions import arranging, numpy_functions
from ipu_mlir.tracing.functions.ufuncs import call_ufunc
from ipu_mlir.tracing.functions.unsupported import way_out
from ipu_mlir.tracing.graph import Symbol, supported_dtype
from ipu_mlir.tracing.operands import known_values
from ipu_mlir.tracing.surface import namespace


def _known_operand(value: Any) -> bool:
    return isinstance(value, Symbol | np.ndarray | np.generic | bool | int | float | complex | list | tuple)


def _given(ufunc: np.ufunc, tensor: Symbol, other: Any) -> Any:
    """``other`` beside ``tensor``. An object of a class that may know what to do with a tensor is asked first."""
    found = known_values(other)
    if _known_operand(found):
        return found
    if type(other).__module__ != "builtins":
        return NotImplemented
    shown = reprlib.repr(other)
    raise TraceTypeError(
        f"np.{ufunc.__name__} of {tensor} and the {type(other).__name__} {shown}: give a number or a tensor"
    )


def _binary(ufunc: np.ufunc) -> tuple[Callable[["Tensor", Any], Any], Callable[["Tensor", Any], Any]]:
    """The operator method of a ufunc, and that for a tensor on the right."""

    def forward(self: "Tensor", other: Any) -> Any:
        found = _given(ufunc, self, other)
        return found if found is NotImplemented else ufunc(self, found)

    def reflected(self: "Tensor", other: Any) -> Any:
        found = _given(ufunc, self, other)
        return found if found is NotImplemented else ufunc(found, self)

    return forward, reflected


def _unary(ufunc: np.ufunc) -> Callable[["Tensor"], Any]:
    def apply(self: "Tensor") -> Any:
        return ufunc(self)

    return apply


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    """The method that is this function of NumPy."""

    def method(self: "Tensor", *args: Any, **kwargs: Any) -> Any:
        return numpy_functions.call(function, (self, *args), kwargs)

    method.__doc__ = f"As ``np.{function.__name__}``."
    return method


def _methods(*functions: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    return map(_method, functions)  # a parameter with this type spares a type checker the types of all of them


class Tensor(Symbol):
    """A tensor in a traced function: it has a shape and an element type, its values come when the program runs.

    It follows the Python array API standard and NumPy's protocols: operators, methods and NumPy's functions work as on
    an array, with NumPy's broadcasting and type promotion. What needs values (``if x:``, ``float(x)``) is an error.
    """

    __slots__ = ()

    __add__, __radd__ = _binary(np.add)
    __sub__, __rsub__ = _binary(np.subtract)
    __mul__, __rmul__ = _binary(np.multiply)
    __truediv__, __rtruediv__ = _binary(np.divide)
    __floordiv__, __rfloordiv__ = _binary(np.floor_divide)
    __mod__, __rmod__ = _binary(np.remainder)
    __pow__, __rpow__ = _binary(np.power)
    __matmul__, __rmatmul__ = _binary(np.matmul)
    __and__, __rand__ = _binary(np.bitwise_and)
    __or__, __ror__ = _binary(np.bitwise_or)
    __xor__, __rxor__ = _binary(np.bitwise_xor)
    __lshift__, __rlshift__ = _binary(np.left_shift)
    __rshift__, __rrshift__ = _binary(np.right_shift)
    __eq__, _ = _binary(np.equal)
    __ne__, _ = _binary(np.not_equal)
    __lt__, _ = _binary(np.less)
    __le__, _ = _binary(np.less_equal)
    __gt__, _ = _binary(np.greater)
    __ge__, _ = _binary(np.greater_equal)
    __neg__ = _unary(np.negative)
    __pos__ = _unary(np.positive)
    __abs__ = _unary(np.absolute)
    __invert__ = _unary(np.invert)
    __hash__ = object.__hash__

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def __round__(self, digits: int | None = None) -> Any:
        return np.round(self, digits or 0)

    # shape and type

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def T(self) -> "Tensor":
        """The dimensions reversed."""
        return views.transpose(self)

    @property
    def mT(self) -> "Tensor":
        """The last two dimensions exchanged."""
        return arranging.matrix_transpose(self)

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return self.size * self.dtype.itemsize

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def device(self) -> str:
        """Where it will be, as the array API standard asks: there is one device."""
        return "ipu"

    @property
    def real(self) -> "Tensor":
        """The real part."""
        return np.real(self)

    @property
    def imag(self) -> "Tensor":
        """The imaginary part."""
        return np.imag(self)

    def to_device(self, device: Any, /, *, stream: Any = None) -> "Tensor":
        """As the array API standard asks; there is one device."""
        if device != self.device:
            raise TraceValueError(f"{self} cannot go to {device!r}: a program is on one device, {self.device!r}")
        return self

    def astype(self, dtype: Any, order: str = "K", casting: str = "unsafe", copy: bool = True) -> "Tensor":
        """With another element type."""
        wanted = supported_dtype(dtype)
        if not np.can_cast(self.dtype, wanted, casting):  # type: ignore[arg-type]
            raise TraceTypeError(f"{self} cannot become {wanted} by the casting rule {casting!r}")
        return elementwise.astype(self, wanted)

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> "Tensor":
        """The elements in row-major order in another shape; one size may be -1."""
        return arranging.reshape(self, shape[0] if len(shape) == 1 else shape, order)

    def flatten(self, order: str = "C") -> "Tensor":
        """The elements in row-major order, in one dimension."""
        return arranging.ravel(self, order)

    def transpose(self, *axes: Any) -> "Tensor":
        """The dimensions in the order of ``axes``; without them, reversed."""
        given: Sequence[int] | None = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
        return views.transpose(self, given)

    def compress(self, condition: Any, axis: int | None = None) -> Any:
        """Where ``condition``, which is known, holds."""
        return np.compress(condition, self, axis)

    # methods that are functions of NumPy

    ravel, squeeze, swapaxes, diagonal = _methods(np.ravel, np.squeeze, np.swapaxes, np.diagonal)
    sum, prod, max, min, mean = _methods(np.sum, np.prod, np.max, np.min, np.mean)
    var, std, any, all, trace = _methods(np.var, np.std, np.any, np.all, np.trace)
    argmax, argmin, argsort, argpartition = _methods(np.argmax, np.argmin, np.argsort, np.argpartition)
    cumsum, cumprod, searchsorted, nonzero = _methods(np.cumsum, np.cumprod, np.searchsorted, np.nonzero)
    take, choose, repeat, copy = _methods(np.take, np.choose, np.repeat, np.copy)
    clip, round, dot = _methods(np.clip, np.round, np.dot)
    conj = conjugate = _unary(np.conjugate)

    def __getitem__(self, key: Any) -> "Tensor":
        return reading.getitem(self, key)

    @property
    def at(self) -> AtIndexer:
        """``x.at[key].set(values)``: this tensor with some elements changed; also ``add``, ``multiply`` and more."""
        return AtIndexer(self)

    def __len__(self) -> int:
        if not self.shape:
            raise TraceTypeError(f"len() of {self}: a tensor without dimensions has no length")
        return self.shape[0]

    # protocols

    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType:
        """The array API standard for traced tensors."""
        known = namespace.__array_api_version__
        if api_version not in (None, known):
            raise TraceValueError(f"the array API standard is followed in version {known}, not in {api_version}")
        return namespace

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        found = list(map(known_values, inputs))
        return call_ufunc(ufunc, method, found, kwargs) if all(map(_known_operand, found)) else NotImplemented

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        return numpy_functions.call(func, args, kwargs)

    def __copy__(self) -> "Tensor":
        return self

    def __deepcopy__(self, memo: Any) -> "Tensor":
        return self

    # what needs values

    def __reduce__(self) -> NoReturn:
        raise TraceTypeError(
            f"{self} cannot be pickled while tracing: its values come when the program runs; return it"
        )

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TraceTypeError(
            f"{self} becomes no array while tracing: its values come when the program runs; "
            "use NumPy's functions on it (np.stack joins tensors, np.take(table, x, axis=0) is table[x]), "
            "or return it from the function"
        )

    def __bool__(self) -> NoReturn:
        raise TraceTypeError(
            f"the truth value of {self} is not known while tracing; use np.where(condition, a, b) instead of if, "
            "or ipu.cond(condition, f, g), ipu.while_loop instead of while, and & | ~ instead of and, or, not"
        )

    def _no_number(self) -> NoReturn:
        raise TraceTypeError(
            f"{self} is no number while tracing: its value comes when the program runs; compute with it as a tensor, "
            "or return it from the function"
        )

    __float__ = __int__ = __complex__ = _no_number

    def __dlpack__(self, **_: Any) -> NoReturn:
        self._no_number()

    def __dlpack_device__(self) -> NoReturn:
        self._no_number()

    def __format__(self, spec: str) -> str:
        """The type and shape, as ``str``; digits only once the program runs."""
        if spec:
            raise TraceTypeError(
                f"{self} has no digits while tracing, so the format {spec!r} does not apply: its value comes when the "
                "program runs; use ipu.debug.print, or return the tensor and format it then"
            )
        return str(self)

    def __index__(self) -> NoReturn:
        raise TraceTypeError(
            f"{self} is no number while tracing: its value comes when the program runs; use ipu.fori_loop(0, n, f, x) "
            "instead of for ... in range(n), and x[i] or ipu.dynamic_slice instead of what needs a known index"
        )

    def item(self) -> NoReturn:
        """Not while tracing."""
        self._no_number()

    def tolist(self) -> NoReturn:
        """Not while tracing."""
        self._no_number()

    def __getattr__(self, name: str) -> NoReturn:
        """What an array has and a traced tensor has not."""
        if name.startswith("__") or name in Symbol.__slots__:  # Python and NumPy ask for protocols
            raise AttributeError(name)
        methods = [each for each in dir(type(self)) if not each.startswith("_")]
        raise TraceAttributeError(f"{self} has no {name} while tracing; {way_out(name, methods)}")

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise TraceTypeError(
            f"{self} cannot be assigned to in place; use x = x.at[index].set(value), or np.where(mask, value, x)"
        )

    def __contains__(self, value: Any) -> NoReturn:
        raise TraceTypeError(f"whether {self} contains a value is not known while tracing; use np.any(x == value)")

    def __iter__(self) -> Any:
        if not self.shape:
            raise TraceTypeError(f"{self} has no dimension to iterate over")
        return (self[place] for place in range(self.shape[0]))

    def __repr__(self) -> str:
        return f"<traced {self}>"


def _with_located_errors(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """``method``, whose errors about its arguments name the user's line."""

    @functools.wraps(method)
    def called(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return located(f"{self}.{name}", method, self, *args, **kwargs)

    return called


for _name, _method in list(vars(Tensor).items()):
    if not _name.startswith("_") and inspect.isfunction(_method):
        setattr(Tensor, _name, _with_located_errors(_name, _method))
