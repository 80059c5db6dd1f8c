"""IPUs that wait for each other only where they meet."""

from fractions import Fraction

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.runtime.profile.overlap import Stretch, then, times

TARGET = ipu.Target(ipus=2, tiles_per_ipu=8)


def own(*cycles):
    return Stretch.of(cycles)


def met(*cycles):
    return Stretch.of(cycles, meeting=range(len(cycles)))


def clocks(steps):
    """The same by hand: a clock for each IPU."""
    clock = np.zeros(2)
    for cycles, meets in steps:
        clock = (max(clock) if meets else clock) + np.array(cycles)
    return max(clock)


STEPS = [((5, 1), False), ((2, 5), True), ((1, 1), False), ((0, 7), False), ((4, 4), True), ((2, 2), False)]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_stretches_count_as_clocks_do(count):
    whole = own(0, 0)
    for cycles, meets in STEPS:
        whole = then(whole, met(*cycles) if meets else own(*cycles))
    assert whole.cycles == clocks(STEPS)
    assert times(whole, count).cycles == clocks(STEPS * count)
    assert times(then(own(3, 0), own(0, 4)), count).cycles == clocks([((3, 4), False)] * count)


def test_what_runs_half_of_the_times_takes_half_of_the_cycles():
    whole = then(own(5, 1), met(2, 5))
    assert times(whole, Fraction(1, 2)).cycles == whole.cycles / 2
    assert times(whole, 0).cycles == 0


def test_some_meet_and_others_go_on():
    pair = Stretch.of([3, 4, 0], meeting=[0, 1])
    late = then(own(10, 0, 1), pair)
    assert late.after(np.zeros(3)).tolist() == [13, 14, 1]
    assert late.after(np.array([0, 20, 5])).tolist() == [23, 24, 6]
    assert times(late, 2).after(np.zeros(3)).tolist() == [26, 27, 2]


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
    found = profile(chain, X, target=ipu.Target(tiles_per_ipu=8)).execution
    assert found.cycles.overlapped == 0 and [each.waiting for each in found.ipus] == [0]


@pytest.mark.parametrize(("order", "ipus"), [("snake", [0, 1, 3, 2]), ("hoof", [0, 2, 3, 1]), ("auto", [0, 1, 2, 3])])
def test_ipus_are_named_as_in_the_machine(order, ipus):
    target = ipu.Target(ipus=4, tiles_per_ipu=4, selection_order=order)
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
            target=ipu.Target(ipus=4, tiles_per_ipu=4, selection_order=order),
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
            return np.tanh(w @ w / 32)

        return ipu.fori_loop(0, steps, step, w)

    return ipu.compile(main, args=(W,), target=ipu.Target(tiles_per_ipu=8 + io_tiles, io_tiles=io_tiles))


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

    exe = ipu.compile(main, args=(W,), target=ipu.Target(ipus=2, tiles_per_ipu=8, io_tiles=2))
    assert np.allclose(exe.run_per_tile([W])[0], exe(W), atol=1e-3)
    sizes = exe.profile().tile_bytes(including_gaps=False)
    assert (sizes[:6] > 6000).all() and (sizes[6:] < 200).all()  # these have code of the control program


ROUNDS = 8


def layers_on_two_ipus(target):
    """Elements come to the first IPU, and what the second makes of them goes to the host."""
    feed, log = ipu.Infeed([np.ones((16, 256), np.float32)], name="feed"), ipu.Outfeed(name="log")
    weights = [np.ones(shape, np.float32) for shape in ((256, 256), (256, 64))]

    def main(w, v):
        def body(i, carried):
            x = feed.dequeue()
            with ipu.shard(0):
                h = np.tanh(x @ w)
            with ipu.shard(1):
                log.enqueue(np.tanh(h @ v))
            return carried

        ipu.fori_loop(0, ROUNDS, body, ())

    return ipu.compile(main, args=weights, target=target).profile()


