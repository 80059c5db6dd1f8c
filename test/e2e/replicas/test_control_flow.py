"""What differs between replicas, and what may depend on it: control flow, functions, scatters, arguments."""

from typing import Any

import numpy as np
import pytest
from support.replicas import ALONE, FOUR, OF_ALL, TWO, X, both, own

import ipu_mlir as ipu
from ipu_mlir.dialects import ipu as dialect
from ipu_mlir.dialects.support.parsing import parse_module


def test_one_replica_alone_computes_what_it_would_with_others() -> None:
    def main(x: Any) -> Any:
        flat = ipu.reduce_scatter(x.reshape(-1), 1)
        return ipu.all_reduce(x), ipu.all_reduce(x, "square_sum"), ipu.all_gather(x, 1), flat, ipu.replica_index()

    whole, squares, gathered, flat, index = both(main, X, target=ALONE)
    assert np.array_equal(whole, X) and np.array_equal(squares, X * X) and np.array_equal(gathered, X[None])
    assert np.array_equal(flat, X.reshape(-1)) and int(index) == 0


def test_control_flow_may_depend_on_what_all_replicas_have() -> None:
    def main(x: Any) -> Any:
        total = ipu.all_reduce(own(x).sum())
        flag = ipu.assume_equal(own(x).sum() > -1e9)
        return ipu.cond(total > 0, lambda: own(x), lambda: -own(x)), ipu.cond(flag, lambda: x, lambda: -x)

    signed, plain = both(main, X)
    assert np.allclose(signed, OF_ALL * np.sign(OF_ALL.sum()), rtol=1e-5) and np.array_equal(plain, X)


def test_control_flow_that_differs_is_refused_at_its_place() -> None:
    with pytest.raises(ipu.CompileError) as refused:
        ipu.compile(lambda x: ipu.cond(own(x).sum() > 0, lambda: x, lambda: -x), args=[X], target=FOUR)
    for part in ("test_control_flow.py", "differs between replicas, because of replicas.py", "ipu.assume_equal"):
        assert part in str(refused.value)


SCATTER = """
func.func @main(%z: tensor<9x4xf32>, %u: tensor<2x4xf32>) -> tensor<9x4xf32> {
  %r = stablehlo.custom_call @ipu.replica_index() : () -> tensor<i32>
  %i = stablehlo.broadcast_in_dim %r, dims = [] : (tensor<i32>) -> tensor<2xi32>
  %s = "stablehlo.scatter"(%z, %i, %u) <{indices_are_sorted = false, unique_indices = false,
      scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %sum = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %sum : tensor<f32>
    }) : (tensor<9x4xf32>, tensor<2xi32>, tensor<2x4xf32>) -> tensor<9x4xf32>
  return %s : tensor<9x4xf32>
}
"""


def test_replicas_scatter_to_places_of_their_own() -> None:
    executable = ipu.compile(SCATTER, target=TWO)
    args = [np.zeros((9, 4), np.float32), X[:2, :4]]
    (found,), (per_tile,) = executable.run(args), executable.run_per_tile(args)
    assert np.allclose(found[0, 0], X[:2, :4].sum(0)) and np.allclose(found[1, 1], X[:2, :4].sum(0))
    assert np.array_equal(found, per_tile) and not found[0, 1:].any()


ONE_PLACE = """
func.func @main(%z: tensor<9xf32>, %u: tensor<f32>) -> tensor<9xf32> {
  %r = stablehlo.custom_call @ipu.replica_index() : () -> tensor<i32>
  %eight = stablehlo.constant dense<8> : tensor<i32>
  %place = stablehlo.add %r, %eight : tensor<i32>
  %i = stablehlo.broadcast_in_dim %place, dims = [] : (tensor<i32>) -> tensor<1xi32>
  %s = "stablehlo.scatter"(%z, %i, %u) <{indices_are_sorted = false, unique_indices = false,
      scatter_dimension_numbers =
        #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %sum = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %sum : tensor<f32>
    }) : (tensor<9xf32>, tensor<1xi32>, tensor<f32>) -> tensor<9xf32>
  return %s : tensor<9xf32>
}
"""


def test_a_scatter_of_one_element_has_no_branch() -> None:
    executable = ipu.compile(ONE_PLACE, target=TWO)
    args = [X.reshape(-1)[:9], np.float32(2)]
    (found,), (per_tile,) = executable.run(args), executable.run_per_tile(args)
    assert np.array_equal(found, per_tile)
    assert np.array_equal(found - X.reshape(-1)[:9] > 1, np.arange(9) == [[8], [9]])  # that of replica 1 is outside


def test_a_branch_in_a_loop_that_differs_is_refused() -> None:
    def main(x: Any) -> Any:
        def body(i: Any, carried: Any) -> Any:
            return ipu.cond(own(x).sum() > i.astype(np.float32), lambda: carried @ x.T @ x, lambda: carried)

        return ipu.fori_loop(0, 3, body, x)

    with pytest.raises(ipu.CompileError, match="goes the way that a value says which differs between replicas"):
        ipu.compile(main, args=(X,), target=FOUR)


