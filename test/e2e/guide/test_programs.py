"""The programs of ``programs/`` run as they are and check themselves."""

import runpy
import sys
from pathlib import Path

import pytest

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")
if keras.backend.backend() != "tensorflow":
    pytest.skip("Keras runs on another backend here", allow_module_level=True)
SLOW = {
    "18_multi_worker_pipeline",
    "20_serving_single_step",
    "21_serving_pipeline",
    "23_pipeline_estimator",
    "46_executables_and_reports",
}
"""Programs that start others, or a server, that write and load several models, or train for a while."""
PROGRAMS = [
    pytest.param(path, id=path.stem, marks=[pytest.mark.slow] if path.stem in SLOW else [])
    for path in sorted((Path(__file__).parent / "programs").glob("*.py"))
]


@pytest.fixture(autouse=True)
def _as_a_process_begins():
    handlers = list(tf.get_logger().handlers)
    yield
    from ipu_mlir.tensorflow import ipu

    tf.get_logger().handlers[:] = handlers
    ipu.config.reset_ipu_configuration()
    keras.utils.clear_session()


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(program, capfd, monkeypatch):
    monkeypatch.setattr(sys, "stderr", sys.__stderr__)  # what a program makes of its file of standard error holds
    monkeypatch.setenv("TF_CONFIG", "{}")  # a program may name its cluster there
    keras.utils.set_random_seed(0)
    runpy.run_path(str(program), run_name="__main__")
    assert capfd.readouterr().out.rstrip().endswith("ok")
