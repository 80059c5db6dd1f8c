"""Programs on several replicas: both executors against each other, and against one replica at a time."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.case import assert_close
from test_cases import CASES

import ipu_mlir as ipu
from ipu_mlir.dialects import ipu as dialect
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.parsing import parse_module

FOUR = ipu.Target(name="small", tiles_per_ipu=8, replicas=4)
TWO = ipu.Target(name="small", tiles_per_ipu=8, replicas=2)
ALONE = ipu.Target(name="small", tiles_per_ipu=8)
X = np.random.default_rng(0).standard_normal((4, 6)).astype(np.float32)


def both(function: Callable[..., Any], *args: np.ndarray, target: ipu.Target = FOUR) -> list[np.ndarray]:
    """The results, on which both executors agree."""
    executable = ipu.compile(function, args=args, target=target)
    fast, per_tile = executable.run(list(args)), executable.run_per_tile(list(args))
    assert_close(fast, per_tile, 16, "fast against per-tile executor")
    return fast


def own(x: Any) -> Any:
    """``x`` times the number of the replica, counted from 1."""
    return x * (ipu.replica_index() + 1).astype(np.float32)


OF_ALL = np.stack([X * np.float32(r + 1) for r in range(4)])

REDUCTIONS = {
    "sum": lambda x: x.sum(0),
    "mean": lambda x: x.mean(0),
    "min": lambda x: x.min(0),
    "max": lambda x: x.max(0),
    "prod": lambda x: x.prod(0),
    "square_sum": lambda x: (x * x).sum(0),
}


@pytest.mark.parametrize("op", REDUCTIONS)
def test_all_reduce(op: Any) -> None:
    whole, pairs = both(lambda x: (ipu.all_reduce(own(x), op), ipu.all_reduce(own(x), op, 2)), X)
    reduce = REDUCTIONS[op]
    assert np.allclose(whole, reduce(OF_ALL), rtol=1e-5)
    expected = np.stack([reduce(OF_ALL[:2])] * 2 + [reduce(OF_ALL[2:])] * 2)
    assert np.allclose(pairs, expected, rtol=1e-5)


def test_booleans_and_integers_and_structures() -> None:
    def main(x: Any) -> Any:
        r = ipu.replica_index()
        return ipu.all_reduce({"all": r >= 0, "some": r > 0}, "and"), ipu.all_reduce(r == 3, "or"), ipu.all_reduce(r)

    found = both(main, X)
    assert [bool(each) for each in found[:3]] == [True, False, True] and int(found[3]) == 6


def test_a_mean_of_f16_does_not_overflow() -> None:
    (found,) = both(lambda x: ipu.all_reduce(x * ipu.assume_equal(np.float16(1)), "mean"), np.float16([65504, 1]))
    assert found.tolist() == [65504, 1]


def test_all_gather() -> None:
    whole, pairs = both(lambda x: (ipu.all_gather(own(x), 4), ipu.all_gather(own(x), 2)), X)
    assert np.array_equal(whole, OF_ALL)
    assert np.array_equal(pairs, np.stack([OF_ALL[:2]] * 2 + [OF_ALL[2:]] * 2))


def test_reduce_scatter_pads_with_zeros() -> None:
    (found,) = both(lambda x: ipu.reduce_scatter(own(x).reshape(-1)[:10], 4), X)
    expected = np.concatenate([OF_ALL.reshape(4, -1)[:, :10].sum(0), np.zeros(2, np.float32)]).reshape(4, 3)
    assert np.allclose(found, expected, rtol=1e-5)


def test_all_to_all_orders_blocks_by_their_source() -> None:
    rows, columns = both(lambda x: (ipu.all_to_all(own(x), 4), ipu.all_to_all(own(x), 2, split=1)), X)
    assert np.array_equal(rows, OF_ALL.transpose(1, 0, 2))
    halves = OF_ALL.reshape(2, 2, 4, 2, 3)  # group, source, row, block, column
    assert np.array_equal(columns, halves.transpose(0, 3, 1, 2, 4).reshape(4, 8, 3))


def test_blocks_of_what_is_the_same_on_all_differ() -> None:
    def main(x: Any) -> Any:
        return ipu.reduce_scatter(x[0], 2), ipu.all_to_all(x, 4, split=0)

    scattered, exchanged = both(main, X)
    assert np.array_equal(scattered, 2 * np.stack([X[0, :3], X[0, 3:]] * 2))
    assert np.array_equal(exchanged, np.repeat(X[:, None], 4, 1))


def test_broadcast() -> None:
    whole, pairs = both(lambda x: (ipu.broadcast(own(x), 3), ipu.broadcast(own(x), 1, 2)), X)
    assert np.array_equal(whole, OF_ALL[3])
    assert np.array_equal(pairs, OF_ALL[[1, 1, 3, 3]])


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
    for part in ("test_replicas.py", "differs between replicas, because of test_replicas.py", "ipu.assume_equal"):
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


def test_groups_divide_the_replicas() -> None:
    with pytest.raises(ipu.CompileError) as refused:
        ipu.compile(lambda x: ipu.all_reduce(x, group=3), args=[X], target=FOUR)
    assert "size (got 3) that does not evenly divide the total number of replicas (got 4)" in str(refused.value)


DIVERGENT = """
#one = #ipu.mapping<1, [[1, 1, 1, 0]], 0, 0>
module attributes {ipu.target = #ipu.target<{name = "small", tiles_per_ipu = 4, replicas = 2}>} {
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
module attributes {ipu.target = #ipu.target<{name = "small", tiles_per_ipu = 4, replicas = 2}>} {
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


def test_vmap_over_collectives() -> None:
    def of_a_row(row: Any) -> Any:
        return ipu.all_reduce(own(row)), ipu.broadcast(own(row), 2), ipu.assume_equal(row)

