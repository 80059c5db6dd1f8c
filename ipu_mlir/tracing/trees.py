"""Functions on trees: tensors nested in tuples, lists, dicts and dataclasses, as programs take and give them."""

from collections.abc import Callable, Sequence
from typing import Any

from ipu_mlir.tracing.errors import TraceTypeError
from ipu_mlir.tracing.structure import Branch, Leaf, Structure, flatten, parts, path_of, unflatten


def tree_map(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """A tree nested as ``tree``, with ``function`` of each tensor of it and of what ``others`` have in its place.

        better = ipu.tree_map(lambda w, slope: w - 0.1 * slope, weights, slopes)

    Args:
        tree: its arrays, NumPy scalars, specs and traced tensors are mapped; numbers, strings and None stay.
        others: have the branches of ``tree``; where that has a tensor, they may have anything.

    Raises:
        TypeError: one of ``others`` is nested otherwise; names the place.
    """
    structure, leaves = flatten(tree, "tree")
    columns = [beside(structure, other, f"tree {number}") for number, other in enumerate(others, 2)]
    return unflatten(structure, iter([function(*row) for row in zip(leaves, *columns, strict=True)]))


def tree_leaves(tree: Any) -> list[Any]:
    """The tensors of ``tree``, from left to right."""
    return flatten(tree, "tree")[1]


def beside(structure: Structure, value: Any, path: str) -> list[Any]:
    """What ``value``, whose branches are those of ``structure``, has in the place of each tensor.

    Args:
        path: what ``value`` is called.

    Raises:
        TraceTypeError: it has other branches; names the first place.
    """
    if isinstance(structure, Leaf):
        return [value]
    if not isinstance(structure, Branch):
        return []
    keys, children = _branches(structure, value, path)
    by_key = dict(zip(keys, children, strict=True))
    wanted = structure.keys or range(len(structure.children))
    return [
        each
        for key, child in zip(wanted, structure.children, strict=True)
        for each in beside(child, by_key[key], path_of(path, structure.kind, key))
    ]


def _branches(structure: Branch, value: Any, path: str) -> tuple[Sequence[Any], list[Any]]:
    keys, children = parts(value) or ((), [])
    numbered = keys or range(len(children))
    if type(value) is structure.kind and set(numbered) == set(structure.keys or range(len(structure.children))):
        return numbered, children
    shown = f"keys {', '.join(map(repr, structure.keys))}" if structure.keys else f"{len(structure.children)} parts"
    found = f" of {len(children)} parts" if parts(value) is not None else ""
    raise TraceTypeError(
        f"{path} is a {type(value).__name__}{found}, and goes with a {structure.kind.__name__} of {shown}; "
        "nest the two alike"
    )
