"""Tables on the host: lookups and updates by number, on both executors."""

import numpy as np
import pytest

import ipu_mlir as ipu

TARGET = ipu.Target(tiles_per_ipu=4)
F32 = np.float32
TABLE = np.random.default_rng(11).integers(-8, 8, (12, 4)).astype(F32)
IDS = np.array([0, 3, 3, 7, 11, 3], np.int32)


def stepping(table, every=1, clip=True, steps=3):
    """Descends along the gradient of the sum of what was looked up, which is one per occurrence."""

    def main(ids):
        def body(i, _):
            rows = table.lookup(ids, clip=clip)
            table.update_add(ids, np.zeros_like(rows) - F32(0.5), every=every, clip=clip)
            return rows

        return ipu.fori_loop(0, steps, body, np.zeros((*ids.shape, 4), F32))

    return main


def moved(steps):
    table = TABLE.copy()
    for _ in range(steps):
        np.subtract.at(table, IDS, F32(0.5))
    return table


@pytest.mark.parametrize("every", [1, 2])
def test_as_by_hand(every):
    table = ipu.HostEmbedding(TABLE, name="table")
    exe = ipu.compile(stepping(table, every), args=(IDS,), target=TARGET)
    for run in (exe, lambda ids: exe.run_per_tile([ids])[0]):
        if table.own is not None:
            table.own.give(TABLE)
        seen = moved(2)[IDS]  # the third lookup comes after two updates, in windows of one and of two
        np.testing.assert_array_equal(run(IDS), seen)
        np.testing.assert_array_equal(table.own.array, moved(3 if every == 1 else 2))


def test_windows_go_on_from_run_to_run_and_are_whole_when_saved(tmp_path):
    exe = ipu.compile(stepping(ipu.HostEmbedding(TABLE, name="table"), 2), args=(IDS,), target=TARGET)
    session = exe.session()
    session(IDS)
    with pytest.raises(ipu.RunError, match="table 'table' has gathered 1 update and not added them yet; save it after"):
        session.save(tmp_path / "state.npz")
    session(IDS)
    np.testing.assert_array_equal(session["table"], moved(6))
    session.save(tmp_path / "state.npz")


def test_updates_of_other_windows_keep_waiting():
    table = ipu.HostEmbedding(np.zeros((2, 3), F32), name="table")

    def step():
        table.update_add(np.int32([0]), np.ones((1, 3), F32), every=2)
        table.update_add(np.int32([1]), np.ones((1, 3), F32), every=3)
        table.update_add(np.int32([1]), np.ones((1, 3), F32))
        return table.lookup(np.int32([0, 1]))[:, 0]

    session = ipu.compile(step, args=(), target=TARGET).session()
    assert [session().tolist() for _ in range(4)] == [[0, 1], [2, 2], [2, 6], [4, 7]]


def test_numbers_that_are_no_rows_are_clipped_or_refused():
    far = np.array([[-5, 100]], np.int32)
    clipped = ipu.compile(stepping(ipu.HostEmbedding(TABLE, name="table"), steps=1), args=(far,), target=TARGET)
    np.testing.assert_array_equal(clipped.session()(far), TABLE[[[0, 11]]])
    refusing = ipu.compile(
        stepping(ipu.HostEmbedding(TABLE, name="table"), clip=False, steps=1), args=(far,), target=TARGET
    )
    for run in (refusing.session(), lambda ids: refusing.run_per_tile([ids])):
        with pytest.raises(ipu.RunError, match="table 'table' has rows 0 to 11, and the program asks for row -5"):
            run(far)


def test_a_table_counts_in_no_memory_of_the_target_and_at_the_bandwidth_of_the_host():
    target = ipu.Target(name="ipu1", tiles_per_ipu=4)  # has no memory beside its chips
    exe = ipu.compile(stepping(ipu.HostEmbedding(TABLE, name="table")), args=(IDS,), target=target)
    assert not exe.profile().compilation.problems
    names = [step.name for step in exe.profile().compilation.steps]
    assert "fetch of @table" in names and "host_update_add of @table" in names


REFUSED = {
    "floats": (lambda t: lambda x: t.lookup(x), "numbers of rows are integers, got"),
    "another shape": (
        lambda t: lambda x: t.update_add(IDS, x),
        r"an update of host embedding table is float32\[6, 4\]",
    ),
    "no window": (lambda t: lambda x: t.update_add(IDS, x, every=0), "every is a number above 0, got 0"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    make, message = REFUSED[name]
    with pytest.raises(ipu.IpuError, match=message):
        ipu.compile(make(ipu.HostEmbedding(TABLE, name="table")), args=(np.ones((2, 4), F32),), target=TARGET)
