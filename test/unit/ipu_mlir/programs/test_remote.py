"""Remote buffers of traced functions, on both executors, in memory and in files."""

import os
import pickle
import shutil
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import ipu_mlir as ipu

TARGET = ipu.Target(tiles_per_ipu=4)
F32 = np.float32


def mixed(table):
    """Loads and stores of rows and slices of rows at run-time places, in loops and branches."""

    def main(i, x):
        first = table.load(i)
        table.store(i, first + x)

        def body(k, total):
            row = table.load(k)
            table.store(9 - k, row * 2)
            ipu.cond(k > 1, lambda: table.store(0, row), lambda: None)
            return total + row

        total = ipu.fori_loop(0, 4, body, first)
        pair = table.load(i, rows=2)
        table.store(i + 1, pair)
        return total, pair

    return main


def mixed_by_hand(table, i, x):
    first = table[i].copy()
    table[i] += x
    total = first.copy()
    for k in range(4):
        row = table[k].copy()
        table[9 - k] = row * 2
        if k > 1:
            table[0] = row
        total += row
    pair = table[i : i + 2].copy()
    table[i + 1 : i + 3] = pair
    return total, pair


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.float16, ml_dtypes.bfloat16])
def test_as_by_hand(dtype):
    start = np.arange(40).reshape(10, 4).astype(dtype)
    args = np.int32(3), np.ones(4, dtype)
    exe = ipu.compile(mixed(ipu.RemoteBuffer(start, name="table")), args=args, target=TARGET)
    expected = start.copy()
    session = exe.session()
    for _ in range(2):
        wanted = mixed_by_hand(expected, *args)
        for found in (session(*args), exe.run_per_tile(list(args))):
            for a, b in zip(found, wanted, strict=True):
                np.testing.assert_array_equal(a.view(dtype), b)
    np.testing.assert_array_equal(session["table"], expected)
    assert session["table"].dtype == dtype


def test_rows_without_dimensions():
    counts = ipu.RemoteBuffer(ipu.TensorSpec(5, np.int32), name="counts")

    def main(i):
        counts.store(i, counts.load(i) + 1)
        return counts.load(0, rows=5)

    exe = ipu.compile(main, args=(np.int32(2),), target=TARGET)
    session = exe.session()
    session(np.int32(2))
    np.testing.assert_array_equal(session(np.int32(4)), [0, 0, 1, 0, 1])
    np.testing.assert_array_equal(exe.run_per_tile([np.int32(4)])[0], [0, 0, 0, 0, 1])


@pytest.fixture
def adding():
    table = ipu.RemoteBuffer(ipu.TensorSpec((6, 3), F32), name="table")
    return ipu.compile(
        lambda i, x: table.store(i, table.load(i) + x), args=(np.int32(0), np.ones(3, F32)), target=TARGET
    )


ONES = np.ones(3, F32)


def test_sessions_have_rows_of_their_own_and_views_of_them(adding):
    one, other = adding.session(), adding.session()
    one(np.int32(1), ONES)
    one["table"][2] = 7
    one(np.int32(2), ONES)
    np.testing.assert_array_equal(one["table"][:, 0], [0, 1, 8, 0, 0, 0])
    assert not other["table"].any()
    other["table"] = np.full((6, 3), 2, F32)
    assert (other["table"] == 2).all() and "table" in other
    with pytest.raises(ipu.RunError, match=r"the value of remote buffer 'table' has shape \(3,\), expected \(6, 3\)"):
        other["table"] = ONES


@pytest.mark.parametrize("row", [-1, 6])
def test_a_row_that_is_not_there(adding, row):
    for run in (adding.session(), lambda *args: adding.run_per_tile(list(args))):
        with pytest.raises(
            ipu.RunError, match=f"remote buffer 'table' has rows 0 to 5, and the program moves row {row}"
        ):
            run(np.int32(row), ONES)


def test_slices_that_reach_beyond_the_end():
    table = ipu.RemoteBuffer(ipu.TensorSpec((6, 3), F32), name="table")
    exe = ipu.compile(lambda i: table.load(i, rows=4), args=(np.int32(0),), target=TARGET)
    with pytest.raises(ipu.RunError, match="and the program moves rows 3 to 6"):
        exe(np.int32(3))


