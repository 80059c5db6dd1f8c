"""Arrays outside of traced functions that follow the rules of traced tensors: widths, ``.at``, no writes in place."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

import numpy as np

from ipu_mlir.tracing.elements import writing
from ipu_mlir.tracing.errors import TraceTypeError
from ipu_mlir.tracing.functions.unsupported import numpy_name, way_in_place
from ipu_mlir.tracing.graph import Symbol
from ipu_mlir.tracing.widths import WIDE, has_numpy_widths


class Array(np.ndarray):
    """An array with values that behaves as a traced tensor does, so that a function can be tried before it is traced.

    Beside float arrays of this class, integers and float64 of NumPy take their type; elements are set by ``x.at``.
    """

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if kwargs.get("out") is not None or method == "at":
            raise TraceTypeError(f"np.{ufunc.__name__}: nothing is written in place (out=, at); write y = ...")
        if any(isinstance(each, Symbol) for each in inputs):
            return NotImplemented
        if method == "__call__" and kwargs.get("where", True) is not True:
            raise TraceTypeError(f"np.{ufunc.__name__}: where= leaves elements without a value; use np.where")
        by_numpy = ufunc in (np.ldexp, np.float_power) or method == "reduceat" or kwargs.get("dtype")
        common = None if by_numpy else float_type(inputs)
        ready = [_operand(each) if common is None else _as_float(_operand(each), common) for each in inputs]
        return as_eager(getattr(ufunc, method)(*ready, **_mapped(kwargs, _plain)))

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        if any(issubclass(each, Symbol) for each in types):
            return NotImplemented
        name = numpy_name(func)
        if args and isinstance(args[0], Array) and (way := way_in_place(name)):
            raise TraceTypeError(f"np.{name}: {way}")
        if func is np.result_type and (common := float_type(args)) is not None:
            args = [_as_float(_plain(each), common) for each in args]
        return _called(f"np.{name}", func, args, kwargs)

    @property
    def at(self) -> "AtIndexer":
        """``x.at[key].set(values)``: a changed copy; also ``add``, ``multiply`` and the others of traced tensors."""
        return AtIndexer(self)

    def astype(self, *args: Any, **kwargs: Any) -> "Array":  # type: ignore[override]
        """With another element type."""
        return as_eager(_plain(self).astype(*args, **kwargs))

    def view(self, *args: Any, **kwargs: Any) -> Any:
        """The same bytes with another element type, or as another class of arrays."""
        found = _plain(self).view(*args, **kwargs)
        other = any(isinstance(each, type) and issubclass(each, np.ndarray) for each in (*args, *kwargs.values()))
        return found if other else as_eager(found)

    def __getitem__(self, key: Any) -> Any:
        return as_eager(_plain(self)[_mapped(key, _plain)])

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))

    def __round__(self, digits: int | None = None) -> Any:
        return np.round(self, digits or 0)

    def __copy__(self) -> "Array":
        return self

    def __deepcopy__(self, memo: Any) -> "Array":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return as_eager, (_plain(self),)

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise TraceTypeError("an array of ipu.numpy cannot be assigned to in place; use x = x.at[index].set(value)")

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise TraceTypeError(f"{name} of an array of ipu.numpy stays as it is; reshape and astype give other arrays")


class AtIndexer:
    """``x.at`` of an array: give it an index."""

    def __init__(self, array: Array) -> None:
        self._array = array

    def __getitem__(self, key: Any) -> "At":
        return At(self._array, key)


class At(writing.At):
    """``x.at[key]``, as of traced tensors: ``x`` stays, elements that are chosen twice take all values."""

    def get(self) -> Any:
        """``x[key]``."""
        return self._value[self._key]

    def _written(self, values: Any, how: str) -> Array:
        copy = np.array(_plain(self._value))
        key, new = _mapped(self._key, _plain), self._values(values)
        if how == "set":
            copy[key] = new
        else:
            writing.COMBINE[how].at(copy, key, new)
        return as_eager(copy)

    def _values(self, values: Any) -> np.ndarray:
        new = np.asarray(_plain(values))
        ranks = {"b": 0, "u": 1, "i": 1, "f": 2, "V": 2, "c": 3}
        if ranks.get(new.dtype.kind, 4) > ranks.get(self._value.dtype.kind, 2):
            raise TraceTypeError(
                f"at[] of {self._value.dtype}{list(self._value.shape)} with {new.dtype}: values of another kind; "
                f"use astype(np.{self._value.dtype})"
            )
        return new.astype(self._value.dtype)


def _called(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """What ``function`` of NumPy gives, as wide as traced tensors would be."""
    if kwargs.get("out") is not None:
        raise TraceTypeError(f"{name}: nothing is written in place (out=); write y = ...")
    asked = kwargs.get("dtype") is not None or any(isinstance(each, type | np.dtype) for each in args)
    common = None if asked else float_type(_leaves([args, kwargs]))
    found = function(*_mapped(args, _plain), **_mapped(kwargs, _plain))
    return as_eager(found if common is None else _mapped(found, lambda each: _narrowed(each, common)))


def _method(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The method of ``np.ndarray`` that is ``function``, with an array of ours as its result."""

    def method(self: Array, *args: Any, **kwargs: Any) -> Any:
        if way := way_in_place(name, is_method=True):
            raise TraceTypeError(f"{name} of an array of ipu.numpy: {way}")
        return _called(name, function, (self, *args), kwargs)

    method.__doc__ = f"As ``np.ndarray.{name}``."
    return method


