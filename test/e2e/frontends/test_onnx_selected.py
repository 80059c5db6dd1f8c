"""ONNX models with tensors that are as large as values say, against the evaluator of the onnx package."""

import numpy as np
import pytest

import ipu_mlir as ipu

onnx = pytest.importorskip("onnx")
parser = pytest.importorskip("onnx.parser")
reference = pytest.importorskip("onnx.reference")
OPSETS = '<ir_version: 9, opset_import: ["" : 18]>'
GENERATOR = np.random.default_rng(0)
X = GENERATOR.standard_normal((5, 4)).astype(np.float32)
SCORES = GENERATOR.random((1, 2, 12)).astype(np.float32)
CORNERS = GENERATOR.random((1, 12, 2)).astype(np.float32)
BOXES = np.concatenate([CORNERS, CORNERS + np.float32(0.4)], axis=-1)

PLACES = """g (float[5,4] x) => (float[n] y, float sum, int64[2] shape, float[m] best, float mean)
<float null = {0.0}, int64[1] three = {3}, int64[1] start = {1}, int64[1] end = {9}> {
    is_there = Greater(x, null)
    found = NonZero(is_there)
    shape = Shape(found)
    places = Transpose(found)
    chosen = GatherND(x, places)
    twice = Mul(chosen, chosen)
    cut = Slice(twice, start, end)
    y = Concat <axis = 0> (twice, cut)
    sum = ReduceSum <keepdims = 0> (chosen)
    mean = ReduceMean <keepdims = 0> (twice)
    best, _ = TopK(chosen, three)
}"""
DETECTOR = """g (float[1,12,4] boxes, float[1,2,12] scores) => (float[n,4] kept, int64[n] classes, float[n] sure)
<int64[1] most = {4}, float[1] overlap = {0.3}, float[1] least = {0.2},
 int64 two = {2}, int64 first = {1}> {
    found = NonMaxSuppression(boxes, scores, most, overlap, least)
    places = Gather <axis = 1> (found, two)
    classes = Gather <axis = 1> (found, first)
    all = Squeeze(boxes)
    kept = Gather(all, places)
    sure = GatherND(scores, found)
}"""
ROWS = """g (float[5,4] x, bool[5] condition)
=> (float[4,n] turned, float[1,4] largest, float[k] row, int64[m] numbers, int64[5,4] at)
<int64[1] zero = {0}, int64 one = {0}, int64[2] shape = {5, 4}> {
    some = Compress <axis = 0> (x, condition)
    turned = Transpose(some)
    largest = ReduceMax(some, zero)
    row = Gather(some, one)
    whole = Cast <to = 7> (x)
    numbers, _, inverse, counts = Unique(whole)
    at = Reshape(inverse, shape)
}"""


@pytest.mark.parametrize(
    ("text", "given"),
    [
        (PLACES, [{"x": X}, {"x": X + 1}]),
        (DETECTOR, [{"boxes": BOXES, "scores": SCORES}]),
        (ROWS, [{"x": 3 * X, "condition": X[:, 0] > 0}, {"x": X, "condition": X[:, 0] < 9}]),
    ],
    ids=("places", "detector", "rows"),
)
def test_results_are_as_large_as_values_say(text, given):
    model = parser.parse_model(f"{OPSETS}\n{text}")
    program = ipu.compile(model, target=ipu.Target(tiles_per_ipu=4), kernels="never")
    for inputs in given:
        for found, wanted in zip(program(**inputs), reference.ReferenceEvaluator(model).run(None, inputs), strict=True):
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_ops_without_a_rule_for_such_tensors_are_refused_by_name():
    text = (
        "g (float[5,4] x) => (float[2,n] y) { at = NonZero(x)\n z = Cast <to = 1> (at)\n y = Softmax <axis = 1> (z) }"
    )
    with pytest.raises(ipu.CompileError, match="Softmax 'y': Softmax of a tensor that is as large as values say"):
        ipu.compile(parser.parse_model(f"{OPSETS}\n{text}"))
