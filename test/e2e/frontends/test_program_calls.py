"""Custom calls named ``ipu.*``: programs of other frameworks with variables and queues."""

import numpy as np
import pytest

import ipu_mlir as ipu

TARGET = ipu.Target(name="small", tiles_per_ipu=4)
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
