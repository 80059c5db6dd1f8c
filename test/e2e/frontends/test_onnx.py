"""ONNX models: their results are those of the reference implementation of the onnx package."""

import math

import numpy as np
import pytest

import ipu_mlir as ipu

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

from ipu_mlir.tools.ipu_run import main as ipu_run  # noqa: E402

TARGET = ipu.Target(tiles_per_ipu=16)


def a_model(batch: int | str = 3):
    rng = np.random.default_rng(0)
    weights = {
        "w": rng.standard_normal((8, 1, 3, 3)).astype(np.float32),
        "scale": rng.standard_normal(8).astype(np.float32),
        "bias": rng.standard_normal(8).astype(np.float32),
        "mean": rng.standard_normal(8).astype(np.float32),
        "var": rng.random(8).astype(np.float32) + 0.5,
        "d": rng.standard_normal((8 * 9, 5)).astype(np.float32),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"]),
        helper.make_node("BatchNormalization", ["a", "scale", "bias", "mean", "var"], ["b"]),
        helper.make_node("Relu", ["b"], ["c"]),
        helper.make_node("MaxPool", ["c"], ["e"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["e"], ["f"]),
        helper.make_node("Gemm", ["f", "d"], ["g"]),
        helper.make_node("Softmax", ["g"], ["y"]),
        helper.make_node("ArgMax", ["g"], ["best"], axis=1, keepdims=0),
    ]
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 1, 8, 8])],
        [
            helper.make_tensor_value_info("y", TensorProto.FLOAT, [batch, 5]),
            helper.make_tensor_value_info("best", TensorProto.INT64, [batch]),
        ],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def assert_same(exe, model, x: np.ndarray) -> None:
    found, expected = exe(x), ReferenceEvaluator(model).run(None, {"x": x})
    np.testing.assert_allclose(found[0], expected[0], atol=1e-5)
    np.testing.assert_array_equal(found[1], expected[1])


def test_a_model_and_its_file_give_the_results_of_the_reference(tmp_path):
    model, x = a_model(), np.random.default_rng(1).standard_normal((3, 1, 8, 8)).astype(np.float32)
    onnx.save(model, tmp_path / "small.onnx")
    onnx.save(a_model(), tmp_path / "apart.onnx", save_as_external_data=True, location="weights", size_threshold=0)
    for source in (model, tmp_path / "small.onnx", str(tmp_path / "apart.onnx")):
        exe = ipu.compile(source, target=TARGET)
        assert_same(exe, model, x)
    assert np.array_equal(exe(x=x)[0], exe(x)[0])
    per_tile = exe.run_per_tile([x])
    np.testing.assert_allclose(per_tile[0], exe(x)[0], atol=1e-6)


def test_sizes_may_be_left_open():
    model = a_model("batch")
    exe = ipu.compile(model, target=TARGET)
    for batch in (2, 5):
        x = np.random.default_rng(batch).standard_normal((batch, 1, 8, 8)).astype(np.float32)
        assert_same(exe, model, x)


def test_tools_take_open_sizes_from_the_inputs(tmp_path, capsys):
    onnx.save(a_model("batch"), tmp_path / "open.onnx")
    x = np.random.default_rng(0).standard_normal((2, 1, 8, 8)).astype(np.float32)
    expected = ReferenceEvaluator(a_model()).run(None, {"x": x})
    np.savez(tmp_path / "io.npz", in0=x, out0=expected[0], out1=expected[1])
    assert ipu_run([f"{tmp_path}/open.onnx", "--tiles", "16", "--inputs", f"{tmp_path}/io.npz", "--check"]) == 0
    assert ipu_run([f"{tmp_path}/open.onnx"]) == 1
    assert "leaves sizes open, of x: float32[batch, 1, 8, 8]; give ipu-run --inputs" in capsys.readouterr().err


