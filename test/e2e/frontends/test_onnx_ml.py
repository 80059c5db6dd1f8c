"""Models of ``ai.onnx.ml`` as libraries export them, against ONNX's reference implementation."""

import numpy as np
import pytest

import ipu_mlir as ipu

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

from ipu_mlir.frontends.of_onnx.ml_rules import _coupled  # noqa: E402

TARGET = ipu.Target(tiles_per_ipu=4)
X = np.random.default_rng(0).standard_normal((6, 3)).astype(np.float32)


def check(op: str, results: list[int], **attributes) -> None:
    """A node of ``op`` on ``X``, whose results are of the types ``results``."""
    names = [f"y{place}" for place in range(len(results))]
    node = helper.make_node(op, ["x"], names, domain="ai.onnx.ml", **attributes)
    outputs = [helper.make_tensor_value_info(name, kind, None) for name, kind in zip(names, results, strict=True)]
    graph = helper.make_graph([node], op, [helper.make_tensor_value_info("x", TensorProto.FLOAT, [6, 3])], outputs)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    found = ipu.compile(model, args=[X], target=TARGET)(X)
    found = found if isinstance(found, tuple) else (found,)
    for one, other in zip(found, ReferenceEvaluator(model).run(None, {"x": X}), strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6)


TREES = {
    "nodes_treeids": [0, 0, 0, 0, 0, 1, 1, 1],
    "nodes_nodeids": [0, 1, 2, 3, 4, 0, 1, 2],
    "nodes_featureids": [0, 1, 0, 0, 0, 2, 0, 0],
    "nodes_modes": ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"],
    "nodes_values": [0.1, -0.3, 0.0, 0.0, 0.0, 0.2, 0.0, 0.0],
    "nodes_truenodeids": [1, 2, 0, 0, 0, 1, 0, 0],
    "nodes_falsenodeids": [4, 3, 0, 0, 0, 2, 0, 0],
    "nodes_hitrates": [1.0] * 8,
    "nodes_missing_value_tracks_true": [0] * 8,
}
LEAVES = {"treeids": [0, 0, 0, 1, 1], "nodeids": [2, 3, 4, 1, 2], "weights": [0.5, -1.0, 2.0, 0.25, -0.75]}


def test_trees_give_sums_of_the_leaves_that_are_reached():
    leaves = {f"target_{name}": each for name, each in LEAVES.items()} | {"target_ids": [0] * 5}
    check("TreeEnsembleRegressor", [TensorProto.FLOAT], n_targets=1, **TREES, **leaves)
    check("TreeEnsembleRegressor", [TensorProto.FLOAT], n_targets=1, base_values=[0.5], **TREES, **leaves)


def test_trees_give_labels_and_scores():
    leaves = {f"class_{name}": each for name, each in LEAVES.items()} | {"class_ids": [0, 1, 2, 1, 2]}
    kinds = [TensorProto.INT64, TensorProto.FLOAT]
    check("TreeEnsembleClassifier", kinds, classlabels_int64s=[3, 5, 8], **TREES, **leaves)
    check("TreeEnsembleClassifier", kinds, classlabels_int64s=[3, 5, 8], post_transform="SOFTMAX", **TREES, **leaves)