    total, third, same = both(lambda x: ipu.vmap(of_a_row)(x), X)
    assert np.allclose(total, OF_ALL.sum(0), rtol=1e-5) and np.array_equal(third, OF_ALL[2]) and np.array_equal(same, X)
    with pytest.raises(TypeError, match=r"vmap does not know what 'ipu\.all_gather' is for a batch"):
        ipu.compile(lambda x: ipu.vmap(lambda row: ipu.all_gather(row, 4))(x), args=[X], target=FOUR)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: ipu.all_reduce(x, "add"), "values are combined by sum, mean, min"),
        (lambda x: ipu.all_reduce(x, "and"), "booleans are combined by 'and' and 'or', numbers by others"),
        (lambda x: ipu.all_reduce(x.astype(np.int32), "mean"), "integers have none"),
        (lambda x: ipu.all_reduce(x.astype(np.uint32), "max"), "programs know no sign of integers"),
        (lambda x: ipu.all_gather(x, 0), "a group is the number of replicas in it, from 1 on, got 0"),
        (lambda x: ipu.reduce_scatter(x, 4), "takes tensors of one dimension, got"),
        (lambda x: ipu.all_to_all(x, 4, split=1), "cuts dimension 1 into 4 blocks"),
        (lambda x: ipu.broadcast(x, -1), "the number of a replica, from 0 on, got -1"),
    ],
)
def test_a_call_that_cannot_be_is_refused_in_words(call: Any, message: str) -> None:
    with pytest.raises(ipu.IpuError, match=message):
        ipu.compile(call, args=[X], target=FOUR)


def test_collectives_belong_to_traced_functions() -> None:
    with pytest.raises(TypeError, match="replica_index is called in traced functions"):
        ipu.replica_index()


def batches() -> Iterator[dict[str, np.ndarray]]:
    rng = np.random.default_rng(1)
    for _ in range(24):
        x = rng.standard_normal((4, 3)).astype(np.float32)
        yield {"x": x, "y": x @ np.float32([[1], [2], [3]])}


