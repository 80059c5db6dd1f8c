"""Programs of small products leave BLAS one thread while they run."""

import numpy as np
import pytest

pytest.importorskip("tensorflow")
import tensorflow as tf

from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.runtime.engine.blas import thread_control
from ipu_mlir.tensorflow.devices import Device
from ipu_mlir.tensorflow.program import Program


@pytest.mark.skipif(thread_control() is None, reason="this NumPy has another BLAS")
@pytest.mark.parametrize(("width", "threads"), [(8, 1), (80, 2)])
def test_threads_of_products(width, threads):
    set_threads, get_threads = thread_control()
    before = get_threads()
    specs = [tf.TensorSpec((512, width)), tf.TensorSpec((width, 512))]
    program = Program(lambda a, b: a @ b, specs, Device(Target(name="small", tiles_per_ipu=16)), "product")
    run, seen = program.executable.engine.run, []
    program.executable.engine.run = lambda *given: [seen.append(get_threads()), *run(*given)][1:]
    try:
        set_threads(2)
        result = program([np.ones((512, width), np.float32), np.ones((width, 512), np.float32)])
        assert seen == [threads] and get_threads() == 2
    finally:
        set_threads(before)
    assert result.numpy()[0, 0] == width
