"""One contract for the arguments of all front ends: a value is what the program takes, or refused; none changes."""

import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu

TARGET = ipu.Target(tiles_per_ipu=4)
X = np.float32([1, -2, 3])


def other(name: str, make: Callable[[Any], Any]) -> Callable[[], Any]:
    """What ``make`` makes with a package, if that is there."""
    return lambda: make(pytest.importorskip(name))


KEPT = "kept"
"""An argument whose numbers a program takes as they are."""
REFUSED = "refused"

# Of every way to say a number: the value as the program sees it, and whether an argument of i32, f32, i1 takes it.
NUMBERS: dict[str, tuple[Callable[[], Any], str, str, str]] = {
    "True": (lambda: True, KEPT, KEPT, KEPT),
    "3": (lambda: 3, KEPT, KEPT, REFUSED),
    "-3": (lambda: -3, KEPT, KEPT, REFUSED),
    "0.5": (lambda: 0.5, REFUSED, KEPT, REFUSED),
    "3.0": (lambda: 3.0, REFUSED, KEPT, REFUSED),
    "3e10": (lambda: 3e10, REFUSED, KEPT, REFUSED),
    "1e300": (lambda: 1e300, REFUSED, REFUSED, REFUSED),
    "inf": (lambda: float("inf"), REFUSED, KEPT, REFUSED),
    "nan": (lambda: float("nan"), REFUSED, KEPT, REFUSED),
    "2**40": (lambda: 2**40, REFUSED, KEPT, REFUSED),
    "2**70": (lambda: 2**70, REFUSED, REFUSED, REFUSED),
    "1j": (lambda: 1j, REFUSED, REFUSED, REFUSED),
    "'no'": (lambda: "no", REFUSED, REFUSED, REFUSED),
    "None": (lambda: None, REFUSED, REFUSED, REFUSED),
    "object()": (object, REFUSED, REFUSED, REFUSED),
    "int32": (lambda: np.int32(3), KEPT, REFUSED, REFUSED),
    "float32": (lambda: np.float32(0.5), REFUSED, KEPT, REFUSED),
    "bool": (lambda: np.bool_(True), REFUSED, REFUSED, KEPT),
    "float64": (lambda: np.float64(0.5), REFUSED, REFUSED, REFUSED),
    "int64": (lambda: np.int64(3), REFUSED, REFUSED, REFUSED),
    "uint8": (lambda: np.uint8(3), REFUSED, REFUSED, REFUSED),
    "0-d": (lambda: np.array(3, np.int32), KEPT, REFUSED, REFUSED),
    "0-d of objects": (lambda: np.array(3, object), REFUSED, REFUSED, REFUSED),
    "of another order": (lambda: np.array(3, ">i4"), KEPT, REFUSED, REFUSED),
    "of one dimension": (lambda: np.int32([3]), REFUSED, REFUSED, REFUSED),
    "date": (lambda: np.datetime64("2026-01-01"), REFUSED, REFUSED, REFUSED),
    "torch": (other("torch", lambda t: t.tensor(3, dtype=t.int32)), KEPT, REFUSED, REFUSED),
    "torch float": (other("torch", lambda t: t.tensor(0.5)), REFUSED, KEPT, REFUSED),
    "jax": (other("jax.numpy", lambda j: j.int32(3)), KEPT, REFUSED, REFUSED),
    "jax float": (other("jax.numpy", lambda j: j.float32(0.5)), REFUSED, KEPT, REFUSED),
    "tensorflow": (other("tensorflow", lambda t: t.constant(3)), KEPT, REFUSED, REFUSED),
    "torch with a gradient": (
        *(other("torch", lambda t: t.tensor(0.5, requires_grad=True)), REFUSED, "as torch", REFUSED),
    ),
}

