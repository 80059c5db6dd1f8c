"""Orders of supersteps that take less memory at one time."""

import random
from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.passes.supersteps.least_peak import Buffer, least_peak_order, peak_of


@pytest.mark.parametrize("seed", range(20))
def test_least_peak_order_keeps_what_has_to_follow_and_is_never_worse(seed: int) -> None:
    draw = random.Random(seed)
    count = draw.randrange(1, 60)
    after = [set(draw.sample(range(place), draw.randrange(min(place, 3) + 1))) for place in range(count)]
    users = [{place} | {each for each in range(count) if place in after[each]} for place in range(count)]
    buffers = [
        Buffer(draw.randrange(1, 50), tuple(sorted(each)), is_given=draw.random() < 0.2, is_kept=draw.random() < 0.2)
        for each in users
    ]
    order = least_peak_order(after, buffers, draw.sample(range(count), count // 2))
    place = {task: number for number, task in enumerate(order)}
    assert sorted(order) == list(range(count))
    assert all(place[each] < place[task] for task in range(count) for each in after[task])
    assert peak_of(order, buffers) <= peak_of(list(range(count)), buffers)


def test_many_tasks_take_little_more_than_their_share_of_time() -> None:
    buffers = [Buffer(64, (task, 2_000 + task)) for task in range(2_000)]
    order = least_peak_order([set() for _ in range(2_000)] + [{task} for task in range(2_000)], buffers)
    assert peak_of(order, buffers) == 64


def _products_then_sums(x: Any, ws: list[Any]) -> list[Any]:
    products = [x @ w for w in ws]
    return [product.sum(axis=0) for product in products]


def test_a_program_that_did_not_fit_fits() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((64, 64)).astype(np.float32)
    ws = [rng.standard_normal((64, 64)).astype(np.float32) for _ in range(6)]
    target = ipu.Target(tiles_per_ipu=4, bytes_per_tile=56_000)
    executable = ipu.compile(_products_then_sums, args=[x, ws], target=target)
    memory = executable.profile().compilation.memory
    assert memory.worst_bytes <= 56_000 < (memory.worst_bytes_as_written or 0)
    assert f"as written, {memory.worst_bytes_as_written:,} B" in executable.profile().summary()
    for results in (executable(x, ws), executable.run_per_tile([x, *ws])):
        np.testing.assert_allclose(results, [(x @ w).sum(axis=0) for w in ws], rtol=1e-4, atol=1e-4)
