"""Applications in files: what the start gives, what calls give, and what is refused."""

import threading

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from ipu_mlir.dialects.support.errors import CompileError  # noqa: E402
from ipu_mlir.tensorflow import ipu  # noqa: E402

IPUS, TILES = 2, 4
compile_op = ipu.application_compile_op.experimental_application_compile_op
runtime = ipu.embedded_runtime


@pytest.fixture(autouse=True)
def _configured(strategy):
    """The devices of ``strategy``."""


def compiled(path, application, inputs=(), freeze=False, variables=()):
    """The file of an application that is made in a graph, with the first values of its variables."""
    with tf.Graph().as_default():
        given = [tf.constant(each) for each in inputs]
        names = [tf.compat.v1.get_variable(name, initializer=value) for name, value in variables]
        op = compile_op(lambda *args: application(*args, *names), given, str(path), freeze)
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            return session.run(op).decode()


def queues(spec=(3,)):
    dataset = tf.data.Dataset.from_tensors(tf.zeros(spec)).repeat()
    return ipu.ipu_infeed_queue.IPUInfeedQueue(dataset), ipu.ipu_outfeed_queue.IPUOutfeedQueue()


def one_ipu():
    config = ipu.config.IPUConfig()
    config.auto_select_ipus, config.ipu_model.tiles_per_ipu = 1, TILES
    config.configure_ipu_system()


def counting():
    """An application of two rounds that adds its batches up in a variable."""
    feed, results = queues()

    def application(scale, total):
        def body(x):
            added = total.assign_add(tf.reduce_sum(x))
            return results.enqueue((x * scale, added))

        return ipu.loops.repeat(2, body, [], feed)

    return application


def test_starts_give_arguments_and_variables_in_order_or_by_name(tmp_path):
    one_ipu()
    file = compiled(tmp_path / "a", counting(), [np.float32(0)], variables=[("total", np.float32(5))])
    by_order = runtime.embedded_runtime_start(file, [2.0, 100.0], "a")
    by_name = runtime.embedded_runtime_start(file, {"total": 0.0, "argument_0": 3.0}, "b")
    assert by_order.output_types() == [tf.float32, tf.float32]
    assert [each.name for each in by_order.signature()["inputs"]] == ["argument_0", "total"]
    for rounds in range(1, 6):  # more than the program counts: it begins again, and keeps what it has
        for context, scale, first in ((by_order, 2, 100), (by_name, 3, 0)):
            scaled, total = runtime.embedded_runtime_call([np.ones(3, np.float32)], context)
            assert scaled.numpy().tolist() == [scale] * 3 and float(total) == first + 3 * rounds
    with pytest.raises(ValueError, match="Failed to find input tensor with name 'total'"):
        runtime.embedded_runtime_start(file, {"argument_0": 1.0}, "c")
    with pytest.raises(ValueError, match="Expected the inputs to be a list, got str"):
        runtime.embedded_runtime_call("batch", by_order)


def test_frozen_variables_begin_with_the_values_of_the_file(tmp_path):
    one_ipu()
    file = compiled(tmp_path / "a", counting(), [np.float32(0)], freeze=True, variables=[("total", np.float32(5))])
    (_, total), context = runtime.embedded_runtime_start_and_call(file, [1.0], [np.ones(3, np.float32)], "a")
    assert float(total) == 8 and context.name() == "a"


def test_batches_in_a_pipeline_come_out_without_others(tmp_path):
    feed, results = queues()

    def application():
        stages = [lambda x: x * 2.0, lambda x: x + 1.0]
        return ipu.pipelining_ops.pipeline(
            stages, 4, infeed_queue=feed, outfeed_queue=results, device_mapping=[0, 1],
            pipeline_schedule=ipu.pipelining_ops.PipelineSchedule.Grouped,
        )  # fmt: skip

    context = runtime.embedded_runtime_start(compiled(tmp_path / "a", application), [], "a", timeout=1000)
    for number in range(6):
        (found,) = runtime.embedded_runtime_call([np.full(3, number, np.float32)], context)
        assert found.numpy().tolist() == [2 * number + 1] * 3
    found = [None] * 8

    def call(number):
        (found[number],) = runtime.embedded_runtime_call([np.full(3, number, np.float32)], context)

    threads = [threading.Thread(target=call, args=[number]) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert [float(each[0]) for each in found] == [2 * number + 1 for number in range(8)]


def test_eager_mode_writes_the_file_at_once(tmp_path):
    one_ipu()
    scale = tf.Variable(2.0)
    feed, results = queues()

    def application():
        return ipu.loops.repeat(1, lambda x: results.enqueue(x * scale), [], feed)

    path = compile_op(application, output_path=str(tmp_path / "a"), freeze_variables=True).numpy().decode()
    scale.assign(7.0)
    context = runtime.embedded_runtime_start(path, [], "a")
    assert runtime.embedded_runtime_call([np.ones(3, np.float32)], context)[0].numpy().tolist() == [2, 2, 2]


def test_what_is_no_application_is_refused(tmp_path):
    (tmp_path / "text").write_text("text")
    with pytest.raises(ValueError, match="text is no compiled application"):
        runtime.embedded_runtime_start(str(tmp_path / "text"), [], "a")
    file = compiled(tmp_path / "square", lambda x: x * x, [np.ones(2, np.float32)])
    with pytest.raises(ValueError, match="the application has 0 infeeds and 0 outfeeds; one of each is needed"):
        runtime.embedded_runtime_start(file, [np.ones(2, np.float32)], "a")
    feed, results = queues()
    with pytest.raises(CompileError, match="runs on 2 replicas, and an application on one"):
        compiled(tmp_path / "b", lambda: ipu.loops.repeat(1, lambda x: results.enqueue(x), [], feed))
