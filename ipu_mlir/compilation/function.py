"""``@ipu.function``: Python functions on tensors that become programs."""

import contextlib
import pickle
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from ipu_mlir.dialects.support.errors import IpuError
from ipu_mlir.specs.specs import spec_of
from ipu_mlir.tracing.graph import Symbol
from ipu_mlir.tracing.structure import flatten_arguments
from ipu_mlir.tracing.surface.traced import TracedFunction, bind_arguments

if TYPE_CHECKING:
    from ipu_mlir.compilation.executable import Executable
    from ipu_mlir.dialects.machine.target import Target

_MANY_PROGRAMS = 16
_WHY_MANY = (
    ", once per shape, element type and Python number among its arguments; "
    "pass numbers that change as NumPy scalars, and pad inputs to a few shapes"
)


class Function(TracedFunction):
    """A Python function that is traced: called with arrays it is compiled for their shapes, and runs.

    Tensors may be nested in tuples, lists and dicts, as arguments and as results. Python numbers, strings and None are
    not tensors: they are compiled in, and another value is another program; give a NumPy scalar where it changes often.
    Called with traced tensors, in another traced function, it becomes part of that.
    """

    def __init__(self, python: Callable[..., Any], target: "Target | None" = None) -> None:
        super().__init__(python)
        self._target = target
        self._compiled: dict[Any, Executable] = {}
        self._compiled_of: dict[int, dict[Any, Executable]] = {}

    def __get__(self, instance: Any, owner: Any = None) -> "Function":
        """As a method of ``instance``: what it reads from ``self`` is part of the program, as it is when traced."""
        if instance is None or not hasattr(type(self._python), "__get__"):
            return self
        method = Function(self._python.__get__(instance, owner), self._target)
        programs = self._compiled_of.get(id(instance))
        if programs is None:
            programs = method._compiled
            with contextlib.suppress(TypeError):  # what cannot be watched is compiled for each time it is asked for
                weakref.finalize(instance, self._compiled_of.pop, id(instance), None)
                self._compiled_of[id(instance)] = programs
        method._compiled = programs
        return method

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run on arrays, or become part of the function that is being traced."""
        structure, leaves = flatten_arguments(bind_arguments(self.__name__, self._signature, args, kwargs))
        if any(isinstance(leaf, Symbol) for leaf in leaves):
            return self._python(*args, **kwargs)
        key = structure, tuple(map(spec_of, leaves))
        executable = self._compiled.get(key)
        if executable is None:
            try:
                executable = self._compiled[key] = self._compile(args, kwargs)
            except IpuError as error:
                from ipu_mlir.compilation.compiler import for_the_user

                raise for_the_user(error, self) from error.__cause__
            if len(self._compiled) == _MANY_PROGRAMS:
                warnings.warn(f"{self.__name__} was compiled {_MANY_PROGRAMS} times{_WHY_MANY}", stacklevel=2)
        return executable(*args, **kwargs)

    def __reduce__(self) -> str:
        """Another process finds the function by its name, as those of Python."""
        name = getattr(self, "__qualname__", None)
        if name is None:
            raise pickle.PicklingError(f"{self!r} cannot be pickled: it has no name that another process could find")
        return name

    def _compile(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> "Executable":
        from ipu_mlir.compilation.compiler import compile_module
        from ipu_mlir.compilation.executable import Executable
        from ipu_mlir.compilation.lowering import plan_lowering

        trace, call = self.trace_beside(None, args, kwargs, "main")
        executable = compile_module(trace.module, "main", plan_lowering(self._target), call, trace.declared)
        assert isinstance(executable, Executable), "all sizes of a traced function are known"
        return executable


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
