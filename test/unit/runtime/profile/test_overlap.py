"""IPUs that wait for each other only where they meet."""

from fractions import Fraction

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.runtime.profile.overlap import Stretch, then, times

TARGET = ipu.Target(name="small", ipus=2, tiles_per_ipu=8)


def own(*cycles):
    return Stretch(tuple(map(Fraction, cycles)))


def met(cycles, *after):
    return Stretch((Fraction(0),) * len(after), Fraction(cycles), tuple(map(Fraction, after)))


def clocks(steps):
    """The same by hand: a clock for each IPU."""
    clock = np.zeros(2, dtype=object) + Fraction(0)
    for step in steps:
        if step.met is None:
            clock = clock + np.array(step.head)
        else:
            clock = np.array([max(clock) + step.met] * 2) + np.array(step.tail)
    return max(clock)


STEPS = [own(5, 1), met(2, 0, 3), own(1, 1), own(0, 7), met(4, 0, 0), own(2, 2)]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_stretches_count_as_clocks_do(count):
    whole = own(0, 0)
    for step in STEPS:
        whole = then(whole, step)
    assert whole.cycles == clocks(STEPS)
    assert times(whole, count).cycles == clocks(STEPS * count)
    assert times(then(own(3, 0), own(0, 4)), count).cycles == clocks([own(3, 4)] * count)


def test_what_runs_half_of_the_times_takes_half_of_the_cycles():
    whole = then(own(5, 1), met(2, 0, 3))
    assert times(whole, Fraction(1, 2)).cycles == whole.cycles / 2


def profile(function, *args, target=TARGET):
    return ipu.compile(ipu.function(function), args=args, target=target).profile(list(args))


X = np.linspace(0, 1, 64, dtype=np.float32)


def chain(x, rounds=6):
    for _ in range(rounds):
        x = np.sort(np.exp(x))
    return x


def test_ipus_without_data_between_them_work_at_the_same_time():
    def both(x, y):
        with ipu.shard(0):
            a = chain(x)
        with ipu.shard(1):
            b = chain(y)
        return a, b

    def one(x):
        with ipu.shard(1):
            return chain(x)

    alone, together = profile(one, X), profile(both, X, X.copy())
    assert alone.total_cycles <= together.total_cycles < 1.01 * alone.total_cycles
    first, second = together.execution.ipus
    assert first.compute == second.compute > 0 and together.execution.cycles.inter_ipu == 0
    assert max(first.waiting, second.waiting) < 0.01 * together.total_cycles


def test_ipus_that_need_each_others_data_wait():
    def pipeline(x):
        with ipu.shard(0):
            a = chain(x)
        with ipu.shard(1):
            return chain(a)

    found = profile(pipeline, X).execution
    first, second = found.ipus
    assert found.cycles.overlapped == 0 and found.cycles.inter_ipu == first.inter_ipu == second.inter_ipu > 0
    assert first.waiting >= second.compute and second.waiting >= first.compute
    for each in found.ipus:
        own_cycles = [getattr(each, kind) for kind in ("compute", "exchange", "inter_ipu", "sync", "host", "waiting")]
        assert sum(own_cycles) == found.cycles.total


def test_loops_overlap_round_by_round():
    def net(x, y, n):
        def body(_, carried):
            a, b = carried
            with ipu.shard(0):
                a = chain(a, 2)
            with ipu.shard(1):
                b = chain(b, 2)
            return a, b

        return ipu.fori_loop(0, n, body, (x, y))

    def swapped(x, y, n):
        def body(_, carried):
            with ipu.shard(0):
                a = chain(carried[0], 2)
            with ipu.shard(1):
                b = chain(carried[1], 2)
            return b, a

        return ipu.fori_loop(0, n, body, (x, y))

    apart, joined = (profile(each, X, X.copy(), np.int32(4)).execution for each in (net, swapped))
    assert apart.cycles.overlapped > apart.cycles.total / 4
    assert joined.cycles.total > apart.cycles.total and joined.cycles.inter_ipu > 0
    assert all(each.waiting >= 0 for found in (apart, joined) for each in found.ipus)


def test_one_ipu_never_waits():
    found = profile(chain, X, target=ipu.Target(name="small", tiles_per_ipu=8)).execution
    assert found.cycles.overlapped == 0 and [each.waiting for each in found.ipus] == [0]