def trainer(name: str) -> tuple[ipu.Variable, Callable[[], Any]]:
    """Data-parallel training: each replica takes a batch of its own; the weights stay the same."""
    w = ipu.Variable(np.zeros((3, 1), np.float32), name="w")
    seen = ipu.Variable(np.zeros((), np.float32), name="seen")
    feed, log = ipu.Infeed(batches, name="feed"), ipu.Outfeed(name="log")

    def epoch() -> Any:
        def body(i: Any, carried: Any) -> Any:
            batch = feed.dequeue()
            error = batch["x"] @ w.value - batch["y"]
            gradient = ipu.all_reduce(batch["x"].T @ error, "mean")
            w.assign(w.value - np.float32(0.05) * gradient)
            seen.assign(seen.value + batch["x"].sum())
            log.enqueue({"loss": (error * error).mean(), "step": i})
            return carried

        ipu.fori_loop(0, 6, body, ())
        return w.value, seen.value

    return w, epoch


def test_training_on_replicas_is_training_on_one_large_batch() -> None:
    _, epoch = trainer("w")
    executable = ipu.compile(epoch, args=(), target=FOUR)
    session = executable.session()
    w, seen = session()
    log = session.read("log")
    assert log["loss"].shape == (6, 4) and log["step"][:, 3].tolist() == list(range(6))
    assert session["w"].shape == (3, 1) and session["seen"].shape == seen.shape == (4,)
    expected, elements = np.zeros((3, 1), np.float32), list(batches())
    for step in range(6):
        group = elements[4 * step : 4 * step + 4]
        errors = [each["x"] @ expected - each["y"] for each in group]
        assert np.allclose(log["loss"][step], [(error * error).mean() for error in errors], rtol=1e-4)
        gradients = [each["x"].T @ error for each, error in zip(group, errors, strict=True)]
        expected = expected - np.float32(0.05) * np.mean(gradients, axis=0)
    assert np.allclose(w, expected, rtol=1e-4, atol=1e-5) and np.array_equal(session["w"], w)
    sums = [sum(float(each["x"].sum()) for each in elements[r::4]) for r in range(4)]
    assert np.allclose(seen, sums, rtol=1e-4, atol=1e-4)
    with pytest.raises(ipu.RunError, match="has ended after 24 elements"):
        session()


def test_training_on_the_tiles_of_every_replica() -> None:
    (fast, first), (tiles, second) = (trainer(name) for name in "ab")
    ipu.compile(first, args=(), target=FOUR).run([])
    ipu.compile(second, args=(), target=FOUR).run_per_tile([])
    assert np.allclose(fast.value, tiles.value, rtol=1e-5)


class OneBadElement(Iterator[np.ndarray]):
    """The numbers from 0 to 7, with an error once before 2."""

    def __init__(self) -> None:
        self.number, self.is_broken = 0, True

    def __next__(self) -> np.ndarray:
        if self.number == 2 and self.is_broken:
            self.is_broken = False
            raise ValueError("a bad disk")
        if self.number == 8:
            raise StopIteration
        self.number += 1
        return np.float32(self.number - 1)


def test_an_error_in_a_stream_loses_no_element() -> None:
    feed = ipu.Infeed(OneBadElement, like=np.float32(0), name="once")
    session = ipu.compile(lambda: feed.dequeue(), args=(), target=FOUR).session()
    with pytest.raises(ValueError, match="a bad disk"):
        session()
    assert session().tolist() == [0, 1, 2, 3]
    assert session().tolist() == [4, 5, 6, 7]


def test_a_variable_that_differs_is_given_and_saved_as_one_or_as_many(tmp_path: Any) -> None:
    v = ipu.Variable(np.float32([1, 2]), name="v")

    def main() -> Any:
        v.assign(v.value + ipu.replica_index().astype(np.float32))
        return ipu.all_reduce(v.value)

    session = ipu.compile(main, args=(), target=TWO).session()
    assert session().tolist() == [3, 5] and session["v"].tolist() == [[1, 2], [2, 3]]
    session.save(tmp_path / "state.npz")
    session["v"] = np.float32([5, 5])
    assert session["v"].tolist() == [[5, 5], [5, 5]]
    session.load(tmp_path / "state.npz")
    assert session["v"].tolist() == [[1, 2], [2, 3]]
    with pytest.raises(ipu.RunError, match="has shape"):
        session["v"] = np.zeros((3, 2), np.float32)


