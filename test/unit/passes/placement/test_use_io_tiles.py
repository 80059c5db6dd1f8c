"""Data of the host that does not fit I/O tiles: computed as well, and said."""

import numpy as np
import pytest

import ipu_mlir as ipu


def test_too_large_tensors_stay_on_tiles_that_compute_with_a_warning():
    target = ipu.Target(tiles_per_ipu=5, io_tiles=1, bytes_per_tile=20_000)
    feed = ipu.Infeed([(np.ones(5000, np.float32), np.float32(2))], name="feed")

    def main():
        large, factor = feed.dequeue()
        return large.sum() * factor

    with pytest.warns(ipu.MemoryWarning, match=r"tensor<5000xf32>, 20,000 B on each of 1 I/O tiles, where 18,000 B"):
        exe = ipu.compile(main, args=(), target=target)
        placed = [line for line in exe.mlir("l2").splitlines() if "ipu.place" in line]
    assert float(exe()) == 10_000
    assert not any("5000" in line for line in placed)


def test_io_tiles_compute_nothing():
    feed, log = ipu.Infeed([np.ones((16, 256), np.float32)], name="feed"), ipu.Outfeed(name="log")

    def main(w):
        log.enqueue(np.tanh(feed.dequeue() @ w))

    exe = ipu.compile(main, args=(np.ones((256, 64), np.float32),), target=ipu.Target(tiles_per_ipu=20, io_tiles=4))
    steps = dict(zip(exe.profile().compilation.steps, exe.profile().execution.steps, strict=True))
    tanh = next(found for step, found in steps.items() if step.name == "tanh_f32")
    assert tanh.active_tiles == 16
    assert [found.io for step, found in steps.items() if "exchange" in step.name][-1] == "meets"


def _training(feed, log):
    w = ipu.Variable(np.ones((64, 8), np.float32), name="w")

    def main():
        def step(i, carried):
            x = feed.dequeue()
            y = np.tanh(x @ w.value)
            w.assign(w.value - np.float32(0.01) * (x.T @ y))
            log.enqueue({"mean": y.mean(), "round": i})
            return carried

        ipu.fori_loop(0, 5, step, ())

    return main


@pytest.mark.parametrize("at_once", [False, True])
def test_results_of_a_round_leave_in_the_next_one_in_their_order(at_once):
    elements = [np.random.default_rng(n).standard_normal((16, 64)).astype(np.float32) for n in range(5)]
    found, cycles = [], []
    for io_tiles in (0, 4):
        feed, log = ipu.Infeed(elements, name="feed"), ipu.Outfeed(name="log", at_once=at_once)
        exe = ipu.compile(_training(feed, log), args=(), target=ipu.Target(tiles_per_ipu=20, io_tiles=io_tiles))
        exe()
        found.append(log.read())
        cycles.append(exe.profile().execution.cycles)
    assert found[0]["round"].tolist() == found[1]["round"].tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(found[0]["mean"], found[1]["mean"], rtol=1e-5)
    assert cycles[0].overlapped == 0
    assert (cycles[1].overlapped > 0.05 * cycles[1].total) == (not at_once)
