"""Arguments and results nested in tuples, lists and dicts, and the flat lists that programs take and give."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.specs.specs import TensorSpec
from ipu_mlir.tracing.errors import TraceTypeError
from ipu_mlir.tracing.graph import Symbol


@dataclass(frozen=True)
class Leaf:
    """A tensor; ``path`` tells where it stands: ``params['w'][0]``."""

    path: str


@dataclass(frozen=True)
class Static:
    """A value that is part of the program: a Python number, a string, None."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True)
class Branch:
    """A tuple, list or dict; ``keys`` are those of a dict."""

    kind: type
    keys: tuple[Any, ...]
    children: "tuple[Structure, ...]"


Structure = Leaf | Static | Branch

_ALL = "the arguments"


def is_leaf(value: Any) -> bool:
    """Whether ``value`` is a tensor: an array, a NumPy scalar, a spec, or a traced tensor."""
    return isinstance(value, np.ndarray | np.generic | TensorSpec | Symbol)


def flatten(value: Any, path: str) -> tuple[Structure, list[Any]]:
    """The structure of ``value`` and its tensors, from left to right; dicts in their own order.

    >>> flatten({"w": np.zeros(2), "rate": 0.1}, "params")[0].children
    (Leaf(path="params['w']"), Static(value=0.1))
    """
    leaves: list[Any] = []
    return _walk(value, path, leaves), leaves


def _walk(value: Any, path: str, leaves: list[Any]) -> Structure:
    if is_leaf(value):
        leaves.append(value)
        return Leaf(path)
    if isinstance(value, Mapping):
        children = tuple(_walk(child, f"{path}[{key!r}]", leaves) for key, child in value.items())
        return Branch(type(value), tuple(value), children)
    if isinstance(value, tuple | list):
        children = tuple(_walk(child, f"{path}[{place}]", leaves) for place, child in enumerate(value))
        return Branch(type(value), (), children)
    try:
        hash(value)
    except TypeError as error:
        raise TraceTypeError(
            f"{path} is a {type(value).__name__}, which cannot be part of a program; give tensors, numbers, "
            "strings, or tuples, lists and dicts of them"
        ) from error
    return Static(value)


def unflatten(structure: Structure, leaves: Iterator[Any]) -> Any:
    """A value of ``structure`` with ``leaves`` for its tensors."""
    if isinstance(structure, Leaf):
        return next(leaves)
    if isinstance(structure, Static):
        return structure.value
    children = [unflatten(child, leaves) for child in structure.children]
    if issubclass(structure.kind, Mapping):
        return mapping_of(structure.kind, dict(zip(structure.keys, children, strict=True)))
    return sequence_of(structure.kind, children)


def mapping_of(kind: Any, children: dict[Any, Any]) -> Any:
    """A dict, or whatever mapping ``kind`` is, of ``children``."""
    return children if kind is dict else kind(children)


def sequence_of(kind: Any, children: list[Any]) -> Any:
    """A tuple, named tuple or list of ``children``; ``kind`` is its class."""
    return kind(*children) if hasattr(kind, "_fields") else kind(children)


def paths(structure: Structure) -> list[str]:
    """Where each tensor stands, from left to right."""
    if isinstance(structure, Leaf):
        return [structure.path]
    return [path for child in structure.children for path in paths(child)] if isinstance(structure, Branch) else []


@dataclass(frozen=True)
class Call:
    """How the arguments and results of a traced function are nested.

    Attributes:
        bind: brings arguments into the order of the Python function's parameters, as a dict by their names.
        arguments: the structure of that dict.
        specs: shape and type of each tensor among the arguments.
        results: the structure of what the Python function returned.
        result_specs: shape and type of each tensor among the results.
    """

    bind: Callable[[Sequence[Any], Mapping[str, Any]], dict[str, Any]]
    arguments: Structure
    specs: tuple[TensorSpec, ...]
    results: Structure
    result_specs: tuple[TensorSpec, ...]

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[np.ndarray]:
        """The flat inputs of a call.

        Raises:
            RunError: the arguments are not those that the program was compiled for; names the first that differs.
        """
        structure, leaves = flatten_arguments(self.bind(args, kwargs))
        if structure != self.arguments:
            raise RunError(f"{_difference(self.arguments, structure, _ALL)}; compile the function for these")
        arrays = [np.asarray(leaf) for leaf in leaves]
        for path, array, spec in zip(paths(structure), arrays, self.specs, strict=True):
            if array.shape != spec.shape or array.dtype != spec.dtype:
                found = TensorSpec(array.shape, array.dtype)
                raise RunError(
                    f"argument {path} is {found}, the program was compiled for {spec}; {_way_out(found, spec)}"
                )
        return arrays

    @property
    def result_names(self) -> list[str]:
        """Where each result stands in what the Python function returns: ``result['loss']``."""
        return paths(self.results)

    def unflatten(self, results: Sequence[np.ndarray]) -> Any:
        """The results as the Python function nested them."""
        typed = (
            array if array.dtype == spec.dtype else array.view(spec.dtype)  # programs know no unsigned types
            for array, spec in zip(results, self.result_specs, strict=True)
        )
        return unflatten(self.results, typed)


def flatten_arguments(arguments: dict[str, Any]) -> tuple[Branch, list[Any]]:
    """The structure and tensors of a call's arguments by their names."""
    leaves: list[Any] = []
    children = tuple(_walk(value, name, leaves) for name, value in arguments.items())
    return Branch(dict, tuple(arguments), children), leaves


def _way_out(found: TensorSpec, spec: TensorSpec) -> str:
    if found.shape == spec.shape:
        return f"convert it with astype(np.{spec.dtype})"
    return "compile the program for this shape"


def _difference(expected: Structure, found: Structure, path: str) -> str:
    """Where two structures differ first, in words."""
    for key, one, other in _children_of_both(expected, found):
        if one != other:
            return _difference(one, other, f"argument {key}" if path == _ALL else f"{path}[{key!r}]")
    return f"{path}: the program was compiled for {_words(expected)}, got {_words(found)}"


def _children_of_both(expected: Structure, found: Structure) -> list[tuple[Any, Structure, Structure]]:
    """The children of two branches of one form, with their keys; nothing for other structures."""
    if not isinstance(expected, Branch) or not isinstance(found, Branch):
        return []
    if (expected.kind, expected.keys, len(expected.children)) != (found.kind, found.keys, len(found.children)):
        return []
    keys = expected.keys or range(len(expected.children))
    return list(zip(keys, expected.children, found.children, strict=True))


def _words(structure: Structure) -> str:
    if isinstance(structure, Leaf):
        return "a tensor"
    if isinstance(structure, Static):
        return f"the constant {structure.value!r}"
    keys = f" with keys {', '.join(map(repr, structure.keys))}" if structure.keys else f" of {len(structure.children)}"
    return f"a {structure.kind.__name__}{keys}"