ARRAYS: dict[str, tuple[Callable[[], Any], str]] = {
    "as it is": (X.copy, KEPT),
    "read-only": (lambda: np.broadcast_to(X, (2, 3))[0], KEPT),
    "every second": (lambda: np.repeat(X, 2)[::2], KEPT),
    "backwards": (lambda: X[::-1].copy()[::-1], KEPT),
    "of another order": (lambda: X.astype(">f4"), KEPT),
    "masked": (lambda: np.ma.masked_array(X, [0, 1, 0]), REFUSED),
    "nothing masked": (lambda: np.ma.masked_array(X), KEPT),
    "float64": (lambda: X.astype(np.float64), REFUSED),
    "float16": (lambda: X.astype(np.float16), REFUSED),
    "int32": (lambda: X.astype(np.int32), REFUSED),
    "uint32": (lambda: X.view(np.uint32), REFUSED),
    "complex64": (lambda: X.astype(np.complex64), REFUSED),
    "objects": (lambda: X.astype(object), REFUSED),
    "text": (lambda: X.astype(str), REFUSED),
    "fields": (lambda: np.zeros(3, [("a", np.float32)]), REFUSED),
    "of two": (lambda: X[:2], REFUSED),
    "of one": (lambda: X[:1], REFUSED),
    "empty": (lambda: X[:0], REFUSED),
    "of no dimension": (lambda: X[0], REFUSED),
    "of two dimensions": (lambda: X[None], REFUSED),
    "number": (lambda: 2.0, REFUSED),
    "torch": (other("torch", lambda t: t.from_numpy(X.copy())), KEPT),
    "torch float64": (other("torch", lambda t: t.from_numpy(X.astype(np.float64))), REFUSED),
    "torch bfloat16": (other("torch", lambda t: t.from_numpy(X).bfloat16()), REFUSED),
    "torch sparse": (other("torch", lambda t: t.from_numpy(X).to_sparse()), REFUSED),
    "torch every second": (other("torch", lambda t: t.from_numpy(np.repeat(X, 2))[::2]), KEPT),
    "jax": (other("jax.numpy", lambda j: j.asarray(X)), KEPT),
    "jax int": (other("jax.numpy", lambda j: j.asarray(X, int)), REFUSED),
    "tensorflow": (other("tensorflow", lambda t: t.constant(X)), KEPT),
    "tensorflow float64": (other("tensorflow", lambda t: t.constant(X, t.float64)), REFUSED),
}


@dataclass(frozen=True)
class FrontEnd:
    """A way to have a program.

    Attributes:
        needs: packages.
        make: gives a program that multiplies an array of float32 by an int32, float32 or bool.
    """

    needs: tuple[str, ...]
    make: Callable[[str], Callable[..., Any]]


def of_jax(kind: str):
    jnp = importlib.import_module("jax.numpy")
    return ipu.compile(lambda x, k: jnp.where(k, x, 0) if kind == "bool" else x * k, args=[jnp.ones(3), EXAMPLES[kind]])


def of_torch(kind: str):
    torch = importlib.import_module("torch")
    example = torch.tensor(EXAMPLES[kind], dtype=getattr(torch, kind))
    return ipu.compile(lambda x, k: torch.where(k, x, 0) if kind == "bool" else x * k, args=[torch.ones(3), example])


def of_tensorflow(kind: str):
    tf = importlib.import_module("tensorflow")

    def scaled(x, k):
        return tf.where(k, x, 0.0) if kind == "bool" else x * tf.cast(k, tf.float32)

    return ipu.compile(scaled, args=[tf.TensorSpec(3), tf.TensorSpec((), kind)])


def of_onnx(kind: str):
    onnx = importlib.import_module("onnx")
    helper, types = onnx.helper, {"int32": 6, "float32": 1, "bool": 9}
    nodes = [helper.make_node("Cast", ["k"], ["f"], to=1), helper.make_node("Mul", ["x", "f"], ["y"])]
    inputs = [helper.make_tensor_value_info("x", 1, [3]), helper.make_tensor_value_info("k", types[kind], [])]
    graph = helper.make_graph(nodes, "scaled", inputs, [helper.make_tensor_value_info("y", 1, [3])])
    return ipu.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9))


