"""Variables in traced functions, and the values that they hold themselves."""

import pickle
import threading

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.tracing.control.branches import cond
from ipu_mlir.tracing.control.loops import fori_loop, while_loop

TARGET = ipu.Target(ipus=1, tiles_per_ipu=4)
F32 = np.float32


def ones(*shape):
    return np.ones(shape, F32)


def test_variables_may_have_no_elements():
    w = ipu.Variable(ones(0, 3), name="w")
    exe = ipu.compile(lambda x: w.assign(w.value + x), args=[ones()], target=TARGET)
    session = exe.session()
    session(ones())
    assert session["w"].shape == (0, 3)
    assert exe.run_per_tile([ones()]) == []


def test_directly_called_functions_share_the_values_of_variables():
    w = ipu.Variable(ones(4), name="w")

    @ipu.function(target=TARGET)
    def add(x):
        w.assign(w.value + x)

    @ipu.function(target=TARGET)
    def read():
        return w.value * 2

    assert add(ones(4)) is None
    add(ones(4))
    np.testing.assert_array_equal(read(), 2 * 3 * ones(4))
    np.testing.assert_array_equal(w.value, 3 * ones(4))


def test_functions_compiled_for_other_shapes_share_them_too():
    total = ipu.Variable(F32(0), name="total")

    @ipu.function(target=TARGET)
    def add(x):
        total.assign(total.value + x.sum())

    add(ones(4))
    add(ones(2, 3))
    assert total.value == 10


def test_value_outside_is_a_copy():
    w = ipu.Variable(ones(2))
    w.value[...] = 7
    np.testing.assert_array_equal(w.value, ones(2))


def test_structures_keep_their_form():
    params = ipu.Variable({"w": ones(2), "more": (np.int32(3), [ones(1)])}, name="params")

    @ipu.function(target=TARGET)
    def step():
        p = params.value
        params.assign({"w": p["w"] + 1, "more": (p["more"][0] + 1, [p["more"][1][0] * 5])})

    step()
    assert list(params.specs) == ["params['w']", "params['more'][0]", "params['more'][1][0]"]
    found = params.value
    assert found["more"][0] == 4 and isinstance(found["more"], tuple) and isinstance(found["more"][1], list)
    np.testing.assert_array_equal(found["more"][1][0], 5 * ones(1))


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.bool_, np.float16, np.float64])
def test_every_element_type_comes_back_as_it_was(dtype):
    given = np.array([0, 1, 1], dtype)
    w = ipu.Variable(given)

    @ipu.function(target=TARGET)
    def swap(x):
        old = w.value
        w.assign(x)
        return old

    other = np.array([1, 1, 0], dtype)
    found = swap(other)
    assert found.dtype == dtype and w.value.dtype == dtype
    np.testing.assert_array_equal(found, given)
    np.testing.assert_array_equal(w.value, other)


def test_state_is_threaded_through_traced_loops_and_branches():
    n = ipu.Variable(np.int32(0), name="n")
    w = ipu.Variable(ones(4), name="w")

    @ipu.function(target=TARGET)
    def run(x):
        def body(i, carried):
            w.assign(w.value + x)
            cond(i % 2 == 0, lambda: n.assign(n.value + 1), lambda: None)
            return carried

        fori_loop(0, 5, body, ())

        def more(k):
            w.assign(w.value * 2)
            return k + n.value

        return while_loop(lambda k: k < 10, more, np.int32(0))

    assert run(ones(4)) == 12  # n is 3, four rounds
    assert n.value == 3
    np.testing.assert_array_equal(w.value, 6 * 16 * ones(4))


def test_a_value_given_later_is_an_error_before():
    w = ipu.Variable(ipu.TensorSpec((2,), F32), name="w")

    @ipu.function(target=TARGET)
    def read():
        return w.value + 1

    @ipu.function(target=TARGET)
    def start(x):
        w.assign(x)

    with pytest.raises(ipu.RunError, match="variable 'w' has no value yet; give it one"):
        read()
    with pytest.raises(ipu.RunError, match="variable 'w' has no value yet; run a function that assigns it"):
        _ = ipu.Variable(ipu.TensorSpec((2,), F32), name="w").value
    start(ones(2))
    np.testing.assert_array_equal(read(), 2 * ones(2))


def test_assigning_something_else_names_the_leaf():
    w = ipu.Variable({"a": ones(2)}, name="w")

    def assigning(value):
        return lambda: w.assign(value)

    cases = {
        r"variable w\['a'\] is float32\[2\], and becomes float32\[3\]; give it the shape": {"a": ones(3)},
        r"variable w\['a'\] is float32\[2\], and becomes float64\[2\]; use astype": {"a": np.ones(2)},
        r"w was a dict with keys 'a', and becomes a tuple": (ones(2),),
    }
    for message, value in cases.items():
        with pytest.raises(ipu.CompileError, match=message):
            ipu.compile(assigning(value), args=())


