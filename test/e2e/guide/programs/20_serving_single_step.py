# Feature: export of one step with pre- and postprocessing on the CPU as a SavedModel (guide 21.11 export_single_step).
# Correct run: the returned function and the loaded SavedModel both give abs(x) * 2 + offset, rounded; variables are frozen; a folder with
# something in it is refused unless purge_export_dir; prints ok.
import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow import ipu

config = ipu.config.IPUConfig()
config.auto_select_ipus = 1
config.configure_ipu_system()

offset = tf.Variable([0.25, 0.5, 0.75, 1.0])
spec = tf.TensorSpec([4], tf.float32)


@tf.function(input_signature=[spec])
def preprocessing(x):
    return tf.abs(x)


@tf.function(input_signature=[spec])
def predict(x):
    return x * 2.0 + offset


@tf.function(input_signature=[spec])
def postprocessing(y):
    return tf.round(y)


def expected(x):
    return np.round(np.abs(x) * 2 + [0.25, 0.5, 0.75, 1.0])


strategy = ipu.ipu_strategy.IPUStrategy()
with tempfile.TemporaryDirectory() as folder, strategy.scope():
    path = str(Path(folder) / "001")
    runtime = ipu.serving.export_single_step(
        predict,
        path,
        iterations=8,
        output_names="result",
        preprocessing_step=preprocessing,
        postprocessing_step=postprocessing,
    )
    for i in range(8):
        x = np.full([4], -1.1 * i, np.float32)
        np.testing.assert_allclose(np.ravel(tf.nest.flatten(runtime(tf.constant(x)))[0]), expected(x))

    offset.assign([9.0, 9.0, 9.0, 9.0])  # must not reach the export
    loaded = tf.saved_model.load(path).signatures["serving_default"]
    names = list(loaded.structured_input_signature[1])
    outputs = loaded(**{names[0]: tf.constant([1.0, -2.0, 3.0, -4.0])})
    assert list(outputs) == ["result"]
    np.testing.assert_allclose(np.ravel(outputs["result"]), expected(np.array([1.0, -2.0, 3.0, -4.0])))

    try:
        ipu.serving.export_single_step(predict, path, iterations=8)
    except ValueError as error:
        print(f"refused: {error}")
    else:
        raise SystemExit("the folder is not empty")
    ipu.serving.export_single_step(predict, path, iterations=8, purge_export_dir=True)
    assert "output_0" in tf.saved_model.load(path).signatures["serving_default"].structured_outputs
print("ok")