def test_state_is_saved_and_loaded(adding, tmp_path):
    session, other = adding.session(), adding.session()
    session(np.int32(5), ONES)
    session.save(tmp_path / "state.npz")
    other.load(tmp_path / "state.npz")
    np.testing.assert_array_equal(other["table"][5], ONES)


def test_rows_in_a_file_are_there_in_the_next_session(adding, tmp_path):
    file = tmp_path / "table.npy"
    session = adding.session(files={"table": file})
    session(np.int32(5), ONES)
    session.save(tmp_path / "state.npz")
    np.testing.assert_array_equal(np.load(file)[5], ONES)
    again = adding.session(files={"table": file})
    again(np.int32(5), ONES)
    again.load(tmp_path / "state.npz")
    assert again["table"][5, 0] == 2
    assert not adding.session()["table"].any()
    assert sorted(os.listdir(tmp_path)) == ["state.npz", "table.npy"]


def test_a_file_that_holds_something_else(adding, tmp_path):
    np.save(tmp_path / "small.npy", np.zeros((2, 3), F32))
    (tmp_path / "text.npy").write_text("rows")
    for name, message in (
        ("small.npy", r"small.npy has float32\[2, 3\], expected float32\[6, 3\]; name another file"),
        ("text.npy", "text.npy is no .npy file"),
        ("none/table.npy", "No such file"),
    ):
        with pytest.raises(ipu.RunError, match=message):
            adding.session(files={"table": tmp_path / name})
    with pytest.raises(ipu.RunError, match="there is no remote buffer 'tables'; there are: table"):
        adding.session(files={"tables": tmp_path / "new.npy"})


