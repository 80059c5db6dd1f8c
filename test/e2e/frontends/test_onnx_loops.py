"""Loops, scans and branches of ONNX, and ops of older opsets: values against Python, and what no program has."""

import re

import numpy as np
import pytest

import ipu_mlir as ipu

onnx = pytest.importorskip("onnx")
from onnx import parser  # noqa: E402

TARGET = ipu.Target(tiles_per_ipu=4)
X = np.arange(6, dtype=np.float32).reshape(2, 3) - 2
HEAD = '<ir_version: 9, opset_import: ["" : 19]>\n'


def model(text: str, opset: int = 19) -> onnx.ModelProto:
    return parser.parse_model(HEAD.replace("19", str(opset)) + text)


def loop(body: str, given: str, results: str, trips: str = "trips", goes: str = "", more: str = "") -> onnx.ModelProto:
    """A loop that carries ``s`` from ``x``; its first result is ``flag``."""
    names = ", ".join(each.split()[-1] for each in re.split(r", (?=[a-z])", results))
    of_body = f"body = main_body (int64 i, bool c, float[2,3] s) => {body}"
    return model(f"main ({given}) => ({results}) {{ {more} {names} = Loop ({trips}, {goes}, x) <{of_body}> }}")


DOUBLED = "(bool flag, float[2,3] t) { flag = Identity (c)  t = Add (s, s) }"
ROWS = (
    "(bool flag, float[2,3] t, float[2,3] row) { flag = Identity (c)  t = Add (s, x)  k = Cast <to = 1> (i)  "
    "row = Mul (t, k) }"
)
UNTIL = "(bool flag, float[2,3] t) { t = Add (s, s)  m = ReduceMax <keepdims = 0> (t)  flag = Less (m, most) }"
MOST = "most = Constant <value_float = 20.0> ()"
GIVEN = "int64 trips, float[2,3] x"


def test_a_loop_is_one_of_the_program():
    program = ipu.compile(loop(DOUBLED, GIVEN, "float[2,3] y"), target=TARGET)
    for trips in (0, 1, 3):  # known when the program runs
        np.testing.assert_array_equal(program(np.array(trips), X), X * 2**trips)
        np.testing.assert_array_equal(program.run_per_tile([np.array(trips), X])[0], X * 2**trips)
    made = loop(DOUBLED, "float[2,3] x", "float[2,3] y", more="trips = Constant <value_int = 900> ()")
    known = ipu.compile(made, target=TARGET)
    assert str(known.module("l1")).count("scf.for") == 1


@pytest.mark.parametrize("goes", ["", "yes", "no"])
@pytest.mark.parametrize("trips", ["", "trips", "many"])
def test_a_loop_ends_by_its_count_and_its_condition(trips: str, goes: str):
    constants = f"{MOST} yes = Constant <value = bool {{1}}> () no = Constant <value = bool {{0}}> () "
    constants += "many = Constant <value_int = 9223372036854775807> ()"
    program = ipu.compile(loop(UNTIL, GIVEN, "float[2,3] y", trips, goes, constants), target=TARGET)
    for count in (0, 2, 9):
        wanted, iteration, goes_on = X, 0, goes != "no"
        while goes_on and (trips != "trips" or iteration < count):
            wanted, iteration = wanted + wanted, iteration + 1
            goes_on = wanted.max() < 20
        np.testing.assert_array_equal(program(np.array(count), X), wanted)


def test_a_loop_without_an_end_is_refused():
    with pytest.raises(ipu.CompileError, match="Loop 'y': it has no end: no trip count, and a condition"):
        ipu.compile(loop(DOUBLED, "float[2,3] x", "float[2,3] y", trips=""), target=TARGET)


def test_a_condition_may_come_with_the_arguments():
    program = ipu.compile(loop(DOUBLED, f"{GIVEN}, bool go", "float[2,3] y", goes="go"), target=TARGET)
    for go in (True, False):
        np.testing.assert_array_equal(program(np.array(2), X, np.array(go)), X * (4 if go else 1))


@pytest.mark.parametrize("count", [0, 1, 4])
def test_a_row_of_each_iteration(count: int):
    made = loop(ROWS, GIVEN, "float[2,3] y, float[n,2,3] rows")
    program = ipu.compile(made, kwargs={"trips": np.array(count)}, target=TARGET)
    last, rows = program(np.array(count), X)
    np.testing.assert_array_equal(last, X * (count + 1))
    assert rows.shape == (count, 2, 3)
    for number, row in enumerate(rows):
        np.testing.assert_array_equal(row, X * (number + 2) * number)
    with pytest.raises(ipu.CompileError, match="Loop 'y, rows': its number of iterations is known when the program ru"):
        ipu.compile(made, target=TARGET)