@pytest.mark.parametrize(("how", "after"), [(1, 0), (0, 2), (2, 1), (3, 0)])
def test_trees_of_opset_5_with_members_and_a_leaf_alone(how: int, after: int):
    """Reference models have no ``post_transform``, which is checked on their scores."""
    nodes = {"nodes_featureids": [0, 1, 2, 0], "nodes_truenodeids": [1, 0, 4, 3], "nodes_falsenodeids": [2, 1, 2, 3]}
    ends = {"nodes_trueleafs": [0, 1, 1, 1], "nodes_falseleafs": [1, 1, 1, 1]}
    leaves = {"leaf_targetids": [0, 1, 0, 1, 0], "leaf_weights": [0.5, -1.0, 2.0, 0.25, -0.75]}
    x = np.array([[0.0, 1.5, 2.0], [1.0, 3.0, -1.0], [0.2, 7.0, 0.5]], np.float32)
    tensors = {
        "nodes_splits": np.array([0.3, 0.0, 0.7, 0.0], np.float32), "nodes_modes": np.array([0, 6, 3, 0], np.uint8),
        "leaf_weights": np.array(leaves.pop("leaf_weights"), np.float32),
        "membership_values": np.array([1.5, 3.0, np.nan], np.float32),
    }  # fmt: skip
    found = {name: onnx.numpy_helper.from_array(each) for name, each in tensors.items()}
    settings = {"tree_roots": [0, 2, 3], "n_targets": 2, "aggregate_function": how, **nodes, **ends, **leaves, **found}

    def model(**more):
        node = helper.make_node("TreeEnsemble", ["x"], ["y"], domain="ai.onnx.ml", **settings, **more)
        types = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3, None]) for name in "xy"]
        types[0] = helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 3])
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 5)]
        graph = helper.make_graph([node], "trees", types[:1], types[1:])
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)

    (scores,) = ReferenceEvaluator(model()).run(None, {"x": x})
    exponents = np.exp(scores - scores.max(1, keepdims=True))
    expected = {0: scores, 1: exponents / exponents.sum(1, keepdims=True), 2: 1 / (1 + np.exp(-scores))}[after]
    ours = ipu.compile(model(post_transform=after), args=[x], target=TARGET)(x)
    np.testing.assert_allclose(ours, expected, rtol=2e-6)
    assert ours.dtype == np.float32


def test_linear_models_and_scalers():
    rows = [0.5, -1.0, 2.0, 1.0, 0.0, -0.5, 0.25, 0.25, 0.25]
    kinds = [TensorProto.INT64, TensorProto.FLOAT]
    settings = {"coefficients": rows, "intercepts": [0.1, 0.2, -0.3], "classlabels_ints": [1, 2, 4]}
    check("LinearClassifier", kinds, post_transform="SOFTMAX", multi_class=1, **settings)
    check("LinearRegressor", [TensorProto.FLOAT], coefficients=rows[:6], intercepts=[0.5, -1.0], targets=2)
    check("Scaler", [TensorProto.FLOAT], offset=[0.5, 1.0, -1.0], scale=[2.0, 0.5, 1.0])
    for norm in ("L1", "L2"):
        check("Normalizer", [TensorProto.FLOAT], norm=norm)
    check("Binarizer", [TensorProto.FLOAT], threshold=0.2)


def test_machines_of_support_vectors():
    vectors = [0.5, -1.0, 0.0, 1.0, 0.5, -0.5, -1.0, 0.25, 1.0, 0.1, 0.2, 0.3]
    settings = {"support_vectors": vectors, "kernel_type": "RBF", "kernel_params": [0.5, 0.0, 3.0]}
    weights = [0.5, -0.25, 1.0, -0.75]
    check("SVMRegressor", [TensorProto.FLOAT], coefficients=weights, n_supports=4, rho=[0.3], **settings)
    check(
        "SVMClassifier", [TensorProto.INT64, TensorProto.FLOAT], coefficients=weights * 2, vectors_per_class=[1, 1, 2],
        rho=[0.1, -0.2, 0.3], classlabels_ints=[0, 1, 2], post_transform="NONE", **settings,
    )  # fmt: skip


def test_machines_with_probabilities():
    """Of two classes as the reference has them; of more, shares whose pairs fit together are found again."""
    vectors = [0.5, -1.0, 0.0, 1.0, 0.5, -0.5, -1.0, 0.25, 1.0]
    check(
        "SVMClassifier", [TensorProto.INT64, TensorProto.FLOAT], coefficients=[0.5, -0.25, 1.0],
        vectors_per_class=[1, 2], rho=[0.1], classlabels_ints=[0, 1], prob_a=[-1.5], prob_b=[0.2],
        support_vectors=vectors, kernel_type="RBF", kernel_params=[0.5, 0.0, 3.0],
    )  # fmt: skip
    shares = np.random.default_rng(0).dirichlet(np.ones(4), 5).astype(np.float32)
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    wins = np.stack([shares[:, i] / (shares[:, i] + shares[:, j]) for i, j in pairs], 1)
    found = ipu.function(lambda wins: _coupled(wins, pairs, 4), target=TARGET)(wins)
    np.testing.assert_allclose(found, shares, atol=1e-2)


