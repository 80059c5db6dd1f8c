"""Functions on trees by the names that ``jax.tree`` has: tensors nested in tuples, lists, dicts and dataclasses."""

from collections.abc import Iterable
from typing import Any

from ipu_mlir.tracing.structure import flatten as _flatten
from ipu_mlir.tracing.structure import unflatten as _unflatten
from ipu_mlir.tracing.trees import tree_leaves as leaves
from ipu_mlir.tracing.trees import tree_map as map

__all__ = ["flatten", "leaves", "map", "structure", "unflatten"]


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """The tensors of ``tree``, from left to right, and how they are nested, with what are no tensors."""
    nesting, tensors = _flatten(tree, "tree")
    return tensors, nesting


def structure(tree: Any) -> Any:
    """How the tensors of ``tree`` are nested."""
    return flatten(tree)[1]


def unflatten(structure: Any, leaves: Iterable[Any]) -> Any:
    """``leaves`` nested as ``structure`` says, which ``flatten`` gave."""
    return _unflatten(structure, iter(leaves))
