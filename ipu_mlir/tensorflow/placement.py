"""Which device a block of Python is for: ``tf.device("/device:IPU:0")`` is a scope of ours, as ``ipu_scope`` is."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import tensorflow as tf
from tensorflow.compiler.xla.xla_data_pb2 import OpSharding
from tensorflow.python.framework.func_graph import FuncGraph

from ipu_mlir.tensorflow.devices import CURRENT, ENTERED, is_ipu, ordinal_of
from ipu_mlir.tensorflow.eager import ops_on_device, ops_on_host
from ipu_mlir.tensorflow.variables import is_tracing

SHARD_ATTRIBUTE = "_XlaSharding"
"""What TensorFlow calls the attribute of an operation with its shard."""


@contextmanager
def on_device(name: str, is_strict: bool = True) -> Iterator[None]:
    """A block for an IPU device; where it ``is_strict``, all that is called in eager mode must run there.

    Raises:
        ValueError: ``name`` is not the name of one.
    """
    before = CURRENT.set(ordinal := ordinal_of(name))
    if (entered := ENTERED.get()) is not None:
        entered.append(ordinal)
    try:
        if tf.executing_eagerly() and not is_tracing():
            with ops_on_device(is_strict):
                yield
        else:
            yield
    finally:
        CURRENT.reset(before)


@contextmanager
def _on_host(device: Any) -> Iterator[None]:
    """A block of eager mode for a ``device`` of the host, as TensorFlow has it."""
    with ops_on_host(), device:
        yield


@contextmanager
def on_shard(index: int) -> Iterator[None]:
    """A block for an IPU of the device, or for all of them: names say it, and in graphs an attribute as well.

    Functions have no attribute, for which XLA would refuse them.
    """
    graph = tf.compat.v1.get_default_graph()
    is_plain = not tf.executing_eagerly() and not isinstance(graph, FuncGraph) and index >= 0
    marked = graph._attr_scope({SHARD_ATTRIBUTE: shard_attribute(index)}) if is_plain else nullcontext()
    with named(f"ipu.shard.{index}"), marked:
        yield


def shard_attribute(index: int) -> Any:
    """A shard as operations of graphs have it."""
    own = OpSharding(type=OpSharding.MAXIMAL, tile_assignment_dimensions=[1], tile_assignment_devices=[index])
    return tf.compat.v1.AttrValue(s=own.SerializeToString())


@contextmanager
def named(text: str) -> Iterator[None]:
    """A name scope, which is in the place of the operations and of their gradients."""
    with tf.name_scope("".join(each if each.isalnum() or each in "._-" else "_" for each in text)):
        yield


@functools.cache
def take_over_devices() -> None:
    """Let ``tf.device`` know IPUs, which TensorFlow itself does not: it would take the host without a word."""
    for module in (tf, tf.compat.v1):
        module.device = _knowing_ipus(module.device)


def _knowing_ipus(theirs: Any) -> Any:
    @functools.wraps(theirs)
    def device(name: Any) -> Any:
        if is_ipu(name):
            return on_device(name)
        is_inside = CURRENT.get() is not None and name is not None and tf.executing_eagerly()
        return _on_host(theirs(name)) if is_inside else theirs(name)

    return device
