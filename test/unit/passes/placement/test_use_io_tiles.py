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