COUNTED = """(bool flag, float[2,3] t, int64 m, float[2,3] row) {
  t = Add (s, s)  row = Identity (t)  one = Constant <value_int = 1> ()  m = Add (n, one)  flag = Less (m, most) }"""


@pytest.mark.parametrize("trips", ["", "many"])
def test_a_condition_of_counters_alone_tells_how_many_rows_there_are(trips: str):
    text = f"""main (float[2,3] x) => (float[2,3] y, int64 n, float[k,2,3] rows) {{
      most = Constant <value_int = 4> ()  zero = Constant <value_int = 0> ()
      many = Constant <value_int = 9223372036854775807> ()
      y, n, rows = Loop ({trips}, , x, zero) <body = b (int64 i, bool c, float[2,3] s, int64 n) => {COUNTED}> }}"""
    program = ipu.compile(model(text), target=TARGET)
    y, n, rows = program(X)
    np.testing.assert_array_equal(y, X * 16)
    np.testing.assert_array_equal(rows, X * np.array([2, 4, 8, 16], np.float32)[:, None, None])
    assert n == 4 and str(program.module("l1")).count("scf.for") == 1


def test_a_shape_that_changes_needs_a_count_that_is_known():
    longer = "(bool flag, float[m,3] t) { flag = Identity (c)  t = Concat <axis = 0> (s, x) }"
    known = loop(longer, "float[2,3] x", "float[n,3] y", more="trips = Constant <value_int = 2> ()")
    np.testing.assert_array_equal(ipu.compile(known, target=TARGET)(X), np.concatenate([X, X, X]))
    with pytest.raises(ipu.CompileError, match=r"Loop 'y'.* as float32\[2, 3\] and the body gives float32\[4, 3\]"):
        ipu.compile(loop(longer, GIVEN, "float[n,3] y"), target=TARGET)


def test_an_index_may_say_which_part_is_taken():
    """As many exporters have it: a slice, whose size is known where each iteration is written out."""
    body = (
        "(bool flag, float[2,3] t) { flag = Identity (c)  one = Constant <value_int = 1> ()  zero = Constant "
        "<value_ints = [0]> ()  first = Unsqueeze (i, zero)  end = Add (first, one)  part = Slice (x, first, end)  "
        "t = Add (s, part) }"
    )
    made = loop(body, "float[2,3] x", "float[2,3] y", more="trips = Constant <value_int = 2> ()")
    np.testing.assert_array_equal(ipu.compile(made, target=TARGET)(X), X + X[:1] + X[1:])


def test_loops_nest_and_read_what_is_around_them():
    inner = (
        "(bool flag, float[2,3] t) { flag = Identity (c)  three = Constant <value_int = 3> ()  t = Loop (three, , s) "
        "<body = inner (int64 j, bool d, float[2,3] u) => (bool e, float[2,3] v) { e = Identity (d)  k = Cast <to = 1> "
        "(i)  w = Add (u, k)  v = Add (w, far) }> }"
    )
    made = loop(inner, GIVEN, "float[2,3] y", more="far = Neg (x)")
    np.testing.assert_array_equal(ipu.compile(made, target=TARGET)(np.array(2), X), X - 6 * X + 3)


def scan(body: str, given: str, results: str, inputs: str, settings: str, opset: int = 19) -> onnx.ModelProto:
    names = ", ".join(each.split()[-1] for each in re.split(r", (?=[a-z])", results))
    return model(
        f"main ({given}) => ({results}) {{ {names} = Scan ({inputs}) <{settings}, body = inner {body}> }}", opset
    )


SUMS = "(float[3] s, float[3] e) => (float[3] t, float[3] row) { t = Add (s, e)  row = Mul (t, e) }"


@pytest.mark.parametrize("back", [0, 1])
@pytest.mark.parametrize("out_back", [0, 1])
@pytest.mark.parametrize("axis", [0, -1])
def test_a_scan_goes_along_any_axis_both_ways(axis: int, back: int, out_back: int):
    settings = f"num_scan_inputs = 1, scan_input_axes = [{axis}], scan_input_directions = [{back}]"
    settings += f", scan_output_axes = [1], scan_output_directions = [{out_back}]"
    x = np.moveaxis(np.arange(12, dtype=np.float32).reshape(4, 3), 0, axis)
    shape = ",".join(map(str, x.shape))
    made = scan(SUMS, f"float[3] s0, float[{shape}] x", "float[3] last, float[3,4] rows", "s0, x", settings)
    program = ipu.compile(made, target=TARGET)
    assert str(program.module("l1")).count("scf.for") == 1
    state, rows = np.ones(3, np.float32), []
    for element in np.moveaxis(x, axis, 0)[:: -1 if back else 1]:
        state = state + element
        rows.append(state * element)
    last, found = program(np.ones(3, np.float32), x)
    np.testing.assert_array_equal(last, state)
    np.testing.assert_array_equal(found, np.stack(rows[:: -1 if out_back else 1], 1))


