"""The front end that takes a source: told by where its type or its arguments' types come from, without any import."""

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from ipu_mlir.dialects.support.errors import CompileError

if TYPE_CHECKING:
    from ipu_mlir.dialects.support.bindings import ir


class Call(Protocol):
    """The nesting of a caller's arguments and results, and the arrays that they come in.

    One whose function changes its arguments has ``give_back(found, args, kwargs)`` as well, which writes to them and
    gives the results, of what ``unflatten`` has given.
    """

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The flat inputs of the program."""
        ...

    def unflatten(self, results: Sequence[Any]) -> Any:
        """The flat results as the caller has them."""
        ...

    @property
    def result_names(self) -> list[str]:
        """A name for each flat result."""
        ...


@dataclass(frozen=True)
class Imported:
    """A program of another framework.

    Attributes:
        program: MLIR that ``load_module`` takes: text, bytecode, or a module; or one whose sizes are open.
        call: how it is called; None as any program, with flat arrays.
        replicas: how many copies of it run together.
        functions: of the host, which it calls while it runs, by name.
    """

    program: "str | bytes | ir.Module | OpenProgram"
    call: Call | None = None
    replicas: int = 1
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class OpenProgram:
    """A program that has to be imported anew for all sizes of its arguments.

    Attributes:
        inputs: of each flat argument the shape, with None where a size is open, and its type as text.
        for_sizes: gives the program for the open sizes, in order.
    """

    inputs: tuple[tuple[tuple[int | None, ...], str], ...]
    for_sizes: Callable[[Sequence[int]], Imported]


@dataclass(frozen=True)
class FrontEnd:
    """A framework.

    Attributes:
        name: ``from_<name>`` in this folder has ``import_program(source, args, kwargs)``, and the extra
            called so brings what it needs.
        packages: top packages that it needs, in the order in which a missing one is named.
        types: top packages whose objects are its sources, or arguments of a plain function for it.
        suffixes: of its files.
    """

    name: str
    packages: tuple[str, ...]
    types: tuple[str, ...]
    suffixes: tuple[str, ...] = ()


FRONT_ENDS = (
    FrontEnd("jax", ("jax",), ("jax", "jaxlib", "flax", "equinox")),
    FrontEnd("torch", ("torch",), ("torch", "torchvision")),
    FrontEnd("tensorflow", ("tensorflow",), ("tensorflow", "keras")),
    FrontEnd("onnx", ("onnx",), ("onnx",), (".onnx",)),
)


def front_end_of(source: Any, args: Any = None) -> FrontEnd | None:
    """The front end that takes ``source``, or a plain function ``source`` with ``args``; None for what needs none."""
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        return next((each for each in FRONT_ENDS if "\n" not in path and path.endswith(each.suffixes or "\n")), None)
    own = _front_end_of_types(source) or _front_end_that_made(source)
    if own is not None or not callable(source) or hasattr(source, "trace_call"):
        return own
    return next(filter(None, map(_front_end_of_types, _leaves(args))), None)


def front_end_called(framework: str) -> FrontEnd | None:
    """The front end of ``framework``, whose functions take arrays of NumPy; None if there is none, or they do not.

    Raises:
        CompileError: it is Keras, computing with NumPy.
    """
    if framework == "keras":
        return _front_end_of_keras()
    return next((each for each in FRONT_ENDS if each.name == framework in ("jax", "tensorflow")), None)


def _front_end_of_keras() -> FrontEnd:
    """That of the framework on which Keras computes."""
    name = sys.modules["keras"].config.backend()
    if name == "numpy":
        raise CompileError(
            "Keras computes with NumPy, of which no program can be made; set KERAS_BACKEND to tensorflow, jax or torch "
            "before it is imported"
        )
    return next(each for each in FRONT_ENDS if each.name == name)


def import_program(
    front_end: FrontEnd, source: Any, args: Any, kwargs: Mapping[str, Any], static: frozenset[str] = frozenset()
) -> Imported:
    """The module that ``front_end`` makes of ``source``, whose parameters ``static`` are part of the program.

    Raises:
        CompileError: a package that it needs is not installed; names the extra. Or the program cannot be imported.
    """
    missing = [each for each in front_end.packages if importlib.util.find_spec(each) is None]
    if missing:
        raise CompileError(
            f"a program of {front_end.name} needs the package {missing[0]}, which is not installed; "
            f"pip install 'ipu-mlir[{front_end.name}]'"
        )
    module = module_of(front_end)
    if static and hasattr(module, "with_static"):  # others know by their types what is no tensor
        source = module.with_static(source, static)
    return module.import_program(source, args, kwargs)


def module_of(front_end: FrontEnd) -> Any:
    """The module with ``import_program`` of a front end."""
    if "tensorflow" in sys.modules:  # beside it, the import of triton, which compiles for other machines, ends Python
        sys.modules.setdefault("triton", None)  # pyright: ignore[reportArgumentType] - as what cannot be imported
    return importlib.import_module(f"ipu_mlir.frontends.from_{front_end.name}")


def _front_end_of_types(value: Any) -> FrontEnd | None:
    tops = [kind.__module__.partition(".")[0] for kind in type(value).__mro__]
    if "keras" in tops:
        return _front_end_of_keras()
    return next((each for top in tops for each in FRONT_ENDS if top in each.types), None)


def _front_end_that_made(function: Any) -> FrontEnd | None:
    """The framework whose code ``function`` is, such as of ``jax.grad(f)``, which is a plain function."""
    top = getattr(function, "__globals__", {}).get("__name__", "").partition(".")[0]
    return next((each for each in FRONT_ENDS if top in each.types), None)


def _leaves(value: Any) -> list[Any]:
    """What stands in tuples, lists and dicts, and in objects of classes that JAX was told of."""
    if isinstance(value, Mapping):
        return [leaf for child in value.values() for leaf in _leaves(child)]
    if isinstance(value, tuple | list):
        return [leaf for child in value for leaf in _leaves(child)]
    jax = sys.modules.get("jax")
    return [value] if jax is None else jax.tree.leaves(value)
