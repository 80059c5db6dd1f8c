"""Which device a block of Python is for: ``tf.device("/device:IPU:0")`` is a scope of ours, as ``ipu_scope`` is."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import tensorflow as tf

from ipu_mlir.tensorflow.devices import CURRENT, is_ipu, ordinal_of
from ipu_mlir.tensorflow.eager import ops_on_device
from ipu_mlir.tensorflow.variables import is_tracing


@contextmanager
def on_device(name: str) -> Iterator[None]:
    """A block for an IPU device.

    Raises:
        ValueError: ``name`` is not the name of one.
    """
    before = CURRENT.set(ordinal_of(name))
    try:
        if tf.executing_eagerly() and not is_tracing():
            with ops_on_device():
                yield
        else:
            yield
    finally:
        CURRENT.reset(before)


@functools.cache
def take_over_devices() -> None:
    """Let ``tf.device`` know IPUs, which TensorFlow itself does not: it would take the host without a word."""
    for module in (tf, tf.compat.v1):
        module.device = _knowing_ipus(module.device)


def _knowing_ipus(theirs: Any) -> Any:
    @functools.wraps(theirs)
    def device(name: Any) -> Any:
        return on_device(name) if is_ipu(name) else theirs(name)

    return device