def text(kind: str) -> str:
    element, cast = {"int32": ("i32", "sitofp"), "float32": ("f32", "bitcast"), "bool": ("i1", "uitofp")}[kind]
    return f"""
func.func @main(%x: tensor<3xf32>, %k: tensor<{element}>) -> tensor<3xf32> {{
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}} ins(%x, %k : tensor<3xf32>, tensor<{element}>) outs(%e : tensor<3xf32>) {{
  ^body(%a: f32, %b: {element}, %o: f32):
    %f = arith.{cast} %b : {element} to f32
    %p = arith.mulf %a, %f : f32
    linalg.yield %p : f32
  }} -> tensor<3xf32>
  return %r : tensor<3xf32>
}}"""


def of_mlir(kind: str):
    return ipu.compile(text(kind), target=TARGET)


def of_run(kind: str):
    program = ipu.compile(text(kind), target=TARGET)
    return lambda *inputs: program.run(inputs)[0]


def of_open_sizes(kind: str):
    return ipu.compile(text(kind).replace("tensor<3xf32>", "tensor<?xf32>").replace("empty()", "empty(%d)").replace(
        "  %e =", "  %c = arith.constant 0 : index\n  %d = tensor.dim %x, %c : tensor<?xf32>\n  %e ="
    ), target=TARGET)  # fmt: skip


def scaled(x, k):
    return np.where(k, x, np.float32(0)) if k.dtype == bool else x * k.astype(np.float32)


def of_python(kind: str):
    return ipu.compile(scaled, args=[ipu.TensorSpec(3), ipu.TensorSpec((), kind)], target=TARGET)


def of_session(kind: str):
    return of_python(kind).session()


def of_programs(kind: str):
    specs = [ipu.TensorSpec(3), ipu.TensorSpec((), kind)]
    return ipu.compile({"scaled": scaled}, args={"scaled": specs}, target=TARGET)["scaled"]


EXAMPLES = {"int32": 1, "float32": 1.0, "bool": True}
FRONT_ENDS = {
    "jax": FrontEnd(("jax",), of_jax),
    "torch": FrontEnd(("torch",), of_torch),
    "tensorflow": FrontEnd(("tensorflow",), of_tensorflow),
    "onnx": FrontEnd(("onnx",), of_onnx),
    "mlir": FrontEnd((), of_mlir),
    "mlir run": FrontEnd((), of_run),
    "mlir of open sizes": FrontEnd((), of_open_sizes),
    "python": FrontEnd((), of_python),
    "session": FrontEnd((), of_session),
    "programs": FrontEnd((), of_programs),
}
TRACED = ("python", "session", "programs")
"""Python numbers are part of these programs, and tensors of other frameworks nothing that they know."""


def expected_of(value: Any, kind: str) -> np.ndarray:
    number = np.asarray(value).astype(kind)
    return np.where(number, X, np.float32(0)) if kind == "bool" else X * number.astype(np.float32)


def ends(program: Callable[..., Any], *args: Any) -> Any:
    """The result as an array, or the message of the refusal."""
    try:
        found = program(*args)
    except ipu.IpuError as error:
        return str(error)
    return np.asarray(found)


@pytest.mark.parametrize(
    "kind", ["int32", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("float32", "bool"))]
)
@pytest.mark.parametrize("name", FRONT_ENDS)
def test_numbers_are_taken_as_they_are_or_refused(name: str, kind: str):
    for package in FRONT_ENDS[name].needs:
        pytest.importorskip(package)
    program, place = FRONT_ENDS[name].make(kind), list(EXAMPLES).index(kind)
    for title, (make, *rules) in NUMBERS.items():
        try:
            value = make()
        except pytest.skip.Exception:
            continue
        rule = rules[place]
        if rule == "as torch":
            rule, value = (KEPT, value) if name == "torch" else (REFUSED, value)
        if name in TRACED and not hasattr(value, "__array__"):
            rule = REFUSED
        found = ends(program, X, value)
        if rule == KEPT:
            with np.errstate(all="ignore"):
                value = value.detach() if title == "torch with a gradient" else value
                np.testing.assert_array_equal(found, expected_of(value, kind), f"{title} for {kind}")
        else:
            assert isinstance(found, str), f"{title} for {kind} gives {found}"
            assert re.search(r"\b(k|argument|arguments|input|leaf)\b", found), found


