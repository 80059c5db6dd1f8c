"""Models of ``ai.onnx.ml``: trees as products with the paths to their leaves, machines as products with vectors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.frontends.of_onnx.label_rules import labels_of, picked
from ipu_mlir.frontends.of_onnx.rules import rule
from ipu_mlir.tracing.control.loops import while_loop

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


def _classified(scores: Any, labels: np.ndarray, weights: Sequence[int], transform: Any) -> Any:
    """Labels and scores; of two classes, ONNX lists the weights of the second one alone."""
    if len(labels) == 2 and len(set(weights)) == 1:
        one = scores[:, weights[0] : weights[0] + 1]
        name = transform.decode() if isinstance(transform, bytes) else transform or "NONE"
        if name == "LOGISTIC":
            found = _after(one, name)
            return picked(labels, np.where(one[:, 0] > 0, 1, 0)), np.concatenate([1 - found, found], 1)
        pair = np.concatenate([1 - one if name == "NONE" else -one, one], 1)
        return picked(labels, np.where(one[:, 0] > 0.5, 1, 0)), _after(pair, transform)
    return picked(labels, np.argmax(scores, axis=1)), _after(scores, transform)


@rule("TreeEnsembleClassifier", domain=_DOMAIN)
def _tree_classifier(x: Any, *, base_values: Any = None, **given: Any) -> Any:
    labels = labels_of(given)
    trees = _trees(given, "class", len(labels))
    scores = _summed(trees, x, None, 1).astype(np.float32)
    if base_values is not None and len(base_values):
        wide = np.zeros(len(labels), np.float32)
        wide[-len(base_values) :] = base_values
        scores = scores + wide
    found, scores = _classified(scores, labels, given["class_ids"], given.get("post_transform"))
    return found, scores.astype(np.float32)


@rule("LinearClassifier", domain=_DOMAIN)
def _linear_classifier(x: Any, *, coefficients: Any, intercepts: Any = None, **given: Any) -> Any:
    labels = labels_of(given)
    rows = np.asarray(coefficients, np.float32).reshape((-1, x.shape[1]))
    scores = np.matmul(x.astype(np.float32), rows.T)
    scores = scores if intercepts is None else scores + np.asarray(intercepts, np.float32)
    transform = given.get("post_transform")
    if len(rows) == 1:
        one = _after(scores, transform)
        is_second = scores[:, 0] > 0
        name = transform.decode() if isinstance(transform, bytes) else transform or "NONE"
        pair = np.concatenate([-one if name == "NONE" else 1 - one, one], 1)
        return picked(labels, np.where(is_second, 1, 0)), pair
    return picked(labels, np.argmax(scores, axis=1)), _after(scores, transform)


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
    if not hasattr(x, "program") and x.dtype.kind in "OUS":
        return picked(x.ravel(), np.reshape(places, (1, -1)))
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
    labels = labels_of(given)
    if not vectors_per_class:
        raise TypeError("machines without vectors are not supported; export a LinearClassifier")
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
    found = picked(labels, np.argmax(counted, axis=1))
    if prob_a:
        signs = scores * np.asarray(prob_a, np.float32) + np.asarray(prob_b, np.float32)
        scores = _coupled(1.0 / (1.0 + np.exp(signs)), pairs, len(ends))
    elif len(labels) == 2:
        scores = np.concatenate([-scores, scores], 1)
    return found, _after(scores, given.get("post_transform"))


def _coupled(wins: Any, pairs: Sequence[tuple[int, int]], count: int) -> Any:
    """Probabilities of ``count`` classes, of the probability that the first class of each pair wins over the other.

    Source: T.-F. Wu, C.-J. Lin, R. C. Weng, Probability estimates for multi-class classification by pairwise coupling,
    JMLR 5 (2004), algorithm 2, with the tolerance and the iterations of libsvm.
    """
    place = {pair: number for number, pair in enumerate(pairs)}
    wins = np.clip(wins, np.float32(1e-7), np.float32(1 - 1e-7))
    beats = {(i, j): wins[:, place[i, j]] if i < j else 1 - wins[:, place[j, i]] for i, j in place}
    beats |= {(j, i): 1 - each for (i, j), each in beats.items()}
    rows = []
    for t in range(count):
        squares = sum(beats[j, t] * beats[j, t] for j in range(count) if j != t)
        rows.append(np.stack([squares if j == t else -beats[j, t] * beats[t, j] for j in range(count)], 1))
    q = np.stack(rows, 1)

    def improve(carried: Any) -> Any:
        shares, _ = carried
        products = np.sum(q * shares[:, None, :], axis=2)
        mean = np.sum(shares * products, axis=1)
        goes_on = np.max(np.abs(products - mean[:, None]), axis=1) >= np.float32(0.005 / count)
        better = shares
        for t in range(count):
            by = (mean - products[:, t]) / q[:, t, t]
            whole = 1 + by
            mean = (mean + by * (by * q[:, t, t] + 2 * products[:, t])) / (whole * whole)
            products = (products + by[:, None] * q[:, t]) / whole[:, None]
            better = (better + by[:, None] * np.eye(count, dtype=np.float32)[t]) / whole[:, None]
        return np.where(goes_on[:, None], better, shares), np.any(goes_on)

    start = np.full_like(q[:, 0], 1 / count)
    return while_loop(lambda carried: carried[1], improve, (start, np.any(start > 0)), max(100, count))[0]


@rule("Imputer", domain=_DOMAIN)
def _imputer(x: Any, *, replaced_value_float: Any = None, replaced_value_int64: Any = None, **given: Any) -> Any:
    floats = given.get("imputed_value_floats")
    is_of_floats = floats is not None and len(floats) > 0
    values = np.asarray(floats if is_of_floats else given["imputed_value_int64s"], x.dtype)
    replaced = replaced_value_float if is_of_floats else replaced_value_int64
    is_missing = np.isnan(x) if is_of_floats and np.isnan(replaced) else x == x.dtype.type(replaced)
    return np.where(is_missing, values, x)


@rule("FeatureVectorizer", domain=_DOMAIN)
def _feature_vector(*columns: Any, inputdimensions: Sequence[int], **_: Any) -> Any:
    rows = [np.reshape(each, (each.shape[0], -1)) for each in columns]
    parts = [each[:, :size] for each, size in zip(rows, inputdimensions, strict=True)]
    return np.concatenate(parts, axis=1).astype(np.float32)
