"""Executables in folders, reports, devices that nobody attaches to, synthetic data."""

import json

import numpy as np
import pytest

import ipu_mlir
from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")
X = np.arange(9, dtype=np.float32).reshape(3, 3)


def configured(**options):
    config = ipu.config.IPUConfig()
    config.auto_select_ipus = 1
    config.ipu_model.tiles_per_ipu = 4
    for name, value in options.items():
        setattr(config, name, value)
    return config


@pytest.fixture(autouse=True)
def _unconfigured(monkeypatch):
    monkeypatch.delenv("TF_POPLAR_FLAGS", raising=False)
    monkeypatch.delenv("POPLAR_ENGINE_OPTIONS", raising=False)
    yield
    ipu.config.reset_ipu_configuration()


def ran(config, x=X, mode=None, constant=1.0):
    """What a program on a variable gives, the variable, and its outfeed."""
    config.configure_ipu_system()
    strategy = ipu.ipu_strategy.IPUStrategy()
    with strategy.scope():
        queue = ipu.ipu_outfeed_queue.IPUOutfeedQueue(mode)
        queue._drain.name = "outfeed"  # as in a process of its own
        ipu_mlir.tensorflow.feeds._FEEDS["outfeed"] = queue._drain
        total = tf.Variable(tf.zeros((3, 3)), name="total")

        @tf.function(jit_compile=True)
        def step(x):
            for _ in tf.range(2):
                total.assign_add(tf.matmul(x, x) + constant)
                queue.enqueue(total)
            return total + 0.0

        return strategy.run(step, args=(x,)).numpy(), total, queue


@pytest.mark.parametrize("named", ["option", "flag"])
def test_what_was_compiled_is_loaded_and_runs(named, tmp_path, monkeypatch):
    folder = tmp_path / "executables"
    if named == "flag":
        monkeypatch.setenv("TF_POPLAR_FLAGS", f"--use_ipu_model --executable_cache_path={folder}")
    options = {"serialization_output_folder": str(folder)} if named == "option" else {}
    first, *_ = ran(configured(**options))
    (file,) = folder.iterdir()
    assert file.suffix == ".poplar_exec" and file.stat().st_size
    with monkeypatch.context() as patched:
        patched.setattr("ipu_mlir.tensorflow.artefacts.compile_module", lambda *_: pytest.fail("compiles"))
        second, total, queue = ran(configured(**options))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(total.numpy(), second)
    assert queue.dequeue().shape == (2, 3, 3)
    third, *_ = ran(configured(**options), constant=2.0)
    assert len(list(folder.iterdir())) == 2, "another program is another file"
    np.testing.assert_array_equal(third, first + 2)
    more = configured(**options)
    more.ipu_model.tiles_per_ipu = 8
    ran(more)
    assert len(list(folder.iterdir())) == 3, "so is one for another machine"


def test_a_file_that_was_cut_off_is_written_anew(tmp_path, caplog):
    options = {"serialization_output_folder": str(tmp_path)}
    first, *_ = ran(configured(**options))
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    second, *_ = ran(configured(**options))
    assert "is no executable, and is made anew" in caplog.text
    np.testing.assert_array_equal(first, second)
    assert file.stat().st_size > len(whole) // 2


def offline(kind):
    config = configured()
    config.device_connection.type = ipu.config.DeviceConnectionType[kind]
    config.device_connection.version = "ipu2"
    return config


def test_without_a_device_results_are_zeros_and_variables_stay(tmp_path):
    config = offline("PRE_COMPILE")
    config.serialization_output_folder = str(tmp_path)
    found, total, queue = ran(config)
    assert found.shape == (3, 3) and not found.any() and not total.numpy().any()
    rows = queue.dequeue().numpy()
    assert rows.shape == (1, 3, 3) and not rows.any()
    assert len(list(tmp_path.iterdir())) == 1


def test_a_process_that_never_attaches_runs_nothing():
    with pytest.raises(ipu_mlir.RunError, match=r"step is compiled, and cannot run: device_connection\.type is NEVER"):
        ran(offline("NEVER"))


@pytest.mark.parametrize("named", ["option", "variable", "variable, not configured"])
def test_programs_leave_profile_and_page(named, tmp_path, monkeypatch):
    wanted = {"autoReport.all": "true", "autoReport.directory": str(tmp_path)}
    config = configured(compilation_poplar_options=wanted if named == "option" else {})
    if named != "option":
        monkeypatch.setenv("POPLAR_ENGINE_OPTIONS", json.dumps(wanted))
    found, *_ = ran(config) if named != "variable, not configured" else ran(_Unconfigured())
    np.testing.assert_allclose(found, 2 * (X @ X + 1))
    (folder,) = tmp_path.iterdir()
    assert folder.name.endswith("_step")
    profile = json.loads((folder / "profile.json").read_text())
    names = [step["name"] for step in profile["compilation"]["steps"]]
    counts = {names[step["step"]]: step["count"] for step in profile["execution"]["steps"]}
    assert counts["enqueue of @outfeed"] == 2, "as often as it ran"
    assert "<html" in (folder / "profile.html").read_text()


class _Unconfigured:
    def configure_ipu_system(self):
        """A program that leaves out to configure."""


def test_a_variable_that_is_no_json_is_named(monkeypatch):
    monkeypatch.setenv("POPLAR_ENGINE_OPTIONS", "autoReport.all=true")
    with pytest.raises(ValueError, match=r"POPLAR_ENGINE_OPTIONS is 'autoReport\.all=true', and options are JSON"):
        ran(configured())


@pytest.mark.parametrize("flags", ["--use_synthetic_data", "--synthetic_data_categories={infeed,outfeed}"])
def test_synthetic_data_moves_nothing(flags, monkeypatch):
    monkeypatch.setenv("TF_POPLAR_FLAGS", flags)
    configured().configure_ipu_system()
    strategy = ipu.ipu_strategy.IPUStrategy()
    with strategy.scope():
        queue = ipu.ipu_outfeed_queue.IPUOutfeedQueue()
        last = ipu.ipu_outfeed_queue.IPUOutfeedQueue(ipu.ipu_outfeed_queue.IPUOutfeedMode.LAST)
        data = iter(tf.data.Dataset.from_tensors(tf.ones(4)))

        @tf.function(jit_compile=True)
        def step():
            found = next(data) + next(data)  # more than there is
            queue.enqueue(found)
            last.enqueue(found)
            return found

        assert not strategy.run(step).numpy().any()
    assert queue.dequeue().shape == (0, 4)
    with pytest.raises(tf.errors.FailedPreconditionError, match="no last element"):
        last.dequeue()
