"""Calls in a form that was called before: from nested arguments to flat inputs and back, in a few microseconds."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.arguments import read_array
from ipu_mlir.tracing.structure import (
    Call,
    Leaf,
    flatten,
    flatten_arguments,
    is_leaf,
    is_of_a_framework,
    parts,
    unflatten,
)

Known = tuple[Callable[[list[np.ndarray]], list[np.ndarray]], tuple[int, ...] | None, Callable[[list[np.ndarray]], Any]]
"""A call of a known form: the program, the order in which it takes the tensors, and what nests its results."""

Run = Callable[[list[np.ndarray]], list[np.ndarray]]
NestedCall = Callable[[Run, Sequence[Any], Mapping[str, Any]], Any]
"""Runs a program on arguments as the caller nests them, and nests the results."""


def nested_call(call: Any) -> NestedCall:
    """The way to call a function that was traced, whose ``call`` is known."""
    assert isinstance(call, Call), "no other framework binds arguments to parameters"
    known_calls: dict[Any, Known] = {}

    def called(run: Run, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        leaves: list[Any] = []
        tensors = args, kwargs
        try:
            form = form_of(tensors, leaves)
            known = known_calls.get(form)
        except TypeError:  # what cannot be hashed is refused in words
            form, known = None, None
        if known is not None:
            _, order, nest = known
            return nest(run(leaves if order is None else [leaves[place] for place in order]))
        results = call.unflatten(run(call.flatten(args, kwargs)))
        if form is not None and not call.static:
            known = known_call(run, call, tensors, lambda marked: call.bind(*marked))
            if known is not None:
                known_calls[form] = known
        return results

    return called


def form_of(value: Any, leaves: list[Any]) -> Any:
    """What two values have in common that are nested alike, with tensors of one shape and type and equal constants.

    It can be hashed if all constants can. Tensors are appended to ``leaves``, those of NumPy as arrays.
    """
    kind = type(value)
    if kind is np.ndarray:
        leaves.append(value)
        return value.shape, value.dtype
    if kind is dict:
        return dict, *value, *[form_of(child, leaves) for child in value.values()]
    if kind is tuple or kind is list:
        return kind, *[form_of(child, leaves) for child in value]
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError("masks are looked at, and refused, where calls are flattened")
    if isinstance(value, np.ndarray | np.generic):
        leaves.append(np.asarray(value))
        return value.shape, value.dtype
    if is_leaf(value):
        leaves.append(value)
        return kind, id(value)  # traced, or a spec: no program runs on it
    if (inner := parts(value)) is not None:
        keys, children = inner
        return kind, keys, *[form_of(child, leaves) for child in children]
    if is_of_a_framework(value):
        return form_of(read_array(value, "an argument"), leaves)
    return kind, value.hex() if kind is float else value


def known_call(
    run: Callable[[list[np.ndarray]], list[np.ndarray]], call: Call, tensors: Any, bind: Callable[[Any], dict[str, Any]]
) -> Known | None:
    """The runner of calls of one form; None if it has further inputs, as from a default value, or complex ones.

    Args:
        tensors: the arguments of such a call, without static ones.
        bind: brings these, with the static ones, into the order of the parameters.
    """
    structure, leaves = flatten(tensors, "")
    marks = [np.array(number) for number in range(len(leaves))]
    found = flatten_arguments(bind(unflatten(structure, iter(marks))), call.static)[1]
    if sorted(map(id, found)) != sorted(map(id, marks)) or any(spec.dtype.kind == "c" for spec in call.specs):
        return None
    order = tuple(int(each) for each in found)
    plain = isinstance(call.results, Leaf) and call.result_specs[0].dtype.kind in "bif"
    return run, None if order == tuple(range(len(order))) else order, _only if plain else call.unflatten


def _only(results: list[np.ndarray]) -> np.ndarray:
    return results[0]
