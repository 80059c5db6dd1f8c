"""``@ipu.function``: Python functions on tensors that become programs."""

import contextlib
import functools
import inspect
import pickle
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, overload

from ipu_mlir.compilation.repeated_calls import Known, form_of, known_call
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.specs.specs import spec_of
from ipu_mlir.tracing.graph import Symbol
from ipu_mlir.tracing.structure import Call, Static, flatten_arguments
from ipu_mlir.tracing.surface.traced import TracedFunction, bind_arguments, static_names
from ipu_mlir.tracing.widths import has_numpy_widths

if TYPE_CHECKING:
    from typing import Unpack

    from ipu_mlir.compilation.executable import Executable
    from ipu_mlir.dialects.machine.target import Target

_MANY_PROGRAMS = 16
_WHY_MANY = (
    ", once per shape, element type and Python number among its arguments; "
    "pass numbers that change as NumPy scalars, and pad inputs to a few shapes"
)


_WIDE_KEY = ("x64",)
"""Part of the key of programs that are traced with NumPy's widths."""
_MOST_PROGRAMS = 128
"""That are kept of one function; then the oldest goes, and is compiled again if it is called."""


class Programs:
    """What a function was compiled to."""

    def __init__(self) -> None:
        self.compiled: dict[Any, Executable] = {}
        self.known: dict[Any, Known] = {}

    def add(self, key: Any, executable: "Executable") -> None:
        """Keep one more program."""
        if len(self.compiled) == _MOST_PROGRAMS:
            del self.compiled[next(iter(self.compiled))]
            self.known.clear()
        self.compiled[key] = executable