def test_io_tiles_of_each_ipu_are_at_work_beside_the_others():
    found = layers_on_two_ipus(ipu.Target(ipus=2, tiles_per_ipu=20, io_tiles=4))
    without = layers_on_two_ipus(ipu.Target(ipus=2, tiles_per_ipu=16))
    assert found.total_cycles < without.total_cycles
    names = [step.name for step in found.compilation.steps]
    io = {name: (step.io, step.io_ipus) for name, step in zip(names, found.execution.steps, strict=True) if step.io}
    assert io["dequeue of @feed"] == io["receive of @feed"] == ("alone", (0,))
    assert io["put of @log"] == io["enqueue of @log"] == ("alone", (1,))
    assert {each for each in io.values() if each[0] == "meets"} == {("meets", (0,)), ("meets", (1,))}

    clocks = {"first": 0, "second": 0, "in": 0, "out": 0}
    steps = [each for each in zip(names, found.execution.steps, strict=True) if each[1].count == ROUNDS]
    arguments, results = found.execution.steps[-2:]
    clocks["first"] = clocks["second"] = arguments.cycles
    for _ in range(ROUNDS):
        for name, step in steps:
            of_first, of_second = (sum(each) for each in step.per_ipu)
            if step.io == "alone":
                clocks["in" if step.io_ipus == (0,) else "out"] += step.cycles
            elif step.io == "meets":
                pair = ("first", "in") if step.io_ipus == (0,) else ("second", "out")
                clocks |= dict.fromkeys(pair, max(clocks[each] for each in pair) + step.cycles)
            elif step.inter_ipu:
                begin = max(clocks["first"], clocks["second"]) + step.sync
                clocks["first"], clocks["second"] = begin + of_first, begin + of_second
            else:
                assert step.compute or name.startswith("exchange")
                clocks["first"] += of_first + (step.sync if of_first else 0)
                clocks["second"] += of_second + (step.sync if of_second else 0)
    assert found.total_cycles == max(*clocks.values(), max(clocks["first"], clocks["second"]) + results.cycles)
    for each in found.execution.ipus:
        assert each.waiting >= 0 and each.host == arguments.host
    drawn = [
        each for each in found.chrome_trace()["traceEvents"] if each["ph"] == "M" and each["name"] == "process_name"
    ]
    assert [each["args"]["name"] for each in drawn] == ["IPU 0", "IPU 1", "I/O tiles of IPU 0", "I/O tiles of IPU 1"]


def test_rows_of_remote_memory_come_by_io_tiles_of_the_ipu_that_needs_them():
    target = ipu.Target(ipus=2, tiles_per_ipu=10, io_tiles=2)
    rows = ipu.RemoteBuffer(np.ones((12, 64), np.float32), name="rows")

    def main(x):
        def body(i, x):
            with ipu.shard(1):
                return np.sin(np.sort(rows.load(i) + x))

        return ipu.fori_loop(0, 12, body, x)

    steps = ipu.compile(main, args=(X,), target=target).profile().execution
    assert steps.cycles.overlapped > 0
    assert {step.io_ipus for step in steps.steps if step.io} == {(1,)}


def test_merged_exchanges_between_ipus_have_one_sync():
    def main(x, y):
        with ipu.shard(0):
            a, b = np.exp(x), np.tanh(y)
        with ipu.shard(1):
            return a @ b

    def compiled(size):
        passes = f"ipu-compile,ipu-merge-collectives{{inter-ipu-bytes={size}}}"
        return ipu.compile(main, args=(W, W), target=TARGET, pipeline=passes)

    apart, joined = compiled(0), compiled(10_000)
    np.testing.assert_array_equal(apart(W, W), joined(W, W))
    np.testing.assert_array_equal(joined.run_per_tile([W, W])[0], apart.run_per_tile([W, W])[0])
    before, after = (exe.profile().execution for exe in (apart, joined))
    syncs = [step.sync for step in before.steps if step.inter_ipu]
    assert len(syncs) == 2 and before.cycles.sync - after.cycles.sync == syncs[0]
    assert after.cycles.total < before.cycles.total