@pytest.mark.parametrize("name", FRONT_ENDS)
def test_arrays_are_taken_as_they_are_or_refused(name: str):
    for package in FRONT_ENDS[name].needs:
        pytest.importorskip(package)
    program = FRONT_ENDS[name].make("int32")
    for title, (make, rule) in ARRAYS.items():
        try:
            value = make()
        except pytest.skip.Exception:
            continue
        if name in TRACED and not hasattr(value, "__array__"):
            rule = REFUSED
        if name == "mlir of open sizes" and title in ("of two", "of one", "empty"):
            rule = KEPT
        found = ends(program, value, np.int32(3))
        if rule == KEPT:
            np.testing.assert_array_equal(found, np.asarray(value) * np.float32(3), title)
        else:
            assert isinstance(found, str), f"{title} gives {found}"


def test_lists_of_numbers_are_arrays_where_they_are_no_structure():
    for name in ("mlir", "mlir run", "onnx"):
        if name == "onnx":
            pytest.importorskip("onnx")
        program = FRONT_ENDS[name].make("int32")
        np.testing.assert_array_equal(ends(program, [1, 2.5, True], 3), np.float32([3, 7.5, 3]))
        for wrong in ([1, 2], [1, 2, "3"], [1, 2, None], [1, [2], 3], [1, 2, 1j]):
            assert isinstance(ends(program, wrong, 3), str), wrong


def test_a_function_is_traced_again_for_other_arguments():
    function = ipu.function(lambda x, k: x * k, target=TARGET)
    for value in (3, 0.5, True, np.int32(3), np.float32(0.5), np.float64(0.5), np.bool_(True), 3, 3.0):
        found = function(X, value)
        assert found.dtype == (np.float64 if isinstance(value, np.float64) else np.float32), value
        np.testing.assert_array_equal(found, X * value)


def test_what_is_part_of_a_program_has_one_value():
    torch = pytest.importorskip("torch")
    exe = ipu.compile(lambda x, k: x * k, args=[torch.arange(3), 2], target=TARGET)
    assert torch.equal(exe(torch.arange(3), 2), torch.arange(3) * 2)
    for other_value in (2.0, 3, True, "2", None, torch.tensor(2), np.int64(2)):
        with pytest.raises(ipu.RunError, match=r"argument args\[1\] is .*, the program was compiled for 2; compile it"):
            exe(torch.arange(3), other_value)


def test_a_leaf_is_named_with_its_place():
    jnp = pytest.importorskip("jax.numpy")
    exe = ipu.compile(lambda p, *, lr: p["w"][0] * lr, args=[{"w": [jnp.ones(3)]}], kwargs={"lr": 1})
    with pytest.raises(
        ipu.RunError, match=r"argument args\[0\]\['w'\]\[0\] has dtype int32, expected float32; convert"
    ):
        exe({"w": [jnp.arange(3)]}, lr=1)
    with pytest.raises(
        ipu.RunError, match=r"argument kwargs\['lr'\] is 0.1, expected numbers that fit int32, an integer"
    ):
        exe({"w": [jnp.ones(3)]}, lr=0.1)