def test_a_false_assumption_ends_the_run() -> None:
    executable = ipu.compile(lambda x: ipu.assume_equal(own(x)), args=[X], target=FOUR)
    for run in (executable.run, executable.run_per_tile):
        with pytest.raises(ipu.RunError, match=r"ipu\.assume_equal says that replicas have one value"):
            run([X])


DIVERGENT = """
#one = #ipu.mapping<1, [[1, 1, 1, 0]], 0, 0>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4, replicas = 2}>} {
func.func @main(%flag: memref<i1, #one>, %x: memref<f32, #one>, %y: memref<f32, #one>) -> memref<f32, #one> {
  %c = "ipu.read_control"(%flag) : (memref<i1, #one>) -> i1
  %z = scf.if %c -> memref<f32, #one> {
    %sum = memref.alloc() : memref<f32, #one>
    "ipu.collective"(%x, %sum) {kind = "all_reduce", op = "add"} : (memref<f32, #one>, memref<f32, #one>) -> ()
    scf.yield %sum : memref<f32, #one>
  } else {
    scf.yield %y : memref<f32, #one>
  }
  return %z : memref<f32, #one>
}
}
"""


def test_an_argument_may_be_of_each_replica() -> None:
    def main(given: Any, w: Any) -> Any:
        return given["x"] * w, ipu.all_reduce(given["scale"] * w.sum(), "max"), w + 1

    scales = np.arange(4, dtype=np.float32)
    args = ipu.per_replica({"x": ipu.TensorSpec((6,)), "scale": np.float32(1)}), X[1]
    exe = ipu.compile(main, args=args, target=FOUR)
    product, most, plain = exe({"x": X, "scale": scales}, X[1])
    assert np.array_equal(product, X * X[1]) and np.array_equal(plain, X[1] + 1)
    assert most == (scales * X[1].sum()).max()
    per_tile = exe.run_per_tile([X, scales, X[1]])
    assert all(np.allclose(*each) for each in zip((product, most, plain), per_tile, strict=True))
    with pytest.raises(ipu.RunError, match=r"has shape \(6,\), expected \(4, 6\)"):
        exe({"x": X[0], "scale": scales}, X[1])
    alone = ipu.compile(main, args=args, target=ALONE)
    assert np.array_equal(alone({"x": X[0], "scale": np.float32(1)}, X[1])[0], X[0] * X[1])


def test_the_per_tile_executor_refuses_replicas_that_part() -> None:
    from ipu_mlir.runtime.per_tile.executor import PerTileExecutor
    from ipu_mlir.runtime.per_tile.scalar.errors import DivergenceError

    executor = PerTileExecutor(parse_module(DIVERGENT, dialect.context()))
    x = np.float32(2)
    assert executor.run([np.array(True), x, x])[0].tolist() == [4, 4]
    with pytest.raises(DivergenceError, match=r"control flow of replica 0 says True, that of replica 1 says False"):
        executor.run([np.array([True, False]), x, x])


CALLS = """
#one = #ipu.mapping<1, [[1, 1, 1, 0]], 0, 0>
#s = affine_map<() -> ()>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4, replicas = 2}>} {
func.func private @twice(%x: memref<f32, #one>) -> memref<f32, #one> {
  %y = memref.alloc() : memref<f32, #one>
  "ipu.compute_set"() ({ "ipu.vertices"() ({
    linalg.generic {indexing_maps = [#s, #s], iterator_types = []}
        ins(%x : memref<f32, #one>) outs(%y : memref<f32, #one>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.addf %a, %a : f32
      linalg.yield %t : f32
    }
  }) {codelet = "add", parts = #ipu.parts<[], 0>} : () -> () }) : () -> ()
  return %y : memref<f32, #one>
}
func.func @main(%x: memref<f32, #one> {ipu.varies = true}, %y: memref<f32, #one>)
    -> (memref<f32, #one>, memref<f32, #one>, memref<f32, #one>) {
  %a = func.call @twice(%x) : (memref<f32, #one>) -> memref<f32, #one>
  %b = func.call @twice(%y) : (memref<f32, #one>) -> memref<f32, #one>
  %sum = memref.alloc() : memref<f32, #one>
  "ipu.collective"(%a, %sum) {kind = "all_reduce", op = "add"} : (memref<f32, #one>, memref<f32, #one>) -> ()
  return %a, %b, %sum : memref<f32, #one>, memref<f32, #one>, memref<f32, #one>
}
}
"""


def test_functions_that_are_called_take_the_axis_if_one_call_needs_it() -> None:
    executable = ipu.compile(CALLS)
    for run in (executable.run, executable.run_per_tile):
        found = run([np.float32([1, 2]), np.float32(5)])
        assert [each.tolist() for each in found] == [[2, 4], [10, 10], 6]


def test_supersteps_that_part_are_refused() -> None:
    text = DIVERGENT.replace("%flag: memref<i1, #one>", "%flag: memref<i1, #one> {ipu.varies = true}")
    with pytest.raises(ipu.CompileError, match="differs between replicas"):
        ipu.compile(text)
