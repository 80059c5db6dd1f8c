"""Python functions on tensors that are traced: from Python to linalg on tensors."""

import functools
import inspect
import reprlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.specs.specs import TensorSpec, spec_of
from ipu_mlir.tracing.errors import (
    TraceError,
    TraceTypeError,
    at_the_users_line,
    framework_of,
    of_a_call,
    of_a_framework,
)
from ipu_mlir.tracing.graph import Symbol, Trace
from ipu_mlir.tracing.operands import tensor
from ipu_mlir.tracing.structure import Branch, Call, assembled, flatten, flatten_arguments, parts, paths, unflatten
from ipu_mlir.tracing.surface.tensor import Tensor
from ipu_mlir.tracing.user_places import Place, user_place
from ipu_mlir.tracing.widths import WIDE, has_numpy_widths, warn


class TracedFunction:
    """A Python function that becomes a program for given arguments; on ``target``, where it names one."""

    def __init__(
        self, python: Callable[..., Any], static: frozenset[str] = frozenset(), target: Target | None = None
    ) -> None:
        self.target = target
        self.__name__ = getattr(python, "__name__", type(python).__name__)
        self._signature = _signature(python)
        functools.update_wrapper(cast(Any, self), python)
        self._python = python
        self._static = static
        if unknown := static - set(self._signature.parameters):
            raise TraceTypeError(
                f"{self.__name__} has no parameter {min(unknown)!r} to be static; it takes {self._signature}"
            )
        code = getattr(inspect.unwrap(python), "__code__", None)
        self._place = user_place() if code is None else Place(code.co_filename, code.co_firstlineno, 1)

    def trace(self, *args: Any, **kwargs: Any) -> ir.Module:
        """The program, linalg on tensors, for arguments given as specs or example arrays."""
        return self.trace_call(args, kwargs)[0]

    def trace_call(
        self, args: Sequence[Any], kwargs: Mapping[str, Any] | None = None, *, entry: str = "main"
    ) -> tuple[ir.Module, Call]:
        """The program and how its arguments and results are nested.

        Args:
            args: the positional arguments, with a ``TensorSpec`` or an example array for each tensor.
            kwargs: the same by name.
            entry: name of the function in the module.

        Raises:
            TraceError: the function does something that cannot become part of a program; at the user's line.
        """
        trace, call = self.trace_beside(None, args, kwargs or {}, entry)
        return trace.module, call

    def trace_beside(
        self, beside: Trace | None, args: Sequence[Any], kwargs: Mapping[str, Any], entry: str
    ) -> tuple[Trace, Call]:
        """As ``trace_call``, as one more function of the module of ``beside``; with what it has declared there.

        Raises:
            TraceError: as of ``trace_call``.
        """
        bind = functools.partial(bind_arguments, self.__name__, _bare(self._signature))
        try:
            arguments, leaves = flatten_arguments(bind(args, kwargs), self._static)
            specs = tuple(map(spec_of, leaves))
            trace = Trace(self.__name__, entry, list(zip(paths(arguments), specs, strict=True)), Tensor, beside)
            if beside is None:
                self._say_what_is_wide(trace, paths(arguments), specs)
            with trace.running():
                returned = self._python_call(arguments, trace)
            results, values = flatten(_as_tensors(trace, returned, self._place), "result")
            trace.finish(values)
        except TraceError as error:
            located = of_a_framework(error) or error
            raise at_the_users_line(located.with_traceback(error.__traceback__)) from error.__cause__
        except Exception as error:
            if (located := of_a_framework(error) or of_a_call(error)) is None:
                raise
            raise located.with_traceback(error.__traceback__) from error
        return trace, Call(bind, arguments, specs, results, tuple(map(spec_of, values)), self._static)

    def _say_what_is_wide(self, trace: Trace, names: Sequence[str], specs: Sequence[TensorSpec]) -> None:
        wide = [name for name, spec in zip(names, specs, strict=True) if spec.dtype in WIDE]
        trace.knows_of_width = bool(wide)
        if wide and not has_numpy_widths():
            warn(f"{self._place}: argument {wide[0]} of {self.__name__} is float64")

    def _python_call(self, arguments: Branch, trace: Trace) -> Any:
        bound = self._signature.bind_partial()
        values = unflatten(arguments, iter(trace.arguments))
        parameters = self._signature.parameters
        more = any(parameters[name].kind is inspect.Parameter.VAR_POSITIONAL and values[name] for name in values)
        for name, value in values.items():
            parameter = parameters[name]
            if more or parameter.kind is inspect.Parameter.POSITIONAL_ONLY or value is not parameter.default:
                bound.arguments[name] = value  # NumPy's functions may not be told what is their default
        return self._python(*bound.args, **bound.kwargs)

    def __repr__(self) -> str:
        return f"<ipu function {self.__name__}{self._signature}>"


