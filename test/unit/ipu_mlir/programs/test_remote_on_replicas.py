"""Remote memory of programs on several replicas, on both executors: each has rows of its own, tables all share."""

import numpy as np
import pytest

import ipu_mlir as ipu

F32 = np.float32
R = 2
TARGET = ipu.Target(tiles_per_ipu=4, replicas=R)
START = np.arange(24, dtype=F32).reshape(6, 4)


def both(exe, *args):
    """What a session gives, as the per-tile executor does too; and the session."""
    session = exe.session()
    given = session(*args)
    for a, b in zip(given if isinstance(given, tuple) else (given,), exe.run_per_tile(list(args)), strict=True):
        np.testing.assert_array_equal(a, b)
    return given, session


def test_each_replica_has_rows_of_its_own():
    table = ipu.RemoteBuffer(START, name="table")

    def main(x):
        r = ipu.replica_index()
        own = table.load(r + 1)
        table.store(2 * r, own + x)
        table.store(r + 2, table.load(r, rows=2))
        return own, table.load(0), table.load(1, rows=3)

    (own, first, three), session = both(ipu.compile(main, args=(np.ones(4, F32),), target=TARGET), np.ones(4, F32))
    wanted = np.stack([START, START])
    for r in range(R):
        wanted[r, 2 * r] = START[r + 1] + 1
        wanted[r, r + 2 : r + 4] = wanted[r, r : r + 2].copy()
    np.testing.assert_array_equal(own, START[1:3])
    np.testing.assert_array_equal(first, wanted[:, 0])
    np.testing.assert_array_equal(three, wanted[:, 1:4])
    np.testing.assert_array_equal(session["table"], wanted)
    np.testing.assert_array_equal(table.own.array, wanted)


def test_rows_that_are_the_same_are_there_once(tmp_path):
    table = ipu.RemoteBuffer(START, name="table")

    def main(i):
        table.store(i, table.load(i) * 2)
        return table.load(0) + ipu.replica_index()

    given, session = both(ipu.compile(main, args=(np.int32(0),), target=TARGET), np.int32(1))
    np.testing.assert_array_equal(given, [START[0], START[0] + 1])
    assert session["table"].shape == START.shape and session["table"][1, 1] == 10
    with pytest.raises(ipu.RunError, match="remote buffer 'table' has rows 0 to 5, and the program moves row 6"):
        session(np.int32(6))


def test_rows_of_replicas_are_saved_and_given(tmp_path):
    table = ipu.RemoteBuffer(START, name="table", file=tmp_path / "rows.npy")
    exe = ipu.compile(lambda: table.store(0, table.load(0) + ipu.replica_index().astype(F32)), args=(), target=TARGET)
    session = exe.session()
    session()
    assert np.load(tmp_path / "rows.npy").shape == (R, 6, 4)
    session["table"] = START
    session()
    np.testing.assert_array_equal(session["table"][:, 0], [START[0], START[0] + 1])
    session.save(tmp_path / "state.npz")
    other = exe.session(files={"table": tmp_path / "others.npy"})
    with pytest.raises(ipu.RunError, match=r"has shape \(3,\), expected \(2, 6, 4\)"):
        other["table"] = np.zeros(3, F32)


@pytest.mark.parametrize("differs", [False, True])
def test_offloaded_variables(differs):
    w = ipu.Variable(START[0], name="w", offload=True)

    def main(x):
        step = x + ipu.replica_index().astype(F32) if differs else x
        w.assign(w.value + step)
        return w.value * 2

    given, session = both(ipu.compile(main, args=(np.ones(4, F32),), target=TARGET), np.ones(4, F32))
    wanted = START[0] + 1 + (np.arange(R)[:, None] if differs else 0)
    np.testing.assert_array_equal(session["w"], wanted)
    np.testing.assert_array_equal(given, wanted * 2)


@pytest.mark.parametrize("every", [1, 2])
@pytest.mark.parametrize("differs", [False, True])
def test_tables_take_the_updates_of_all_replicas(every, differs):
    words = ipu.HostEmbedding(START, name="words")

    def main(ids):
        own = ids + ipu.replica_index() if differs else ids
        found = words.lookup(own)
        words.update_add(own, np.zeros_like(found) - 1, every=every)
        return found, words.lookup(ids)

    ids = np.int32([1, 3, 3])
    exe = ipu.compile(main, args=(ids,), target=TARGET)
    after = START.copy()
    if every == 1:
        for r in range(R):
            np.subtract.at(after, ids + (r if differs else 0), 1)
    (found, later), _ = both(exe, ids)
    np.testing.assert_array_equal(found, START[np.stack([ids, ids + 1])] if differs else START[ids])
    np.testing.assert_array_equal(later, after[ids])
    np.testing.assert_array_equal(words.own.array, after)


