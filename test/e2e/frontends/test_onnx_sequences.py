"""Einsum of any number of operands, and sequences, against the evaluator of the onnx package."""

import random

import numpy as np
import pytest

import ipu_mlir as ipu

onnx = pytest.importorskip("onnx")
helper = pytest.importorskip("onnx.helper")
reference = pytest.importorskip("onnx.reference")
TARGET = ipu.Target(tiles_per_ipu=4)
SIZES = {"i": 2, "j": 3, "k": 4, "l": 2}


def equation(seed: int, explicit: bool = True) -> str:
    """Of one to four operands, with indices that several of them share, repeat, or have alone."""
    draw = random.Random(seed)
    operands = ["".join(draw.choices("ijkl", k=draw.randint(1, 3))) for _ in range(draw.randint(1, 4))]
    if draw.random() < 0.3:
        operands = [("..." if draw.random() < 0.6 else "") + each for each in operands]
    letters = sorted(set("".join(operands)) - {"."})
    result = "".join(draw.sample(letters, draw.randint(0, min(3, len(letters)))))
    left = draw.choice([",", " , "]).join(operands)
    return f"{left}->{'...' if '...' in left else ''}{result}" if explicit else left


def operands_of(text: str) -> list[np.ndarray]:
    generator = np.random.default_rng(0)
    shapes = []
    for each in text.replace(" ", "").partition("->")[0].split(","):
        shapes.append(((5,) if "..." in each else ()) + tuple(SIZES[letter] for letter in each if letter != "."))
    return [generator.standard_normal(shape).astype(np.float32) for shape in shapes]


def model(nodes, inputs, output, constants=()):
    given = [helper.make_tensor_value_info(name, 1, array.shape) for name, array in inputs.items()]
    result = helper.make_tensor_value_info("y", *output)
    graph = helper.make_graph(nodes, "g", given, [result], [onnx.numpy_helper.from_array(a, n) for n, a in constants])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def outcome(text: str) -> str:
    arrays = operands_of(text)
    inputs = {f"x{number}": array for number, array in enumerate(arrays)}
    node = helper.make_node("Einsum", list(inputs), ["y"], equation=text)
    try:
        found = ipu.compile(model([node], inputs, (1, None)), target=TARGET)(*arrays)
    except ipu.CompileError:
        return "refused"
    expected = np.einsum(text.replace(" ", ""), *arrays)
    return "agrees" if found.shape == expected.shape and np.allclose(found, expected, 1e-4, 1e-5) else "wrong"


@pytest.mark.parametrize(
    "text", ["ij,ij,ij->i", "bi,bj,bk->ijk".replace("b", "l"), "ij,kj", "ij,jk,ki", "...i,...i,i->..."]
)
def test_indices_that_several_operands_share(text: str):
    assert outcome(text) == "agrees"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(80))
def test_random_equations(seed: int):
    assert outcome(equation(seed, explicit=seed % 4 != 0)) != "wrong"


X = np.arange(24, dtype=np.float32).reshape(4, 6)
SPLITS = {
    "sizes": (np.array([1, 2, 3]), {"axis": 1}, [1, 2, 3]),
    "equal": (np.array(2), {"axis": 1}, [2, 2, 2]),
    "a rest": (np.array(4), {"axis": 1}, [4, 2]),
    "rows": (None, {"axis": 0}, [1] * 4),
    "columns without their dimension": (None, {"axis": -1, "keepdims": 0}, [1] * 6),
    "sizes keep their dimension": (np.array([1, 3]), {"axis": 0, "keepdims": 0}, [1, 3]),
}


def split(name: str):
    sizes, attributes, parts = SPLITS[name]
    constants = [] if sizes is None else [("sizes", sizes)]
    return helper.make_node("SplitToSequence", ["x", *(n for n, _ in constants)], ["q"], **attributes), constants, parts


@pytest.mark.parametrize("name", SPLITS)
def test_a_sequence_has_as_many_parts_as_it_is_split_into(name: str):
    node, constants, parts = split(name)
    length = helper.make_node("SequenceLength", ["q"], ["y"])
    assert ipu.compile(model([node, length], {"x": X}, (7, []), constants), target=TARGET)(X) == len(parts)


@pytest.mark.parametrize("name", SPLITS)
@pytest.mark.parametrize("at", [0, 1, -1])
def test_parts_of_a_sequence(name: str, at: int):
    node, constants, _ = split(name)
    part = helper.make_node("SequenceAt", ["q", "at"], ["y"])
    whole = model([node, part], {"x": X}, (1, None), [*constants, ("at", np.array(at))])
    (expected,) = reference.ReferenceEvaluator(whole).run(None, {"x": X})
    np.testing.assert_array_equal(ipu.compile(whole, target=TARGET)(X), expected)


@pytest.mark.parametrize("new_axis", [0, 1])
def test_parts_are_put_together(new_axis: int):
    node, constants, _ = split("equal")
    together = helper.make_node("ConcatFromSequence", ["q"], ["y"], axis=0, new_axis=new_axis)
    whole = model([node, together], {"x": X}, (1, None), constants)
    (expected,) = reference.ReferenceEvaluator(whole).run(None, {"x": X})
    np.testing.assert_array_equal(ipu.compile(whole, target=TARGET)(X), expected)


def test_sequences_are_made_longer_and_shorter():
    nodes = [
        helper.make_node("Neg", ["x"], ["z"]),
        helper.make_node("SequenceEmpty", [], ["none"]),
        helper.make_node("SequenceInsert", ["none", "x"], ["one"]),
        helper.make_node("SequenceInsert", ["one", "z", "zero"], ["two"]),
        helper.make_node("SequenceInsert", ["two", "x"], ["three"]),
        helper.make_node("SequenceErase", ["three", "last"], ["q"]),
        helper.make_node("ConcatFromSequence", ["q"], ["y"], axis=1),
    ]
    whole = model(nodes, {"x": X}, (1, None), [("zero", np.array(0)), ("last", np.array(-1))])
    np.testing.assert_array_equal(ipu.compile(whole, target=TARGET)(X), np.concatenate([-X, X], 1))


def test_a_split_of_unknown_sizes_is_refused():
    node = helper.make_node("SplitToSequence", ["x", "n"], ["q"], axis=1)
    length = helper.make_node("SequenceLength", ["q"], ["y"])
    whole = model([node, length], {"x": X}, (7, []))
    whole.graph.input.append(helper.make_tensor_value_info("n", 7, []))
    with pytest.raises(ipu.CompileError, match=r"SplitToSequence 'q'.*sizes may depend on n: give the values in args"):
        ipu.compile(whole, target=TARGET)
    assert ipu.compile(whole, kwargs={"n": np.array(4)}, target=TARGET)(X, np.array(4)) == 2


def test_a_sequence_is_a_list_of_results():
    node, constants, sizes = split("equal")
    whole = model([node], {"x": X}, (1, None), constants)
    whole.graph.output[0].CopyFrom(helper.make_tensor_sequence_value_info("q", 1, None))
    found = ipu.compile(whole, target=TARGET)(X)
    assert isinstance(found, list)
    for one, other in zip(found, np.split(X, np.cumsum(sizes)[:-1], 1), strict=True):
        np.testing.assert_array_equal(one, other)
