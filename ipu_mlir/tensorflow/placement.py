"""Which device a block of Python is for: ``tf.device("/device:IPU:0")`` is a scope of ours, as ``ipu_scope`` is."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import tensorflow as tf

from ipu_mlir.tensorflow.devices import is_ipu, ordinal_of

_DEVICE: ContextVar[int | None] = ContextVar("ipu device", default=None)


def current_device() -> int | None:
    """The number of the IPU device that this block is for; None where it is for the host."""
    return _DEVICE.get()


@contextmanager
def on_device(name: str) -> Iterator[None]:
    """A block for an IPU device.

    Raises:
        ValueError: ``name`` is not the name of one.
    """
    before = _DEVICE.set(ordinal_of(name))
    try:
        yield
    finally:
        _DEVICE.reset(before)


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
