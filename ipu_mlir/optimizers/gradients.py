"""Parts of optimizers that change gradients before they are used: limits on their size, and weight decay."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ipu_mlir.optimizers.optimizer import At, Optimizer, cast, check_gradient, computed_in
from ipu_mlir.tracing.errors import TraceValueError
from ipu_mlir.tracing.structure import flatten, paths, unflatten
from ipu_mlir.tracing.trees import beside, tree_leaves, tree_map

Where = Callable[[str, Any], bool]
"""From the path and the tensor of a parameter to whether something is done to it."""


def clip(largest: float) -> Optimizer:
    """Every element of the gradients, moved to ``-largest .. largest``."""
    _check_size("clip", largest)
    return _without_state(lambda gradients: tree_map(lambda g: np.clip(g, -largest, largest), gradients))


def clip_by_global_norm(largest: float) -> Optimizer:
    """The gradients, all shortened by one factor if their norm together is above ``largest``."""
    _check_size("clip_by_global_norm", largest)

    def shortened(gradients: Any) -> Any:
        factor = largest / np.maximum(global_norm(gradients), largest)
        return tree_map(lambda g: g * factor.astype(g.dtype), gradients)

    return _without_state(shortened)


def global_norm(tree: Any) -> Any:
    """The root of the sum of the squares of all elements; of float32 where those have fewer bits."""
    wide = [cast(leaf, computed_in(leaf)) for leaf in tree_leaves(tree)]
    return np.sqrt(sum(np.sum(leaf * leaf) for leaf in wide) + np.float32(0))


def weight_decay(share: float, where: Where | None = None) -> Optimizer:
    """The gradients, and ``share`` of the parameters added to them: the gradient of ``share / 2`` times their square.

    Args:
        where: from the path and the tensor of a parameter to whether it is added; all are if not given.
    """

    def update(gradients: Any, state: Any, parameters: Any) -> tuple[Any, Any]:
        structure, leaves = flatten(parameters, "parameters")
        found = beside(structure, gradients, "gradients")
        for place, (path, tensor) in enumerate(zip(paths(structure), leaves, strict=True)):
            if found[place] is not None and (where is None or where(path, tensor)):
                check_gradient(path, tensor, found[place])
                found[place] = found[place] + share * cast(tensor, found[place].dtype)
        return unflatten(structure, iter(found)), state

    return Optimizer(lambda parameters: (), update)


def shrinks(where: Where | None, at: At) -> bool:
    """True if weight decay is for this tensor."""
    return where is None or where(at.path, at.tensor)


def _without_state(change: Callable[[Any], Any]) -> Optimizer:
    return Optimizer(lambda parameters: (), lambda gradients, state, parameters: (change(gradients), state))


def _check_size(name: str, largest: Any) -> None:
    if not (largest > 0 and math.isfinite(largest)):
        raise TraceValueError(f"{name}({largest!r}): the limit is a number above 0")
