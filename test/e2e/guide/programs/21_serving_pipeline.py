# Feature: export of a two-stage pipeline as a SavedModel (guide 21.11 export_pipeline).
# Correct run: for i in 0..15 the function gives 2 i + 3 in each of 4 places; signatures and datasets given together are refused; prints ok.
import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow import ipu

config = ipu.config.IPUConfig()
config.auto_select_ipus = 2
config.configure_ipu_system()


def double(x):
    return x * 2.0


def add_three(x):
    return x + 3.0


signature = (tf.TensorSpec([4], tf.float32),)
iterations = 16
strategy = ipu.ipu_strategy.IPUStrategy()
with tempfile.TemporaryDirectory() as folder, strategy.scope():
    runtime = ipu.serving.export_pipeline(
        [double, add_three],
        str(Path(folder) / "a"),
        iterations=iterations,
        device_mapping=[0, 1],
        pipeline_schedule=ipu.pipelining_ops.PipelineSchedule.Grouped,
        predict_step_signature=signature,
        name="served",
    )
    for i in range(iterations):
        result = tf.nest.flatten(runtime(tf.constant(np.full([4], i, np.float32))))[0]
        np.testing.assert_allclose(np.ravel(result), np.full([4], 2.0 * i + 3.0))

    # the signature can come from a dataset instead
    dataset = tf.data.Dataset.from_tensors(tf.zeros([4])).repeat()
    ipu.serving.export_pipeline([double, add_three], str(Path(folder) / "b"), iterations=4, input_dataset=dataset)
    loaded = tf.saved_model.load(str(Path(folder) / "b")).signatures["serving_default"]
    (name,) = loaded.structured_input_signature[1]
    np.testing.assert_allclose(np.ravel(loaded(**{name: tf.ones([4])})["output_0"]), np.full([4], 5.0))

    wrong = (
        (ValueError, {"predict_step_signature": signature, "input_dataset": dataset}),
        (ValueError, {"predict_step_signature": ()}),
        (ValueError, {}),
        (TypeError, {"input_dataset": [1, 2]}),
        (TypeError, {"predict_step_signature": tf.float32}),
    )
    for error, arguments in wrong:
        try:
            ipu.serving.export_pipeline([double, add_three], str(Path(folder) / "c"), iterations=4, **arguments)
        except error as reason:
            print(f"refused: {reason}")
        else:
            raise SystemExit(f"{arguments} must be refused")
print("ok")
