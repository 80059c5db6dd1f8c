"""Models of ``ai.onnx.ml``: trees as products with the paths to their leaves, machines as products with vectors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.frontends.of_onnx.rules import rule

_DOMAIN = "ai.onnx.ml"


@dataclass(frozen=True)
class Trees:
    """All trees of a model, side by side.

    Attributes:
        features: the feature that each branch looks at.
        limits: what each branch compares it with, and ``modes`` how.
        sides: for each branch and leaf, 1 if the leaf is where the branch holds, -1 if where not, and else 0.
        depths: the branches above each leaf.
        weights: for each leaf and target, what is added there; NaN where the leaf says nothing.
        members: of branches that ask for one of several numbers, these.
    """

    features: np.ndarray
    limits: np.ndarray
    modes: tuple[str, ...]
    missing: np.ndarray
    sides: np.ndarray
    depths: np.ndarray
    weights: np.ndarray
    members: tuple[tuple[float, ...], ...] = ()


def _trees(given: Mapping[str, Any], kind: str, targets: int) -> Trees:
    """The trees of the attributes of ONNX, which list nodes by tree and number; ``kind`` is ``class`` or ``target``."""
    keys = list(zip(given["nodes_treeids"], given["nodes_nodeids"], strict=True))
    place = {key: number for number, key in enumerate(keys)}
    modes = [each.decode() if isinstance(each, bytes) else each for each in given["nodes_modes"]]
    branches = [number for number, mode in enumerate(modes) if mode != "LEAF"]
    leaves = [number for number, mode in enumerate(modes) if mode == "LEAF"]
    column, row = ({number: at for at, number in enumerate(each)} for each in (leaves, branches))
    sides, weights = np.zeros((len(branches), len(leaves))), np.full((len(leaves), targets), np.nan)
    parents: dict[int, tuple[int, float]] = {}
    for number in branches:
        tree = keys[number][0]
        for name, side in (("nodes_truenodeids", 1.0), ("nodes_falsenodeids", -1.0)):
            parents[place[tree, given[name][number]]] = number, side
    for leaf in leaves:
        below = leaf
        while below in parents:
            below, side = parents[below]
            sides[row[below], column[leaf]] = side
    for tree, node, target, weight in zip(
        given[f"{kind}_treeids"], given[f"{kind}_nodeids"], given[f"{kind}_ids"], given[f"{kind}_weights"], strict=True
    ):
        at = column[place[tree, node]], target
        weights[at] = np.nansum([weights[at], weight])
    tracks = given.get("nodes_missing_value_tracks_true") or [0] * len(keys)
    return Trees(
        np.array([given["nodes_featureids"][each] for each in branches], np.int64),
        np.array([given["nodes_values"][each] for each in branches]),
        tuple(modes[each] for each in branches),
        np.array([bool(tracks[each]) for each in branches]),
        sides,
        np.abs(sides).sum(0),
        weights,
    )


_MODES = ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "MEMBER")
_MEMBER = "BRANCH_MEMBER"


def _rooted_trees(given: Mapping[str, Any], targets: int) -> Trees:
    """The trees of the attributes of ``TreeEnsemble``, which name the nodes and leaves below each node."""
    branches: list[int] = []
    leaves: list[int] = []
    paths: list[tuple[tuple[int, float], ...]] = []
    below = [(given[f"nodes_{name}nodeids"], given[f"nodes_{name}leafs"]) for name in ("true", "false")]
    for root in given["tree_roots"]:
        (left, is_leaf), (right, is_other_leaf) = ((ids[root], ends[root]) for ids, ends in below)
        alone = is_leaf and is_other_leaf and left == right
        waiting: list[tuple[int, bool, tuple[tuple[int, float], ...]]] = [(left if alone else root, alone, ())]
        while waiting:
            place, is_end, path = waiting.pop()
            if is_end:
                leaves.append(place)
                paths.append(path)
                continue
            row = len(branches)
            branches.append(place)
            for (ids, ends), side in zip(below, (1.0, -1.0), strict=True):
                waiting.append((ids[place], bool(ends[place]), (*path, (row, side))))
    sides, weights = np.zeros((len(branches), len(leaves))), np.full((len(leaves), targets), np.nan)
    for column, (leaf, path) in enumerate(zip(leaves, paths, strict=True)):
        weights[column, given["leaf_targetids"][leaf]] = given["leaf_weights"][leaf]
        for row, side in path:
            sides[row, column] = side
    values = np.asarray(given.get("membership_values") if given.get("membership_values") is not None else [])
    sets = np.split(values, np.flatnonzero(np.isnan(values)))
    asking = [node for node, mode in enumerate(given["nodes_modes"]) if _MODES[mode] == "MEMBER"]
    of_node = {node: tuple(each[~np.isnan(each)].tolist()) for node, each in zip(asking, sets, strict=False)}
    tracks = given.get("nodes_missing_value_tracks_true")
    return Trees(
        np.array([given["nodes_featureids"][each] for each in branches], np.int64),
        np.array([given["nodes_splits"][each] for each in branches]),
        tuple(f"BRANCH_{_MODES[given['nodes_modes'][each]]}" for each in branches),
        np.array([tracks is not None and bool(tracks[each]) for each in branches]),
        sides,
        np.abs(sides).sum(0),
        weights,
        tuple(of_node.get(each, ()) for each in branches),
    )


_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "BRANCH_LEQ": np.less_equal,
    "BRANCH_LT": np.less,
    "BRANCH_GTE": np.greater_equal,
    "BRANCH_GT": np.greater,
    "BRANCH_EQ": np.equal,
    "BRANCH_NEQ": np.not_equal,
}


def _reached(trees: Trees, x: Any) -> Any:
    """1 for each leaf that an example comes to: all branches on the way to it say so."""
    dtype = np.float32 if x.dtype.kind in "iu" else x.dtype
    x = x.astype(dtype)
    if not len(trees.features):
        return np.broadcast_to(np.ones((1, len(trees.depths)), dtype), (x.shape[0], len(trees.depths)))
    picked = np.take(x, trees.features, axis=1)
    limits = trees.limits.astype(dtype)
    holds: Any = None
    for mode in sorted(set(trees.modes)):
        if mode == _MEMBER:
            each = _is_member(picked, trees.members)
        elif mode in _COMPARE:
            each = _COMPARE[mode](picked, limits)
        else:
            raise TypeError(f"trees with {mode} are not supported; those with {', '.join((*_COMPARE, _MEMBER))} are")
        holds = each if holds is None else np.where(np.array([own == mode for own in trees.modes]), each, holds)
    if trees.missing.any():
        holds = holds | (np.isnan(picked) & trees.missing)
    sign = np.where(holds, np.ones((), dtype), -np.ones((), dtype))
    return (np.matmul(sign, trees.sides.astype(dtype)) == trees.depths.astype(dtype)).astype(dtype)


def _is_member(picked: Any, members: Sequence[Sequence[float]]) -> Any:
    most = max(map(len, members))
    table = np.array([[*each, *[np.nan] * (most - len(each))] for each in members], picked.dtype)
    return np.any(picked[:, :, None] == table, axis=-1)


def _summed(trees: Trees, x: Any, how: Any, count: int) -> Any:
    """What the leaves that examples come to give for each target; ``count`` is the number of trees."""
    name = how.decode() if isinstance(how, bytes) else how or "SUM"
    reached, dtype = _reached(trees, x), np.float64 if x.dtype == np.float64 else np.float32
    says = ~np.isnan(trees.weights)
    if name in ("MIN", "MAX"):
        none = np.finfo(dtype).max if name == "MIN" else np.finfo(dtype).min
        each = np.where((reached > 0)[:, :, None] & says, np.nan_to_num(trees.weights).astype(dtype), none)
        return (np.min if name == "MIN" else np.max)(each, axis=1)
    if name not in ("SUM", "AVERAGE"):
        raise TypeError(f"aggregate_function {name} is not supported; SUM, AVERAGE, MIN and MAX are")
    found = np.matmul(reached.astype(dtype), np.nan_to_num(trees.weights).astype(dtype))
    return found / float(count) if name == "AVERAGE" else found


_AFTER = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
_TOGETHER = ("AVERAGE", "SUM", "MIN", "MAX")


@rule("TreeEnsemble", domain=_DOMAIN)
def _tree_ensemble(
    x: Any, *, n_targets: int | None = 1, post_transform: int | None = 0, aggregate_function: int | None = 1,
    **given: Any,
) -> Any:  # fmt: skip
    trees = _rooted_trees(given, n_targets or 1)
    how = _TOGETHER[1 if aggregate_function is None else aggregate_function]
    return _after(_summed(trees, x, how, len(given["tree_roots"])), _AFTER[post_transform or 0]).astype(x.dtype)


def _after(scores: Any, transform: Any) -> Any:
    """What ONNX calls ``post_transform``."""
    name = transform.decode() if isinstance(transform, bytes) else transform or "NONE"
    if name == "NONE":
        return scores
    if name == "LOGISTIC":
        return 1.0 / (1.0 + np.exp(-scores))
    if name in ("SOFTMAX", "SOFTMAX_ZERO"):
        parts = np.exp(scores - np.max(scores, axis=1, keepdims=True))
        parts = np.where(scores == 0, 0.0, parts) if name == "SOFTMAX_ZERO" else parts
        return parts / np.sum(parts, axis=1, keepdims=True)
    raise TypeError(f"post_transform {name} is not supported; NONE, LOGISTIC, SOFTMAX and SOFTMAX_ZERO are")


@rule("TreeEnsembleRegressor", domain=_DOMAIN)
def _tree_regressor(x: Any, *, n_targets: int = 1, base_values: Any = None, **given: Any) -> Any:
    trees = _trees(given, "target", n_targets)
    found = _summed(trees, x, given.get("aggregate_function"), len(set(given["nodes_treeids"])))
    found = found if base_values is None else found + np.asarray(base_values, np.float32)
    return _after(found, given.get("post_transform")).astype(np.float32)


def _labels(given: Mapping[str, Any]) -> np.ndarray:
    """The classes, as integers.

    Raises:
        TypeError: they are text, of which programs have none.
    """
    labels = given.get("classlabels_int64s") or given.get("classlabels_ints")
    if not labels:
        raise TypeError("labels that are text are not supported; export the model with integers for classes")
    return np.array(labels, np.int64)


def _classified(scores: Any, labels: np.ndarray, weights: Sequence[int], transform: Any) -> Any:
    """Labels and scores; of two classes, ONNX lists the weights of the second one alone."""
    if len(labels) == 2 and len(set(weights)) == 1:
        one = scores[:, weights[0] : weights[0] + 1]
        name = transform.decode() if isinstance(transform, bytes) else transform or "NONE"
        if name == "LOGISTIC":
            found = _after(one, name)
            return np.where(one[:, 0] > 0, labels[1], labels[0]), np.concatenate([1 - found, found], 1)
        pair = np.concatenate([1 - one if name == "NONE" else -one, one], 1)
        return np.where(one[:, 0] > 0.5, labels[1], labels[0]), _after(pair, transform)
    return _picked(labels, np.argmax(scores, axis=1)), _after(scores, transform)


@rule("TreeEnsembleClassifier", domain=_DOMAIN)
def _tree_classifier(x: Any, *, base_values: Any = None, **given: Any) -> Any:
    labels = _labels(given)
    trees = _trees(given, "class", len(labels))
    scores = _summed(trees, x, None, 1).astype(np.float32)
    if base_values is not None and len(base_values):
        wide = np.zeros(len(labels), np.float32)
        wide[-len(base_values) :] = base_values
        scores = scores + wide
    found, scores = _classified(scores, labels, given["class_ids"], given.get("post_transform"))
    return found.astype(labels.dtype), scores.astype(np.float32)


@rule("LinearClassifier", domain=_DOMAIN)
def _linear_classifier(x: Any, *, coefficients: Any, intercepts: Any = None, **given: Any) -> Any:
    labels = _labels(given)
    rows = np.asarray(coefficients, np.float32).reshape((-1, x.shape[1]))
    scores = np.matmul(x.astype(np.float32), rows.T)
    scores = scores if intercepts is None else scores + np.asarray(intercepts, np.float32)
    transform = given.get("post_transform")
    if len(rows) == 1:
        one = _after(scores, transform)
        is_second = scores[:, 0] > 0
        name = transform.decode() if isinstance(transform, bytes) else transform or "NONE"
        pair = np.concatenate([-one if name == "NONE" else 1 - one, one], 1)
        return np.where(is_second, labels[1], labels[0]), pair
    return _picked(labels, np.argmax(scores, axis=1)), _after(scores, transform)


def _picked(labels: np.ndarray, places: Any) -> Any:
    owner = places.program
    return np.take(owner.constant(labels), places)


@rule("LinearRegressor", domain=_DOMAIN)
def _linear_regressor(x: Any, *, coefficients: Any, intercepts: Any = None, targets: int = 1, **given: Any) -> Any:
    found = np.matmul(x.astype(np.float32), np.asarray(coefficients, np.float32).reshape((targets or 1, -1)).T)
    found = found if intercepts is None else found + np.asarray(intercepts, np.float32)
    return _after(found, given.get("post_transform"))


@rule("Scaler", domain=_DOMAIN)
def _scaler(x: Any, *, offset: Any = None, scale: Any = None, **_: Any) -> Any:
    found = x.astype(np.float32)
    found = found if offset is None else found - np.asarray(offset, np.float32)
    return found if scale is None else found * np.asarray(scale, np.float32)


@rule("Normalizer", domain=_DOMAIN)
def _normalizer(x: Any, *, norm: Any = "MAX", **_: Any) -> Any:
    name, x = norm.decode() if isinstance(norm, bytes) else norm, x.astype(np.float32)
    if name == "L2":
        size = np.sqrt(np.sum(x * x, axis=-1, keepdims=True))
    else:
        size = np.sum(np.abs(x), axis=-1, keepdims=True) if name == "L1" else np.max(x, axis=-1, keepdims=True)
    return x / np.where(size == 0, 1.0, size)


@rule("Binarizer", domain=_DOMAIN)
def _binarizer(x: Any, *, threshold: float = 0.0, **_: Any) -> Any:
    return (x > threshold).astype(x.dtype)


@rule("ArrayFeatureExtractor", domain=_DOMAIN)
def _features(x: Any, places: Any, **_: Any) -> Any:
    places = np.reshape(places, (-1,))
    if not hasattr(x, "program"):
        x = places.program.constant(np.ascontiguousarray(x))
    found = np.take(x, places, axis=-1)
    return np.reshape(found, (1, -1)) if x.ndim == 1 else found


def _kernel(x: Any, vectors: np.ndarray, kind: str, parameters: Sequence[float]) -> Any:
    """The products of examples and vectors of a machine, in the space of its kernel."""
    gamma, constant, degree = (*parameters, 0.0, 0.0, 3.0)[:3]
    if kind == "RBF":
        squares = np.sum(x * x, axis=1, keepdims=True) + np.sum(vectors * vectors, axis=1)
        return np.exp(-gamma * np.maximum(squares - 2.0 * np.matmul(x, vectors.T), 0.0))
    products = np.matmul(x, vectors.T)
    if kind == "LINEAR":
        return products
    products = gamma * products + constant
    return products ** int(degree) if kind == "POLY" else np.tanh(products)


@rule("SVMRegressor", domain=_DOMAIN)
def _vector_regressor(
    x: Any, *, coefficients: Any, support_vectors: Any, n_supports: int = 0, rho: Any, kernel_type: Any = "LINEAR",
    kernel_params: Any = (), one_class: int = 0, **given: Any,
) -> Any:  # fmt: skip
    kind = kernel_type.decode() if isinstance(kernel_type, bytes) else kernel_type
    x, weights = x.astype(np.float32), np.asarray(coefficients, np.float32)
    if n_supports:
        vectors = np.asarray(support_vectors, np.float32).reshape((n_supports, -1))
        found = np.matmul(_kernel(x, vectors, kind, kernel_params or ()), weights[:, None])
    else:
        found = np.matmul(x, weights[:, None])
    found = found + np.float32(rho[0])
    return (
        np.where(found > 0, np.float32(1), np.float32(-1)) if one_class else _after(found, given.get("post_transform"))
    )


@rule("SVMClassifier", domain=_DOMAIN)
def _vector_classifier(
    x: Any, *, coefficients: Any, support_vectors: Any, vectors_per_class: Any, rho: Any, kernel_type: Any = "LINEAR",
    kernel_params: Any = (), prob_a: Any = (), prob_b: Any = (), **given: Any,
) -> Any:  # fmt: skip
    """One against one: each pair of classes gives a vote to one of them; of equal ones, the first wins."""
    kind = kernel_type.decode() if isinstance(kernel_type, bytes) else kernel_type
    labels = _labels(given)
    if prob_a or not vectors_per_class:
        raise TypeError("machines with probabilities, or without vectors, are not supported; leave probabilities out")
    count = sum(vectors_per_class)
    vectors = np.asarray(support_vectors, np.float32).reshape((count, -1))
    weights = np.asarray(coefficients, np.float32).reshape((-1, count))
    ends = np.cumsum(vectors_per_class)
    products = _kernel(x.astype(np.float32), vectors, kind, kernel_params or ())
    pairs = [(i, j) for i in range(len(ends)) for j in range(i + 1, len(ends))]
    columns, votes = np.zeros((count, len(pairs)), np.float32), np.zeros((len(pairs), len(ends), 2), np.float32)
    for place, (i, j) in enumerate(pairs):
        own, other = (slice(ends[each] - vectors_per_class[each], ends[each]) for each in (i, j))
        columns[own, place], columns[other, place] = weights[j - 1, own], weights[i, other]
        votes[place, i, 0] = votes[place, j, 1] = 1
    scores = np.matmul(products, columns) + np.asarray(rho, np.float32)
    first = (scores > 0).astype(np.float32)
    counted = np.matmul(first, votes[..., 0]) + np.matmul(1.0 - first, votes[..., 1])
    found = _picked(labels, np.argmax(counted, axis=1))
    if len(labels) == 2:
        scores = np.concatenate([-scores, scores], 1)
    return found, _after(scores, given.get("post_transform"))