@pytest.mark.parametrize(("order", "ipus"), [("snake", [0, 1, 3, 2]), ("hoof", [0, 2, 3, 1]), ("auto", [0, 1, 2, 3])])
def test_ipus_are_named_as_in_the_machine(order, ipus):
    target = ipu.Target(name="small", ipus=4, tiles_per_ipu=4, selection_order=order)
    assert [each.ipu for each in profile(np.exp, X, target=target).execution.ipus] == ipus


def test_neighbours_on_the_ladder_are_nearer():
    def ring(x):
        for index in range(4):
            with ipu.shard(index):
                x = np.exp(x)
        return x

    links = {
        order: profile(
            ring,
            np.zeros(4096, np.float32),
            target=ipu.Target(name="small", ipus=4, tiles_per_ipu=4, selection_order=order),
        ).execution.cycles.inter_ipu
        for order in ("zigzag", "snake", "hoof")
    }
    assert links["snake"] == links["hoof"]
    # of three moves zigzag has one over two links; the IPU between takes as long for it as the two at the ends
    assert links["zigzag"] == links["snake"]


W = np.random.default_rng(0).standard_normal((32, 32)).astype(np.float32)
KINDS = ("compute", "exchange", "inter_ipu", "sync", "host")


def streamed(io_tiles, steps=20, logs=True):
    """Steps on batches, each with an enqueue if it ``logs``, on 8 tiles and I/O tiles besides."""
    feed = ipu.Infeed(lambda: iter([W] * steps), name="feed")
    log = ipu.Outfeed(name="log")

    def main(w):
        def step(_, w):
            x = feed.dequeue()
            w = np.tanh(x @ w)
            if logs:
                log.enqueue(w)
            return w

        return ipu.fori_loop(0, steps, step, w)

    return ipu.compile(main, args=(W,), target=ipu.Target(name="small", tiles_per_ipu=8 + io_tiles, io_tiles=io_tiles))


def test_io_tiles_take_and_give_data_of_the_host_while_the_others_compute():
    alone, beside = streamed(0), streamed(8)
    expected = alone.session()(W)
    assert np.array_equal(beside.session()(W), expected)
    before, after = (each.profile().execution for each in (alone, beside))
    names = [step.name for step in beside.profile().compilation.steps]
    apart = {name for name, step in zip(names, after.steps, strict=True) if step.io == "alone"}
    assert apart == {"dequeue of @feed", "receive of @feed", "put of @log", "enqueue of @log"}
    assert "meets" in {step.io for step in after.steps} and {step.io for step in before.steps} == {None}
    (ipu_alone,) = after.ipus
    assert before.cycles.overlapped == 0 < after.cycles.overlapped and after.cycles.total < before.cycles.total
    assert ipu_alone.waiting >= 0
    assert sum(getattr(ipu_alone, kind) for kind in KINDS) + ipu_alone.waiting == after.cycles.total
    assert ipu.Profile.from_json(beside.profile().to_json()) == beside.profile()


def test_nobody_waits_for_elements_but_the_first_where_computing_takes_longer():
    found = streamed(8, logs=False).profile().execution
    in_streams = [step.cycles for step in found.steps if step.io == "alone"]
    between = sum(step.cycles for step in found.steps if step.count == 20 and step.io is None)
    assert sum(in_streams) < between
    arguments = found.steps[-2].cycles  # meanwhile the first element comes
    assert found.cycles.overlapped == 19 * sum(in_streams) + min(arguments, sum(in_streams))


def test_data_on_io_tiles_is_that_of_the_per_tile_executor():
    exe = streamed(2, steps=2)
    assert np.allclose(exe.run_per_tile([W])[0], exe.session()(W), atol=1e-5)


def test_what_belongs_to_no_ipu_is_on_the_first_one_where_io_tiles_lie_between_ipus():
    def main(x):
        first = np.exp(x) @ x
        with ipu.shard(-1):
            return first + x

    exe = ipu.compile(main, args=(W,), target=ipu.Target(name="small", ipus=2, tiles_per_ipu=8, io_tiles=2))
    assert np.allclose(exe.run_per_tile([W])[0], exe(W), atol=1e-3)
    sizes = exe.profile().tile_bytes(including_gaps=False)
    assert (sizes[:6] > 7000).all() and (sizes[6:] < 200).all()  # these have code of the control program