def test_names_of_sizes_stand_for_one_size_each():
    types = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", "m", 2]) for name in ("x", "y", "z")]
    graph = helper.make_graph([helper.make_node("Add", ["x", "y"], ["z"])], "sum", types[:2], types[2:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    ones = np.ones((3, 1, 2), np.float32)
    for args in (None, [ones, ipu.TensorSpec((3, 1, 2))]):
        program = ipu.compile(model, args=args, target=TARGET)
        np.testing.assert_array_equal(program(ones, ones), ones + 1)
        with pytest.raises(ipu.RunError, match=r"input y has shape \[1, 1, 2\], the model says \[.*"):
            program(ones, ones[:1])
    with pytest.raises(ipu.RunError, match=r"\[2, 1, 2\], the model says \[3, 1, 2\]"):
        program(ones[:2], ones[:2])
    with pytest.raises(ipu.CompileError, match=r"\[1, 1, 2\], the model says \[n, m, 2\], and n is 3 in input x"):
        ipu.compile(model, args=[ones, ones[:1]])
    with pytest.raises(ipu.CompileError, match=r"input x has shape \[3, 1\], the model says \[n, m, 2\]$"):
        ipu.compile(model, args=[ones[:, :, 0]])


def test_inputs_that_sizes_depend_on_are_part_of_the_program_where_they_are_given():
    nodes = [helper.make_node("Cast", ["n"], ["m"], to=TensorProto.INT64), helper.make_node("Tile", ["x", "m"], ["y"])]
    types = [("x", TensorProto.FLOAT, [2, 3]), ("n", TensorProto.INT32, [2])]
    inputs = [helper.make_tensor_value_info(*each) for each in types]
    graph = helper.make_graph(nodes, "tiles", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 3])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    x, n = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([2, 1], np.int32)
    exe = ipu.compile(model, args=[ipu.TensorSpec((2, 3), "float32"), n], target=TARGET)
    np.testing.assert_array_equal(exe(x, n), np.tile(x, n))
    with pytest.raises(ipu.RunError, match=r"input n is \[1 2\], the program was compiled for \[2 1\]"):
        exe(x, np.array([1, 2], np.int32))
    with pytest.raises(ipu.CompileError, match=r"Tile 'y': .*; sizes may depend on n: give the values in args"):
        ipu.compile(model, target=TARGET)


def test_sizes_that_a_model_computes_are_known_before_it_is_imported():
    """The last dimension becomes two, as PyTorch exports ``unflatten``: of the shape, what is before and behind."""

    def number(name: str, *values: int) -> onnx.NodeProto:
        return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.array(values), name))

    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        *(number("two", 2), number("three", 3), number("zero", 0), number("parts", 2, 4), number("axis", 0)),
        helper.make_node("Mod", ["two", "three"], ["last"]),
        helper.make_node("Slice", ["shape", "zero", "last"], ["before"]),
        helper.make_node("Concat", ["before", "parts"], ["wanted"], axis=0),
        helper.make_node("Reshape", ["x", "wanted"], ["apart"]),
        helper.make_node("Unsqueeze", ["apart", "axis"], ["more"]),
        helper.make_node("Transpose", ["more"], ["y"], perm=[3, 1, 2, 0, 4]),
    ]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, s) for name, s in (("x", [2, 3, 8]), ("y", None)))
    graph = helper.make_graph(nodes, "unflatten", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    x = np.arange(48, dtype=np.float32).reshape(2, 3, 8)
    np.testing.assert_array_equal(
        ipu.compile(model, target=TARGET)(x), x.reshape(2, 3, 2, 4)[None].transpose(3, 1, 2, 0, 4)
    )


@pytest.mark.parametrize("places", [[1, 5], [[0, 1], [1, 2]]])
def test_weights_of_few_elements(places: list):
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "few", [x], [y])
    weights = numpy_helper.from_array(np.array([5, 7], np.float32), "w")
    where = numpy_helper.from_array(np.array(places), "places")
    graph.sparse_initializer.append(helper.make_sparse_tensor(weights, where, [2, 3]))
    exe = ipu.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), target=TARGET)
    np.testing.assert_array_equal(exe(np.ones((2, 3), np.float32)), [[1, 6, 1], [1, 1, 8]])


