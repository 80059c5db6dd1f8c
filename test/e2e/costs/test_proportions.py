"""Programs that do the same work in another form, or on machines of the same links, cost about the same."""

import numpy as np
import pytest

import ipu_mlir as ipu

F32 = np.float32


def _cycles(function, args, **target) -> int:
    """Cycles of a run but for those of the host."""
    cycles = ipu.compile(function, args=args, target=ipu.Target(**target)).profile().execution.cycles
    return cycles.total - cycles.host


def _inside(u):
    middle = u[1:-1, 1:-1]
    around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    return middle + F32(0.1) * (around - F32(4) * middle)


@pytest.mark.parametrize(
    "step",
    [
        lambda u: np.pad(_inside(u), 1),
        lambda u: u.at[1:-1, 1:-1].set(_inside(u)),
        lambda u: ipu.dynamic_update_slice(u, _inside(u), (1, 1)),
    ],
    ids=["pad", "at", "dynamic_update_slice"],
)
def test_a_frame_around_a_step_of_a_loop_costs_no_more_than_the_step(step) -> None:
    rounds = 10
    u = np.zeros((66, 66), F32)
    framed = _cycles(lambda u: ipu.fori_loop(0, rounds, lambda i, u: step(u), u), [u], tiles_per_ipu=16)
    once = _cycles(_inside, [u], tiles_per_ipu=16)
    assert framed < 1.5 * rounds * once


def test_a_step_of_what_is_padded_costs_what_a_step_inside_a_frame_does() -> None:
    def padded(u):
        wide = np.pad(u, 1)
        return _inside(wide)

    def framed(u):
        return u.at[1:-1, 1:-1].set(_inside(u))

    many = [ipu.TensorSpec((800, 800))]
    found = [
        _cycles(lambda u, step=step: ipu.fori_loop(0, 10, lambda i, u: step(u), u), many, tiles_per_ipu=64)
        for step in (padded, framed)
    ]
    assert found[0] < 1.03 * found[1]


def test_replicas_of_more_ipus_share_the_links() -> None:
    w = ipu.Variable(np.zeros(1 << 14, F32), name="w")
    found = [_cycles(lambda: w.assign(ipu.all_reduce(w.value + F32(1))), (), ipus=n, replicas=4) for n in (1, 2, 4)]
    assert max(found) < 1.5 * min(found)


def test_steps_leave_room_for_the_operands_that_they_take_slices_of() -> None:
    """Part of each tile has the operands themselves; a step that fitted an empty tile would be too large."""
    args = [ipu.TensorSpec((2048, 2048)), ipu.TensorSpec((2048, 512))]
    assert ipu.compile(lambda a, b: a @ b, args=args, target=ipu.Target(tiles_per_ipu=64)).profile().compilation.fits
