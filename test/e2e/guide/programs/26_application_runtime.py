# Feature: ahead-of-time compilation to a file and the embedded runtime (guide 21.15 application_compile_op, 21.15.19).
# Correct run: the compiled file exists where asked; 16 calls give 2 x + bias each; wrong inputs are refused; stopping is refused or works;
# prints ok.
import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow import ipu

tf1 = tf.compat.v1
runtime = ipu.embedded_runtime
config = ipu.config.IPUConfig()
config.auto_select_ipus = 1
config.configure_ipu_system()

with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
    # The guide's example: the path comes from running the op.
    v = tf1.placeholder(tf.float32, shape=(2,))
    compile_square = ipu.application_compile_op.experimental_application_compile_op(lambda x: x * x, inputs=[v])
    with tf1.Session() as session:
        path = session.run(compile_square, {v: np.zeros(2, np.float32)})
    assert Path(path.decode() if isinstance(path, bytes) else str(path)).exists()

    # An application fed by queues; its variable is frozen into the executable.
    feed = ipu.ipu_infeed_queue.IPUInfeedQueue(tf.data.Dataset.from_tensors(tf.zeros([4])).repeat())
    results = ipu.ipu_outfeed_queue.IPUOutfeedQueue()
    with tf1.variable_scope("net", use_resource=True):
        bias = tf1.get_variable("bias", initializer=np.array([1, 2, 3, 4], np.float32))

    def body(x):
        return results.enqueue({"result": x * 2.0 + bias})

    def application():
        return ipu.loops.repeat(16, body, [], feed)

    target = str(Path(folder) / "application.exec")
    compile_op = ipu.application_compile_op.experimental_application_compile_op(
        application, output_path=target, freeze_variables=True
    )
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        session.run(compile_op)
    assert Path(target).exists()

    context = runtime.embedded_runtime_start(target, [], "engine", timeout=1000)
    assert context.name() == "engine" and list(context.output_types()) == [tf.float32]
    batch = tf1.placeholder(tf.float32, [4])
    called = runtime.embedded_runtime_call([batch], context)
    with tf1.Session() as session:
        for i in range(16):
            value = session.run(called, {batch: np.full([4], i, np.float32)})
            np.testing.assert_allclose(np.ravel(value[0]), 2.0 * i + np.arange(1, 5))

    for inputs in ([], [np.zeros([5], np.float32)], [np.zeros([4], np.int32)]):
        try:
            runtime.embedded_runtime_call(inputs, context)
        except Exception as error:
            print(f"refused: {error}")
        else:
            raise SystemExit("wrong inputs must be refused")
    again, second = runtime.embedded_runtime_start_and_call(target, [], [np.ones([4], np.float32)], "second")
    with tf1.Session() as session:
        np.testing.assert_allclose(np.ravel(session.run(again)[0]), 2.0 + np.arange(1, 5))
    assert second.name() == "second" and second.start_output() is not None
    try:
        runtime.embedded_runtime_stop(second)
    except NotImplementedError as error:  # as in the guide's own releases
        print(f"refused: {error}")
print("ok")