@pytest.mark.parametrize("package", ["jax", "tensorflow"])
def test_a_plain_function_of_a_framework_takes_arrays_of_numpy(package: str) -> None:
    framework = pytest.importorskip(package)
    tanh = framework.numpy.tanh if package == "jax" else framework.tanh

    def network(weights: list[np.ndarray], x: np.ndarray) -> dict[str, Any]:
        for each in weights:
            x = tanh(x @ each) + x
        return {"y": x}

    rng = np.random.default_rng(0)
    weights, x = [rng.standard_normal((4, 4)).astype(np.float32) for _ in range(2)], np.ones((3, 4), np.float32)
    program = ipu.compile(network, args=[weights, x], target=ipu.Target(tiles_per_ipu=4))
    found, expected = program(weights, x)["y"], network(weights, x)["y"]
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-5)
    with pytest.raises(ipu.CompileError, match=f"{package} does not take traced tensors"):
        ipu.function(network)(weights, x)


def test_a_mistake_in_a_plain_function_of_jax_is_the_error_of_jax() -> None:
    jnp = pytest.importorskip("jax.numpy")
    with pytest.raises(TypeError, match="dot_general requires") as caught:
        ipu.compile(lambda x: jnp.dot(x, jnp.ones(7)), args=[np.ones(3, np.float32)])
    assert not isinstance(caught.value, ipu.IpuError)


@pytest.mark.parametrize("package", ["jax.numpy", "torch", "tensorflow"])
def test_each_replica_gets_its_own_of_what_is_marked(package: str) -> None:
    framework = pytest.importorskip(package)
    give: Any = framework.convert_to_tensor if package == "tensorflow" else framework.asarray
    x = np.arange(24, dtype=np.float32).reshape(4, 2, 3) / 24

    def scaled(given: dict[str, Any], scale: Any) -> tuple[Any, Any]:
        return framework.tanh(given["x"]) * scale, scale + scale

    two, rows = give(np.float32(2)), {"x": ipu.per_replica(give(x[0]))}
    exe = ipu.compile(scaled, args=[rows, two], target=ipu.Target(tiles_per_ipu=2, replicas=4))
    own, shared = exe({"x": give(x)}, two)
    assert type(own) is type(shared) is type(give(x))
    np.testing.assert_allclose(np.asarray(own), 2 * np.tanh(x), rtol=1e-5)
    assert float(shared) == 4
    with pytest.raises(ipu.RunError, match=r"args\[0\]\['x'\] has 2 elements, and each of 4 replicas gets one"):
        exe({"x": give(x[0])}, two)
    with pytest.raises(ipu.CompileError, match="arguments are per replica, and the target has one"):
        ipu.compile(scaled, args=[rows, two], target=TARGET)


def test_a_model_of_onnx_takes_an_argument_of_each_replica() -> None:
    onnx = pytest.importorskip("onnx")
    graph = onnx.parser.parse_graph("g (float[2, 3] x) => (float[2, 3] y) { y = Relu(x) }")
    x = np.arange(-12, 12, dtype=np.float32).reshape(4, 2, 3)
    target = ipu.Target(tiles_per_ipu=2, replicas=4)
    exe = ipu.compile(onnx.helper.make_model(graph), args=[ipu.per_replica(x[0])], target=target)
    np.testing.assert_array_equal(exe(x), np.maximum(x, 0))


@pytest.mark.parametrize("package", ["torch", "jax.numpy"])
def test_traced_functions_and_variables_take_arrays_of_any_framework(package: str) -> None:
    framework = pytest.importorskip(package)
    x: Any = framework.asarray(X)
    w, feed = ipu.Variable({"w": x}, name="w"), ipu.Infeed([x, 2 * x], name="feed")
    double = ipu.function(lambda given: given["x"] * 2, target=TARGET)
    for _ in range(2):  # another way from the second call on
        np.testing.assert_array_equal(double({"x": x}), 2 * X)
    exe = ipu.compile(lambda given: given + w.value["w"] + feed.dequeue(), args=[x], target=TARGET)
    np.testing.assert_array_equal(exe.session()(x), 3 * X)
    reduced = ipu.compile(lambda x: ipu.all_reduce(x), args=[x], target=ipu.Target(tiles_per_ipu=2, replicas=2))
    np.testing.assert_array_equal(reduced(x), 2 * X)