def test_inputs_that_are_not_there_are_named():
    exe = ipu.compile(a_model(), target=TARGET)
    with pytest.raises(ipu.RunError, match="the model takes x"):
        exe(z=np.ones(3))


def test_an_op_that_onnx_has_not_is_named():
    node = helper.make_node("NotAnOp", ["x"], ["y"])
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in ("x", "y")]
    model = helper.make_model(helper.make_graph([node], "odd", values[:1], values[1:]))
    with pytest.raises(
        ipu.CompileError, match=r"odd: the ONNX model cannot be imported: NotAnOp 'y': .* no op of this"
    ):
        ipu.compile(model, target=TARGET)


def test_a_norm_of_zero_divides_nothing():
    node = helper.make_node("LpNormalization", ["x"], ["y"])
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in ("x", "y")]
    exe = ipu.compile(helper.make_model(helper.make_graph([node], "n", values[:1], values[1:])), target=TARGET)
    np.testing.assert_array_equal(exe(np.zeros(3, np.float32)), np.zeros(3, np.float32))


def test_a_file_that_is_no_model_is_an_error_with_its_name(tmp_path):
    (tmp_path / "broken.onnx").write_bytes(b"\xff\xfenothing")
    for name in ("broken.onnx", "missing.onnx"):
        with pytest.raises(ipu.CompileError, match=name):
            ipu.compile(tmp_path / name, target=TARGET)


def test_functions_of_a_model_are_imported():
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "xy")
    square = helper.make_function(
        "own", "Square", ["a"], ["b"], [helper.make_node("Mul", ["a", "a"], ["b"])], [helper.make_opsetid("", 17)]
    )
    graph = helper.make_graph([helper.make_node("Square", ["x"], ["y"], domain="own")], "calls", [x], [y])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    model = helper.make_model(graph, functions=[square], opset_imports=opsets, ir_version=8)
    np.testing.assert_array_equal(ipu.compile(model, target=TARGET)(values), values**2)


def test_nodes_in_any_order_and_attributes_that_functions_have_defaults_of():
    text = """<ir_version: 8, opset_import: ["": 17, "own": 1]> g (float[2,3] x) => (float[2,3] y) {
      y = own.scaled (a)
      a = own.scaled <by = 2.0> (x)
    } <domain: "own", opset_import: ["": 17]> scaled <by: float = 3.0> (a) => (b) {
      k = Constant <value_float: float = @by> ()  b = Mul (a, k)
    }"""
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(ipu.compile(onnx.parser.parse_model(text), target=TARGET)(values), values * 6)
    cycle = onnx.parser.parse_model(text.replace("(x)", "(y)"))
    with pytest.raises(ipu.CompileError, match="nodes take each other's results"):
        ipu.compile(cycle, target=TARGET)