THREE = ipu.Target(tiles_per_ipu=4, replicas=3)
IDS = np.int32([[0, 9], [6, 6]])


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.float16])
def test_replicas_keep_parts_of_rows(dtype):
    start = np.arange(6 * 10).reshape(6, 2, 5).astype(dtype)
    table = ipu.RemoteBuffer(start, name="table", partition="encoding")

    def main(i, x):
        table.store(i, table.load(i) + x)
        table.store(1, table.load(0, rows=2))
        return table.load(2)

    args = np.int32(2), np.ones((2, 5), dtype)
    given, session = both(ipu.compile(main, args=args, target=THREE), *args)
    wanted = start.copy()
    wanted[2] += 1
    wanted[1:3] = wanted[:2].copy()
    np.testing.assert_array_equal(given, wanted[2])
    np.testing.assert_array_equal(session["table"], wanted)
    np.testing.assert_array_equal(table.own.value(), wanted)
    assert table.own.array.shape == (3, 6, 4)
    session["table"] = start
    np.testing.assert_array_equal(session["table"], start)


@pytest.mark.parametrize("partition", ["encoding", "token"])
@pytest.mark.parametrize("target", [THREE, ipu.Target(tiles_per_ipu=4)], ids=["three", "one"])
@pytest.mark.parametrize("every", [1, 2])
def test_replicas_share_a_table(partition, target, every, tmp_path):
    start = np.random.default_rng(2).integers(-8, 8, (10, 4)).astype(F32)
    words = ipu.HostEmbedding(start, name="words", partition=partition)

    def main(ids):
        def body(i, carried):
            own = (ids + ipu.replica_index()) % 10
            found = words.lookup(own)
            words.update_add(own, found * 2, every=every)
            return found

        return ipu.fori_loop(0, 2, body, np.zeros((2, 2, 4), F32))

    wanted, waiting = start.copy(), []
    for _ in range(2):
        found = [wanted[(IDS + r) % 10] for r in range(target.replicas)]
        waiting += [((IDS + r) % 10, found[r] * 2) for r in range(target.replicas)]
        if len(waiting) == every * target.replicas:
            for ids, update in waiting:
                np.add.at(wanted, ids, update)
            waiting = []
    given, session = both(ipu.compile(main, args=(IDS,), target=target), IDS)
    np.testing.assert_array_equal(given, np.stack(found) if target.replicas > 1 else found[0])
    np.testing.assert_array_equal(session["words"], wanted)
    session.save(tmp_path / "state.npz")
    session(IDS)
    session.load(tmp_path / "state.npz")
    np.testing.assert_array_equal(session["words"], wanted)


def test_replicas_keep_parts_of_variables():
    w = ipu.Variable(np.arange(7, dtype=F32), name="w", offload=True, partition=True)

    def main(x):
        w.assign(w.value + ipu.all_reduce(x * ipu.replica_index().astype(F32)))
        return w.value

    x = np.ones(7, F32)
    given, session = both(ipu.compile(main, args=(x,), target=THREE), x)
    np.testing.assert_array_equal(given, np.arange(7) + 3)
    np.testing.assert_array_equal(session["w"], np.arange(7) + 3)
    session["w"] = x
    np.testing.assert_array_equal(session(x), x + 3)


def test_rows_of_one_element_are_on_the_first_replica():
    numbers = ipu.RemoteBuffer(np.arange(5, dtype=F32), name="numbers", partition="encoding")

    def main(i):
        numbers.store(i, numbers.load(i) * 2)
        return numbers.load(i), numbers.load(i, rows=1), numbers.load(i, rows=2)

    given, _ = both(ipu.compile(main, args=(np.int32(0),), target=THREE), np.int32(1))
    assert [each.tolist() for each in given] == [2, [2], [2, 2]]


def test_what_cannot_be_cut():
    words = ipu.HostEmbedding(START, name="words", partition="token")
    with pytest.raises(
        ipu.CompileError, match="moves rows of @words in order, whose rows lie on one replica each: look"
    ):
        ipu.compile(lambda: words.load(0), args=(), target=THREE)
    with pytest.raises(ipu.IpuError, match="a partition is 'encoding' or 'token', got 'rows'"):
        ipu.RemoteBuffer(START, partition="rows")
    with pytest.raises(ipu.IpuError, match="has partition=True, which is for offload=True"):
        ipu.Variable(START, name="w", partition=True)


@pytest.mark.parametrize("offload", [False, True])
def test_values_of_some_rounds_ago_are_those_of_each_replica(offload):
    def main(x):
        def body(carried, row):
            return carried, ipu.fifo(row * (ipu.replica_index() + 1).astype(F32), 2, offload=offload)

        return ipu.scan(body, F32(0), x)[1]

    x = np.arange(1, 6, dtype=F32)
    given, _ = both(ipu.compile(main, args=(x,), target=TARGET), x)
    np.testing.assert_array_equal(given, [[0, 0, 1, 2, 3], [0, 0, 2, 4, 6]])
