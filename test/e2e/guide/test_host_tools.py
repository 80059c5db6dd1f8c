"""Files of feeds, measurements, buffers of datasets, hooks and wrapped optimizers."""

import json

import numpy as np
import pytest

from ipu_mlir.tensorflow import ipu

tf = pytest.importorskip("tensorflow")
tf1 = tf.compat.v1
SGD = tf1.train.GradientDescentOptimizer


def rows(count=10):
    return tf.data.Dataset.range(count).map(lambda x: {"a": tf.cast(x, tf.float32), "b": tf.fill([2], x)})


def test_feeds_as_files(tmp_path):
    ipu.utils.export_dataset_to_file(rows(), str(tmp_path / "feed.bin"), 4)
    assert np.fromfile(tmp_path / "feed.0.bin", np.float32).tolist() == [0, 1, 2, 3]
    assert np.fromfile(tmp_path / "feed.1.bin", np.int64).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    queue = ipu.ipu_infeed_queue.IPUInfeedQueue(rows().map(lambda x: x["a"]))
    ipu.utils.export_dataset_to_file(queue, str(tmp_path / "one.bin"), 20)
    assert np.fromfile(tmp_path / "one.bin", np.float32).tolist() == list(range(10))
    with tf.Graph().as_default():
        x, y = tf1.placeholder(tf.float32, [2]), tf1.placeholder(tf.int32, [])
        ipu.utils.export_inputs_to_file([x, y], str(tmp_path / "in.bin"), {x: np.float32([1, 2]), y: np.int32(3)})
    assert np.fromfile(tmp_path / "in.1.bin", np.int32).tolist() == [3]


def test_files_are_written_of_feeds(tmp_path):
    with pytest.raises(TypeError, match=r"expected a tf[.]data[.]Dataset or an IPUInfeedQueue, got list"):
        ipu.utils.export_dataset_to_file([1], str(tmp_path / "feed.bin"), 1)
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [2], name="x")
        with pytest.raises(ValueError, match="feed_dict has no value of x:0"):
            ipu.utils.export_inputs_to_file([x], str(tmp_path / "inputs.bin"), {})


def test_measurements_count_what_was_read(capsys):
    found = json.loads(ipu.dataset_benchmark.dataset_benchmark(rows().repeat(), 2, 30))["epochs"]
    assert [(each["elements_processed"], each["total_bytes_processed"]) for each in found] == [(30, 30 * 20)] * 2
    assert len(capsys.readouterr().out.splitlines()) == 2
    with tf.Graph().as_default():
        found = json.loads(ipu.dataset_benchmark.dataset_benchmark(rows().repeat(), 1, 30))["epochs"]
    assert found[0]["total_bytes_processed"] == 30 * 20
    with pytest.raises(TypeError, match=r"takes a tf\.data\.Dataset, got list"):
        ipu.dataset_benchmark.dataset_benchmark([], 1, 1)
    with pytest.raises(TypeError, match="takes an IPUInfeedQueue, got"):
        ipu.dataset_benchmark.infeed_benchmark(rows(), 1, 1)
    with pytest.raises(ValueError, match="elements_per_epochs must be at least 1, got 0"):
        ipu.dataset_benchmark.dataset_benchmark(rows(), 1, 0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="a dimension of size 0"):
        ipu.dataset_benchmark.dataset_benchmark(rows().map(lambda x: tf.zeros((0, 2))), 1, 1)


def test_a_buffer_dataset_has_whole_buffers():
    with pytest.raises(TypeError, match=r"BufferDataset takes a tf[.]data[.]Dataset, got list"):
        ipu.data.ops.dataset_ops.BufferDataset([1], 2)
    made = ipu.data.ops.dataset_ops.BufferDataset(tf.data.Dataset.range(3), 2)
    assert [int(x) for x in made] == [0, 1] and made.element_spec.shape == ()


def test_a_hook_logs_by_name_at_the_end(caplog):
    shown = []
    with tf.Graph().as_default(), ipu.scopes.ipu_scope("/device:IPU:0"):
        hook = ipu.ipu_session_run_hooks.IPULoggingTensorHook(at_end=True, formatter=lambda x: shown.append(x) or "-")
        step = ipu.ipu_compiler.compile(lambda: (tf.constant(1.0), hook.log({"b": tf.constant(2.0), "a": tf.zeros(2)})))
        with tf1.train.MonitoredSession(hooks=[hook]) as session:
            session.run(step)
            assert not shown
    assert [(sorted(each), float(each["b"]), each["a"].tolist()) for each in shown] == [(["a", "b"], 2.0, [0, 0])]
    with pytest.raises(ValueError, match="a period must be above 0, got 0"):
        ipu.ipu_session_run_hooks.IPULoggingTensorHook(every_n_iter=0)


def test_optimizers_wrap_optimizers():
    with pytest.raises(TypeError, match=r"an optimizer of tf\.compat\.v1\.train is wrapped, got str"):
        ipu.optimizers.IpuOptimizer("sgd")
    assert ipu.optimizers.IpuOptimizer(SGD(0.1)).get_name() == "GradientDescent"
    assert ipu.optimizers.map_gradient_optimizer.MapGradientOptimizer is ipu.optimizers.MapGradientOptimizer
    config = ipu.config.IPUConfig()
    config.auto_select_ipus, config.ipu_model.tiles_per_ipu = 2, 4
    config.configure_ipu_system()
    with tf.Graph().as_default(), ipu.scopes.ipu_scope("/device:IPU:0"):
        w = tf1.get_variable("w", initializer=[1.0])

        def step():
            mine = 1.0 + 2.0 * tf.cast(ipu.replication_ops.replication_index(), tf.float32)
            wrapped = ipu.optimizers.CrossReplicaOptimizer(SGD(0.5))
            return wrapped.minimize(tf.reduce_sum(w * mine), var_list=[w])

        (update,) = [ipu.ipu_compiler.compile(step)]
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            session.run(update)
            assert session.run(w).tolist() == [0.0]
    ipu.config.reset_ipu_configuration()
