"""Sessions: state of their own, threads that take turns, files."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.dialects.storage import npz
from ipu_mlir.tracing.control.loops import fori_loop

TARGET = ipu.Target(ipus=1, tiles_per_ipu=4)
F32 = np.float32


@pytest.fixture(scope="module")
def programs():
    params = ipu.Variable({"w": np.ones(4, F32), "n": np.int32(0)}, name="params")
    scale = ipu.Variable(ipu.TensorSpec((), F32), name="scale")

    def start(s):
        scale.assign(s)

    def train(x):
        p = params.value
        params.assign({"w": p["w"] + scale.value * x, "n": p["n"] + 1})
        return p["n"]

    def slowly(x):
        fori_loop(0, 20000, lambda i, c: train(x) * 0, np.int32(0))

    def predict(x):
        return x * params.value["w"]

    x = np.ones(4, F32)
    functions = {"start": start, "train": train, "slowly": slowly, "predict": predict}
    args = {"start": (F32(1),), "train": (x,), "slowly": (x,), "predict": (x,)}
    return ipu.compile(functions, args=args, target=TARGET)


def begun(programs, scale=1.0):
    session = programs.session()
    session.run("start", F32(scale))
    return session


def test_programs_share_variables_in_a_session(programs):
    session, x = begun(programs, 2), np.ones(4, F32)
    assert [session.run("train", x) for _ in range(3)] == [0, 1, 2]
    np.testing.assert_array_equal(session.run("predict", x), 7 * x)
    assert list(session) == ["scale", "params"] and len(session) == 2 and session["params"]["n"] == 3


def test_sessions_do_not_know_of_each_other(programs):
    one, other, x = begun(programs), begun(programs), np.ones(4, F32)
    one.run("train", x)
    assert (one["params"]["n"], other["params"]["n"]) == (1, 0)


def test_host_reads_and_writes_by_name(programs):
    session = begun(programs)
    session["params"] = {"w": np.arange(4, dtype=F32), "n": 7}
    session["params['n']"] = 8
    found = session["params"]
    assert found["n"] == 8
    found["w"][...] = 0
    np.testing.assert_array_equal(session["params"]["w"], np.arange(4))
    np.testing.assert_array_equal(session.run("predict", np.ones(4, F32)), np.arange(4))


def test_wrong_values_change_nothing(programs):
    session = begun(programs)
    with pytest.raises(
        ipu.RunError, match=r"the value of variable \"params\['n'\]\" has dtype float32, expected int32"
    ):
        session["params"] = {"w": np.zeros(4, F32), "n": F32(1)}
    with pytest.raises(ipu.RunError, match="there is no variable 'v'; there are: scale, params"):
        session["v"] = 1
    with pytest.raises(ipu.CompileError, match="params was a dict with keys 'w', 'n', and becomes a tuple"):
        session["params"] = (1, 2)
    with pytest.raises(KeyError, match="there is no variable 'v'; there are: scale, params"):
        session["v"]
    np.testing.assert_array_equal(session["params"]["w"], np.ones(4))


def test_what_runs_is_named(programs):
    session = programs.session()
    with pytest.raises(ipu.RunError, match="there is no program 'fit'; there are: start, train, slowly, predict"):
        session.run("fit")
    with pytest.raises(
        ipu.RunError, match=r"programs start, train, slowly, predict: say which runs, as in session.run\('start', ...\)"
    ):
        session(1)
    with pytest.raises(ipu.RunError, match="there is no program 'fit'; there are"):
        programs["fit"]
    with pytest.raises(ipu.RunError, match="variable 'scale' has no value yet"):
        session.run("train", np.ones(4, F32))
    assert repr(session) == "<Session of start, train, slowly, predict with scale, params>"
    assert repr(programs) == "<Programs start, train, slowly, predict>"


def test_threads_on_one_session_take_turns(programs):
    session, x = begun(programs), np.ones(4, F32)
    _in_threads(4, lambda _: [session.run("train", x) for _ in range(300)])
    assert session["params"]["n"] == 1200
    np.testing.assert_array_equal(session["params"]["w"], 1201 * x)


def test_threads_on_sessions_of_their_own(programs):
    sessions, x = [begun(programs, k) for k in range(4)], np.ones(4, F32)
    _in_threads(4, lambda k: [sessions[k].run("train", x) for _ in range(300)])
    assert [session["params"]["w"][0] for session in sessions] == [1, 301, 601, 901]


def test_reading_waits_for_the_run(programs):
    """A value is never one of the middle of a run."""
    session, x = begun(programs), np.ones(4, F32)
    worker = threading.Thread(target=lambda: session.run("slowly", x))
    worker.start()
    seen = set()
    while worker.is_alive():
        seen.add(int(session["params"]["n"]))
    worker.join()
    assert seen <= {0, 20000}


def _in_threads(count, work):
    errors = []

    def safely(number):
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=safely, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a thread hangs"
    assert not errors


def test_state_is_saved_and_loaded(programs, tmp_path):
    session, other = begun(programs, 3), programs.session()
    session.run("train", np.ones(4, F32))
    session.save(tmp_path / "state.npz")
    other.load(tmp_path / "state.npz")
    np.testing.assert_array_equal(other["params"]["w"], 4 * np.ones(4))
    assert (other["params"]["n"], other["scale"]) == (1, 3)
    assert sorted(np.load(tmp_path / "state.npz")) == ["params['n']", "params['w']", "scale"]
    assert os.listdir(tmp_path) == ["state.npz"]


def test_half_a_state_is_not_saved(programs, tmp_path):
    with pytest.raises(ipu.RunError, match="variable 'scale' has no value yet"):
        programs.session().save(tmp_path / "state.npz")
    assert os.listdir(tmp_path) == []


def test_the_file_of_another_program_is_refused(programs, tmp_path):
    session, path = begun(programs), tmp_path / "state.npz"
    good = {"params['n']": np.int32(5), "params['w']": np.zeros(4, F32), "scale": F32(9)}
    cases = {
        "has no value of scale; it was saved by another program": {k: v for k, v in good.items() if k != "scale"},
        "has values of v, which the program does not have": {**good, "v": F32(0)},
        "has shape \\(3,\\), expected \\(4,\\)": {**good, "params['w']": np.zeros(3, F32)},
        "has dtype float64, expected float32": {**good, "scale": np.float64(9)},
    }
    for message, arrays in cases.items():
        npz.write_arrays(path, arrays)
        with pytest.raises(ipu.RunError, match=message):
            session.load(path)
    assert (session["params"]["n"], session["scale"]) == (0, 1)


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-20], lambda b: b[:100], lambda b: b"", lambda b: b[:80] + b"x" + b[81:]]
)
def test_a_damaged_file_changes_nothing(programs, tmp_path, damage):
    session, path = begun(programs), tmp_path / "state.npz"
    session.save(path)
    path.write_bytes(damage(path.read_bytes()))
    session["scale"] = 5
    with pytest.raises(ipu.IpuError, match=r"is no .npz file of arrays"):
        session.load(path)
    assert session["scale"] == 5


def test_a_folder_that_is_not_there_is_said(programs, tmp_path):
    with pytest.raises(ipu.IpuError, match=r"cannot write .*: No such file or directory"):
        begun(programs).save(tmp_path / "no" / "state.npz")
    with pytest.raises(ipu.IpuError, match=r"cannot read .*: No such file or directory"):
        begun(programs).load(tmp_path / "state.npz")


_WRITER = """
import sys
import numpy as np
from ipu_mlir.dialects.storage.npz import write_arrays
number = 0
while True:
    number += 1
    write_arrays(sys.argv[1], {"x": np.full(500_000, number, np.int64)})
    print(number, flush=True)
