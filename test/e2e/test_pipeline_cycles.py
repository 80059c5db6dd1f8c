"""The IPUs of a pipeline work at the same time: it takes the cycles of its slots, not of all stages in a row."""

from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.dialects.machine.machine import machine_of

ROWS, SIZE, TILES, STAGES = 64, 256, 64, 4


def middle(w: Any, h: Any) -> Any:
    return np.tanh(h @ w)


def last(w: Any, h: Any, y: Any) -> Any:
    return ((np.tanh(h @ w) - y) ** 2).mean()


def spec(*shape: int) -> ipu.TensorSpec:
    return ipu.TensorSpec(shape, np.float32)


def profile_of(schedule: str, count: int) -> Any:
    pipe = ipu.pipeline([middle] * (STAGES - 1) + [last], count, schedule)

    def step(parameters, x, y):
        return pipe.value_and_grad(parameters, [x, *[None] * (STAGES - 2), y])

    data, target = spec(count, ROWS, SIZE), ipu.Target(tiles_per_ipu=TILES, ipus=STAGES)
    return ipu.compile(step, args=([spec(SIZE, SIZE)] * STAGES, data, data), target=target).profile()


def device_cycles(profile: Any) -> int:
    """Cycles without those of the host."""
    return profile.total_cycles - profile.execution.cycles.host


def slowest_stage(profile: Any, count: int) -> float:
    """Cycles that the IPU with most to do is at work for one micro-batch, forwards and backwards."""
    at_work = np.zeros(STAGES)
    for step in profile.execution.steps:
        at_work += [step.count * (compute + exchange) for compute, exchange, _ in step.per_ipu]
    return at_work.max() / count


@pytest.mark.parametrize("count", [16, 64])
def test_grouped_slots_take_the_time_of_the_slowest_stage(count):
    profile = profile_of("grouped", count)
    assert device_cycles(profile) <= 1.1 * (count + STAGES - 1) * slowest_stage(profile, count)
    links = sum(step.count * step.inter_ipu for step in profile.execution.steps)
    machine = machine_of(ipu.Target())
    of_one = ROWS * SIZE * 4 * machine.clock_hz / machine.neighbour_bytes_per_second
    assert links <= 2.1 * (count + 2 * STAGES) * of_one, "all carry at once; from stage 1 to 2 by way of IPU 3"


def test_what_only_forward_parts_read_lies_on_the_ipu_of_its_stage() -> None:
    """Else each of them would wait for all IPUs, and they would run one after the other."""

    def biased(w: Any, h: Any) -> Any:
        return np.tanh(h @ w["w"]) + w["b"]

    weights = {"w": spec(SIZE, SIZE), "b": spec(SIZE)}
    pipe = ipu.pipeline([biased] * STAGES, 16, recompute="inputs", loss=lambda h, y: ((h - y) ** 2).mean())

    def step(parameters, x, y):
        return pipe.value_and_grad(parameters, [x, *[None] * (STAGES - 2), y])

    data, target = spec(16, ROWS, SIZE), ipu.Target(tiles_per_ipu=TILES, ipus=STAGES)
    profile = ipu.compile(step, args=([weights] * STAGES, data, data), target=target).profile()
    assert device_cycles(profile) <= 1.15 * (16 + 2 * STAGES - 2) * slowest_stage(profile, 16)


@pytest.mark.slow
def test_stages_at_the_same_time_are_faster_than_one_after_the_other():
    names = ("grouped", "interleaved", "sequential")
    grouped, interleaved, sequential = (device_cycles(profile_of(name, 16)) for name in names)
    assert grouped < 0.4 * sequential
    assert interleaved < 0.5 * sequential


def test_rings_are_written_and_read_where_they_lie():
    profile = profile_of("grouped", 16)
    names = [each.name for each in profile.compilation.steps]
    places = [place for place, name in enumerate(names) if name == "update_slice_f32"]
    assert len(places) >= STAGES - 1
    assert all(profile.compilation.steps[place - 1].kind == "compute" for place in places[: STAGES - 1])


def test_data_of_a_pipeline_come_while_its_stages_compute() -> None:
    """On I/O tiles; with as many others for the stages as without them."""
    rng = np.random.default_rng(0)
    w, (x, y) = rng.standard_normal((2, 64, 64)).astype(np.float32) / 8, rng.standard_normal((2, 8, 64, 64))
    infeeds = [ipu.Infeed(list(each.astype(np.float32)), name=name) for each, name in ((x, "x"), (y, "y"))]

    def trained(io_tiles: int) -> tuple[Any, int]:
        stages = [lambda w: middle(w, infeeds[0].dequeue()), lambda w, h: last(w, h, infeeds[1].dequeue())]
        pipe = ipu.pipeline(stages, 8)
        target = ipu.Target(ipus=2, tiles_per_ipu=16 + io_tiles, io_tiles=io_tiles)
        exe = ipu.compile(lambda w: pipe.value_and_grad([w[0], w[1]]), args=(w,), target=target)
        return exe.session()(w), exe.profile().total_cycles

    (wanted, before), (found, after) = trained(0), trained(4)
    assert after < 0.9 * before
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-5)
    np.testing.assert_allclose(found[1], wanted[1], rtol=1e-4, atol=1e-5)
