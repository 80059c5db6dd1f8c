"""Custom calls named ``ipu.*``: programs of other frameworks with variables and queues."""

import numpy as np
import pytest

import ipu_mlir as ipu

TARGET = ipu.Target(tiles_per_ipu=4)
LOOP = """
func.func @main(%t: tensor<i32>, %x: tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %token = %t, %sum = %x) : tensor<i32>, tensor<i32>, tensor<4xf32>
    cond {
      %less = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      %e:2 = func.call @element(%token) : (tensor<i32>) -> (tensor<i32>, tensor<4xf32>)
      %t2 = stablehlo.custom_call @ipu.enqueue(%e#0, %e#1) {backend_config = "{\\"queue\\": \\"out\\", \\"token\\": true}"} : (tensor<i32>, tensor<4xf32>) -> tensor<i32>
      %s = stablehlo.add %sum, %e#1 : tensor<4xf32>
      %t3 = stablehlo.custom_call @ipu.enqueue(%t2, %s) {backend_config = "{\\"queue\\": \\"out\\", \\"token\\": true}"} : (tensor<i32>, tensor<4xf32>) -> tensor<i32>
      stablehlo.return %next, %t3, %s : tensor<i32>, tensor<i32>, tensor<4xf32>
    }
  return %r#1, %r#2 : tensor<i32>, tensor<4xf32>
}
func.func private @element(%t: tensor<i32>) -> (tensor<i32>, tensor<4xf32>) {
  %0 = stablehlo.custom_call @ipu.dequeue(%t) {backend_config = "{\\"queue\\": \\"in\\", \\"token\\": true}"} : (tensor<i32>) -> tuple<tensor<i32>, tensor<4xf32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<i32>, tensor<4xf32>>) -> tensor<i32>
  %2 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<i32>, tensor<4xf32>>) -> tensor<4xf32>
  return %1, %2 : tensor<i32>, tensor<4xf32>
}
"""  # noqa: E501  (StableHLO knows of no line breaks in strings)


def test_tokens_keep_the_order_in_loops_and_go():
    exe = ipu.compile(LOOP, target=TARGET)
    session = exe.session()
    session.feed("in", ([np.full(4, i, np.float32)] for i in range(3)))
    token, total = session(np.int32(7), np.ones(4, np.float32))
    assert token == 7 and list(total) == [4, 4, 4, 4]
    assert list(np.asarray(session.read("out"))[:, 0]) == [0, 1, 1, 2, 2, 4]


def test_functions_of_jax_read_queues_and_variables():
    jax = pytest.importorskip("jax")
    struct, call = jax.ShapeDtypeStruct, jax.ffi.ffi_call

    def step(x):
        def body(i, total):
            a, n = call("ipu.dequeue", (struct((4,), "float32"), struct((), "uint8")), has_side_effect=True)(queue="in")
            call("ipu.enqueue", (), has_side_effect=True)(a * n, queue="out", mode="all")
            return total + a

        old = call("ipu.read", struct((4,), "float32"), has_side_effect=True)(variable="total")
        new = jax.jit(lambda old: jax.lax.fori_loop(0, 2, body, old + x))(old)
        call("ipu.assign", (), has_side_effect=True)(new, variable="total")
        return new

    session = ipu.compile(step, args=[struct((4,), "float32")], target=TARGET).session()
    session["total"] = np.ones(4, np.float32)
    session.feed("in", ([np.full(4, i, np.float32), np.uint8(200)] for i in range(4)))
    assert list(session(np.zeros(4, np.float32))) == [2] * 4
    assert list(session(np.ones(4, np.float32))) == [8] * 4
    assert list(session["total"]) == [8] * 4
    assert list(np.asarray(session.read("out"))[..., 0].ravel()) == [0, 200, 400, 600]