def test_what_a_padding_takes_away_stays_away():
    rng = np.random.default_rng(0)
    w, x = rng.random((2, 2, 3, 3)).astype(np.float32), rng.random((1, 2, 6, 5)).astype(np.float32)
    cut = numpy_helper.from_array(np.array([0, 0, -1, 0, 0, 0, 0, -1], np.int64), "pads")

    def a_convolution(source: str, sizes: list[int], *before: onnx.NodeProto) -> onnx.ModelProto:
        graph = helper.make_graph(
            [*before, helper.make_node("Conv", [source, "w"], ["z"], pads=[1, 1, 1, 1])],
            "pads",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, sizes)],
            [helper.make_tensor_value_info("z", TensorProto.FLOAT, [1, 2, 5, 4])],
            [cut, numpy_helper.from_array(w, "w")],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])

    padded = a_convolution("y", [1, 2, 6, 5], helper.make_node("Pad", ["x", "pads"], ["y"]))
    expected = ReferenceEvaluator(a_convolution("x", [1, 2, 5, 4])).run(None, {"x": x[:, :, 1:, :-1]})[0]
    np.testing.assert_allclose(ipu.compile(padded, target=TARGET)(x), expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("op", "expected"),
    [("ReduceMax", (np.iinfo(np.int32).min, -np.inf, False)), ("ReduceMin", (np.iinfo(np.int32).max, np.inf, True))],
)
def test_extremes_of_no_elements(op: str, expected: tuple):
    model = onnx.parser.parse_model(
        f"""<ir_version: 9, opset_import: ["" : 20]>
        g (int32[2,0] i, float[2,0] f, bool[2,0] b) => (int32[2] x, float[2] y, bool[2] z) <int64[1] axis = {{1}}> {{
            x = {op} <keepdims = 0> (i, axis)
            y = {op} <keepdims = 0> (f, axis)
            z = {op} <keepdims = 0> (b, axis)
        }}"""
    )
    given = [np.zeros((2, 0), dtype) for dtype in (np.int32, np.float32, np.bool_)]
    for found, value in zip(ipu.compile(model, target=TARGET)(*given), expected, strict=True):
        assert list(found) == [value] * 2


def test_maxima_of_regions_round_their_corners():
    """As Fast R-CNN defines them, cell by cell."""
    x = np.random.default_rng(0).standard_normal((2, 2, 5, 6)).astype(np.float32)
    regions = np.array([[1, 0, 0, 5, 4], [0, 1, 1, 2.5, 3], [1, 4, 3, 9, 9], [0, 3, 3, 2, 2]], np.float32)
    rows, columns, scale = 2, 3, 0.75
    expected = np.zeros((4, 2, rows, columns), np.float32)
    for number, (batch, *ends) in enumerate(regions):
        left, top, right, bottom = (int(np.floor(each * np.float32(scale) + 0.5)) for each in ends)
        high, wide = (max(last - first + 1, 1) for first, last in ((top, bottom), (left, right)))
        for i, j in np.ndindex(rows, columns):
            own = [top + math.floor(i * high / rows), top + math.ceil((i + 1) * high / rows)]
            across = [left + math.floor(j * wide / columns), left + math.ceil((j + 1) * wide / columns)]
            cell = x[int(batch), :, own[0] : own[1], across[0] : across[1]]
            expected[number, :, i, j] = cell.max((1, 2)) if cell.size else 0
    node = helper.make_node("MaxRoiPool", ["x", "r"], ["y"], pooled_shape=[rows, columns], spatial_scale=scale)
    types = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, each.shape) for name, each in (("x", x), ("r", regions))
    ]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, expected.shape)
    graph = helper.make_graph([node], "regions", types, [result])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    np.testing.assert_array_equal(ipu.compile(model, target=TARGET)(x, regions), expected)