for _name, _function in vars(np.ndarray).items():
    if callable(_function) and not _name.startswith("_") and _name not in vars(Array):
        setattr(Array, _name, _method(_name, _function))
for _name in list(vars(np.ndarray)):
    if _name.startswith("__i") and hasattr(Array, operator := f"__{_name[3:]}"):
        setattr(Array, _name, getattr(Array, operator))  # x += 1 gives the name x to another array


def as_eager(value: Any) -> Any:
    """``value``, nested as it is, with arrays and NumPy scalars of numbers as ``Array``, which nobody writes to."""
    return _mapped(value, lambda each: _read_only(np.asarray(each)) if _is_numbers(each) else each)


def _read_only(array: np.ndarray) -> Array:
    view = array.view(np.ndarray)
    view.setflags(write=False)
    return view.view(Array)


def default_width(value: Any) -> Any:
    """``value`` with float32 and complex64 in the place of what NumPy makes float64 of, except in blocks of ``x64``."""
    return value if has_numpy_widths() else _mapped(value, lambda each: _narrowed(each, np.dtype(np.float32)))


def float_type(values: Iterable[Any]) -> np.dtype[Any] | None:
    """The common type of floats among ``values`` that are ours or that somebody chose; None if NumPy's rule holds."""
    given = [each for each in values if isinstance(each, np.ndarray | np.generic) and each.dtype.kind in "fcV"]
    found = [each.dtype for each in given if isinstance(each, Array) or each.dtype not in WIDE]
    return np.result_type(*found) if found and not has_numpy_widths() else None


def _plain(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, Array) else value


def _operand(value: Any) -> Any:
    """``value`` as a ufunc takes it, lists as arrays."""
    return np.asarray(_mapped(value, _plain)) if isinstance(value, list | tuple) else _plain(value)


def _is_numbers(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufcV" and not value.dtype.names


def _as_float(value: Any, common: np.dtype[Any]) -> Any:
    """``value`` as it takes part beside floats of type ``common``."""
    if isinstance(value, np.ndarray | np.generic) and (value.dtype.kind in "iu" or value.dtype in WIDE):
        return value.astype(np.result_type(common, np.complex64) if value.dtype.kind == "c" else common)
    return value


def _narrowed(value: Any, common: np.dtype[Any]) -> Any:
    if isinstance(value, np.ndarray | np.generic) and value.dtype in WIDE and common not in WIDE:
        return value.astype(np.result_type(common, np.complex64) if value.dtype.kind == "c" else _real(common))
    return value


def _real(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.empty(0, dtype).real.dtype if dtype.kind == "c" else dtype


def _leaves(value: Any) -> Iterable[Any]:
    if isinstance(value, list | tuple):
        for each in value:
            yield from _leaves(each)
    elif isinstance(value, dict):
        yield from _leaves(list(value.values()))
    else:
        yield value


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_mapped(each, change) for each in value))
    if isinstance(value, list | tuple):
        return type(value)(_mapped(each, change) for each in value)
    if isinstance(value, dict):
        return {key: _mapped(each, change) for key, each in value.items()}
    return change(value)
