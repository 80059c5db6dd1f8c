"""Functions in the wrappers of flax and equinox, as functions of arrays alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from ipu_mlir.dialects.support.errors import CompileError, RunError
from ipu_mlir.frontends.of_jax.calls import check_static, static_arguments, without_static
from ipu_mlir.specs.specs import TensorSpec

_TRACED = (jax.Array, np.ndarray, np.generic, jax.ShapeDtypeStruct, TensorSpec)


@dataclass(frozen=True)
class Unwrapped:
    """A function of arrays alone.

    Attributes:
        function: what is jitted.
        args: what it is traced for.
        call_of: how the wrapped one is called, once ``function`` is traced and it is known how that is called.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    call_of: Callable[[Any], Any]


def unwrapped(source: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Unwrapped | None:
    """The function of arrays in ``source``, for ``args``; None if it has no such wrapper."""
    kinds = [kind.__module__ for kind in type(source).__mro__]
    if any(kind.partition(".")[0] == "equinox" for kind in kinds):
        return _of_equinox(source, args, kwargs)
    if any(kind.startswith("flax.nnx") for kind in kinds):
        return _of_nnx(source, args, kwargs)
    return None


@dataclass(frozen=True)
class _Wrapping:
    """What all wrappers' calls have: ``call`` of the function of arrays."""

    call: Any

    @property
    def result_names(self) -> list[str]:
        """Where each result stands."""
        return self.call.result_names


@dataclass(frozen=True)
class EquinoxCall(_Wrapping):
    """Arguments and results that hold more than arrays, which is part of the program.

    Attributes:
        static: the arguments without their arrays.
        rest: the results without theirs.
    """

    static: Any
    rest: Any

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[np.ndarray]:
        """The flat inputs of a call.

        Raises:
            RunError: the arguments are not those that the program was compiled for.
        """
        import equinox

        arrays, static = _parts((tuple(args), dict(kwargs)))
        if not equinox.tree_equal(static, self.static):
            raise RunError(f"{_difference(static, self.static)}, which is part of the program; compile it anew")
        return self.call.flatten((arrays,), {})

    def unflatten(self, results: Sequence[np.ndarray]) -> Any:
        """The results, nested as the function has them."""
        import equinox

        return equinox.combine(self.call.unflatten(results), self.rest)


def _of_equinox(source: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Unwrapped:
    """Arrays are arguments, also those in modules; all else in the arguments is part of the program."""
    import equinox

    arrays, static = _parts((tuple(args), dict(kwargs)))
    rest: list[Any] = []

    def function(arrays: Any) -> Any:
        positional, named = equinox.combine(arrays, static)
        found, other = equinox.partition(source(*positional, **named), equinox.is_array)
        rest[:] = [other]
        return found

    return Unwrapped(_named(function, source), (arrays,), lambda call: EquinoxCall(call, static, rest[0]))


def _parts(tree: Any) -> tuple[Any, Any]:
    import equinox

    return equinox.partition(tree, lambda leaf: isinstance(leaf, _TRACED))


def _difference(found: Any, wanted: Any) -> str:
    """The first entry of two trees that differs, as ``args[0].rate is 2, the program was compiled for 1``."""
    named = [dict(jax.tree_util.tree_flatten_with_path(tree)[0]) for tree in (found, wanted)]
    for path in {**named[0], **named[1]}:
        one, other = (tree.get(path) for tree in named)
        if one is not other and one != other:
            where = f"{'kwargs' if path[0].idx else 'args'}{jax.tree_util.keystr(path[1:])}"
            return f"{where} is {one!r}, the program was compiled for {other!r}"
    return "the arguments are nested otherwise than those that the program was compiled for"


@dataclass(frozen=True)
class NnxCall(_Wrapping):
    """Arguments with modules of ``flax.nnx``, which the program changes.

    Attributes:
        module: what is called, if that is a module; it is the first argument then.
        graph: how the modules in the arguments are made.
        made: how those in the results are made.
        static: values of the static arguments, by position or name.
    """

    module: Any
    graph: Any
    made: Any
    static: Mapping[int | str, Any]

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[np.ndarray]:
        """The flat inputs of a call.

        Raises:
            RunError: the arguments are not those that the program was compiled for.
        """
        from flax import nnx

        check_static(self.static, args, kwargs)
        modules, others = self._modules_of(args, kwargs)
        graph, state = nnx.split(modules)
        if graph != self.graph:
            raise RunError(
                "the modules in the arguments have another structure than those the program was compiled for"
            )
        return self.call.flatten((state, others), {})

    def unflatten(self, results: Sequence[np.ndarray]) -> Any:
        """The results, nested as the function has them, and the new state of the modules in the arguments."""
        from flax import nnx

        found, made, state = self.call.unflatten(results)
        return _filled(found, nnx.merge(self.made, made)), state

    def give_back(self, found: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The results of a call; the modules in its arguments get their new state."""
        from flax import nnx

        results, state = found
        nnx.update(self._modules_of(args, kwargs)[0], state)
        return results

    def _modules_of(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[list[Any], Any]:
        whole = args if self.module is None else (self.module, *args)
        return _separated(without_static(whole, kwargs, self.static))


def _of_nnx(source: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Unwrapped:
    """The state of modules is an argument, and what becomes of it is a result."""
    from flax import nnx

    module = source if isinstance(source, nnx.Module) else None
    function = type(source).__call__ if module is not None else getattr(source, "fun", None)
    if function is None:
        raise CompileError(f"{source!r} of flax is neither a function of nnx.jit nor an nnx.Module; give one of them")
    static = static_arguments(getattr(source, "jitted_fn", None), args, kwargs)
    modules, others = _separated(without_static(args if module is None else (module, *args), kwargs, static))
    graph, state = nnx.split(modules)
    made: list[Any] = []

    def pure(state: Any, others: Any) -> Any:
        inner = nnx.merge(graph, state)
        positional, named = _filled(others, inner)
        named |= {name: each for name, each in static.items() if isinstance(name, str)}
        modules_found, found = _separated(function(*_with_static(positional, static), **named))
        made_graph, made_state = nnx.split(modules_found)
        made[:] = [made_graph]
        return found, made_state, nnx.split(inner)[1]

    return Unwrapped(_named(pure, source), (state, others), lambda call: NnxCall(call, module, graph, made[0], static))


def _with_static(positional: Sequence[Any], static: Mapping[int | str, Any]) -> list[Any]:
    """The arguments by position, static ones among them."""
    whole = list(positional)
    for place in sorted(place for place in static if isinstance(place, int)):
        whole.insert(place, static[place])
    return whole


@jax.tree_util.register_static
@dataclass(frozen=True)
class _Place:
    """Stands where module ``number`` was."""

    number: int


def _separated(tree: Any) -> tuple[list[Any], Any]:
    """The modules in ``tree``, and the tree with places for them; a module that is there twice has one place."""
    from flax import nnx

    modules: list[Any] = []

    def place(leaf: Any) -> Any:
        if not isinstance(leaf, nnx.Pytree | nnx.Variable):
            return leaf
        found = next((number for number, each in enumerate(modules) if each is leaf), len(modules))
        if found == len(modules):
            modules.append(leaf)
        return _Place(found)

    rest = jax.tree.map(place, tree, is_leaf=lambda leaf: isinstance(leaf, nnx.Pytree | nnx.Variable))
    return modules, rest


def _filled(tree: Any, modules: Sequence[Any]) -> Any:
    """``tree`` with its modules in their places."""

    def fill(leaf: Any) -> Any:
        return modules[leaf.number] if isinstance(leaf, _Place) else leaf

    return jax.tree.map(fill, tree, is_leaf=lambda leaf: isinstance(leaf, _Place))


def _named(function: Callable[..., Any], source: Any) -> Callable[..., Any]:
    function.__name__ = getattr(source, "__name__", type(source).__name__)
    return function