def static_names(
    python: Callable[..., Any], names: str | Sequence[str] = (), numbers: int | Sequence[int] = ()
) -> frozenset[str]:
    """The parameters of ``python`` that ``names`` names, and those with ``numbers``, negative ones from behind.

    >>> sorted(static_names(lambda x, scale, axis: x, "scale", -1))
    ['axis', 'scale']

    Raises:
        TraceTypeError: ``python`` has no parameter of such a number.
    """
    found = frozenset([names] if isinstance(names, str) else names)
    wanted = [numbers] if isinstance(numbers, int) else list(numbers)
    if wanted:
        has = list(_signature(python).parameters)
        if wrong := [each for each in wanted if not -len(has) <= each < len(has)]:
            raise TraceTypeError(f"parameter {wrong[0]} is to be static; the function has {len(has)}: {', '.join(has)}")
        found |= {has[each] for each in wanted}
    return found


def eval_shape(python: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A ``TensorSpec`` for each tensor that ``python`` gives for specs or example arrays, nested as it nests them.

        ipu.eval_shape(lambda x: x @ x.T, ipu.TensorSpec((3, 2)))

    Raises:
        TraceError: the function does something that cannot become part of a program; at the user's line.
    """
    traced = python if isinstance(python, TracedFunction) else TracedFunction(python)
    _, call = traced.trace_call(args, kwargs)
    return unflatten(call.results, iter(call.result_specs))


def _signature(python: Any) -> inspect.Signature:
    """The parameters of what is to be traced.

    Raises:
        TraceTypeError: it is no function, or does not say what it takes.
    """
    if not callable(python):
        raise TraceTypeError(f"ipu.function takes a Python function on tensors, got {reprlib.repr(python)}")
    try:
        return inspect.signature(python)
    except ValueError as error:
        raise TraceTypeError(
            f"Python does not know the parameters of {reprlib.repr(python)}; wrap it: lambda x: ..."
        ) from error


def bind_arguments(
    name: str, signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments of ``name`` by the names of the parameters, defaults included.

    Raises:
        TraceTypeError: one is missing, or there are too many.
    """
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TraceTypeError(f"{name}: {error}; it takes {signature}") from error
    bound.apply_defaults()
    return dict(bound.arguments)


def _bare(signature: inspect.Signature) -> inspect.Signature:
    """``signature`` without annotations: they may name what another process has not."""
    parameters = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    return signature.replace(parameters=parameters, return_annotation=signature.empty)


def _as_tensors(trace: Trace, returned: Any, place: Place) -> Any:
    """What the user's function at ``place`` returned, with arrays and numbers made into constants of the program."""
    if isinstance(returned, Symbol) and not trace.holds(returned):
        raise TraceTypeError(
            f"the function returns {returned} of another traced call, or of a body that has ended; "
            "compute it in this one",
            place,
        )
    if returned is None or isinstance(returned, Symbol):
        return returned
    if (inner := parts(returned)) is not None:
        keys, children = inner
        return assembled(type(returned), keys, [_as_tensors(trace, child, place) for child in children])
    if isinstance(returned, np.ndarray | np.generic | bool | int | float | complex) or framework_of(returned):
        return tensor(trace, returned)
    raise TraceTypeError(
        f"the function returns a {type(returned).__name__}; return tensors, or tuples, lists and dicts of them",
        place,
    )
