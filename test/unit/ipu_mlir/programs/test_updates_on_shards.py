"""Updates of partitioned variables, computed by each replica for its part: as those of whole ones."""

import numpy as np
import pytest

import ipu_mlir as ipu

F32 = np.float32


def adam(shape, partition, replicas=3, offload=True, gradients=F32, every=1, results="mvw"):
    """Steps of Adam with a gradient of each replica, of which so many make an update; and the program."""
    state = {"offload": offload, "partition": partition}
    m, v = (ipu.Variable(np.zeros(shape, F32), name=name, **state) for name in "mv")
    w = ipu.Variable(np.linspace(-1, 1, np.prod(shape), dtype=F32).reshape(shape), name="w")
    total = ipu.Variable(np.zeros(shape, F32), name="total")

    def update():
        gradient = ipu.all_reduce(total.value.astype(gradients), "mean").astype(F32) + w.value * F32(0.01)
        m.assign(m.value * F32(0.9) + gradient * F32(0.1))
        v.assign(v.value * F32(0.99) + gradient * gradient * F32(0.01))
        w.assign(w.value - F32(0.5) * m.value / (np.sqrt(v.value) + F32(1e-3)))
        total.assign(np.zeros(shape, F32))
        return np.int32(0)

    def main(x):
        def body(i, carried):
            total.assign(total.value + (w.value - x) * ipu.replica_index().astype(F32))
            return ipu.cond((i + 1) % every == 0, update, lambda: np.int32(0)) if every > 1 else update()

        ipu.fori_loop(0, 2 * every, body, np.int32(0))
        return tuple({"m": m, "v": v, "w": w}[name].value for name in results)

    target = ipu.Target(tiles_per_ipu=4, replicas=replicas)
    return ipu.compile(main, args=[np.zeros(shape, F32)], target=target)


@pytest.mark.parametrize("options", [{}, {"gradients": np.float16}, {"every": 2}], ids=["plain", "halves", "gathered"])
def test_values_are_those_of_whole_variables(options):
    x = np.random.default_rng(0).standard_normal((5, 4)).astype(F32)
    whole, parts = (adam((5, 4), partition, **options) for partition in (False, True))
    assert "reduce_scatter" in parts.mlir("l1") and "all_reduce" not in parts.mlir("l1")
    for wanted, given, on_tiles in zip(
        whole(x), parts(x), adam((5, 4), True, **options).run_per_tile([x]), strict=True
    ):
        np.testing.assert_array_equal(given, wanted)
        np.testing.assert_array_equal(on_tiles, wanted)


def test_updates_take_fewer_cycles_and_less_memory():
    whole, parts = (
        adam((32, 64), partition, replicas=8, offload=partition, results="w").profile() for partition in (False, True)
    )
    assert parts.execution.cycles.total < whole.execution.cycles.total
    assert parts.compilation.memory.worst_bytes < whole.compilation.memory.worst_bytes


def test_integers_that_are_divided_are_whole():
    """Behind the elements of a part are others, by which nobody may divide."""
    count = ipu.Variable(np.arange(1, 6, dtype=np.int32), name="count", offload=True, partition=True)

    def main(x):
        count.assign(x // count.value)
        return count.value

    x = np.full(5, 60, np.int32)
    exe = ipu.compile(main, args=[x], target=ipu.Target(tiles_per_ipu=4, replicas=3))
    np.testing.assert_array_equal(exe(x), [60, 30, 20, 15, 12])
