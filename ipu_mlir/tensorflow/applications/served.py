"""Applications in SavedModels: an operation of TensorFlow that calls the one in a file."""

import functools
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import script_ops

from ipu_mlir.tensorflow.applications.running import Running
from ipu_mlir.tensorflow.applications.saved import read_application

TOKEN = "ipu_mlir.application"
"""What graphs call the function of the host, which is the same in each process that has imported this."""

_SECONDS = 0.005
"""After which a pipeline that waits for a batch goes on without."""


def call_file(path: Any, batch: Sequence[Any], results: Sequence[tf.TensorSpec]) -> list[tf.Tensor]:
    """The results of the application in a file, in a function that is being traced."""
    found = tf.raw_ops.PyFunc(input=[path, *batch], token=TOKEN, Tout=[each.dtype for each in results])
    for tensor, spec in zip(found, results, strict=True):
        tensor.set_shape(spec.shape)
    return list(found)


def _call(path: bytes, *batch: np.ndarray) -> list[np.ndarray]:
    about = os.stat(path)
    return _running(path.decode(), about.st_mtime_ns, about.st_size).call(batch)


@functools.lru_cache(maxsize=16)
def _running(path: str, *version: int) -> Running:
    return Running(read_application(path), (), _SECONDS)


script_ops._py_funcs._funcs[TOKEN] = _call
