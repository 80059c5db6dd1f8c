"""SavedModels with programs in them: variables of graphs, steps of the host, and what is refused."""

import subprocess
import sys

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from ipu_mlir.tensorflow import ipu  # noqa: E402

TILES = 4
SPEC = (tf.TensorSpec([3], tf.float32),)
export = ipu.serving.export_single_step


@pytest.fixture(autouse=True)
def _configured(strategy):
    """The device of ``strategy``."""


def scaled(x):
    with tf.compat.v1.variable_scope("net", use_resource=True, reuse=tf.compat.v1.AUTO_REUSE):
        scale = tf.compat.v1.get_variable("scale", [], initializer=tf.compat.v1.ones_initializer())
    return x * scale, tf.reduce_sum(x)


def test_variables_of_graphs_have_values_of_sessions_or_checkpoints(tmp_path):
    tf1 = tf.compat.v1

    def initialize(session):
        session.run(tf1.global_variables_initializer())
        session.run(tf1.global_variables()[0].assign(3.0))
        tf1.train.Saver().save(session, str(tmp_path / "values" / "model"))

    given = {"variable_initializer": initialize}, {"checkpoint_restore_dir": str(tmp_path / "values")}
    for number, options in enumerate(given):
        function = export(scaled, str(tmp_path / f"{number}"), 2, SPEC, output_names=["y", "sum"], **options)
        for _ in range(3):
            found = function(x=tf.ones(3))
            assert found["y"].numpy().tolist() == [3, 3, 3] and float(found["sum"]) == 3


@pytest.mark.slow
def test_another_process_loads_a_model(tmp_path):
    offset = tf.Variable(2.0)
    export(lambda x: x + offset, str(tmp_path / "model"), 2, SPEC, postprocessing_step=lambda y: -y)
    (tmp_path / "model").rename(tmp_path / "moved")
    load = (
        "import tensorflow as tf; from ipu_mlir.tensorflow.ipu import serving; "
        f"print(tf.saved_model.load({str(tmp_path / 'moved')!r}).signatures['serving_default'](x=tf.ones(3)))"
    )
    printed = subprocess.run([sys.executable, "-c", load], capture_output=True, text=True, check=True).stdout
    assert "[-3., -3., -3.]" in printed


def test_steps_that_do_not_fit_each_other_are_refused(tmp_path):
    wide = tf.function(lambda x: tf.zeros(4), input_signature=SPEC)
    with pytest.raises(ValueError, match=r"preprocessing_step gives float32\[4\] at position 0, and predict_step_sig"):
        export(lambda x: x, str(tmp_path), 1, SPEC, preprocessing_step=wide)
    with pytest.raises(ValueError, match="preprocessing_step gives 2 tensors, and predict_step_signature has 1"):
        export(lambda x: x, str(tmp_path), 1, SPEC, None, None, None, lambda x: (x, x), SPEC)
    with pytest.raises(ValueError, match=r"preprocessing_step is no tf[.]function with an"):
        export(lambda x: x, str(tmp_path), 1, SPEC, preprocessing_step=lambda x: x)
    doubled = tf.function(lambda x, y: x + y, input_signature=SPEC * 2)
    with pytest.raises(ValueError, match="predict_step gives 1 tensors, and postprocessing_step_signature has 2"):
        export(lambda x: x, str(tmp_path), 1, SPEC, postprocessing_step=doubled)
    with pytest.raises(ValueError, match="output_names has 2 names, and the model gives 1 results"):
        export(lambda x: x, str(tmp_path), 1, SPEC, output_names=["a", "b"])
    with pytest.raises(ValueError, match=r"predict_step takes \(None, 3\), and is compiled for one size"):
        export(lambda x: x, str(tmp_path), 1, [tf.TensorSpec([None, 3], tf.float32)])
    with pytest.raises(ValueError, match="iterations must be at least 1, got 0"):
        export(lambda x: x, str(tmp_path), 0, SPEC)
    assert list(tmp_path.iterdir()) == []
    assert np.ravel(export(lambda x: x, str(tmp_path), 1, SPEC)(tf.ones(3))["output_0"]).tolist() == [1, 1, 1]