class Function(TracedFunction):
    """A Python function that is traced: called with arrays it is compiled for their shapes, and runs.

    Tensors may be nested in tuples, lists and dicts, as arguments and as results. Python numbers, strings and None are
    not tensors: they are compiled in, and another value is another program; give a NumPy scalar where it changes often.
    Called with traced tensors, in another traced function, it becomes part of that.
    """

    def __init__(
        self, python: Callable[..., Any], target: "Target | None" = None, static: frozenset[str] = frozenset()
    ) -> None:
        super().__init__(python, static, target)
        self._programs = Programs()
        self._programs_of: dict[int, Programs] = {}

    def __get__(self, instance: Any, owner: Any = None) -> "Function":
        """As a method of ``instance``: what it reads from ``self`` is part of the program, as it is when traced."""
        if instance is None or not hasattr(type(self._python), "__get__"):
            return self
        method = object.__new__(Function)
        method.__dict__.update(self.__dict__)
        method._python = self._python.__get__(instance, owner)
        method._signature = self._signature_of_method
        programs = self._programs_of.get(id(instance))
        if programs is None:
            programs = Programs()
            with contextlib.suppress(TypeError):  # what cannot be watched is compiled for each time it is asked for
                weakref.finalize(instance, self._programs_of.pop, id(instance), None)
                self._programs_of[id(instance)] = programs
        method._programs = programs
        return method

    @functools.cached_property
    def _signature_of_method(self) -> inspect.Signature:
        return self._signature.replace(parameters=list(self._signature.parameters.values())[1:])

    @functools.cached_property
    def _static_places(self) -> frozenset[int]:
        """Where static arguments stand that are given by position."""
        return frozenset(place for place, name in enumerate(self._signature.parameters) if name in self._static)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run on arrays, or become part of the function that is being traced."""
        leaves: list[Any] = []
        try:
            tensors, static = self._apart(args, kwargs)
            known = self._programs.known.get((form_of(tensors, leaves), static))
        except TypeError:  # what cannot be hashed; the other way says so in words
            known = None
        if known is None:
            try:
                return self._first_call(args, kwargs)
            except CompileError as error:
                from ipu_mlir.compilation.compiler import for_the_user

                raise for_the_user(error, self) from error.__cause__
        run, order, nest = known
        return nest(run(leaves if order is None else [leaves[place] for place in order]))

    def _first_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        bound = bind_arguments(self.__name__, self._signature, args, kwargs)
        structure, leaves = flatten_arguments(bound, self._static)
        if any(isinstance(leaf, Symbol) for leaf in leaves):
            return self._python(*args, **kwargs)
        key = structure, tuple(map(spec_of, leaves)), has_numpy_widths()
        compiled = self._programs.compiled
        executable = compiled.get(key)
        if executable is None:
            executable = self._compile(args, kwargs)
            self._programs.add(key, executable)
            if len(compiled) == _MANY_PROGRAMS:
                warnings.warn(f"{self.__name__} was compiled {_MANY_PROGRAMS} times{_WHY_MANY}", stacklevel=3)
        results = executable(*args, **kwargs)
        self._remember(executable, args, kwargs)
        return results

    def _remember(self, executable: "Executable", args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Further calls of this form need not be bound to parameters."""
        call = executable._call
        assert isinstance(call, Call), "a traced function has one"
        tensors, static = self._apart(args, kwargs)

        def bind(marked: Any) -> dict[str, Any]:
            given = [each if place in self._static_places else marked[0][place] for place, each in enumerate(args)]
            return call.bind(given, {**kwargs, **marked[1]})

        if (known := known_call(executable.run, call, tensors, bind)) is not None:
            self._programs.known[form_of(tensors, []), static] = known

    def _apart(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
        """The arguments without static ones, and those."""
        if not self._static:
            return (args, kwargs), _WIDE_KEY if has_numpy_widths() else ()
        places = self._static_places
        rest = tuple(None if place in places else each for place, each in enumerate(args))
        static = [(place, Static(each)) for place, each in enumerate(args) if place in places]
        static += [(name, Static(each)) for name, each in kwargs.items() if name in self._static]
        rest_by_name = {name: each for name, each in kwargs.items() if name not in self._static}
        return (rest, rest_by_name), (*static, *(_WIDE_KEY if has_numpy_widths() else ()))

    def __reduce__(self) -> str:
        """Another process finds the function by its name, as those of Python."""
        name = getattr(self, "__qualname__", None)
        if name is None:
            raise pickle.PicklingError(f"{self!r} cannot be pickled: it has no name that another process could find")
        return name

    def _compile(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> "Executable":
        from ipu_mlir.compilation.compiler import compile_made
        from ipu_mlir.compilation.executable import Executable
        from ipu_mlir.compilation.how import How

        trace, call = self.trace_beside(None, args, kwargs, "main")
        executable = compile_made(trace.module, "main", How(self.target), call, trace.declared)
        assert isinstance(executable, Executable), "all sizes of a traced function are known"
        return executable


class _Options(TypedDict, total=False):
    target: "Target | None"
    static_argnames: str | Sequence[str]
    static_argnums: int | Sequence[int]
    donate_argnums: int | Sequence[int]


@overload
def function(python: Callable[..., Any], /, **options: "Unpack[_Options]") -> Function: ...
@overload
def function(**options: "Unpack[_Options]") -> Callable[[Callable[..., Any]], Function]: ...
def function(
    python: Callable[..., Any] | None = None,
    /,
    *,
    target: "Target | None" = None,
    static_argnames: str | Sequence[str] = (),
    static_argnums: int | Sequence[int] = (),
    donate_argnums: int | Sequence[int] = (),
) -> Any:
    """Make a Python function on tensors into one that compiles for the IPU.

        @ipu.function
        def mlp(x, w, b):
            return np.maximum(x @ w + b, 0)

    Args:
        python: takes and returns tensors, nested as it likes; a function, a method, or anything that can be called.
        target: the machine, where the function is called directly, and where ``compile`` names none.
        static_argnames: parameters whose arguments are no tensors but part of the program, whatever they are, as long
            as they can be hashed; another value is another program.
        static_argnums: the same by their numbers, from the front or, where negative, from behind.
        donate_argnums: changes nothing: arguments are copied to the device, and stay as they are on the host.

    Raises:
        TypeError: ``python`` cannot be called, or has no parameter of a static name or number.
    """
    if python is None:
        return lambda given: function(
            given, target=target, static_argnames=static_argnames, static_argnums=static_argnums
        )
    return Function(python, target, static_names(python, static_argnames, static_argnums))


jit = function
"""The name by which users of JAX look for ``function``."""
