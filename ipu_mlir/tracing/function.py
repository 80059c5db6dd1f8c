"""``@ipu.function``: Python functions on tensors that become programs."""

import functools
import inspect
import pickle
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ipu_mlir.dialects.bindings import ir
from ipu_mlir.specs import spec_of
from ipu_mlir.tracing.errors import TraceError, TraceTypeError, at_the_users_line
from ipu_mlir.tracing.graph import Symbol, Trace
from ipu_mlir.tracing.operands import tensor
from ipu_mlir.tracing.places import Place, user_place
from ipu_mlir.tracing.structure import (
    Branch,
    Call,
    flatten,
    flatten_arguments,
    mapping_of,
    paths,
    sequence_of,
    unflatten,
)
from ipu_mlir.tracing.tensor import Tensor

if TYPE_CHECKING:
    from ipu_mlir.dialects.target import Target
    from ipu_mlir.executable import Executable

_MANY_PROGRAMS = 16
_WHY_MANY = (
    ", once per shape, element type and Python number among its arguments; "
    "pass numbers that change as NumPy scalars, and pad inputs to a few shapes"
)


class Function:
    """A Python function that is traced: called with arrays it is compiled for their shapes, and runs.

    Tensors may be nested in tuples, lists and dicts, as arguments and as results. Python numbers, strings and None are
    not tensors: they are compiled in, and another value is another program; give a NumPy scalar where it changes often.
    Called with traced tensors, in another traced function, it becomes part of that.
    """

    def __init__(self, python: Callable[..., Any], target: "Target | None" = None) -> None:
        functools.update_wrapper(self, python)
        self._python = python
        self._target = target
        self.__name__ = getattr(python, "__name__", type(python).__name__)
        self._signature = inspect.signature(python)
        code = getattr(inspect.unwrap(python), "__code__", None)
        self._place = user_place() if code is None else Place(code.co_filename, code.co_firstlineno, 1)
        self._compiled: dict[Any, Executable] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run on arrays, or become part of the function that is being traced."""
        structure, leaves = flatten_arguments(self._bind(args, kwargs))
        if any(isinstance(leaf, Symbol) for leaf in leaves):
            return self._python(*args, **kwargs)
        key = structure, tuple(map(spec_of, leaves))
        executable = self._compiled.get(key)
        if executable is None:
            executable = self._compiled[key] = self._compile(args, kwargs)
            if len(self._compiled) == _MANY_PROGRAMS:
                warnings.warn(f"{self.__name__} was compiled {_MANY_PROGRAMS} times{_WHY_MANY}", stacklevel=2)
        return executable(*args, **kwargs)

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
        arguments, leaves = flatten_arguments(self._bind(args, kwargs or {}))
        specs = tuple(map(spec_of, leaves))
        try:
            trace = Trace(self.__name__, entry, list(zip(paths(arguments), specs, strict=True)), Tensor)
            returned = self._python_call(arguments, trace)
            results, values = flatten(_as_tensors(trace, returned, self._place), "result")
            module = trace.finish(values)
        except TraceError as error:
            raise at_the_users_line(error) from error.__cause__
        return module, Call(functools.partial(bind_arguments, _bare(self._signature)), arguments, specs, results)

    def _python_call(self, arguments: Branch, trace: Trace) -> Any:
        bound = self._signature.bind_partial()
        bound.arguments.update(unflatten(arguments, iter(trace.arguments)))
        return self._python(*bound.args, **bound.kwargs)

    def _bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by the names of the parameters, defaults included."""
        return bind_arguments(self._signature, args, kwargs)

    def __reduce__(self) -> str:
        """Another process finds the function by its name, as those of Python."""
        name = getattr(self, "__qualname__", None)
        if name is None:
            raise pickle.PicklingError(f"{self!r} cannot be pickled: it has no name that another process could find")
        return name

    def _compile(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> "Executable":
        from ipu_mlir.compiler import compile_module
        from ipu_mlir.executable import Executable
        from ipu_mlir.lowering import plan_lowering

        module, call = self.trace_call(args, kwargs)
        executable = compile_module(module, "main", plan_lowering(self._target), call)
        assert isinstance(executable, Executable), "all sizes of a traced function are known"
        return executable

    def __repr__(self) -> str:
        return f"<ipu function {self.__name__}{self._signature}>"


@overload
def function(python: Callable[..., Any], /) -> Function: ...
@overload
def function(*, target: "Target | None" = None) -> Callable[[Callable[..., Any]], Function]: ...
def function(python: Callable[..., Any] | None = None, /, *, target: "Target | None" = None) -> Any:
    """Make a Python function on tensors into one that compiles for the IPU.

        @ipu.function
        def mlp(x, w, b):
            return np.maximum(x @ w + b, 0)

    Args:
        python: takes and returns tensors, nested as it likes.
        target: the machine, where the function is called directly.
    """
    if python is None:
        return lambda given: Function(given, target)
    return Function(python, target)


def bind_arguments(signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by the names of the parameters, defaults included."""
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def _bare(signature: inspect.Signature) -> inspect.Signature:
    """``signature`` without annotations: they may name what another process has not."""
    parameters = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    return signature.replace(parameters=parameters, return_annotation=signature.empty)


def _as_tensors(trace: Trace, returned: Any, place: Place) -> Any:
    """What the user's function at ``place`` returned, with arrays and numbers made into constants of the program."""
    if isinstance(returned, Symbol) and returned.trace is not trace:
        raise TraceTypeError(f"the function returns {returned} of another traced call; compute it in this one", place)
    if returned is None or isinstance(returned, Symbol):
        return returned
    if isinstance(returned, Mapping):
        return mapping_of(type(returned), {key: _as_tensors(trace, value, place) for key, value in returned.items()})
    if isinstance(returned, tuple | list):
        return sequence_of(type(returned), [_as_tensors(trace, value, place) for value in returned])
    if isinstance(returned, np.ndarray | np.generic | bool | int | float):
        return tensor(trace, returned)
    raise TraceTypeError(
        f"the function returns a {type(returned).__name__}; return tensors, or tuples, lists and dicts of them",
        place,
    )