ASKING = """
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<ui8>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %none = stablehlo.constant dense<0> : tensor<ui8>
  %r:3 = stablehlo.while(%i = %zero, %total = %x, %count = %none) : tensor<i32>, tensor<4xf32>, tensor<ui8>
    cond {
      %less = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %less : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      %replica = stablehlo.custom_call @ipu.replica_index() : () -> tensor<i32>
      %number = stablehlo.convert %replica : (tensor<i32>) -> tensor<f32>
      %numbers = stablehlo.broadcast_in_dim %number, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %own = stablehlo.add %total, %numbers : tensor<4xf32>
      %found:2 = stablehlo.custom_call @ipu.host_call(%own, %i) {mhlo.backend_config = {function = "half"}} : (tensor<4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<ui8>)
      %sum = stablehlo.add %found#0, %x : tensor<4xf32>
      %more = stablehlo.add %count, %found#1 : tensor<ui8>
      stablehlo.return %next, %sum, %more : tensor<i32>, tensor<4xf32>, tensor<ui8>
    }
  return %r#1, %r#2 : tensor<4xf32>, tensor<ui8>
}
"""  # noqa: E501


@pytest.mark.parametrize("replicas", [1, 2])
def test_the_host_is_called_in_a_loop(replicas: int):
    asked = []

    def half(value, number):
        asked.append((value.tolist(), int(number)))
        return value / 2, np.uint8(200)

    exe = ipu.compile(ASKING, target=ipu.Target(tiles_per_ipu=4, replicas=replicas))
    x = np.float32([1, 2, 3, 4])
    with pytest.raises(ipu.RunError, match="host function 'half' has no function"):
        exe(x)
    session = exe.session()
    session.serve("half", half)
    fast = session(x)
    assert [number for _, number in asked] == sorted([0, 1, 2] * replicas)
    assert asked[0] == ([1, 2, 3, 4], 0) and asked[replicas] == ([1.5, 3, 4.5, 6], 1)
    np.testing.assert_array_equal(np.reshape(fast[0], (replicas, 4))[0], x * 1.875)
    assert int(np.ravel(fast[1])[0]) % 256 == 600 % 256
    exe._together.own_state.streams.functions["half"].function = half
    for found, judged in zip(fast, exe.run_per_tile([x]), strict=True):
        np.testing.assert_array_equal(found, judged)
    names = [step.name for step in exe.profile().compilation.steps]
    assert "host_call of @half" in names and "receive of @half" in names
    with pytest.raises(ipu.RunError, match="there is no host function 'h'; there are: half"):
        session.serve("h", half)


def test_a_function_of_the_host_that_uses_its_session_is_told_so():
    session = ipu.compile(ASKING, target=ipu.Target(tiles_per_ipu=4)).session()
    x = np.float32([1, 2, 3, 4])
    session.serve("half", lambda value, number: session(value))
    with pytest.raises(ipu.RunError, match=r"host function 'half' uses <Session of main with no variables>"):
        session(x)
    session.serve("half", lambda value, number: (value / 2, np.uint8(1)))
    np.testing.assert_array_equal(session(x)[0], x * 1.875)


def test_functions_of_jax_call_the_host():
    jax = pytest.importorskip("jax")
    struct, call = jax.ShapeDtypeStruct, jax.ffi.ffi_call

    def main(x):
        return x + call("ipu.host_call", struct((4,), "float32"), has_side_effect=True)(x, function="sort")

    session = ipu.compile(main, args=[struct((4,), "float32")], target=TARGET).session()
    session.serve("sort", np.sort)
    assert list(session(np.float32([3, 1, 2, 0]))) == [3, 2, 4, 3]


def test_branches_of_jax_are_functions_whose_code_stands_once():
    """Forward and backward: calls in the middle do the same, the first and the last one have less to do."""
    jax = pytest.importorskip("jax")
    struct, call = jax.ShapeDtypeStruct, jax.ffi.ffi_call

    def outlined(x, w):
        is_outlined = call("ipu.is_outlined", struct((), "bool"))(name="layer")
        return jax.lax.cond(is_outlined, lambda: jax.numpy.tanh(x @ w), lambda: x)

    def loss(layer):
        def total(w, x):
            for _ in range(6):
                x = layer(x, w)
            return (x * x).sum()

        return jax.jit(jax.grad(total))

    w, x = np.random.default_rng(0).standard_normal((2, 4, 4)).astype(np.float32)
    exe = ipu.compile(loss(outlined), args=[struct((4, 4), "float32")] * 2, target=TARGET)
    wanted = loss(lambda x, w: jax.numpy.tanh(x @ w))(w, x)
    for found in (exe(w, x), exe.run_per_tile([w, x])[0]):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    assert exe.source().count("def layer") >= 2 and exe.source().count("dot(") < 12
