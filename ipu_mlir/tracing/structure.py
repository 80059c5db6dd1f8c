"""Values nested in tuples, lists, dicts and dataclasses, and the flat lists of tensors that programs take and give."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.arguments import as_argument, read_array
from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.specs.specs import PerReplica, TensorSpec
from ipu_mlir.specs.tensor_types import as_for_users, as_in_programs
from ipu_mlir.tracing.errors import TraceTypeError
from ipu_mlir.tracing.graph import Symbol


@dataclass(frozen=True)
class Leaf:
    """A tensor; ``path`` tells where it stands: ``params['w'][0]``."""

    path: str


@dataclass(frozen=True)
class Static:
    """A value that is part of the program: a Python number, a string, None. Zero and minus zero are two values."""

    value: Any

    def _key(self) -> tuple[type, Any]:
        return type(self.value), self.value.hex() if isinstance(self.value, float) else self.value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


@dataclass(frozen=True)
class Branch:
    """A tuple, list, dict or dataclass; ``keys`` are those of a dict, or the names of the fields."""

    kind: type
    keys: tuple[Any, ...]
    children: "tuple[Structure, ...]"


Structure = Leaf | Static | Branch

_ALL = "the arguments"


def is_leaf(value: Any) -> bool:
    """True if ``value`` is a tensor: an array, a NumPy scalar, a spec, or a traced tensor."""
    return isinstance(value, np.ndarray | np.generic | TensorSpec | Symbol)


def is_number(value: Any) -> bool:
    """True if ``value`` can become a tensor: one already, or a Python number."""
    return is_leaf(value) or isinstance(value, bool | int | float | complex)


def is_of_a_framework(value: Any) -> bool:
    """True for an array that is not of NumPy."""
    return hasattr(value, "__array__") and hasattr(value, "dtype") and not isinstance(value, type)


_DATACLASSES: dict[type, tuple[str, ...]] = {}
"""The names of their fields, of those that users have registered."""


def register_dataclass(kind: type) -> type:
    """Let values of a dataclass be arguments, results and carried values; as a decorator, or called with the class.

        @ipu.register_dataclass
        @dataclass
        class State:
            weights: np.ndarray
            step: int = 0

    Fields are tensors, or whatever else arguments may be; those that are no tensors are part of the program.

    Raises:
        TraceTypeError: ``kind`` is no dataclass, or has fields that are no parameters.
    """
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        raise TraceTypeError(f"register_dataclass takes a dataclass, got {kind!r}; put @dataclass below it")
    if hidden := [each.name for each in dataclasses.fields(kind) if not each.init]:
        raise TraceTypeError(
            f"{kind.__name__} cannot be made again: its field {hidden[0]} is no parameter (init=False)"
        )
    _DATACLASSES[kind] = tuple(each.name for each in dataclasses.fields(kind))
    return kind


def parts(value: Any) -> tuple[tuple[Any, ...], list[Any]] | None:
    """The keys and the children of a value that has some; None for all others. Tuples and lists have no keys."""
    if isinstance(value, Mapping):
        return tuple(value), list(value.values())
    if isinstance(value, tuple | list):
        return (), list(value)
    if (names := _DATACLASSES.get(type(value))) is not None:
        return names, [getattr(value, name) for name in names]
    return None


def assembled(kind: Any, keys: tuple[Any, ...], children: list[Any]) -> Any:
    """A value of class ``kind`` whose ``parts`` are ``keys`` and ``children``."""
    if kind in _DATACLASSES:
        return kind(**dict(zip(keys, children, strict=True)))
    if kind is dict:
        return dict(zip(keys, children, strict=True))
    make: Any = kind
    if issubclass(kind, Mapping):
        return make(dict(zip(keys, children, strict=True)))
    return make(*children) if hasattr(kind, "_fields") else make(children)


def path_of(path: str, kind: type, key: Any) -> str:
    """Where the child ``key`` of a value of class ``kind`` at ``path`` stands."""
    return f"{path}.{key}" if kind in _DATACLASSES else f"{path}[{key!r}]"


def flatten(value: Any, path: str, leaf: Callable[[Any], bool] = is_leaf) -> tuple[Structure, list[Any]]:
    """The structure of ``value`` and what is a ``leaf`` in it, from left to right; dicts in their own order.

    >>> flatten({"w": np.zeros(2), "rate": 0.1}, "params")[0].children
    (Leaf(path="params['w']"), Static(value=0.1))
    """
    leaves: list[Any] = []
    return _walk(value, path, leaves, leaf), leaves


def _walk(value: Any, path: str, leaves: list[Any], leaf: Callable[[Any], bool] = is_leaf) -> Structure:
    if leaf(value):
        leaves.append(value)
        return Leaf(path)
    kind = type(value)
    if (inner := parts(value)) is not None:
        keys, children = inner
        pairs = zip(keys or range(len(children)), children, strict=True)
        return Branch(kind, keys, tuple(_walk(child, path_of(path, kind, key), leaves, leaf) for key, child in pairs))
    if is_of_a_framework(value):
        leaves.append(read_array(value, path))
        return Leaf(path)
    try:
        hash(value)
    except TypeError as error:
        raise TraceTypeError(
            f"{path} is a {kind.__name__}, which cannot be part of a program; give tensors, numbers, "
            f"strings, or tuples, lists and dicts of them{_REGISTER if dataclasses.is_dataclass(kind) else ''}"
        ) from error
    return Static(value)


_REGISTER = ", or tell ipu.register_dataclass of the class"


def unflatten(structure: Structure, leaves: Iterator[Any]) -> Any:
    """A value of ``structure`` with ``leaves`` for its tensors."""
    if isinstance(structure, Leaf):
        return next(leaves)
    if isinstance(structure, Static):
        return structure.value
    return assembled(structure.kind, structure.keys, [unflatten(child, leaves) for child in structure.children])


def leaves_like(expected: Structure, value: Any, path: str) -> list[Any]:
    """The leaves of ``value``, which is nested as ``expected``; the keys of dicts may have another order.

    Raises:
        TraceTypeError: it is nested otherwise; names the first place.
    """
    if isinstance(expected, Leaf):
        if is_number(value):
            return [value]
        if is_of_a_framework(value):
            return [read_array(value, path)]
        raise TraceTypeError(f"{path} was a tensor, and becomes {_words_of(value)}; give a tensor")
    if isinstance(expected, Static):
        if Static(value) == expected:
            return []
        raise TraceTypeError(f"{path} was {expected.value!r}, and becomes {_words_of(value)}; give the same")
    if type(value) is expected.kind and expected.kind in (tuple, list) and len(value) == len(expected.children):
        pairs = zip(expected.children, value, strict=True)
        if all(type(child) is Leaf and type(each) is np.ndarray for child, each in pairs):
            return list(value)  # what nearly all elements of queues are
    keys, children = (parts(value) if type(value) is expected.kind else None) or ((), [])
    same = set(keys) == set(expected.keys) and len(children) == len(expected.children)
    if type(value) is not expected.kind or not same:
        raise TraceTypeError(f"{path} was {_words(expected)}, and becomes {_words_of(value)}; give the same")
    by_key = dict(zip(keys or range(len(children)), children, strict=True))
    pairs = zip(expected.keys or range(len(children)), expected.children, strict=True)
    return [leaf for key, child in pairs for leaf in leaves_like(child, by_key[key], path_of(path, expected.kind, key))]


def _words_of(value: Any) -> str:
    return _words(flatten(value, "", is_number)[0])


def paths(structure: Structure) -> list[str]:
    """Where each tensor stands, from left to right."""
    if isinstance(structure, Leaf):
        return [structure.path]
    return [path for child in structure.children for path in paths(child)] if isinstance(structure, Branch) else []


@dataclass(frozen=True)
class Call:
    """The nesting of the arguments and results of a traced function.

    Attributes:
        bind: brings arguments into the order of the Python function's parameters, as a dict by their names.
        arguments: the structure of that dict.
        specs: shape and type of each tensor among the arguments.
        results: the structure of what the Python function returned.
        result_specs: shape and type of each tensor among the results.
        static: names of parameters whose arguments are part of the program, whatever they are.
    """

    bind: Callable[[Sequence[Any], Mapping[str, Any]], dict[str, Any]]
    arguments: Structure
    specs: tuple[TensorSpec, ...]
    results: Structure
    result_specs: tuple[TensorSpec, ...]
    static: frozenset[str] = frozenset()

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[np.ndarray]:
        """The flat inputs of a call.

        Raises:
            RunError: the arguments are not those that the program was compiled for; names the first that differs.
        """
        structure, leaves = flatten_arguments(self.bind(args, kwargs), self.static)
        if structure != self.arguments:
            raise RunError(f"{_difference(self.arguments, structure, _ALL)}; compile the function for these")
        arrays = [
            as_argument(
                leaf,
                None if isinstance(spec, PerReplica) else spec.shape,  # how many there are is known where it runs
                spec.dtype,
                f"argument {path}",
            )
            for path, leaf, spec in zip(paths(structure), leaves, self.specs, strict=True)
        ]
        return [as_in_programs(array, array.dtype) for array in arrays]

    @property
    def result_names(self) -> list[str]:
        """Where each result stands in what the Python function returns: ``result['loss']``."""
        return paths(self.results)

    def unflatten(self, results: Sequence[np.ndarray]) -> Any:
        """The results as the Python function nested them."""
        typed = [as_for_users(array, spec.dtype) for array, spec in zip(results, self.result_specs, strict=True)]
        return self.nested(typed)

    def nested(self, results: Sequence[Any]) -> Any:
        """Results of any kind, nested as the Python function has them."""
        return unflatten(self.results, iter(results))


def flatten_arguments(arguments: dict[str, Any], static: frozenset[str] = frozenset()) -> tuple[Branch, list[Any]]:
    """The structure and tensors of a call's arguments by their names; those of ``static`` names have no tensors.

    Raises:
        TraceTypeError: one can neither be a tensor nor part of a program.
    """
    leaves: list[Any] = []
    children = tuple(
        _static(name, value) if name in static else _walk(value, name, leaves) for name, value in arguments.items()
    )
    return Branch(dict, tuple(arguments), children), leaves


def _static(name: str, value: Any) -> Static:
    try:
        hash(value)
    except TypeError as error:
        raise TraceTypeError(
            f"{name} is static and a {type(value).__name__}, which cannot be compared with that of another call; "
            "give what can be hashed, such as a tuple"
        ) from error
    if isinstance(value, Symbol):
        raise TraceTypeError(f"{name} is static, and {value} is known only when the program runs")
    return Static(value)


def _difference(expected: Structure, found: Structure, path: str) -> str:
    """Where two structures differ first, in words."""
    for key, one, other in _children_of_both(expected, found):
        if one != other:
            kind = expected.kind if isinstance(expected, Branch) else dict
            return _difference(one, other, f"argument {key}" if path == _ALL else path_of(path, kind, key))
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
        return "None" if structure.value is None else f"the constant {structure.value!r}"
    keys = f" with keys {', '.join(map(repr, structure.keys))}" if structure.keys else f" of {len(structure.children)}"
    return f"a {structure.kind.__name__}{keys}"