def test_last_mode_has_a_row_for_each_replica() -> None:
    last = ipu.Outfeed("last", name="last")

    def main() -> None:
        last.enqueue({"own": ipu.replica_index(), "one": np.float32(1)})

    session = ipu.compile(main, args=(), target=TWO).session()
    session()
    found = session.read("last")
    assert found["own"].tolist() == [0, 1] and found["one"].tolist() == [1, 1]


def test_one_sum_over_all_replicas_is_one_product() -> None:
    def main() -> Any:
        batch = feed.dequeue()
        return ipu.all_reduce(batch["x"].T @ batch["y"])

    feed = ipu.Infeed(batches, name="feed")
    source = ipu.compile(main, args=(), target=FOUR).source()
    assert source.count("dot(") == 1 and "matmul(" not in source


def test_a_profile_is_of_one_replica_and_counts_links() -> None:
    _, epoch = trainer("w")
    executable = ipu.compile(epoch, args=(), target=FOUR)
    profile = executable.profile([])
    assert profile.target.replicas == 4 and "one of 4 replicas" in profile.summary()
    assert profile.execution.cycles.inter_ipu > 0
    assert [step.name for step in profile.compilation.steps].count("all_reduce of replicas") == 1


def marked(text: str, which: set[int]) -> ir.Module:
    """``text`` with a value of its own for each replica in the arguments of ``@main`` with those numbers."""
    module = parse_module(text, dialect.context())
    functions = [op.operation for op in module.body.operations if op.operation.name == "func.func"]
    main = next(op for op in functions if ir.StringAttr(op.attributes["sym_name"]).value == "main")
    with module.context:
        varies = ir.DictAttr.get({"ipu.varies": ir.BoolAttr.get(True)})
        count = len(main.regions[0].blocks[0].arguments)
        attributes = [varies if number in which else ir.DictAttr.get({}) for number in range(count)]
        main.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)
    return module


def moved(array: np.ndarray, replica: int) -> np.ndarray:
    """What the second replica has where the first has ``array``: its numbers in another order, or another one."""
    if array.ndim:
        return np.roll(array.reshape(-1), replica).reshape(array.shape)
    return np.asarray(array + replica, array.dtype) if array.dtype.kind in "if" and abs(array) < 100 else array


REPRESENTATIVES = ("sort-rows-f32", "scan-while-add-f32-2", "slice-at-5", "update-at-5", "math.fma-rounds-once")


def check_case(name: str, which: set[int], *, per_tile: bool) -> None:
    """Two replicas give what one gives that has the inputs of each of them."""
    case = CASES[name]
    try:
        executable = ipu.compile(marked(case.text, which), target=TWO)
    except ipu.CompileError as error:
        assert "differs between replicas" in str(error)
        pytest.skip("its control flow depends on data")
    each = [[moved(x, r) if n in which else x for n, x in enumerate(case.inputs)] for r in range(2)]
    together = [np.stack(pair) if n in which else pair[0] for n, pair in enumerate(zip(*each, strict=True))]
    alone = ipu.compile(case.text, target=ALONE)
    for found in (executable.run(together), *([executable.run_per_tile(together)] if per_tile else [])):
        for r in range(2):
            expected = alone.run(each[r])
            mine = [x if x.shape == y.shape else x[r] for x, y in zip(found, expected, strict=True)]
            assert_close(mine, expected, case.sum_length, f"replica {r}")


KINDS = sorted({name.split("-")[0]: name for name in CASES if CASES[name].inputs}.values())
"""A case of each family."""


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_op_takes_the_axis(name: str) -> None:
    check_case(name, set(range(len(CASES[name].inputs))), per_tile=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if CASES[name].inputs])
def test_every_case_with_one_argument_that_differs(name: str) -> None:
    check_case(name, {len(name) % len(CASES[name].inputs)}, per_tile=False)


@pytest.mark.parametrize("name", [name for name in REPRESENTATIVES if name in CASES])
def test_kinds_of_ops_take_the_axis(name: str) -> None:
    check_case(name, set(range(len(CASES[name].inputs))), per_tile=True)