def model(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17, "ai.onnx.ml": 3]> {text}')


def test_categories_are_looked_up():
    """By a key each; NaN is a key, too, and what is none of them has the default."""
    text = """g (float[4] x, int64[2,2] n, float[4,2] m) => (float a, float b, string c, float d, float e, float f) {
      a = ai.onnx.ml.OneHotEncoder <cats_int64s = [2, 0, 5]> (n)
      b = ai.onnx.ml.LabelEncoder <keys_floats = [1.0, 2.0], values_floats = [7.0, 8.0], default_float = -1.0> (x)
      c = ai.onnx.ml.LabelEncoder <keys_int64s = [0, 5], values_strings = ["none", "five"], default_string = "?"> (n)
      t = ai.onnx.ml.LabelEncoder <keys_strings = ["five", "?"], values_floats = [1.5, 2.5], default_float = 0.0> (c)
      d = Reshape (t, four)
      e = ai.onnx.ml.Imputer <imputed_value_floats = [9.0, 8.0], replaced_value_float = 3.0> (m)
      f = ai.onnx.ml.FeatureVectorizer <inputdimensions = [1, 2]> (x, m)
    }""".replace("{\n", "{ four = Constant <value_ints = [4]> ()\n", 1)
    x, n = np.array([1, 2, np.nan, 3], np.float32), np.array([[0, 2], [5, 1]])
    m = np.array([[3, 1], [2, 3], [3, 3], [0, 4]], np.float32)
    a, b, c, d, e, f = ipu.compile(model(text), target=TARGET)(x, n, m)
    np.testing.assert_array_equal(a, n[..., None] == np.array([2, 0, 5]))
    np.testing.assert_array_equal(b, [7, 8, -1, -1])
    assert c.tolist() == [["none", "?"], ["five", "?"]]
    np.testing.assert_array_equal(d, [0, 2.5, 1.5, 2.5])
    np.testing.assert_array_equal(e, np.where(m == 3, np.array([9, 8]), m))
    np.testing.assert_array_equal(f, np.concatenate([x[:, None], m], 1))


def test_classifiers_give_text_and_dictionaries():
    text = """g (float[6,3] x) => (string[6] label, seq(map(string, float)) shares) {
      l, s = ai.onnx.ml.LinearClassifier <coefficients = [1.0, -1.0, 0.5, 0.0, 2.0, -1.0], intercepts = [0.0, 0.1],
                                          classlabels_strings = ["cat", "dog"], post_transform = "SOFTMAX"> (x)
      label = Identity (l)
      shares = ai.onnx.ml.ZipMap <classlabels_strings = ["cat", "dog"]> (s)
    }"""
    label, shares = ipu.compile(model(text), target=TARGET)(X)
    scores = X @ np.array([[1, -1, 0.5], [0, 2, -1]], np.float32).T + np.array([0, 0.1], np.float32)
    expected = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    assert label.tolist() == np.array(["cat", "dog"])[scores.argmax(1)].tolist()
    assert [list(each) for each in shares] == [["cat", "dog"]] * 6
    np.testing.assert_allclose([list(each.values()) for each in shares], expected, rtol=1e-5)


def test_text_of_numbers_is_refused():
    text = "g (float[3] x) => (string[3] y) { y = Cast <to = 8> (x) }"
    with pytest.raises(ipu.CompileError, match="numbers that come when the program runs become no text"):
        ipu.compile(model(text), target=TARGET)