def test_functions_share_what_the_object_holds(tmp_path):
    table = ipu.RemoteBuffer(np.ones((4, 2), ml_dtypes.bfloat16), name="table", file=tmp_path / "table.npy")

    @ipu.function(target=TARGET)
    def double(i):
        table.store(i, table.load(i) * 2)

    @ipu.function(target=TARGET)
    def row(i):
        return table.load(i)

    double(np.int32(1))
    np.testing.assert_array_equal(row(np.int32(1)), [2, 2])
    stored = np.load(tmp_path / "table.npy").view(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(stored[:, 0].astype(F32), [1, 2, 1, 1])


def test_another_process_goes_on_with_the_file(adding, tmp_path):
    adding.session(files={"table": tmp_path / "table.npy"})(np.int32(2), ONES)
    again = pickle.loads(pickle.dumps(adding)).session(files={"table": tmp_path / "table.npy"})
    again(np.int32(2), ONES)
    assert np.load(tmp_path / "table.npy")[2, 0] == 2


def test_a_profile_knows_the_transfers_and_changes_nothing(adding, tmp_path):
    session = adding.session(files={"table": tmp_path / "table.npy"})
    session(np.int32(0), ONES)
    profile = adding.profile([np.int32(0), ONES])
    assert [step.name for step in profile.compilation.steps if "@" in step.name] == [
        "fetch of @table",
        "remote_store of @table",
    ]
    assert profile.execution.cycles.host > 0
    assert session["table"][0, 0] == 1


REFUSED = {
    "a row of another shape": (
        lambda b: lambda x: b.store(0, x[:2]),
        r"a row of remote buffer table is float32\[3\], and becomes .*float32\[2\]",
    ),
    "a row of another type": (lambda b: lambda x: b.store(0, x.astype(np.int32)), r"use astype\(np.float32\)"),
    "a known row that is not there": (lambda b: lambda x: b.load(6), "has rows 0 to 5, got 6"),
    "too many rows": (lambda b: lambda x: b.load(0, rows=7), "has 6 rows; 7 cannot be loaded"),
    "a float as row": (lambda b: lambda x: b.load(1.5), "a row is one integer, got 1.5"),
    "a traced float as row": (lambda b: lambda x: b.load(x[0]), "a row is one integer, got"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    make, message = REFUSED[name]
    table = ipu.RemoteBuffer(ipu.TensorSpec((6, 3), F32), name="table")
    with pytest.raises(ipu.IpuError, match=message):
        ipu.compile(make(table), args=(ONES,), target=TARGET)


def test_refused_outside_of_functions_and_without_rows():
    with pytest.raises(
        TypeError, match=r"are loaded in traced functions; elsewhere a session has them: session\['t'\]"
    ):
        ipu.RemoteBuffer(ipu.TensorSpec((6, 3), F32), name="t").load(0)
    with pytest.raises(ValueError, match="give it one row at least"):
        ipu.RemoteBuffer(ipu.TensorSpec((), F32))


def test_more_than_the_memory_of_the_target_or_of_this_machine():
    def using(rows, target):
        table = ipu.RemoteBuffer(ipu.TensorSpec((rows, 1024), F32), name="table")
        return ipu.compile(lambda i: table.load(i), args=(np.int32(0),), target=target)

    with pytest.raises(
        ipu.OutOfMemoryError, match=r"needs 81,920,000,000 B of remote memory.*17,920,000,000 B too much"
    ):
        using(20_000_000, TARGET)
    with pytest.raises(ipu.OutOfMemoryError, match=r"has no memory beside its chips.*try keep a buffer on the host"):
        using(10, ipu.Target(name="ipu1", tiles_per_ipu=4))
    with pytest.warns(ipu.MemoryWarning):
        exe = using(1 << 50, ipu.Target(tiles_per_ipu=4, emulated=True))
    assert [each.kind for each in exe.profile().compilation.problems] == ["remote"]
    with pytest.raises(ipu.RunError, match=r"needs 4,611,686,018,427,387,904 B, which this machine does not have"):
        exe.session()


_LARGE = """
import sys
import numpy as np
import ipu_mlir as ipu

table = ipu.RemoteBuffer(ipu.TensorSpec((ROWS, 1024), np.float32), name="table", file=sys.argv[1])

def update(first):
    def body(k, carried):
        row = first + k * 7919
        row = row % ROWS
        table.store(row, table.load(row) + 1)
        return carried
    ipu.fori_loop(0, 1000, body, ())

target = ipu.Target(ipus=IPUS)
session = ipu.compile(update, args=(np.int32(0),), target=target).session()

def anonymous():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("RssAnon")) * 1024

for run in range(RUNS):
    session(np.int32(run * 1009 % ROWS))
    if run == 4:  # machine code is there, and threads have the memory that they keep
        before = anonymous()
grown = anonymous() - before
assert grown < 1000 * (RUNS - 5) * 4096 // 2, f"{grown:,} B more than after five runs"
print(float(session["table"][0, 0]))
"""


@pytest.mark.slow
def test_a_buffer_larger_than_memory_is_updated_row_by_row(tmp_path):
    """Half of the rows that were written would be too much; how fast the disk is does not matter."""
    rows = (2 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) // 4096
    if shutil.disk_usage(tmp_path).free < 1.2 * rows * 4096:
        pytest.skip("the disk has not twice as many bytes left as there is memory")
    ipus = -(-rows * 4096 // 64_000_000_000)
    code = _LARGE.replace("ROWS", str(rows)).replace("RUNS", "15").replace("IPUS", str(ipus))
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "table.npy"], capture_output=True, text=True, timeout=1800, check=False
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) > 0
    assert os.stat(tmp_path / "table.npy").st_size > rows * 4096


@pytest.mark.skipif(not os.path.exists("/proc/self/smaps"), reason="says how files are mapped")
@pytest.mark.parametrize(("columns", "read_ahead"), [(2, {True, False}), (1 << 13, {True})])
def test_small_rows_anywhere_are_read_without_what_follows_them(columns, read_ahead, tmp_path):
    file = tmp_path / "rows.npy"
    table = ipu.RemoteBuffer(np.arange(12, dtype=F32)[:, None] * np.ones(columns, F32), name="table", file=file)

    def main(first, second):
        one, two = table.load(first), table.load(second)
        table.store(second, one + two)
        return table.load(second, rows=2)[:, 0]

    session = ipu.compile(main, args=[np.int32(0)] * 2, target=TARGET).session()
    before = session["table"]
    assert session(np.int32(7), np.int32(3)).tolist() == [10, 4]
    assert session(np.int32(3), np.int32(4)).tolist() == [14, 5]
    assert before[:, 1].tolist() == [0, 1, 2, 10, 14, 5, 6, 7, 8, 9, 10, 11]
    before[5] = 40
    assert session(np.int32(5), np.int32(6)).tolist() == [46, 7]
    with open("/proc/self/smaps") as maps:
        of_file = [part.partition("VmFlags:")[2].splitlines()[0] for part in maps.read().split(str(file))[1:]]
    assert {"rr" not in flags.split() for flags in of_file} == read_ahead
    session.save(tmp_path / "state.npz")
    np.testing.assert_array_equal(np.load(file)[:, 0], before[:, 0])
