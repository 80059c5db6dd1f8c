# Feature: pre-compilation, serialised executables, synthetic data, reports (guide 1, 21.6, 21.7).
# Correct run: PRE_COMPILE gives zeros of the right shape and leaves an executable; the same program on a device gives its values; a report is
# written where asked; with synthetic data an outfeed in mode ALL is empty; prints ok.
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """
import sys
import numpy as np
import tensorflow as tf
from ipu_mlir.tensorflow import ipu

mode, folder = sys.argv[1:]
kinds = ipu.config.DeviceConnectionType
config = ipu.config.IPUConfig()
config.auto_select_ipus = 1
if mode == "compile":
    config.device_connection.type = kinds.PRE_COMPILE
    config.device_connection.version = "ipu2"
    config.device_connection.enable_remote_buffers = True
if mode != "synthetic":
    config.serialization_output_folder = folder + "/executables"
if mode == "report":
    config.compilation_poplar_options = {"autoReport.all": "true", "autoReport.directory": folder + "/report"}
config.configure_ipu_system()

queue = ipu.ipu_outfeed_queue.IPUOutfeedQueue()

@tf.function(jit_compile=True)
def step(x):
    y = tf.matmul(x, x) + 1.0
    queue.enqueue(y)
    return y

strategy = ipu.ipu_strategy.IPUStrategy()
with strategy.scope():
    x = tf.constant(np.arange(9, dtype=np.float32).reshape(3, 3))
    y = strategy.run(step, args=(x,)).numpy()
    rows = queue.dequeue().numpy()
expected = x.numpy() @ x.numpy() + 1
assert y.shape == (3, 3)
if mode == "compile":
    assert not y.any() and rows.shape[1:] == (3, 3) and not rows.any()
elif mode == "synthetic":
    assert rows.size == 0 and ipu.utils.use_synthetic_data_for(ipu.utils.SyntheticDataCategory.Outfeed)
    assert ipu.utils.running_on_ipu_model()
else:
    np.testing.assert_allclose(y, expected)
    np.testing.assert_allclose(rows[0], expected)
    assert not ipu.utils.use_synthetic_data_for(ipu.utils.SyntheticDataCategory.Outfeed)
"""


def run(mode, folder, flags=""):
    environment = {**os.environ, "TF_POPLAR_FLAGS": flags}
    subprocess.run([sys.executable, "-c", PROGRAM, mode, str(folder)], check=True, env=environment)


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    run("compile", folder)
    assert any(p.stat().st_size for p in (folder / "executables").rglob("*") if p.is_file())
    run("report", folder)
    assert any(p.stat().st_size for p in (folder / "report").rglob("*") if p.is_file())
    run("synthetic", folder, "--use_synthetic_data --use_ipu_model")
    cache = folder / "cache"
    for _ in range(2):  # the second run finds the executable of the first
        run("plain", folder, f"--executable_cache_path={cache}")
    files = [p for p in cache.rglob("*") if p.is_file() and p.suffix == ".poplar_exec"]
    assert len(files) == 1, files
print("ok")
