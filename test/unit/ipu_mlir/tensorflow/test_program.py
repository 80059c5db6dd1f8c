"""What the options of a device change in its programs."""

import numpy as np
import pytest

pytest.importorskip("tensorflow")
import tensorflow as tf

from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.runtime.numeric.blas import thread_control
from ipu_mlir.tensorflow import ipu
from ipu_mlir.tensorflow.devices import SYSTEM, Device
from ipu_mlir.tensorflow.program import Program, _lowering


@pytest.mark.skipif(thread_control() is None, reason="this NumPy has another BLAS")
@pytest.mark.parametrize(("width", "threads"), [(8, 1), (80, 2)])
def test_threads_of_products(width, threads):
    set_threads, get_threads = thread_control()
    before = get_threads()
    specs = [tf.TensorSpec((512, width)), tf.TensorSpec((width, 512))]
    program = Program(lambda a, b: a @ b, specs, Device(Target(tiles_per_ipu=16)), "product")
    run, seen = program.executable.engine.run, []
    program.executable.engine.run = lambda *given: [seen.append(get_threads()), *run(*given)][1:]
    try:
        set_threads(2)
        result = program([np.ones((512, width), np.float32), np.ones((width, 512), np.float32)])
        assert seen == [threads] and get_threads() == 2
    finally:
        set_threads(before)
    assert result.numpy()[0, 0] == width


@pytest.mark.parametrize("outlining", [True, False])
def test_layers_are_one_function_unless_the_configuration_says_otherwise(outlining):
    config = ipu.config.IPUConfig()
    config.optimizations.enable_graph_outlining = outlining
    config.configure_ipu_system()
    try:
        text = _lowering(SYSTEM.device(), 1).text
    finally:
        ipu.config.reset_ipu_configuration()
    assert text is not None and ("ipu-outline-layers" in text) == outlining


def test_gradients_compute_forward_ops_again_where_the_configuration_allows_it():
    up, down = np.ones((16, 64), np.float32), np.ones((64, 16), np.float32) / 64

    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(4):
                y += tf.matmul(tf.sin(tf.matmul(y, up)), down)
        return tape.gradient(y, x)

    config = ipu.config.IPUConfig()
    config.ipu_model.tiles_per_ipu = 4
    held, slopes, x = [], [], np.ones((32, 16), np.float32)
    for config.allow_recompute in (False, True):
        config.configure_ipu_system()
        try:
            program = Program(slope, [tf.TensorSpec(x.shape)], SYSTEM.device(), "slope")
        finally:
            ipu.config.reset_ipu_configuration()
        memory = program.executable.profile().compilation.memory.categories.temporaries
        held.append(max(size for size, _ in memory))
        slopes.append(program([x]).numpy())
    np.testing.assert_array_equal(*slopes)
    assert held[1] < held[0], held


@pytest.mark.parametrize("reduces", ["nothing", "another value", "the gradient"])
def test_replicas_that_train_apart_are_told(reduces, caplog):
    config = ipu.config.IPUConfig()
    config.auto_select_ipus = 2
    config.ipu_model.tiles_per_ipu = 4
    config.configure_ipu_system()
    infeed = ipu.ipu_infeed_queue.IPUInfeedQueue(tf.data.Dataset.from_tensors(tf.ones(3)).repeat())
    w = tf.Variable(1.0, name="w")
    total = tf.Variable(0.0, trainable=False)
    mean = ipu.ops.cross_replica_ops.cross_replica_mean

    def body(x):
        gradient = 0.1 * w * tf.reduce_sum(x)
        total.assign(mean(gradient) if reduces == "another value" else gradient)
        w.assign_sub(mean(gradient) if reduces == "the gradient" else gradient)

    try:
        with caplog.at_level("INFO", "ipu_mlir.tensorflow"):
            Program(
                lambda x: [x, ipu.loops.repeat(2, body, infeed_queue=infeed)][:1],
                [tf.TensorSpec(())],
                SYSTEM.device(),
                "train",
            )
    finally:
        ipu.config.reset_ipu_configuration()
    assert "Automatically replicating train by a factor of 2" in caplog.text
    assert ("wrap the optimizer in CrossReplicaOptimizer" in caplog.text) == (reduces != "the gradient")


@pytest.mark.parametrize("option", ["cross_replica_sum", "reduce_scatter", "all_gather"])
def test_collectives_wait_for_each_other_up_to_some_bytes(option):
    ops = ipu.ops
    collective = {
        "cross_replica_sum": ops.cross_replica_ops.cross_replica_sum,
        "reduce_scatter": lambda x: ops.reduce_scatter_op.reduce_scatter(x, 2),
        "all_gather": lambda x: ops.all_to_all_op.all_gather(x, 2),
    }[option]

    def syncs(most):
        config = ipu.config.IPUConfig()
        config.auto_select_ipus = 2
        config.ipu_model.tiles_per_ipu = 4
        setattr(config.optimizations, f"maximum_{option}_buffer_size", most)
        config.configure_ipu_system()
        specs = [tf.TensorSpec((4,)), tf.TensorSpec((4,))]
        program = Program(lambda a, b: (collective(a), collective(b + 1.0)), specs, SYSTEM.device(), "two")
        return program.executable.profile().execution.cycles.sync

    try:
        alone, some, merged = (syncs(most) for most in (0, 16, 32))
    finally:
        ipu.config.reset_ipu_configuration()
    assert alone == some > merged