"""


def test_kill_in_the_middle_of_saving_leaves_a_whole_file(tmp_path):
    path = tmp_path / "state.npz"
    for wait in (0.003, 0.011, 0.017):
        writer = subprocess.Popen([sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE, text=True)
        try:
            for _ in range(3):
                writer.stdout.readline()
            time.sleep(wait)
        finally:
            writer.send_signal(signal.SIGKILL)
            writer.wait(30)
            writer.stdout.close()
        (found,) = npz.read_arrays(str(path)).values()
        assert found.min() == found.max() >= 3


def test_profile_with_inputs_changes_no_variable(programs):
    before = programs["train"].session()
    own = programs["start"].run([F32(1)])
    assert own == []
    programs["slowly"].profile([np.ones(4, F32)])
    assert programs["train"].run([np.ones(4, F32)])[0] == 0
    assert before["params"]["n"] == 0


def test_several_entries_of_a_module():
    text = """
      "ipu.variable"() {sym_name = "n", type = tensor<i32>, init = dense<3> : tensor<i32>} : () -> ()
      func.func @more(%x: tensor<i32>) {
        %n = "ipu.read"() {variable = @n} : () -> tensor<i32>
        %s = arith.addi %n, %x : tensor<i32>
        "ipu.assign"(%s) {variable = @n} : (tensor<i32>) -> ()
        return
      }
      func.func @now() -> tensor<i32> {
        %n = "ipu.read"() {variable = @n} : () -> tensor<i32>
        return %n : tensor<i32>
      }
    """
    programs = ipu.compile(text, entry=["more", "@now"], target=TARGET)
    session = programs.session()
    session.run("more", np.int32(4))
    assert session.run("now") == 7
    one = ipu.compile(text, entry="more", target=TARGET)
    one(np.int32(1))
    assert one.session()["n"] == 3


def test_unknown_sizes_and_variables_do_not_go_together():
    text = """
      "ipu.variable"() {sym_name = "n", type = tensor<f32>, init = dense<3.0> : tensor<f32>} : () -> ()
      func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
        return %x : tensor<?xf32>
      }
    """
    for entry in ("f", ["f"]):
        with pytest.raises(
            ipu.CompileError, match="@f has arguments of unknown sizes; programs with variables or queues"
        ):
            ipu.compile(text, entry=entry)


def test_arguments_of_each_function_are_given():
    with pytest.raises(ipu.CompileError, match=r"is traced for given shapes; pass args={'g': "):
        ipu.compile({"f": lambda: 1.0, "g": lambda x: x}, args={"f": ()})
    with pytest.raises(ipu.CompileError, match="compile was given no function"):
        ipu.compile({}, args={})
    with pytest.raises(ipu.CompileError, match="several entries are for a module"):
        ipu.compile(lambda: 1.0, args=(), entry=["f", "g"])