def test_branches_that_differ_in_shape_are_refused_with_the_node():
    branches = (
        "then_branch = a () => (float[2,3] t) { t = Neg (x) }, "
        "else_branch = b () => (float[2] u) { u = ReduceSum <keepdims = 0> (x, one) }"
    )
    head = "main (bool c, float[2,3] x) => (float[n] y) { one = Constant <value_ints = [1]> () "
    text = f"{head} y = If (c) <{branches}> }}"
    with pytest.raises(ipu.CompileError, match=r"If 'y': .*both have to give one shape"):
        ipu.compile(model(text), target=TARGET)


OLDER = {
    "Softmax": ("y = Softmax <axis = 0> (x)", 11, lambda x: np.exp(x) / np.exp(x).sum()),
    "LogSoftmax": ("y = LogSoftmax (x)", 12, lambda x: x - np.log(np.exp(x).sum(1, keepdims=True))),
    "Hardmax": ("y = Hardmax <axis = 0> (x)", 11, lambda x: (x == x.max()).astype(np.float32)),
    "Softmax with a negative axis": (
        "y = Softmax <axis = -1> (x)",
        11,
        lambda x: np.exp(x) / np.exp(x).sum(1)[:, None],
    ),
    "Softmax of today": ("y = Softmax <axis = 0> (x)", 13, lambda x: np.exp(x) / np.exp(x).sum(0)),
    "Add": (
        "w = Constant <value = float[2] {1, 2}> () y = Add <broadcast = 1, axis = 0> (x, w)",
        6,
        lambda x: x + np.array([[1], [2]]),
    ),
    "LogSoftmax along all from its axis on": (
        "z = Unsqueeze <axes = [0]> (x) w = LogSoftmax (z) y = Squeeze <axes = [0]> (w)",
        *(11, lambda x: x - np.log(np.exp(x).sum())),
    ),
    "BatchNormalization": (
        "s = Constant <value = float[3] {1, 2, 3}> () y = BatchNormalization <epsilon = 0.0> (x, s, s, s, s)",
        *(9, lambda x: (x - [1, 2, 3]) * np.sqrt([1, 2, 3]) + [1, 2, 3]),
    ),
    "Resize to less": ("k = Constant <value = float[2] {1, 0.67}> () y = Resize (x, k)", 10, lambda x: x[:, ::2]),
    "GlobalLpPool": (
        "z = Unsqueeze <axes = [0]> (x) w = GlobalLpPool (z) y = Squeeze <axes = [0]> (w)",
        *(11, lambda x: np.linalg.norm(x, axis=1, keepdims=True)),
    ),
    "Upsample": ("y = Upsample <scales = [2.0, 1.0]> (x)", 7, lambda x: np.repeat(x, 2, 0)),
    "Resize": ("k = Constant <value = float[2] {1, 2}> () y = Resize (x, k)", 10, lambda x: np.repeat(x, 2, 1)),
    "Dropout": ("y, mask = Dropout (x)", 7, lambda x: x),
    "Squeeze": ("z = Unsqueeze <axes = [0]> (x) y = Squeeze <axes = [0]> (z)", 11, lambda x: x),
    "Slice": ("y = Slice <axes = [1], starts = [1], ends = [3]> (x)", 7, lambda x: x[:, 1:3]),
    "Pad": (
        "y = Pad <pads = [0, 1, 0, 0], value = 3.0> (x)",
        7,
        lambda x: np.pad(x, ((0, 0), (1, 0)), constant_values=3),
    ),
    "Clip": ("y = Clip <min = 0.0, max = 2.0> (x)", 7, lambda x: x.clip(0, 2)),
    "TopK": ("y, places = TopK <k = 2> (x)", 1, lambda x: -np.sort(-x, 1)[:, :2]),
    "ReduceSum": ("y = ReduceSum <axes = [1]> (x)", 11, lambda x: x.sum(1, keepdims=True)),
    "Split": ("z, y = Split <axis = 1, split = [1, 2]> (x)", 11, lambda x: x[:, 1:]),
}


@pytest.mark.parametrize("name", OLDER)
def test_ops_of_older_opsets(name: str):
    text, opset, expected = OLDER[name]
    made = model(f"main (float[2,3] x) => (float[n] y) {{ {text} }}", opset)
    del made.graph.output[0].type.tensor_type.shape.dim[:]
    np.testing.assert_allclose(ipu.compile(made, target=TARGET)(X), expected(X), rtol=1e-5)