def test_a_variable_has_tensors_and_one_place():
    with pytest.raises(TypeError, match="variable w begins with 'no tensor', which has no tensors; give arrays"):
        ipu.Variable("no tensor", name="w")
    with pytest.raises(TypeError, match="variable w has several tensors, and mapping= places one"):
        ipu.Variable([ones(1), ones(1)], name="w", mapping=ipu.Mapping(1))


def test_assigning_outside_of_a_traced_function_says_how():
    with pytest.raises(TypeError, match=r"elsewhere a session gives it a value: session\['w'\] = "):
        ipu.Variable(ones(1), name="w").assign(ones(1))


def test_two_variables_of_one_name_are_refused():
    one, other = ipu.Variable(ones(1), name="w"), ipu.Variable(ones(2), name="w")
    with pytest.raises(ValueError, match=r"the program has <ipu variable w: .*> and <ipu variable w: .*>; give one"):
        ipu.compile(lambda: (one.value, other.value), args=())


def test_a_mapping_is_where_it_lies():
    from ipu_mlir.dialects.mapping.build import one_tile

    w = ipu.Variable(ones(4), name="w", mapping=one_tile(4, 3))
    exe = ipu.compile(lambda: w.assign(w.value + 1), args=(), target=TARGET)
    assert "ipu.variable = @w" in exe.mlir() and "#ipu.mapping<4, [[4, 4, 1, 0]], 0, 3>" in exe.mlir()


def test_placements_name_variables():
    w = ipu.Variable({"a": ones(4)}, name="w")
    exe = ipu.compile(lambda x: w.assign({"a": w.value["a"] + x}), args=(ones(4),), target=TARGET)
    assert [(each.kind, each.name) for each in exe.placements()] == [("argument", "x"), ("variable", "w['a']")]


@pytest.mark.parametrize("level", ["l1", "l2", "l3"])
def test_text_of_every_level_is_the_same_program(level):
    w = ipu.Variable(ones(4), name="w")
    exe = ipu.compile(_Step(w), args=(ones(4),), target=TARGET)
    again = ipu.compile(exe.mlir(level))
    assert [str(spec) for spec in (*again.argument_specs, *again.result_specs)] == ["float32[4]", "float32[4]"]
    for expected in (1, 2):
        np.testing.assert_array_equal(again.run([ones(4)])[0], expected * ones(4))
    np.testing.assert_array_equal(again.run_per_tile([ones(4)])[0], 3 * ones(4))


def test_a_pickled_program_begins_anew():
    w = ipu.Variable(ones(2), name="w")
    exe = ipu.compile(_Step(w), args=(ones(2),), target=TARGET)
    exe(ones(2))
    other = pickle.loads(pickle.dumps(exe))
    other(ones(2))
    other(ones(2))
    np.testing.assert_array_equal(other.session()["w"], ones(2))
    np.testing.assert_array_equal(w.value, 2 * ones(2))
    np.testing.assert_array_equal(other.run([ones(2)])[0], 3 * ones(2))


def test_pickled_programs_still_share():
    w = ipu.Variable(ones(2), name="w")
    together = ipu.compile({"step": _Step(w), "again": _Step(w)}, args={"step": (ones(2),), "again": (ones(2),)})
    together["step"](ones(2))
    other = pickle.loads(pickle.dumps(together))
    other["step"](ones(2))
    np.testing.assert_array_equal(other["again"](ones(2)), 2 * ones(2))
    session = other.session()
    session.run("again", ones(2))
    np.testing.assert_array_equal(session["w"], 2 * ones(2))


def test_threads_that_call_first_find_one_state():
    text = _COUNTING.replace("NAME", "counted")
    exe = ipu.compile(text, target=TARGET)
    barrier = threading.Barrier(4)

    def call():
        barrier.wait()
        for _ in range(50):
            exe.run([])

    threads = [threading.Thread(target=call, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert exe.run([])[0] == 200


_COUNTING = """
  "ipu.variable"() {sym_name = "NAME", type = tensor<i32>, init = dense<0> : tensor<i32>} : () -> ()
  func.func @main() -> tensor<i32> {
    %one = arith.constant dense<1> : tensor<i32>
    %n = "ipu.read"() {variable = @NAME} : () -> tensor<i32>
    %m = arith.addi %n, %one : tensor<i32>
    "ipu.assign"(%m) {variable = @NAME} : (tensor<i32>) -> ()
    return %n : tensor<i32>
  }
"""


class _Step:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        old = self.w.value
        self.w.assign(old + x)
        return old