def test_what_the_reference_evaluator_has_wrong_or_lacks():
    """Norms of order 1 of negative numbers, sizes that no factor gives, activations of RNNs, results without a type."""
    x = np.array([[1, -2, 3, 0.5, -4]], np.float32)
    weights = {"w": np.array([[[1.0], [-1]]], np.float32), "r": np.eye(2, dtype=np.float32)[None]}
    weights |= {"none": np.zeros(0, np.float32), "scales": np.array([1, 1.5], np.float32)}
    nodes = [
        helper.make_node("LpNormalization", ["x"], ["normal"], axis=1, p=1),
        helper.make_node(
            "Resize", ["x", "none", "scales"], ["wide"], mode="linear", coordinate_transformation_mode="align_corners"
        ),
        helper.make_node("Reshape", ["x", "shape"], ["steps"]),
        helper.make_node("RNN", ["steps", "w", "r"], ["rows"], hidden_size=2, activations=["Relu"]),
    ]
    graph = helper.make_graph(
        nodes,
        "wrong",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 5])],
        [helper.make_empty_tensor_value_info(name) for name in ("normal", "wide", "rows")],
        [numpy_helper.from_array(np.array([5, 1, 1]), "shape")]
        + [numpy_helper.from_array(each, name) for name, each in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    normal, wide, rows = ipu.compile(model, target=TARGET)(x)
    np.testing.assert_allclose(normal, x / 10.5, rtol=1e-6)
    np.testing.assert_allclose(wide[0], np.interp(np.linspace(0, 4, 7), np.arange(5), x[0]), rtol=1e-5)
    state, expected = np.zeros(2, np.float32), []
    for each in x[0]:
        state = np.maximum(each * weights["w"][0, :, 0] + state, 0)
        expected.append(state)
    np.testing.assert_allclose(rows[:, 0, 0], expected, rtol=1e-6)


@pytest.mark.parametrize(("axis", "places"), [(1, [[0, -1], [2, 1]]), (0, [[0, -1, 1]]), (-1, [[4], [0]])])
def test_places_may_be_fewer_than_elements_beside_their_axis(axis: int, places: list):
    """As torch.gather exports them; onnxruntime takes them, the reference evaluator does not."""
    x, places = np.arange(15, dtype=np.float32).reshape(3, 5), np.array(places)
    around = [np.arange(size) for size in places.shape]
    where = list(np.ix_(*around))
    where[axis] = places
    types = [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)]
    types.append(helper.make_tensor_value_info("places", TensorProto.INT64, places.shape))
    node = helper.make_node("GatherElements", ["x", "places"], ["y"], axis=axis)
    graph = helper.make_graph([node], "few", types, [helper.make_empty_tensor_value_info("y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    np.testing.assert_array_equal(ipu.compile(model, target=TARGET)(x, places), x[tuple(where)])


@pytest.mark.parametrize(("how", "columns"), [("round_prefer_ceil", [0, 2, 3, 5]), ("floor", [0, 1, 3, 4])])
def test_places_of_a_resized_image_go_by_the_ratio_of_sizes(how: str, columns: list):
    """Which float32 does not have: 6 by 4 is a bit less than 1.5 there, and a place on a tie goes the other way."""
    x = np.arange(30, dtype=np.float32).reshape(1, 1, 5, 6)
    node = helper.make_node(
        "Resize", ["x", "", "", "sizes"], ["y"], mode="nearest", coordinate_transformation_mode="asymmetric",
        nearest_mode=how,
    )  # fmt: skip
    graph = helper.make_graph(
        [node], "resized", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_empty_tensor_value_info("y")], [numpy_helper.from_array(np.array([1, 1, 5, 4]), "sizes")],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)])
    np.testing.assert_array_equal(ipu.compile(model, target=TARGET)(x), x[..., columns])


def test_what_the_cell_of_an_lstm_holds_is_not_clipped():
    """As in onnxruntime, which clips what gates and candidates are made of."""
    x = np.full((4, 1, 1), 5, np.float32)
    weights = {"w": np.ones((1, 4, 1), np.float32), "r": np.zeros((1, 4, 1), np.float32)}
    node = helper.make_node("LSTM", ["x", "w", "r"], ["rows"], hidden_size=1, clip=0.5)
    graph = helper.make_graph(
        [node], "clipped", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_empty_tensor_value_info("rows")],
        [numpy_helper.from_array(each, name) for name, each in weights.items()],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    gate, cell, expected = 1 / (1 + np.exp(-0.5)), 0.0, []
    for _ in x:
        cell = gate * cell + gate * np.tanh(0.5)
        expected.append(gate * np.tanh(cell))
    np.testing.assert_allclose(ipu.compile(model, target=TARGET)(x)[:, 0, 0, 0], expected, rtol=1e-5)
